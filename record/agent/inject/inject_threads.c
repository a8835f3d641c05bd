/* SPDX-License-Identifier: Apache-2.0 */
/* inject_threads.c - see inject_threads.h. */
#include "record/agent/inject/inject_threads.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/inject/inject_gpu.h"
#include "record/agent/inject/inject_order.h"
#include "record/agent/inject/inject_proc.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/adopt.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/thread.h"

#define MANY 64

/* One that was taken up; thread NULL: it has no ring, is of ours, or has ended (then tid is 0, too). */
struct known {
	uint32_t tid;
	bool is_there;	   /* in the listing that is being read */
	bool is_undecided; /* whether it blocks the sampling signal: it has no timer yet */
	bool is_blocked;   /* it does, and has none */
	/* When it was first seen to run, with the signal as it seems: its clock (0: not yet), and how often
	 * it had slept. */
	uint64_t cpu_ns, sleeps;
	enum inject_mask seems;
	/* Looks in a row at which it ran with the signal open, each after more work; its clock at the last.
	 */
	unsigned open_looks;
	uint64_t open_cpu_ns;
	bool was_blocked; /* at the last look, while it is sampled */
	struct thread *thread;
};

static struct {
	struct known list[EVENT_RINGS_MAX];
	uint32_t count;
	uint32_t own;	  /* the agent's own thread */
	uint32_t threads; /* of the process, at the last listing */
	uint32_t looks;
	bool has_undecided;
	bool has_new; /* since the stacks were read */
	bool is_full; /* a thread found no place in the list, and is counted */
} all;

static struct known *known_find(uint32_t tid)
{
	for (uint32_t i = 0; i < all.count; i++)
		if (all.list[i].tid == tid)
			return &all.list[i];
	return NULL;
}

static struct known *known_new(uint32_t tid)
{
	struct known *place = known_find(0);

	if (!place && all.count == EVENT_RINGS_MAX)
		return NULL;
	if (!place)
		place = &all.list[all.count++];
	*place = (struct known){.tid = tid};
	return place;
}

/* The main thread is the first by number. */
static void take_up(struct known *known)
{
	uint32_t tid = known->tid;
	bool is_first = tid == (uint32_t)process_number();
	struct thread *t = thread_new();

	if (t && !thread_take_up(t, tid, is_first ? 0 : atomic_fetch_add(&process.shared->thread_count, 1))) {
		known->thread = t;
		known->is_undecided = all.has_undecided = true;
		return;
	}
	if (t)
		thread_free(t);
	atomic_fetch_add(&process.shared->threads_unmonitored, 1);
}

/* CPU time: more than the way out of sigwait takes; more than libc blocks all signals for. */
#define AWAKE_NS 20000u
#define BLOCKED_NS 2000000u
#define CLOSE_LOOKS 10
#define OPEN_LOOKS 20 /* in a row: a thread that works with the signal blocked is seen to in one of them */

/* A thread that has run in between, not slept, and seems the same, was neither in sigwait nor in such a
 * moment. One that sleeps too often for that is known by many looks. */
static enum inject_mask mask_of(struct known *known)
{
	uint64_t sleeps, cpu_ns;
	enum inject_mask mask = inject_proc_mask(known->tid, AGENT_SIGNAL, &sleeps);
	bool is_second = known->cpu_ns && known->sleeps == sleeps && known->seems == mask;

	if (mask != INJECT_RUNS && mask != INJECT_RUNS_BLOCKED) {
		known->cpu_ns = 0;
		known->open_looks = mask == INJECT_BLOCKED ? 0 : known->open_looks;
		return mask;
	}
	cpu_ns = process_cpu_of_thread_ns(known->tid);
	if (is_second && cpu_ns > known->cpu_ns + (mask == INJECT_RUNS ? AWAKE_NS : BLOCKED_NS))
		return mask == INJECT_RUNS ? INJECT_OPEN : INJECT_BLOCKED;
	if (mask == INJECT_RUNS_BLOCKED) {
		known->open_looks = 0;
	} else if (cpu_ns > known->open_cpu_ns + AWAKE_NS) {
		known->open_cpu_ns = cpu_ns;
		if (++known->open_looks >= OPEN_LOOKS)
			return INJECT_OPEN;
	}
	known->sleeps = sleeps;
	known->seems = mask;
	if (!is_second)
		known->cpu_ns = cpu_ns;
	return INJECT_RUNS;
}

/* A thread that blocks the signal gets no timer: it might take the signal for one of its own. */
static void decide(struct known *known)
{
	struct event_ring *ring = known->thread->ring.shared;
	enum inject_mask mask = mask_of(known);

	if (mask == INJECT_RUNS)
		return;
	known->is_undecided = false;
	known->is_blocked = mask == INJECT_BLOCKED;
	adopt_offer(known->thread);
	if (known->is_blocked) {
		thread_unsampled(ring, EVENT_UNSAMPLED_BLOCKED, ring->begin_ns);
		return;
	}
	thread_take_up_cover(known->thread);
	thread_take_up_arm(known->thread);
}

static void undecided_look_once(void)
{
	all.has_undecided = false;
	for (uint32_t i = 0; i < all.count; i++) {
		struct known *known = &all.list[i];

		if (known->thread && known->is_undecided)
			decide(known);
		all.has_undecided |= known->thread && known->is_undecided;
	}
}

/* A thread that sleeps often is seen to run for long enough between looks that follow each other closely
 * alone. */
static void undecided_look(void)
{
	static const struct timespec shortly = {0, 100000};

	for (unsigned looks = 0; all.has_undecided && looks < CLOSE_LOOKS; looks++) {
		if (looks)
			nanosleep(&shortly, NULL);
		undecided_look_once();
	}
}

/* Whether threads block the signal is looked at again, one by one, a thread each time. One that no longer
 * does has samples, in a line that stays unmonitored. */
static void blocked_look(void)
{
	struct known *known = all.count ? &all.list[all.looks % all.count] : NULL;
	enum inject_mask mask;

	if (!known || !known->thread || known->is_undecided)
		return;
	mask = mask_of(known);
	known->was_blocked &= mask == INJECT_BLOCKED;
	if (known->is_blocked && mask == INJECT_OPEN) {
		known->is_blocked = false;
		thread_take_up_arm(known->thread);
	} else if (!known->is_blocked && mask == INJECT_BLOCKED && !known->was_blocked) {
		known->was_blocked = true; /* for a moment, perhaps */
	} else if (!known->is_blocked && mask == INJECT_BLOCKED) {
		known->is_blocked = true;
		known->thread->source->disarm(known->thread);
		thread_unsampled(known->thread->ring.shared, EVENT_UNSAMPLED_BLOCKED, process_now_ns());
	}
}

/* One that ends, or is left, before it was decided. */
static void undecided_left(struct known *known)
{
	struct event_ring *ring = known->thread->ring.shared;

	if (known->is_undecided)
		thread_unsampled(ring, EVENT_UNSAMPLED_MISSED, ring->begin_ns);
}

static void let_go(struct known *known)
{
	if (known->thread) {
		undecided_left(known);
		adopt_withdraw(known->thread);
		thread_lost(known->thread);
	}
	*known = (struct known){.tid = 0};
}

/* Until it has taken its own name, such a thread has its creator's. */
static bool is_ours(uint32_t tid)
{
	return inject_proc_is_called(tid, INJECT_GPU_THREAD) || inject_proc_is_called(tid, INJECT_THREAD);
}

static void listed(uint32_t tid)
{
	struct known *known = tid == all.own ? NULL : known_find(tid);

	all.threads++;
	if (!known && tid != all.own) {
		known = known_new(tid);
		if (!known) {
			atomic_fetch_add(&process.shared->threads_unmonitored, !all.is_full);
			all.is_full = true;
			return;
		}
		if (!is_ours(tid)) {
			take_up(known);
			all.has_new = true;
		}
	}
	if (known)
		known->is_there = true;
}

static bool has_ended(uint32_t tid)
{
	return syscall(SYS_tgkill, process_pid(), tid, 0) && errno == ESRCH;
}

static void list_read(void)
{
	uint32_t before = all.count;

	for (uint32_t i = 0; i < before; i++)
		all.list[i].is_there = false;
	all.threads = 0;
	all.has_new = false;
	inject_proc_threads_each(listed);
	if (all.has_new)
		inject_proc_stacks_read();
	for (uint32_t i = 0; i < all.count; i++) {
		struct known *known = &all.list[i];

		if (known->tid && !known->is_there && has_ended(known->tid))
			let_go(known);
	}
	undecided_look();
}

uint32_t inject_threads_begin(void)
{
	uint32_t found = 0;

	memset(&all, 0, sizeof(all));
	all.own = (uint32_t)syscall(SYS_gettid);
	adopt_begin();
	inject_proc_stacks_read();
	list_read();
	for (uint32_t i = 0; i < all.count; i++)
		found += all.list[i].thread != NULL;
	return found;
}

/* Where one ends and another one begins between two looks, their number is the same: of many threads only
 * every tenth look asks for each. */
void inject_threads_look(void)
{
	bool is_changed = inject_proc_threads() != all.threads,
	     asks = ++all.looks % 10 == 0 || all.count < MANY;

	blocked_look();
	for (uint32_t i = 0; asks && i < all.count && !is_changed; i++)
		is_changed = all.list[i].tid && has_ended(all.list[i].tid);
	if (is_changed)
		list_read();
	else
		undecided_look();
}

void inject_threads_stop(void)
{
	for (uint32_t i = 0; i < all.count; i++) {
		struct known *known = &all.list[i];

		if (!known->thread)
			continue;
		undecided_left(known);
		known->thread->source->disarm(known->thread);
	}
}

void inject_threads_free(void)
{
	for (uint32_t i = 0; i < all.count; i++) {
		struct thread *t = all.list[i].thread;

		if (!t)
			continue;
		tally_thread_free(t);
		address_reserve_unmap(t, t->block_bytes);
	}
	memset(&all, 0, sizeof(all));
	thread_pool_drop();
}
