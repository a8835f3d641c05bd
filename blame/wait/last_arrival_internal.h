/* SPDX-License-Identifier: Apache-2.0 */
/* last_arrival_internal.h - shared by last_arrival.c, which handles processes, last_arrival_kernels.c and
 * last_arrival_threads.c. */
#ifndef BLAME_LAST_ARRIVAL_INTERNAL_H
#define BLAME_LAST_ARRIVAL_INTERNAL_H

#include "blame/base/host_clocks.h"
#include "blame/base/process.h"
#include "blame/wait/last_arrival.h"

/* An occasion belongs to a window in which a party waits for the last, or the last arrives, not to one in
 * which all only leave. Each window counts the waiting inside it; the last arrival may be after it. */
static inline bool last_arrival_is_asked(
	const struct idle_question *question, uint64_t first_ns, uint64_t last_ns)
{
	return last_ns >= question->begin_ns && first_ns < question->end_ns;
}

/* The part of a wait inside the window. */
static inline uint64_t last_arrival_within(
	const struct idle_question *question, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > question->begin_ns ? begin_ns : question->begin_ns;
	end_ns = end_ns < question->end_ns ? end_ns : question->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Appends the threads of the process that met in OpenMP's regions to late->threads, which has room, by the
 * sums of regions.h: exact. *is_known: there were any, and samples have nothing to add. */
int last_arrival_regions(struct last_arrival *late, bool *is_known, struct run *run,
	const struct idle_question *question, const struct process *process, struct arena *arena,
	struct error *error);

/* Appends the process's threads to late->threads, which has room, if two or more meet at barriers. */
int last_arrival_threads(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *process, struct error *error);

/* From kernels in which all ranks meet; late->parties has room for all processes, and stays all-zero if no
 * two meet. */
int last_arrival_kernels(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, const struct host_clocks *clocks,
	struct arena *arena, struct error *error);
/* How the clocks were put together, widened by one more such answer; in `arena`. Nothing of one clock. */
int last_arrival_show_clocks(struct last_arrival *late, const struct host_clocks *clocks, struct arena *arena,
	struct error *error);

#endif
