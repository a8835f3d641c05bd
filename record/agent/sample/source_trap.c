/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_trap.c - `trap`: one perf event, inherited by future threads, raises a synchronous SIGTRAP, which
 * interrupts no system call. Counters (counter.c) and, if configured, waits trap in the same way.
 *
 * Threads that the program creates without libc inherit the event, too, but may have no thread-local storage
 * of ours, or share that of another thread: the handler identifies a thread by the addresses of its storage
 * and its stack.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/perf.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/switches.h"
#include "record/agent/sample/counter.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/source_perf.h"
#include "record/agent/sample/syscall_restart.h"

#define KNOWN_SLOTS 16384u /* a power of two, several times the number of rings */
#define KNOWN_PROBES 64u
#define TID_GONE 1u /* init's pid: never a thread of ours */

#define WAITS_INDEX (1u + EVENT_COUNTERS_MAX)

static const char cookies[2 + EVENT_COUNTERS_MAX]; /* their addresses are our events' sig_data */

static HOT_DATA struct {
	int event;		  /* open until it is sent to the collector; -1: none */
	pid_t owner;		  /* the thread that opened all events */
	bool waits;		  /* each wait traps */
	bool in_rings;		  /* use the events of the switch rings */
	bool has_base;		  /* arch_thread_pointer works */
	_Atomic bool has_sharers; /* a thread was created that may share another's storage and a part of its
				     stack */
} trap = {.event = -1};

/* ---- threads by their storage ---- */

/* Written only by the thread it describes. A cache line of its own: a sample reads one. */
struct known {
	_Alignas(64) _Atomic uint32_t tid; /* 0: never used; TID_GONE */
	_Atomic uint64_t base;		   /* thread pointer, 0 if unreadable */
	struct thread *thread;
	uint64_t stack_low, stack_high;
};

static HOT_DATA struct known *known; /* [KNOWN_SLOTS], emptied in a fork child */

static int known_init(void)
{
	size_t bytes = KNOWN_SLOTS * sizeof(*known);
	void *memory;

	if (known)
		return 0;
	memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	if (madvise(memory, bytes, MADV_WIPEONFORK)) {
		munmap(memory, bytes);
		return -ENOMEM;
	}
	known = memory;
	return 0;
}

static struct known *known_slot(uint64_t key, uint32_t i)
{
	return &known[((key * UINT64_C(0x9e3779b97f4a7c15) >> 32) + i) & (KNOWN_SLOTS - 1)];
}

static uint32_t tid_now(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static uint64_t base_now(void)
{
	return trap.has_base ? arch_thread_pointer() : 0;
}

int source_trap_thread_add(struct thread *thread)
{
	uint32_t tid = tid_now();
	uint64_t base = base_now();

	source_trap_thread_remove();
	for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
		struct known *slot = known_slot(base ? base : tid, i);
		uint32_t seen = atomic_load_explicit(&slot->tid, memory_order_relaxed);

		if (seen > TID_GONE || !atomic_compare_exchange_strong(&slot->tid, &seen, TID_GONE + 1))
			continue;
		atomic_store_explicit(&slot->base, base, memory_order_relaxed);
		slot->thread = thread;
		slot->stack_low = thread_place.stack_low;
		slot->stack_high = thread_place.stack_high;
		atomic_store_explicit(&slot->tid, tid, memory_order_release);
		return 0;
	}
	return -1;
}

/* The entry of the calling thread, whose stack pointer is `sp`. A thread created without libc may share
 * another's storage, but hardly its stack: if both match, no system call is needed, which would take as
 * long as half a sample. 0: always makes the system call. */
HOT static struct known *known_find(uint64_t sp)
{
	uint64_t base = base_now(), key = base;
	uint32_t tid = 0;

	if (!known)
		return NULL;
	if (!trap.has_base)
		key = tid = tid_now();
	for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
		struct known *slot = known_slot(key, i);
		uint32_t seen = atomic_load_explicit(&slot->tid, memory_order_acquire);

		if (!seen)
			break;
		if (seen <= TID_GONE + 1 || atomic_load_explicit(&slot->base, memory_order_relaxed) != base ||
			(tid && seen != tid))
			continue;
		if (tid || (sp >= slot->stack_low && sp < slot->stack_high &&
				   !atomic_load_explicit(&trap.has_sharers, memory_order_relaxed)))
			return slot;
		tid = tid_now();
		if (seen == tid)
			return slot;
	}
	return NULL;
}

void source_trap_thread_remove(void)
{
	struct known *slot = known_find(0);

	if (slot)
		atomic_store_explicit(&slot->tid, TID_GONE, memory_order_release);
}

void source_trap_shared(void)
{
	atomic_store(&trap.has_sharers, true);
}

/* ---- the source ---- */

int source_trap_prepare(void)
{
	int refusal = source_trap_refusal();

	if (refusal)
		return refusal;
	trap.owner = (pid_t)syscall(SYS_gettid);
	trap.has_base = arch_has_thread_pointer();
	if (known_init() || signal_guards_take_trap())
		return -ENOMEM;
	return 0;
}

static int trap_open(void)
{
	int event = source_trap_prepare();

	if (event)
		return event;
	event = source_perf_open_best(PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC);
	if (event < 0)
		return event;
	trap.event = event;
	/* Those events also record kernel call chains. */
	trap.in_rings = source_perf.kernel && process.settings.switches && !process.settings.waits;
	if (trap.in_rings) {
		switches_trap_with(PERF_COUNT_SW_TASK_CLOCK, process.settings.period_ns, source_trap_data(0));
		close(event);
		trap.event = -1;
	}
	return 0;
}

static int trap_arm(struct thread *t)
{
	/* Either goes on alone, if need be: the timer, or the event. */
	bool is_known = !source_trap_thread_add(t);

	return source_timer_start(&t->handle, source_perf.tick_ns) && !is_known ? -1 : 0;
}

static void trap_disarm(struct thread *t)
{
	source_trap_thread_remove();
	source_timer_stop(&t->handle);
}

const struct source source_trap = {
	.name = "trap",
	.open = trap_open,
	.arm = trap_arm,
	.disarm = trap_disarm,
	.tick = source_perf_tick,
};

/* ---- waits, and descriptors that the collector holds ---- */

/* If kernel samples are allowed, each wait traps when it is over. */
void source_waits_choose(void)
{
	trap.waits = process.settings.waits && process.settings.switches && !source_trap_prepare();
	if (trap.waits)
		switches_trap_with(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, source_trap_data(WAITS_INDEX));
}

bool source_waits_trap(void)
{
	return trap.waits;
}

/* Otherwise waits for pages trap at least: a fault belongs to user code. */
static void faults_hand_over(void)
{
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					     .sample_period = 1,
					     .exclude_kernel = 1,
					     .exclude_hv = 1,
					     .inherit = 1}};
	int event;

	all.words[PERF_SIG_DATA_WORD] = source_trap_data(WAITS_INDEX);
	all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC;
	event = (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return;
	process_send_kept(event);
	close(event);
}

void source_waits_arm(struct thread *t)
{
	if (trap.waits)
		source_trap_thread_add(t);
}

void source_waits_disarm(void)
{
	if (trap.waits)
		source_trap_thread_remove();
}

void source_hand_over(void)
{
	if (trap.in_rings && !switches_trap())
		trap.event = source_perf_open(PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC);
	trap.in_rings = false;
	if (trap.waits && !switches_trap())
		faults_hand_over();
	if (trap.event < 0)
		return;
	process_send_kept(trap.event);
	close(trap.event);
	trap.event = -1;
}

/* No user code runs once the exec has begun. A thread can stop the events it has opened. */
bool source_can_pause(void)
{
	bool in_kernel = trap.waits || (source_chosen() == &source_trap && source_perf.kernel);

	return !in_kernel || (pid_t)syscall(SYS_gettid) == trap.owner;
}

/* ---- the handler ---- */

uint64_t source_trap_data(unsigned index)
{
	return (uintptr_t)&cookies[index];
}

HOT int source_trap_index(const siginfo_t *info)
{
	const struct perf_trap *raised = (const void *)info;
	uint64_t index = raised->data - source_trap_data(0);

	return raised->code == PERF_TRAP_CODE && index < sizeof(cookies) ? (int)index : -1;
}

struct trapped {
	struct thread *thread;
	const ucontext_t *context;
	int index;
};

HOT static void trapped_take(void *what)
{
	const struct trapped *trapped = what;

	if (!trapped->index)
		source_perf_hit(trapped->thread, trapped->context);
	if (trapped->index == WAITS_INDEX)
		sample_take_wait(trapped->thread, trapped->context);
	counters_take(trapped->thread, trapped->context);
}

HOT void source_trap_handle(int signal, siginfo_t *info, void *context)
{
	int error, index = source_trap_index(info);
	const struct known *slot;
	siginfo_t dropped;

	if (index >= 0 && !process_is_live())
		return; /* without a system call: a sandbox may forbid it */
	slot = known_find(index < 0 ? 0 : arch_stack_pointer(context));
	if (index < 0) {
		signal_guard_forward_trap(signal, info, context, slot);
		return;
	}
	if (!slot || !thread_stack_take(slot->thread)) {
		atomic_fetch_add_explicit(&process.shared->signals_foreign, 1, memory_order_relaxed);
		syscall_restart_settle(context);
		return;
	}
	error = *slot->thread->error_place;
	handler_stack_call(slot->thread->handler_stack + HANDLER_STACK_BYTES, trapped_take,
		&(struct trapped){slot->thread, context, index});
	thread_stack_give(slot->thread);
	syscall_restart_settle(context);
	*slot->thread->error_place = error;
	if (signal_guard_trap_dropped(&dropped))
		signal_guard_forward_trap(signal, &dropped, context, true);
}
