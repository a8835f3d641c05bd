/* SPDX-License-Identifier: Apache-2.0 */
/* window_parts.h - inside window.c and window_weight.c: the window's state. */
#ifndef TIMELINE_WINDOW_PARTS_H
#define TIMELINE_WINDOW_PARTS_H

#include "timeline/run_parts.h"
#include "timeline/window.h"

/* What rows of a kind are told apart by. */
struct window_kind {
	size_t row_bytes;
	uint64_t (*hash)(const void *row);
	bool (*same)(const void *a, const void *b);
};

/* Rows of one kind in an array, and where each key stands in it. */
struct window_sums {
	const struct window_kind *kind;
	uint8_t *rows;
	size_t count, room;
	uint32_t *slots; /* place + 1, 0: free; twice as many as room */
};

/* Where the weights of a store's contexts stand, for one metric: rollups bring thousands at a time. */
struct window_places {
	const struct run_part *part;
	uint32_t metric; /* of the store */
	uint32_t count;
	uint32_t *rows; /* [context of the store] place + 1 */
};

struct window {
	struct run *run;
	struct window_sums times, weights;
	uint32_t *works; /* [run context] place + 1 of its work between samples */
	uint32_t work_count;
	struct window_places *places;
	size_t place_count;
	bool has_wrapped; /* some weight is more than 64 bits hold */
};

extern const struct window_kind window_weight_kind;

/* The row of a key, made from it when it is new; NULL when memory is out. Rows move when one is made. */
void *window_row(struct window_sums *sums, const void *key);

#endif
