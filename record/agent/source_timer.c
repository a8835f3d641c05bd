/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_timer.c - a POSIX timer on the thread's CPU clock, signalled to that
 * thread. Never needs permission, counts system time, does not interrupt blocked
 * calls, and dies with an exec. The kernel looks at it from its tick, so periods
 * shorter than that arrive as overruns of fewer signals.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/guard.h"
#include "record/agent/hot.h"
#include "record/agent/process.h"
#include "record/agent/sample.h"
#include "record/agent/source.h"

static const char cookie; /* its address tells our timers from the program's */

/* struct sigevent as the kernel has it: libc's timer_create moved between libraries. */
struct kernel_sigevent {
	union sigval value;
	int signal;
	int notify;
	pid_t tid;
	char rest[64 - sizeof(union sigval) - 3 * sizeof(int)];
};

int source_timer_start(struct source_handle *handle, uint64_t period_ns)
{
	struct kernel_sigevent event = {.value.sival_ptr = (void *)(uintptr_t)&cookie,
		.signal = AGENT_SIGNAL,
		.notify = SIGEV_THREAD_ID,
		.tid = (pid_t)syscall(SYS_gettid)};
	struct timespec period = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
	struct itimerspec interval = {period, period};

	if (atomic_load(&guards[GUARD_SAMPLES].is_read) ||
		syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &handle->timer)) {
		handle->timer = -1;
		return -1;
	}
	if (syscall(SYS_timer_settime, handle->timer, 0, &interval, NULL)) {
		source_timer_stop(handle);
		return -1;
	}
	return 0;
}

void source_timer_stop(struct source_handle *handle)
{
	if (handle->timer >= 0)
		syscall(SYS_timer_delete, handle->timer);
	handle->timer = -1;
}

HOT bool source_timer_periods(const siginfo_t *info, uint64_t *periods)
{
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &cookie)
		return false;
	*periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
	return true;
}

/* The signal tells of all periods since the last one: some of them a sample may stand for already. */
HOT static void timer_tick(struct thread *t, const ucontext_t *context, uint64_t periods)
{
	uint64_t weight = periods * process.settings.period_ns;
	uint64_t known = t->ahead_ns < weight ? t->ahead_ns : weight;

	t->ahead_ns -= known;
	t->heard_ns = process_handler_now_ns();
	if (known < weight)
		sample_take_ns(t, context, periods, weight - known, t->heard_ns);
	else
		ring_count(&t->ring.shared->overruns, periods);
}

static int timer_arm(struct thread *t)
{
	t->ahead_ns = t->catch_up_ns = 0;
	t->heard_ns = process_now_ns();
	return source_timer_start(&t->handle, process.settings.period_ns);
}

/* Where many want a processor, the ticks of a tenth of a second and more may all meet others. The kernel says
 * of a timer that is due since before the last of them that a nanosecond is left. */
static uint64_t timer_due_ns(const struct thread *t)
{
	struct itimerspec left = {0};
	bool is_due = t->handle.timer >= 0 && !syscall(SYS_timer_gettime, t->handle.timer, &left) &&
		      !left.it_value.tv_sec && left.it_value.tv_nsec == 1;

	return is_due ? process_now_ns() - t->heard_ns : 0;
}

static void timer_disarm(struct thread *t)
{
	source_timer_stop(&t->handle);
}

const struct source source_timer = {
	.name = "timer",
	.arm = timer_arm,
	.disarm = timer_disarm,
	.due_ns = timer_due_ns,
	.tick = timer_tick,
};
