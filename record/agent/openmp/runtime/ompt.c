/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ompt.c - the agent as a tool of LLVM's, Intel's and NVIDIA's OpenMP runtimes, which ask for ompt_start_tool
 * when they start and call back at regions, barriers, locks and tasks (OpenMP 5.0, chapter 4; the numbers
 * below are from there). OMP_TOOL=disabled keeps them from it. A tool of the program's own goes before us.
 *
 * A barrier at a region's end begins as others do: a worker is told of its end, and of that of the region,
 * when the next region begins. That it was the region's is told by then: its end is of no region.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/openmp/runtime/region.h"

enum ompt_callback {
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
	OMPT_NEST_LOCK = 28
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2 };

#define OMPT_FLAG_IMPLICIT 2 /* of an implicit task; 1: the initial one */
#define OMPT_FLAG_UNDEFERRED (1 << 27)
#define OMPT_FLAG_LEAGUE (1 << 30) /* of a region: a league of teams */

enum ompt_sync { OMPT_TASKWAIT = 5, OMPT_TASKGROUP = 6, OMPT_REDUCTION = 7 }; /* others are barriers */
enum ompt_mutex { OMPT_TEST_LOCK = 2, OMPT_TEST_NEST_LOCK = 4 };
enum ompt_task_status { OMPT_TASK_COMPLETE = 1, OMPT_TASK_CANCEL = 3, OMPT_TASK_SWITCH = 7 };

union ompt_data {
	uint64_t value;
	void *pointer;
};

struct ompt_frame {
	union ompt_data exit, enter; /* stack addresses of where the runtime is left, and was entered */
	int exit_flags, enter_flags;
};

typedef void (*ompt_function)(void); /* NOLINT: a function that returns functions needs a name for them */
struct ompt_start {
	int (*initialize)(ompt_function (*lookup)(const char *), int device, union ompt_data *tool);
	void (*finalize)(union ompt_data *tool);
	union ompt_data tool;
};

/* A frame that called has its stack pointer above this: what it calls later begins below. */
#define INSIDE 15u
#define HERE ((uintptr_t)__builtin_frame_address(0) + INSIDE)

/* Where the current task called the runtime; else where the runtime called us. A region or task that is not
 * for others may run in the program's function, after the runtime has returned to it. */
static uint64_t entered(const struct ompt_frame *frame, uint64_t here)
{
	uint64_t enter = frame ? frame->enter.value : 0;

	return enter >= here && enter < thread_place.stack_high ? enter + INSIDE : here;
}

/* ---- regions ---- */

static void parallel_begin(union ompt_data *task, const struct ompt_frame *frame, union ompt_data *parallel,
	unsigned threads, int flags, const void *code)
{
	uint64_t address = entered(frame, HERE);
	struct thread *t;

	(void)task, (void)code;
	parallel->pointer = NULL;
	if (!(flags & OMPT_FLAG_LEAGUE))
		parallel->pointer =
			region_open(address, threads == 1, (uintptr_t)__builtin_return_address(0));
	t = thread_self();
	if (t && t->uses_openmp)
		t->openmp.opened = t->openmp.opened << 1 | (parallel->pointer != NULL);
	STAY;
}

/* Which region ends the thread knows by itself: LLVM's runtime gives the team back before it tells, and
 * `parallel` may be of a region that another thread has opened with it since. */
static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *code)
{
	struct thread *t = thread_self();
	struct openmp_thread *o = t && t->uses_openmp ? &t->openmp : NULL;
	bool is_measured = o && o->opened & 1;

	(void)parallel, (void)task, (void)flags, (void)code;
	if (o)
		o->opened >>= 1;
	if (is_measured && o->team_count)
		region_close(&o->teams[o->team_count - 1]);
	STAY;
}

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads,
	unsigned number, int flags)
{
	struct region_body body;

	(void)task, (void)number;
	if (!(flags & OMPT_FLAG_IMPLICIT))
		return;
	if (endpoint == OMPT_BEGIN && parallel && parallel->pointer)
		region_begin(&body, parallel->pointer, threads, HERE);
	if (endpoint == OMPT_END)
		region_leave();
	STAY;
}

/* ---- waits ---- */

#define WAITS_MAX (OPENMP_WAIT_WORDS * sizeof(uint64_t) / sizeof(struct region_wait))

/* They end in turn. Deeper ones are only counted. */
static void wait_open(enum openmp_kind kind, uint64_t address)
{
	struct thread *t = thread_self();
	struct region_wait *waits;

	if (!t || !t->uses_openmp)
		return;
	waits = (struct region_wait *)(void *)t->openmp.waits;
	if (t->openmp.wait_count < WAITS_MAX)
		region_wait_begin(&waits[t->openmp.wait_count], kind, address);
	t->openmp.wait_count++;
}

static void wait_close(bool is_join)
{
	struct thread *t = thread_self();
	struct region_wait *waits;

	if (!t || !t->uses_openmp || !t->openmp.wait_count)
		return;
	waits = (struct region_wait *)(void *)t->openmp.waits;
	if (--t->openmp.wait_count < WAITS_MAX && waits[t->openmp.wait_count].thread)
		region_wait_end(&waits[t->openmp.wait_count], is_join);
}

static void sync_region_wait(
	int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, const void *code)
{
	(void)parallel, (void)task, (void)code;
	if (kind == OMPT_TASKGROUP && endpoint == OMPT_BEGIN)
		wait_open(OPENMP_TASKWAIT, HERE);
	else if (kind == OMPT_TASKGROUP && endpoint == OMPT_END)
		wait_close(false);
	STAY;
}

static int (*set_callback)(int, ompt_function); /* of the first runtime */

#if defined(__x86_64__)
#define IS_ORDERED true
#else
#define IS_ORDERED false
#endif

static _Atomic bool is_told; /* the wait for a group's tasks */

/* Only the wait for a group's tasks is told by this one: a program without groups is spared two calls at each
 * barrier. Several threads may do so at once. The runtime stores the function, then that there is one; other
 * threads read both in the other order: only where stores and loads keep theirs may it come late. */
static void groups_begin(void)
{
	if (atomic_load_explicit(&is_told, memory_order_acquire))
		return;
	set_callback(OMPT_SYNC_REGION_WAIT, (ompt_function)sync_region_wait);
	atomic_store_explicit(&is_told, true, memory_order_release);
}

static void sync_region(
	int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, const void *code)
{
	(void)task, (void)code;
	if (kind == OMPT_TASKGROUP)
		groups_begin();
	if (kind == OMPT_REDUCTION || kind == OMPT_TASKGROUP) /* a group begins with its tasks */
		return;
	if (endpoint == OMPT_BEGIN)
		wait_open(kind == OMPT_TASKWAIT ? OPENMP_TASKWAIT : OPENMP_BARRIER, HERE);
	else if (endpoint == OMPT_END)
		wait_close(kind != OMPT_TASKWAIT && !parallel);
	STAY;
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t mutex, const void *code)
{
	(void)hint, (void)implementation, (void)mutex, (void)code;
	if (kind != OMPT_TEST_LOCK && kind != OMPT_TEST_NEST_LOCK)
		wait_open(OPENMP_LOCK, HERE);
	STAY;
}

static void mutex_acquired(int kind, uint64_t mutex, const void *code)
{
	(void)mutex, (void)code;
	if (kind != OMPT_TEST_LOCK && kind != OMPT_TEST_NEST_LOCK)
		wait_close(false);
	STAY;
}

/* The owner took it once more, which ends no wait by itself; by a test there was none. */
static void nest_lock(int endpoint, uint64_t mutex, const void *code)
{
	struct thread *t = thread_self();
	uint32_t depth = t && t->uses_openmp ? t->openmp.depth : 0;

	(void)mutex, (void)code;
	if (endpoint == OMPT_BEGIN && depth && t->openmp.records[depth - 1].kind == OPENMP_LOCK)
		wait_close(false);
	STAY;
}

/* ---- tasks ---- */

#define NODE_BITS 28 /* beside the address of a thread's block, which is a page's */

static void task_create(union ompt_data *creator, const struct ompt_frame *frame, union ompt_data *task,
	int flags, int depends, const void *code)
{
	struct openmp_origin origin;
	uint64_t address = 0;

	(void)creator, (void)frame, (void)depends, (void)code;
	task->value = 0;
	if (flags & (1 | OMPT_FLAG_IMPLICIT))
		return;
	origin = region_origin(flags & OMPT_FLAG_UNDEFERRED ? &address : NULL);
	if (thread_self())
		thread_self()->openmp.undeferred = address;
	if (origin.tree && origin.node < 1u << NODE_BITS)
		task->value = (uint64_t)(uintptr_t)thread_self() >> 12 << NODE_BITS | origin.node;
	STAY;
}

static void task_begin(uint64_t packed, uint64_t address)
{
	struct thread *creator = (struct thread *)(uintptr_t)(packed >> NODE_BITS << 12);
	const struct openmp_origin origin = {.tree = &creator->tree,
		.epoch_at = &creator->epoch,
		.epoch = creator->epoch,
		.node = packed & ((1u << NODE_BITS) - 1)};
	struct region_body body;

	region_task_begin(&body, &origin, address);
}

static void task_end(void)
{
	struct thread *t = thread_self();
	uint32_t depth = t && t->uses_openmp ? t->openmp.depth : 0;

	if (depth && t->openmp.records[depth - 1].kind == OPENMP_TASK)
		openmp_pop(&t->openmp);
}

static void task_schedule(union ompt_data *before, int status, union ompt_data *next)
{
	uint64_t address;

	if ((status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL) && before && before->value) {
		task_end();
	} else if (status == OMPT_TASK_SWITCH && next && next->value) {
		address = thread_self() ? thread_self()->openmp.undeferred : 0;
		task_begin(next->value, address ? address : HERE);
	}
	STAY;
}

/* ---- the tool ---- */

static int initialize(ompt_function (*lookup)(const char *), int device, union ompt_data *tool)
{
	const struct {
		enum ompt_callback which;
		ompt_function function;
	} callbacks[] = {{OMPT_PARALLEL_BEGIN, (ompt_function)parallel_begin},
		{OMPT_PARALLEL_END, (ompt_function)parallel_end},
		{OMPT_IMPLICIT_TASK, (ompt_function)implicit_task},
		{OMPT_SYNC_REGION, (ompt_function)sync_region},
		{OMPT_MUTEX_ACQUIRE, (ompt_function)mutex_acquire},
		{OMPT_MUTEX_ACQUIRED, (ompt_function)mutex_acquired},
		{OMPT_NEST_LOCK, (ompt_function)nest_lock}, {OMPT_TASK_CREATE, (ompt_function)task_create},
		{OMPT_TASK_SCHEDULE, (ompt_function)task_schedule}};
	int (*set)(int, ompt_function) = (int (*)(int, ompt_function))lookup("ompt_set_callback");
	bool is_second = set_callback && set_callback != set; /* Intel's beside LLVM's */

	(void)device, (void)tool;
	for (size_t i = 0; set && i < sizeof(callbacks) / sizeof(*callbacks); i++)
		set(callbacks[i].which, callbacks[i].function);
	if (set && (is_second || !IS_ORDERED))
		set(OMPT_SYNC_REGION_WAIT, (ompt_function)sync_region_wait);
	if (is_second || !IS_ORDERED)
		atomic_store(&is_told, true); /* the first one may be gone */
	if (!set_callback)
		set_callback = set;
	return set != NULL;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

struct ompt_start *ompt_start_tool(unsigned version, const char *runtime);
WRAPPER struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start start = {initialize, finalize, {0}};
	struct ompt_start *(*other)(unsigned, const char *);
	struct ompt_start *found;

	*(void **)&other = real_symbol("ompt_start_tool");
	found = other ? other(version, runtime) : NULL;
	if (found)
		return found;
	return process_is_live() ? &start : NULL;
}
