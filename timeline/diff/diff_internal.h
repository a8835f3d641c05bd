/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_internal.h - parts of a comparison; for diff*.c only. diff_sum.c fills the columns, diff.c joins
 * them.
 */
#ifndef TIMELINE_DIFF_INTERNAL_H
#define TIMELINE_DIFF_INTERNAL_H

#include "store/base/arena.h"
#include "timeline/base/key_ids.h"
#include "timeline/diff/diff.h"

struct diff_key {
	struct store_hash text;
	uint64_t is_state;
};

/* One repeat's sums for a key; with a metric, amounts of it. */
struct diff_cell {
	uint64_t exclusive_ns, inclusive_ns, records;
	uint64_t exclusive_sampled_ns, inclusive_sampled_ns; /* the part of them that comes from samples */
	double exclusive_variance, inclusive_variance;	     /* from sampling, ns^2 */
};

struct diff_repeat {
	unsigned side;		 /* enum diff_side, or the number of one of many */
	struct diff_cell *cells; /* by row */
	size_t capacity;
	uint64_t lived_ns, known_ns, cost_ns, sampled_ns;
	uint64_t processes, threads; /* of CPU streams */
};

struct diff {
	struct diff_question question;
	struct key_ids keys;
	const char **texts; /* by row */
	size_t text_capacity;
	struct arena arena;
	const char *unit; /* of amounts */
	struct diff_repeat *repeats;
	size_t repeat_count;
	struct store_bytes key; /* scratch */
};

#endif
