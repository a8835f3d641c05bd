/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - measures processes from outside, with nothing in them: perf events sample their threads and
 * copy a piece of the stack, which is unwound here; what comes of it goes to the collector through the same
 * memory and rings that an agent would fill (store/ring/ring.h).
 *
 *   kernel   one ring per processor: samples with registers and stack, switches, forks, execs, ends
 *     |
 *   outside_run   unwinds each sample, orders all records by time
 *     |
 *   memory of each process (a sealed memfd)  --EVENT_HANDSHAKE_OUTSIDE-->  collector
 *
 * The processes are not stopped, and nothing is written into them. If this process dies, the kernel closes
 * the events, and the collector sees the end of its pipe: what was recorded until then is whole.
 */
#ifndef RECORD_OUTSIDE_H
#define RECORD_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/base/error.h"

#define OUTSIDE_PROCESSES_MAX 4096u /* followed at once */

struct outside_plan {
	const uint32_t *pids; /* what runs already; in our pid namespace */
	unsigned pid_count;
	bool is_all; /* instead: all that run on this machine ... */
	const char
		*cgroup; /* ... in the control group of this directory and those below it; NULL: anywhere */
	pid_t parent;	 /* instead: the calling thread, whose child will execute the program; 0: none */
	const char *socket; /* the collector's */
	const char *agent;  /* path of the agent: a child that loads it measures itself; NULL: none does */
	uint64_t period_ns;
	uint32_t stack_bytes; /* copied with each sample; 0: as much as the stacks turn out to need */
	bool has_switches, keeps_recursion, is_alone; /* is_alone: not what the processes start */
};

/* What became of it. */
struct outside_totals {
	uint64_t processes, samples, partial, lost; /* lost: records that the kernel had no room for */
	uint32_t threads_refused;		    /* threads without events, as descriptors are short */
	uint32_t processes_refused; /* came while as many as are followed at once were there */
	uint32_t stack_bytes;	    /* as last used */
	bool without_kernel;	    /* time inside the kernel counts where it returns to */
	bool has_python;
	int looks; /* perf events were refused with this errno: threads were looked at instead; 0: they were
		      not */
	bool is_blind; /* and ptrace, too: no paths */
};

struct outside;

/* Whether plan.is_all may be asked for here: root, CAP_PERFMON, or kernel.perf_event_paranoid. */
bool outside_may_all(void);
/* Whether outside_open could succeed, for the first process or a program that is about to start: opens events
 * that never count. 0, with without_kernel in *totals, or negative with the reason. */
int outside_try(const struct outside_plan *plan, struct outside_totals *totals, struct error *error);
/* Opens the events and begins; where they are refused, processes that run already are looked at instead
 * (totals.looks). ERROR_USAGE: a process cannot be measured; ERROR_IO: none can. */
int outside_open(struct outside **outside, const struct outside_plan *plan, struct error *error);
/* Measures until all processes have ended, `stop` is readable or clock_now_ns() reaches until_ns (0: never).
 * True: all have ended. */
bool outside_run(struct outside *outside, int stop, uint64_t until_ns);
/* Ends the measurement, tells the collector, frees all. */
void outside_close(struct outside *outside, struct outside_totals *totals);

#endif
