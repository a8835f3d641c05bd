/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum.h - sums over many streams in several processes: forked ones on this host (--jobs), or the
 * ranks of an MPI job (mpi_ranks.h). Each takes the next group of streams (a rank: one fixed group) until
 * none is left; rows are merged in the order of the groups, so that they equal those of a single process, in
 * its order.
 *
 *   streams  s0 s1 s2 s3 | s4 s5 s6 s7 | s8 ...      rows:  those of the first group, then new ones
 *   process  this one    | a child     | this ...           of the second, ...
 *
 * Processes and not threads: reading adds names and numbers to a run, and forked processes share what was
 * read before without a lock. Readers use their own map of the pages, so LMDB is not called after a fork.
 */
#ifndef TIMELINE_PARALLEL_SUM_H
#define TIMELINE_PARALLEL_SUM_H

#include "timeline/sum/window.h"

/* Adds one stream's sums to the window; runs in any of the processes. */
typedef int parallel_sum_add(void *own, struct window *window, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* Calls `add` for each stream. Metrics of doubles are all added here, because their sums depend on order.
 * Ranks above 0 then have only their own part of the rows. */
int parallel_sum_streams(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, parallel_sum_add *add, void *own, struct error *error);

/* Whether this process has others beside the calling thread, or it is not known: then it must not be forked,
 * and who opens a run for it sets `jobs` to 1. */
bool parallel_sum_has_threads(void);

#endif
