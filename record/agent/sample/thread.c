/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - begin and end of a thread's measurement, and the pool of blocks. Nothing here runs in the
 * sampling handler. Blocks, like rings, are not inherited by fork children (MADV_DONTFORK): a child allocates
 * its own.
 */
#include "record/agent/sample/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/agent/base/plugin.h"
#include "record/agent/java/java_blobs.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/process.h"
#include "record/agent/process/switches.h"
#include "record/agent/python/python_names.h"
#include "record/agent/python/python_runtime.h"
#include "record/agent/sample/counter.h"
#include "record/agent/sample/exec_environment.h"
#include "record/agent/sample/papi.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/trace.h"
#include "record/agent/unwind/gpu_runtime_libraries.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/unwind_plugin.h"

#define NODES_WANTED (1u << 20)
#define NODES_UNFOLDED (1u << 22) /* if each level of a recursion is a node */
#define NODES_LIMITED (1u << 16)  /* if memory is limited: leave it to the program */
#define NODES_LEAST (1u << 12)
#define TICKS_LATE 16		      /* how many ticks a virtual machine's host may withhold */
#define ZERO_BYTES_MAX (256u * 1024u) /* above that the kernel zeroes faster than memset */

__thread struct thread_place thread_place __attribute__((tls_model("initial-exec")));

static struct {
	atomic_flag taken; /* never waited for: if it is taken, the caller does without the pool */
	struct thread *free;
	uint32_t nodes;
	const struct unwind_plugin *unwinder; /* NULL: our own */
	struct unwind_space space;	      /* the same for all threads, except the stack */
} pool = {.taken = ATOMIC_FLAG_INIT};

extern const char __start_hpct_fence[] __attribute__((weak, visibility("hidden")));
extern const char __stop_hpct_fence[] __attribute__((weak, visibility("hidden")));

extern const char __start_hpct_own[] __attribute__((weak, visibility("hidden")));
extern const char __stop_hpct_own[] __attribute__((weak, visibility("hidden")));
/* All code of the agent in a static program; NULL in the library. */
extern const char __start_hpct_agent[] __attribute__((weak, visibility("hidden")));
extern const char __stop_hpct_agent[] __attribute__((weak, visibility("hidden")));

/* Reads any address of this process without faulting: alternate stacks, coroutines, damaged stacks. */
static int self_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	++*(unsigned *)context;
	return syscall(SYS_process_vm_readv, process_pid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0
													: -1;
}

static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

void thread_init(void)
{
	struct unwind_space *space = &pool.space;

	switches_init();
	python_names_init();
	python_runtime_init();
	java_blobs_init();
	openmp_init();
	pool.free = NULL;
	pool.unwinder = NULL;
	atomic_flag_clear(&pool.taken);
	pool.nodes = process.settings.keeps_recursion ? NODES_UNFOLDED : NODES_WANTED;
	if (is_limited(RLIMIT_AS) ||
		is_limited(RLIMIT_DATA)) /* RLIMIT_DATA counts private mappings, touched or not */
		pool.nodes = NODES_LIMITED;
	space->memory.read = self_read;
	space->module_find = module_find;
	space->fence_begin = (uintptr_t)__start_hpct_fence;
	space->fence_end = (uintptr_t)__stop_hpct_fence;
	space->own_begin = (uintptr_t)__start_hpct_own;
	space->own_end = (uintptr_t)__stop_hpct_own;
	space->is_go = source_program_is_go();
	space->hidden_begin = (uintptr_t)__start_hpct_agent;
	space->hidden_end = (uintptr_t)__stop_hpct_agent;
	if (!space->hidden_begin)
		module_map_range((uintptr_t)thread_init, &space->hidden_begin, &space->hidden_end);
	space->hides = gpu_runtime_libraries_hides;
	space->told_find = java_blobs_find;
	module_map_loader_range(&space->loader_begin, &space->loader_end);
	process.shared->fence_begin = space->fence_begin;
	process.shared->fence_end = space->fence_end;
	process.shared->hidden_begin = space->hidden_begin;
	process.shared->hidden_end = space->hidden_end;
	process.shared->loader_begin = space->loader_begin;
	process.shared->loader_end = space->loader_end;
}

void thread_unwinder_load(void)
{
	const struct unwind_plugin *plugin = NULL;

	if (strstr(process.settings.events, EVENT_WORD_UNWINDER))
		plugin = plugin_find(process.settings.agent, UNWIND_PLUGIN_FILE, UNWIND_PLUGIN_SYMBOL);
	if (!plugin || plugin->open())
		return;
	pool.unwinder = plugin;
	if (thread_place.self)
		thread_place.self->unwinder.plugin = plugin;
}

/* Maximum frames of one path: the tree must hold several of the longest. */
static uint32_t frames_most(uint32_t nodes)
{
	if (!process.settings.keeps_recursion)
		return UNWIND_FRAMES_MAX;
	return nodes / 4 < UNWIND_WALK_MAX ? nodes / 4 : UNWIND_WALK_MAX;
}

static size_t head_bytes(uint32_t frames)
{
	size_t nodes = offsetof(struct thread, callpath_nodes) + frames * sizeof(uint32_t);

	return (nodes + 2 * frames * sizeof(struct unwind_frame) + 4095) & ~(size_t)4095;
}

static struct thread *block_map(uint32_t nodes)
{
	uint32_t frames = frames_most(nodes);
	size_t bytes = head_bytes(frames) + nodes * CONTEXT_TREE_NODE_BYTES;
	struct thread *thread;

	thread = address_reserve_map(bytes, -1);
	if (!thread)
		return NULL;
	madvise(thread, bytes, MADV_NOHUGEPAGE);
	madvise(thread, bytes, MADV_DONTFORK);
	thread->block_bytes = bytes;
	thread->frames[0] = (struct unwind_frame *)(thread->callpath_nodes + frames);
	thread->frames[1] = thread->frames[0] + frames;
	thread->callpath = thread->frames[0];
	context_tree_init(&thread->tree, (char *)thread + head_bytes(frames), nodes);
	thread->unwinder.most = frames;
	thread->unwinder.space = pool.space;
	thread->unwinder.plugin = pool.unwinder;
	thread->unwinder.folds = !process.settings.keeps_recursion;
	thread->unwinder.space.memory.context = &thread->far_reads;
	thread->unwinder.space.context = &thread->modules;
	thread->generation = module_slots_generation();
	return thread;
}

struct thread *thread_new(void)
{
	struct thread *thread = NULL;

	if (!atomic_flag_test_and_set(&pool.taken)) {
		thread = pool.free;
		if (thread)
			pool.free = thread->next_free;
		atomic_flag_clear(&pool.taken);
	}
	for (uint32_t nodes = pool.nodes; !thread && nodes >= NODES_LEAST; nodes /= 16)
		thread = block_map(nodes);
	return thread;
}

void thread_free(struct thread *thread)
{
	struct context_tree *tree = &thread->tree;
	size_t paths;

	if (tree->count * sizeof(*tree->nodes) > ZERO_BYTES_MAX) {
		paths = (offsetof(struct thread, callpath_nodes) + 4095) & ~(size_t)4095;
		madvise((char *)thread + paths, thread->block_bytes - paths, MADV_DONTNEED);
		context_tree_init(tree, tree->nodes, tree->capacity);
	} else {
		context_tree_clear(tree);
	}
	thread->callpath_count = 0;
	tally_thread_free(thread);
	if (atomic_flag_test_and_set(&pool.taken)) {
		if (!thread->uses_openmp) /* others may still look at its regions */
			address_reserve_unmap(thread, thread->block_bytes);
		return;
	}
	thread->next_free = pool.free;
	pool.free = thread;
	atomic_flag_clear(&pool.taken);
}

static void header_fill(
	struct event_ring *ring, uint32_t tid, uint32_t index, uint64_t now_ns, uint64_t cpu_ns)
{
	static const uint64_t nothing;
	_Atomic uint64_t *counters[] = {&ring->signals, &ring->overruns, &ring->samples, &ring->partial,
		&ring->lost_full, &ring->lost_reentered, &ring->lost_memory, &ring->lost_weight,
		&ring->unwind_faults, &ring->counts, &ring->handler_ns, &ring->end_ns, &ring->cpu_end_ns,
		&ring->timer_signal_ns, &ring->due_ns, &ring->saved_ns, &ring->values_enabled_ns,
		&ring->values_running_ns};

	for (unsigned i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		atomic_store_explicit(counters[i], nothing, memory_order_relaxed);
	ring->claim++;
	ring->tid = tid;
	ring->thread = index;
	ring->begin_ns = now_ns;
	ring->cpu_begin_ns = cpu_ns;
	start_stop_ring_begin(ring);
	atomic_store_explicit(&ring->tally_count, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->timer, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->call_begin_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->unsampled, EVENT_SAMPLED, memory_order_relaxed);
	memset(ring->name, 0, sizeof(ring->name));
}

void thread_unsampled(struct event_ring *ring, enum event_unsampled reason, uint64_t since_ns)
{
	if (atomic_load(&ring->unsampled))
		return;
	atomic_store(&ring->unsampled_ns, since_ns);
	atomic_store_explicit(&ring->unsampled, reason, memory_order_release);
	atomic_fetch_add(&process.shared->threads_unmonitored, 1);
}

static void sampler_arm(struct thread *t)
{
	if (!t->source->arm(t))
		return;
	t->source->disarm(t);
	if (process.settings.injected) { /* an event is for the calling thread alone */
		thread_unsampled(t->ring.shared, EVENT_UNSAMPLED_REFUSED, process_now_ns());
		return;
	}
	t->source = &source_standby;
	if (t->source->arm(t))
		thread_unsampled(t->ring.shared,
			atomic_load(&signal_guards[SIGNAL_GUARD_SAMPLES].is_read) ? EVENT_UNSAMPLED_READ
										  : EVENT_UNSAMPLED_REFUSED,
			process_now_ns());
}

/* Everything of a thread's begin that any thread of the process may do for it. first: the function that its
 * first record names, 0: none. */
static void begin(
	struct thread *t, struct event_ring *ring, uint64_t start_routine, uint64_t first, uint64_t now_ns)
{
	t->source = source_chosen();
	ring->start_routine = start_routine;
	ring_init(&t->ring, ring, EVENT_RING_DATA);
	t->root = start_routine ? EVENT_NODE_THREAD_ROOT : EVENT_NODE_PROGRAM_ROOT;
	t->covered_ns = 0;
	t->hit_ns = 0;
	t->lead_ns = 0;
	trace_init(t);
	t->uses_openmp = false;
	t->open_count = 0;
	t->saved_ns = t->rest_until_ns = t->handled_ns = 0;
	t->crowded = 0;
	t->pending_node = 0;
	t->unpublished_ns = 0;
	ring_enter(&t->ring);
	sample_publish_first(t, first, now_ns);
	ring_leave(&t->ring);
	t->handle.mapping = NULL;
}

void thread_begin(struct thread *t, uint32_t index)
{
	struct event_ring *ring = process_ring_claim();
	uint64_t now_ns = process_now_ns();

	if (!ring) {
		atomic_fetch_add(&process.shared->threads_unmonitored, 1);
		thread_free(t);
		return;
	}
	t->error_place = &errno;
	header_fill(ring, (uint32_t)syscall(SYS_gettid), index, now_ns, process_thread_cpu_ns());
	syscall(SYS_prctl, PR_GET_NAME, ring->name, 0, 0, 0);
	begin(t, ring, thread_place.start_routine, thread_place.start_routine, now_ns);
	thread_place.self = t;
	t->switches = switches_thread_open();
	sampler_arm(t);
	counter_arm(t);
	source_waits_arm(t);
	papi_arm(t);
	counter_groups_arm(t);
}

/* ---- threads that were there before the agent ---- */

/* Where any other thread begins is not known: 1 stands for it. */
int thread_take_up(struct thread *t, uint32_t tid, uint32_t index)
{
	struct event_ring *ring = process_ring_claim();
	uint64_t now_ns = process_now_ns();

	if (!ring)
		return -1;
	t->error_place = NULL;
	t->switches = NULL;
	header_fill(ring, tid, index, now_ns, process_cpu_of_thread_ns(tid));
	process_thread_name_read(ring);
	begin(t, ring, index != 0, 0, now_ns);
	return 0;
}

void thread_take_up_cover(struct thread *t)
{
	const struct event_ring *ring = t->ring.shared;
	uint64_t cpu_ns = process_cpu_of_thread_ns(ring->tid);
	uint64_t known = ring->cpu_begin_ns + start_stop_off_ns(ring, cpu_ns) + t->covered_ns;

	if (cpu_ns <= known)
		return;
	t->saved_ns += cpu_ns - known;
	t->covered_ns += cpu_ns - known;
	thread_saved_publish(t);
}

void thread_take_up_arm(struct thread *t)
{
	sampler_arm(t);
}

void thread_lost(struct thread *t)
{
	struct event_ring *ring = t->ring.shared;
	uint64_t now_ns = process_now_ns(), rest;

	t->source->disarm(t);
	if (ring_enter(
		    &t->ring)) { /* it may have ended ahead of the sample that its saved weight waits for */
		sample_publish_pathless(t, now_ns);
		rest = sample_saved_take(t);
		if (rest)
			sample_publish(t, t->node, EVENT_F_LAST, rest, now_ns);
		ring_leave(&t->ring);
		thread_saved_publish(t);
	}
	/* Its clock has gone with it. */
	atomic_store(
		&ring->cpu_end_ns, ring->cpu_begin_ns + atomic_load(&ring->paused_cpu_ns) + t->covered_ns);
	atomic_store(&ring->end_ns, now_ns);
	atomic_store_explicit(&ring->state, EVENT_RING_ENDED, memory_order_release);
	thread_free(t);
}

void thread_pool_drop(void)
{
	while (pool.free) {
		struct thread *t = pool.free;

		pool.free = t->next_free;
		address_reserve_unmap(t, t->block_bytes);
	}
}

struct thread *thread_here(void)
{
	struct thread *t = thread_own();

	return t && t->ring.shared->tid == (uint32_t)syscall(SYS_gettid) ? t : NULL;
}

/* The kernel looks at timers from its tick: what came due since the last one would have come as overruns of
 * the next signal, and who waits ahead of each has caught up there (sample_catch_up). More than that is not
 * made up, unless the kernel itself says that the signal is due: a sum that is short shows that samples did
 * not arrive. */
static uint64_t rest_most_ns(struct event_ring *ring)
{
	uint64_t due_ns = source_timer_due_ns(ring);

	if (atomic_load(&ring->unsampled)) /* where it was then nobody knows */
		return 0;
	return 2 * process.settings.period_ns + TICKS_LATE * source_tick_ns() + due_ns;
}

/* Stops sampling the thread, and publishes its last record. False: the ring was in use, as we are in a
 * handler that interrupted our own publication. */
static bool settle(struct thread *t, uint64_t *rest)
{
	struct event_ring *ring = t->ring.shared;
	uint64_t now_ns, most = rest_most_ns(ring), cpu_ns;

	counter_disarm(t);
	t->source->disarm(t);
	papi_disarm(t);
	counter_groups_disarm(t);
	source_waits_disarm();
	now_ns = process_now_ns(); /* only now: a sample may have come in between */
	cpu_ns = process_thread_cpu_ns();
	atomic_store(&ring->cpu_end_ns, cpu_ns);
	cpu_ns -= ring->cpu_begin_ns + start_stop_off_ns(ring, cpu_ns);
	*rest = cpu_ns > t->covered_ns ? cpu_ns - t->covered_ns : 0;
	*rest = *rest < most ? *rest : most;
	if (!ring_enter(&t->ring)) {
		*rest += t->saved_ns + t->unpublished_ns;
		return false;
	}
	sample_publish_pathless(t, now_ns);
	*rest += sample_saved_take(t);
	sample_publish(t, t->node, EVENT_F_LAST, *rest, now_ns);
	ring_leave(&t->ring);
	thread_saved_publish(t);
	t->covered_ns = cpu_ns;
	atomic_store(&ring->end_ns, now_ns);
	return true;
}

/* The collector writes what could not be published, as for threads that live to the end. */
void thread_settle(struct thread *t)
{
	uint64_t rest;

	settle(t, &rest);
}

void thread_resume(struct thread *t)
{
	atomic_store(&t->ring.shared->end_ns, 0);
	sampler_arm(t);
	counter_arm(t);
	source_waits_arm(t);
	papi_arm(t);
	counter_groups_arm(t);
}

void thread_end(struct thread *t)
{
	struct event_ring *ring = t->ring.shared;
	uint64_t rest;

	syscall(SYS_prctl, PR_GET_NAME, ring->name, 0, 0, 0);
	start_stop_thread_end(t);
	if (!settle(t, &rest)) {
		ring_lose(&t->ring, RING_LOST_REENTERED, rest, process_now_ns());
		atomic_store(&ring->end_ns, process_now_ns());
	}
	exec_environment_thread_end();
	thread_place.self = NULL;
	switches_thread_close(t->switches);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&ring->state, EVENT_RING_ENDED, memory_order_release);
	thread_free(t);
}

void thread_name_set(struct thread *t, const char *name)
{
	size_t length = strnlen(name, sizeof(t->ring.shared->name) - 1);
	uint64_t bytes = sizeof(struct event_text) + length, now_ns = process_now_ns();
	struct event_text *text;

	if (!ring_enter(&t->ring))
		return;
	memset(t->ring.shared->name, 0, sizeof(t->ring.shared->name));
	memcpy(t->ring.shared->name, name, length);
	if (ring_begin(&t->ring, bytes + 8, bytes + 8, now_ns)) {
		text = ring_put(&t->ring, EVENT_NAME, 0, (uint32_t)length, bytes);
		text->id = now_ns;
		memcpy(text->bytes, name, length);
		ring_commit(&t->ring);
	}
	ring_leave(&t->ring);
}

void thread_fork_note(struct thread *t, uint32_t kind, uint32_t child_pid, uint64_t time_ns)
{
	uint64_t now_ns = process_now_ns();
	struct event_fork *fork_record;

	if (!ring_enter(&t->ring))
		return;
	if (ring_begin(&t->ring, sizeof(*fork_record), sizeof(*fork_record), now_ns)) {
		fork_record = ring_put(&t->ring, EVENT_FORK, 0, t->node, sizeof(*fork_record));
		fork_record->time_ns = time_ns;
		fork_record->child_pid = child_pid;
		fork_record->kind = kind;
		ring_commit(&t->ring);
	}
	ring_leave(&t->ring);
}
