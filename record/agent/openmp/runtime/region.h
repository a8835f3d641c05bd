/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - OpenMP's regions, barriers, locks and tasks as both kinds of runtimes report them: GNU's through
 * wrappers (gomp.c), LLVM's through OMPT (ompt.c). Keeps the thread's records (openmp.h), publishes its
 * waits, and sums each region: who arrived last at its barriers and its end, and what the others waited.
 *
 *   opener   open  begin ======work====== end ~~~~~~ close        ~ waits: <omp barrier>
 *   worker   ~~~~  begin ==work== end ~~~~~~~~~~~~~ ....          . its next region has not begun: <omp idle>
 *                                     ^ the last arrival: a worker learns of the join by it alone
 *
 * Sums are in memory shared with the collector (tally.h). In the steady state a region costs two readings of
 * the processor's counter in each thread; no system call. All of it runs on the thread itself, none in a
 * handler.
 */
#ifndef RECORD_AGENT_REGION_H
#define RECORD_AGENT_REGION_H

#include "record/agent/sample/thread.h"
#include "record/agent/wrap/wait.h"

/* `address` below is one in the caller's stack frame, which stays until the end or close. */

/* The calling thread opens a region; `code`: a place in the runtime; is_serial: its
 * body may run in the frame that called the runtime: what it calls then is inside. NULL: it is not measured,
 * or has too many open. */
struct openmp_team *region_open(uint64_t address, bool is_serial, uint64_t code);
/* After its join, by the same thread. */
void region_close(struct openmp_team *team);

/* The calling thread enters and leaves the body, of a team (NULL: it is not measured) of `threads`. */
struct region_body {
	struct thread *thread; /* NULL: not measured */
	uint64_t epoch;
	struct openmp_team *team;
};
void region_begin(struct region_body *body, struct openmp_team *team, uint32_t threads, uint64_t address);
void region_end(const struct region_body *body);
/* It leaves the innermost body, at whose end it was in a barrier already (LLVM's). */
void region_leave(void);

/* A construct that waits, of the calling thread. */
struct region_wait {
	struct wait wait;
	struct thread *thread; /* NULL: nothing to end */
	uint64_t epoch;
	struct openmp_team *team;    /* a barrier's; NULL: none */
	struct openmp_origin origin; /* the team's, then */
	bool is_last;
};
void region_wait_begin(struct region_wait *wait, enum openmp_kind kind, uint64_t address);
/* is_join: it was the barrier at the region's end. */
void region_wait_end(struct region_wait *wait, bool is_join);

/* The path of the calling thread, for a task that it creates; tree NULL: unknown. *address (may be NULL): one
 * that all that the program's frame calls is below. */
struct openmp_origin region_origin(uint64_t *address);
/* It runs a task that was created there. */
void region_task_begin(struct region_body *body, const struct openmp_origin *origin, uint64_t address);
void region_task_end(const struct region_body *body);

#endif
