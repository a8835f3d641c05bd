/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c - the least that any sampler by perf events costs here, for the table of overheads: preloaded into
 * a program, it has the kernel raise the signal that hpct's agent takes, at the same rate, and does nothing
 * in its handler. FLOOR_NS: the period; FLOOR_OUT: a file that gets the number of signals at the end.
 * FLOOR_SILENT: no signal either, and no ring: the timer's interrupts, which nobody hears of.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/perf.h"

static _Atomic unsigned long count;

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void begin(void)
{
	const char *period = getenv("FLOOR_NS");
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .sample_period = period ? strtoull(period, NULL, 10) : 1000000,
					     .exclude_hv = 1,
					     .inherit = 1}};
	struct sigaction action = {.sa_sigaction = nothing, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGTRAP, &action, NULL);
	if (!getenv("FLOOR_SILENT"))
		all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC;
	if (syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0) {
		all.attr.exclude_kernel = 1;
		syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FLOOR_OUT");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (out) {
		fprintf(out, "%lu\n", atomic_load(&count));
		fclose(out);
	}
}
