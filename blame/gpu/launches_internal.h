/* SPDX-License-Identifier: Apache-2.0 */
/* launches_internal.h - for launches*.c only: the table (launches_table.c) and the pairs (launches.c). */
#ifndef BLAME_LAUNCHES_INTERNAL_H
#define BLAME_LAUNCHES_INTERNAL_H

#include "blame/gpu/launches.h"

struct launches_reach {
	uint64_t least, most; /* links, without 0; most is 0: none */
};

/* Extends the table to these links, and further if it is likely to grow again. False, in all of these: no
 * memory. */
bool launches_table_widen(struct launches_part *part, struct launches_reach reach);
/* Adds a link for which the table has another end. */
bool launches_put_again(struct launches *launches, uint64_t link, uint64_t end_ns);
/* Adds links inside the table. */
bool launches_table_put(struct launches *launches, struct launches_part *part, const uint64_t *links,
	const uint64_t *ends_ns, size_t count);
/* The end in a row below part->rows; 0: unknown. */
uint64_t launches_table_row(const struct launches_part *part, uint64_t row);
void launches_table_free(struct launches_part *part);
/* Frees pages that no table uses. */
void launches_pages_free(struct launches *launches);

/* An empty table that covers only link 0, with no end. */
extern const struct launches_part launches_nothing;

#endif
