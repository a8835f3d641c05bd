/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_timer.c - CPUTIME: a POSIX timer on the thread's CPU clock, signalled to
 * that thread. Never needs permission, counts system time, does not interrupt
 * blocked calls, and dies with an exec. The kernel looks at it from its tick, so
 * periods shorter than that arrive as overruns of fewer signals.
 */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process.h"
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

static int timer_arm(struct source_handle *handle, uint64_t period_ns)
{
	struct kernel_sigevent event = {.value.sival_ptr = (void *)(uintptr_t)&cookie,
		.signal = AGENT_SIGNAL,
		.notify = SIGEV_THREAD_ID,
		.tid = (pid_t)syscall(SYS_gettid)};
	struct timespec period = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
	struct itimerspec interval = {period, period};

	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &handle->id)) {
		handle->id = -1;
		return -1;
	}
	if (syscall(SYS_timer_settime, handle->id, 0, &interval, NULL)) {
		syscall(SYS_timer_delete, handle->id);
		handle->id = -1;
		return -1;
	}
	return 0;
}

static void timer_disarm(struct source_handle *handle)
{
	if (handle->id >= 0)
		syscall(SYS_timer_delete, handle->id);
	handle->id = -1;
}

static bool timer_periods(const siginfo_t *info, uint64_t *periods)
{
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &cookie)
		return false;
	*periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
	return true;
}

const struct source source_timer = {
	.metric = "CPUTIME",
	.arm = timer_arm,
	.disarm = timer_disarm,
	.periods = timer_periods,
	.clock_ns = process_thread_cpu_ns,
};

const struct source *source_find(const char *metric)
{
	static const struct source *const sources[] = {&source_timer};

	for (unsigned i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (!strcmp(sources[i]->metric, metric))
			return sources[i];
	return sources[0];
}
