/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_overflow.c - `overflow`: one perf event per thread sends it AGENT_SIGNAL; for kernels before 5.18,
 * which lack the trap.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sample/source_perf.h"

static int overflow_open(void)
{
	int event;

	/* A signal that finds no place to wait comes as SIGIO, which ends the program. */
	if (source_signals_are_few())
		return -EAGAIN;
	event = source_perf_open_best(0);

	if (event < 0)
		return event;
	close(event);
	return 0;
}

/* Opens an event that sends AGENT_SIGNAL to this thread; its mapping keeps it alive. */
static int overflow_event_start(struct source_handle *handle)
{
	int event = source_perf_open(0);
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};

	if (event < 0)
		return -1;
	handle->mapping = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, event, 0);
	if (handle->mapping == MAP_FAILED)
		handle->mapping = NULL;
	if (handle->mapping && (fcntl(event, F_SETSIG, AGENT_SIGNAL) || fcntl(event, F_SETOWN_EX, &owner) ||
				       fcntl(event, F_SETFL, O_ASYNC | O_RDONLY))) {
		munmap(handle->mapping, (size_t)sysconf(_SC_PAGESIZE));
		handle->mapping = NULL;
	}
	handle->number = event;
	close(event);
	return handle->mapping ? 0 : -1;
}

static int overflow_arm(struct thread *t)
{
	if (source_timer_start(&t->handle, source_perf.tick_ns))
		return -1;
	overflow_event_start(&t->handle);
	return 0;
}

static void overflow_disarm(struct thread *t)
{
	source_timer_stop(&t->handle);
	if (t->handle.mapping)
		munmap(t->handle.mapping, (size_t)sysconf(_SC_PAGESIZE));
	t->handle.mapping = NULL;
}

static bool overflow_take(struct thread *t, const siginfo_t *info, const ucontext_t *context)
{
	if (info->si_code != POLL_IN || info->si_fd != t->handle.number)
		return false;
	if (t->handle.mapping)
		source_perf_hit(t, context);
	return true;
}

const struct source source_overflow = {
	.name = "overflow",
	.open = overflow_open,
	.arm = overflow_arm,
	.disarm = overflow_disarm,
	.tick = source_perf_tick,
	.take = overflow_take,
};
