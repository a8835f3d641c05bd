/* SPDX-License-Identifier: Apache-2.0 */
/* last_arrival_internal.h - between last_arrival.c, which looks at processes, last_arrival_kernels.c and
 * last_arrival_threads.c; for them alone.
 */
#ifndef BLAME_LAST_ARRIVAL_INTERNAL_H
#define BLAME_LAST_ARRIVAL_INTERNAL_H

#include "blame/base/host_clocks.h"
#include "blame/base/process.h"
#include "blame/wait/last_arrival.h"

/* An occasion is of a window in which somebody waits for the last, or the last comes: not of one in which all
 * just leave. What is waited counts in the windows in which it is; who comes last may show behind them. */
static inline bool last_arrival_is_asked(
	const struct idle_question *question, uint64_t first_ns, uint64_t last_ns)
{
	return last_ns >= question->begin_ns && first_ns < question->end_ns;
}

/* Of a wait, what lies in the window. */
static inline uint64_t last_arrival_within(
	const struct idle_question *question, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > question->begin_ns ? begin_ns : question->begin_ns;
	end_ns = end_ns < question->end_ns ? end_ns : question->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Appends the process's threads, if two or more of them meet at barriers, to late->threads, which has room.
 */
int last_arrival_threads(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *process, struct error *error);

/* By kernels in which all ranks meet; late->parties has room for all processes, and stays all-zero where no
 * two of them meet so. */
int last_arrival_kernels(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, const struct host_clocks *clocks,
	struct arena *arena, struct error *error);
/* How the clocks were put together, widened by one more such answer; in `arena`. Nothing of one clock. */
int last_arrival_show_clocks(struct last_arrival *late, const struct host_clocks *clocks, struct arena *arena,
	struct error *error);

#endif
