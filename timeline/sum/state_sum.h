/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum.h - a stream's line as extent.h tells it, summed up: rollups of the line where they lie in the
 * window (store/states/state_rollup.h), and between them, where a CPU thread does nothing but be sampled, the
 * sums of its samples (store/rollup/rollup.h); everything else is walked.
 *
 *   rollups          |=======2^36=======|=2^33|=2^33|
 *   given       walked | sums             sums   sums  walked
 *
 *   without them, spans                |--blocked--|
 *   samples     s s s s s s s s s s s s s         s s s s s s s s s s s
 *   given       walked | sum     |gap| walked       |gap| sum   | walked
 */
#ifndef TIMELINE_STATE_SUM_H
#define TIMELINE_STATE_SUM_H

#include "store/chunk/sum_columns.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"

/* Samples one behind the other, all of them work: sample i, which begins at begin_ns[i] + shift_ns,
 * holds the line until the next one; the last one is counted with what follows. */
struct state_sum_rows {
	const uint64_t *begin_ns;
	const uint32_t *context; /* in the store */
	size_t count;
	uint64_t shift_ns;
	const uint32_t *contexts; /* the run's; NULL: the same numbers */
};

/* Takes the line from the window's begin to its end; pieces and sums come in order, without gap or
 * overlap. Each returns 0 or negative. */
struct state_sum_sink {
	void *own;
	int (*piece)(void *own, const struct extent *extent, struct error *error);
	/* Time in this state, operation and context, from where the last piece or sum ended; all of a
	 * stretch's lie in one bucket of 2^shift_max ns. */
	int (*sum)(
		void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error);
	/* Work between samples. NULL: it is given piece by piece. */
	int (*rows)(void *own, const struct state_sum_rows *rows, struct error *error);
	/* Work, as sum() is given, many at once, by context of the store (`contexts`: the run's; NULL: the
	 * same numbers). NULL: it is given one by one. */
	int (*columns)(void *own, const struct store_sum_columns *columns, const uint32_t *contexts,
		struct error *error);
	/* May one sum hold both moments? NULL: if they lie in one bucket of 2^shift_max ns. */
	bool (*is_one)(void *own, uint64_t first_ns, uint64_t last_ns);
	/* After sums that reach up to here. NULL: of no interest. */
	int (*reach)(void *own, uint64_t at_ns, struct error *error);
};

/* `shift_max`: sums do not reach over the edges of buckets of 2^shift_max ns (63: anything goes), or, where
 * the sink tells what is one, are of rollups no larger. */
int state_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, unsigned shift_max,
	const struct state_sum_sink *sink, struct error *error);

/* The rules, in its store's time, by which rollups of the stream's line must have been made. */
int state_sum_rollup_rules(struct run *run, uint32_t stream, struct state_rules *rules, struct error *error);
/* What an entry of such a rollup is to the run; a stretch without begin and end. */
struct extent state_sum_rollup_extent(
	struct run *run, const struct run_part *part, const struct store_sum *sum);

#endif
