/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum.h - sums over many streams, shared between processes: forked ones on this host (--jobs), or
 * the ranks of an MPI job (mpi_ranks.h). Each takes the next stretch of the streams (ranks: one each) until
 * none is left; the rows are put together in the order of the stretches, so that they are the rows that one
 * process would have made, in its order.
 *
 *   streams  s0 s1 s2 s3 | s4 s5 s6 s7 | s8 ...      rows:  those of the first stretch, then what the second
 *   process  this one    | a child     | this ...           met first, ...
 *
 * Processes and not threads: a run names and numbers things while it is read, and forked ones share what was
 * read before without a lock. Readers look at pages through a map of their own, so LMDB is not asked after a
 * fork.
 */
#ifndef TIMELINE_PARALLEL_SUM_H
#define TIMELINE_PARALLEL_SUM_H

#include "timeline/sum/window.h"

/* Adds one stream's sums to the window; runs in any of the processes. */
typedef int parallel_sum_add(void *own, struct window *window, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* Calls `add` for each stream. Where metrics are doubles all is added here, since their sums depend on order.
 * Ranks above 0 have their own part of the rows after it. */
int parallel_sum_streams(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, parallel_sum_add *add, void *own, struct error *error);

#endif
