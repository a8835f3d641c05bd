/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum.h - sums a stream's state timeline (extent.h): from rollups of the timeline inside the window
 * (store/states/state_rollup.h); between them, where a CPU thread has only samples, from the sums of its
 * samples (store/rollup/rollup.h); everything else is walked.
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

/* Consecutive samples, all of work: sample i, at begin_ns[i] + shift_ns, holds until the next one; the last
 * one counts with what follows. */
struct state_sum_rows {
	const uint64_t *begin_ns;
	const uint32_t *context; /* in the store */
	size_t count;
	uint64_t shift_ns;
	const uint32_t *contexts; /* the run's; NULL: the same numbers */
};

/* Receives the timeline from the window's begin to its end; pieces and sums come in order, without gaps or
 * overlaps. Each returns 0 or negative. */
struct state_sum_sink {
	void *own;
	int (*piece)(void *own, const struct extent *extent, struct error *error);
	/* Time in this state, operation and context, since the end of the last piece or sum; all of a
	 * stretch is in one bucket of 2^shift_max ns. */
	int (*sum)(
		void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error);
	/* Work between samples. NULL: given piece by piece. */
	int (*rows)(void *own, const struct state_sum_rows *rows, struct error *error);
	/* Work as in sum(), many at once, by context of the store (`contexts`: the run's; NULL: equal
	 * numbers). NULL: given one by one. */
	int (*columns)(void *own, const struct store_sum_columns *columns, const uint32_t *contexts,
		struct error *error);
	/* Returns whether one sum may include both moments. NULL: if they are in one bucket of 2^shift_max
	 * ns. */
	bool (*is_one)(void *own, uint64_t first_ns, uint64_t last_ns);
	/* The edge between buckets behind the first moment and not behind the last, if there is just one;
	 * else 0. With it `columns` may hold more than is in its bucket: `less` takes away what rows() gave,
	 * or will give, of that, `with_last` the count of the last row, too. May both be NULL. */
	uint64_t (*edge)(void *own, uint64_t first_ns, uint64_t last_ns);
	int (*less)(void *own, const struct state_sum_rows *rows, bool with_last, struct error *error);
	/* Called after sums that extend to here. May be NULL. */
	int (*reach)(void *own, uint64_t at_ns, struct error *error);
};

/* `shift_max`: sums do not cross the edges of buckets of 2^shift_max ns (63: no limit) or, if the sink has
 * is_one, come from rollups no larger. */
int state_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, unsigned shift_max,
	const struct state_sum_sink *sink, struct error *error);

/* The rules, in its store's time, that usable rollups of the stream's timeline were made with. */
int state_sum_rollup_rules(struct run *run, uint32_t stream, struct state_rules *rules, struct error *error);
/* An entry of such a rollup with ids of the run; begin and end are unset. */
struct extent state_sum_rollup_extent(
	struct run *run, const struct run_part *part, const struct store_sum *sum);

#endif
