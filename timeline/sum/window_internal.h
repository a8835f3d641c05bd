/* SPDX-License-Identifier: Apache-2.0 */
/* window_internal.h - inside window.c and window_weight.c: the window's state. */
#ifndef TIMELINE_WINDOW_INTERNAL_H
#define TIMELINE_WINDOW_INTERNAL_H

#include "store/base/hash_index.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/window.h"

/* Rows of one kind, as they were first met. */
struct window_rows {
	void *at;
	size_t row_bytes, count, capacity;
};

/* Where the row of a context stands: rollups bring thousands at a time, and a run has its contexts numbered.
 */
struct window_index {
	uint32_t *places; /* [run context] place + 1; 0: none yet */
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
	bool has_wrapped; /* some weight is more than 64 bits hold */
};

/* A copy behind the others: its place + 1; 0: memory is out. Rows move when one is made. */
uint32_t window_rows_add(struct window_rows *rows, const void *row);

/* Room for so many contexts, which are more than there is room for; false: memory is out. */
bool window_index_widen(struct window_index *index, uint32_t count);

/* Room for all contexts of the run. */
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
