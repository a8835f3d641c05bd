/* SPDX-License-Identifier: Apache-2.0 */
/* window_internal.h - shared by window.c and window_weight.c: the window's state. */
#ifndef TIMELINE_WINDOW_INTERNAL_H
#define TIMELINE_WINDOW_INTERNAL_H

#include "store/base/hash_index.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/window.h"

/* Rows of one kind, in order of first use. */
struct window_rows {
	void *at;
	size_t row_bytes, count, capacity;
};

/* Index of contexts' rows: an array, because rollups bring thousands at a time and a run numbers its
 * contexts. */
struct window_index {
	uint32_t *places; /* [run context] 1 + index; 0: none yet */
	uint32_t count;
};

struct window {
	struct run *run;
	struct window_rows times, weights;
	struct window_index columns; /* of work between samples, among the times */
	struct hash_index others;    /* of the other times */
	size_t other_count;
	struct window_index *metrics; /* of weights */
	uint32_t metric_count;
	bool has_wrapped; /* some weight exceeds 64 bits */
};

/* Appends a copy and returns 1 + its index; 0: no memory. May move the rows. */
uint32_t window_rows_add(struct window_rows *rows, const void *row);

/* Enlarges the index for more contexts; false: no memory. */
bool window_index_widen(struct window_index *index, uint32_t count);

/* Makes room for all contexts of the run. */
static inline bool window_index_reach(struct window_index *index, const struct run *run)
{
	const uint32_t count = run_context_count(run);

	return count <= index->count || window_index_widen(index, count);
}

static inline uint32_t window_index_at(const struct window_index *index, uint32_t context)
{
	return __builtin_expect(context < index->count, true) ? index->places[context] : 0;
}

#endif
