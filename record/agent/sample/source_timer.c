/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_timer.c - a POSIX timer on the thread's CPU clock that signals that thread. Needs no permission,
 * counts system time, does not interrupt blocked calls, and ends with an exec. The kernel checks it at its
 * tick, so shorter periods arrive as overruns of fewer signals.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/thread.h"

static const char cookie; /* its address identifies our timers */

/* struct sigevent of the kernel: libc's timer_create moved between libraries. */
struct kernel_sigevent {
	union sigval value;
	int signal;
	int notify;
	pid_t tid;
	char rest[64 - sizeof(union sigval) - 3 * sizeof(int)];
};

/* Each timer takes one of the signals that may wait (RLIMIT_SIGPENDING): where those are few, the program has
 * at least half of them for itself. */
#define SIGNALS_MANY 4096u

static _Atomic uint32_t timers; /* of ours */

static uint64_t signals_most(void)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, &limit) ? SIGNALS_MANY : limit.rlim_cur;
}

bool source_signals_are_few(void)
{
	return signals_most() < SIGNALS_MANY;
}

void source_timers_none(void)
{
	atomic_store(&timers, 0);
}

static bool timer_is_to_spare(void)
{
	uint64_t most = signals_most();

	return most >= SIGNALS_MANY || atomic_load(&timers) < most / 2;
}

/* 0: it no longer runs. */
static int timer_set(int timer, uint64_t period_ns)
{
	struct timespec period = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
	struct itimerspec interval = {period, period};

	return (int)syscall(SYS_timer_settime, timer, 0, &interval, NULL);
}

static int timer_start(struct source_handle *handle, clockid_t clock, uint32_t tid, uint64_t period_ns)
{
	struct kernel_sigevent event = {.value.sival_ptr = (void *)(uintptr_t)&cookie,
		.signal = AGENT_SIGNAL,
		.notify = SIGEV_THREAD_ID,
		.tid = (pid_t)tid};

	if (atomic_load(&signal_guards[SIGNAL_GUARD_SAMPLES].is_read) || !timer_is_to_spare() ||
		syscall(SYS_timer_create, clock, &event, &handle->timer)) {
		handle->timer = -1;
		return -1;
	}
	atomic_fetch_add(&timers, 1);
	if (period_ns && timer_set(handle->timer, period_ns)) {
		source_timer_stop(handle);
		return -1;
	}
	return 0;
}

int source_timer_start(struct source_handle *handle, uint64_t period_ns)
{
	return timer_start(handle, CLOCK_THREAD_CPUTIME_ID, (uint32_t)syscall(SYS_gettid), period_ns);
}

void source_timer_stop(struct source_handle *handle)
{
	if (handle->timer >= 0) {
		syscall(SYS_timer_delete, handle->timer);
		atomic_fetch_sub(&timers, 1);
	}
	handle->timer = -1;
}

HOT bool source_timer_periods(const siginfo_t *info, uint64_t *periods)
{
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &cookie)
		return false;
	*periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
	return true;
}

/* The signal stands for all periods since the last one, some of which another sample may have covered. */
HOT static void timer_tick(struct thread *t, const ucontext_t *context, uint64_t periods)
{
	uint64_t weight = periods * process.settings.period_ns;
	uint64_t known = t->ahead_ns < weight ? t->ahead_ns : weight, now_ns = process_handler_now_ns();

	if (start_stop_is_anew(t))
		t->ahead_ns = known = 0; /* those signals never came */

	t->ahead_ns -= known;
	atomic_store_explicit(&t->ring.shared->timer_signal_ns, now_ns, memory_order_relaxed);
	if (known < weight)
		sample_take_ns(t, context, periods, weight - known, now_ns);
	else
		ring_count(&t->ring.shared->overruns, periods);
}

/* The thread may be another one than the caller's: thread_take_up. */
static int timer_arm(struct thread *t)
{
	struct event_ring *ring = t->ring.shared;
	int result;

	t->ahead_ns = t->catch_up_ns = 0;
	atomic_store(&ring->timer_signal_ns, process_now_ns());
	result = process.settings.injected
			 ? timer_start(&t->handle, process_clock_of_thread(ring->tid), ring->tid, 0)
			 : source_timer_start(&t->handle, 0);
	atomic_store(&ring->timer, (uint32_t)(t->handle.timer + 1));
	/* Who parks them now sees this one, or is seen here. */
	if (!result && !atomic_load(&process.is_parked))
		timer_set(t->handle.timer, process.settings.period_ns);
	if (!result && atomic_load(&process.is_parked)) /* between the two */
		timer_set(t->handle.timer, 0);
	return result;
}

void source_timers_park(bool is_parked)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	atomic_store(&process.is_parked, is_parked);
	for (uint32_t i = 0; i < claimed; i++) {
		struct event_ring *ring = process_ring_at(i);
		uint32_t timer = atomic_load(&ring->timer);

		if (timer && atomic_load(&ring->state) == EVENT_RING_CLAIMED)
			timer_set((int)timer - 1, is_parked ? 0 : process.settings.period_ns);
	}
}

/* Where many want a processor, the ticks of a tenth of a second and more may all meet others. The kernel says
 * of a timer that is due since before the last of them that a nanosecond is left. */
uint64_t source_timer_due_ns(struct event_ring *ring)
{
	uint32_t timer = atomic_load(&ring->timer);
	struct itimerspec left = {0};
	bool is_there = timer && !syscall(SYS_timer_gettime, timer - 1, &left);
	bool is_due = is_there && !left.it_value.tv_sec && left.it_value.tv_nsec == 1;

	if (timer && !is_there && errno == EINVAL) /* the program deletes timers that it has not made */
		thread_unsampled(ring, EVENT_UNSAMPLED_GONE, atomic_load(&ring->timer_signal_ns));

	return is_due ? process_now_ns() - atomic_load(&ring->timer_signal_ns) : 0;
}

void source_timer_end(void)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	for (uint32_t i = 0; i < claimed; i++) {
		struct event_ring *ring = process_ring_at(i);

		if (atomic_load(&ring->state) == EVENT_RING_CLAIMED && !atomic_load(&ring->end_ns))
			atomic_store(&ring->due_ns, source_timer_due_ns(ring));
	}
}

static void timer_disarm(struct thread *t)
{
	atomic_store(&t->ring.shared->timer, 0);
	source_timer_stop(&t->handle);
}

const struct source source_timer = {
	.name = "timer",
	.arm = timer_arm,
	.disarm = timer_disarm,
	.tick = timer_tick,
};
