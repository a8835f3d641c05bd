/* SPDX-License-Identifier: Apache-2.0 */
/* launches_internal.h - for launches*.c alone: the table (launches_table.c), beside pairs (launches.c). */
#ifndef BLAME_LAUNCHES_INTERNAL_H
#define BLAME_LAUNCHES_INTERNAL_H

#include "blame/gpu/launches.h"

struct launches_reach {
	uint64_t least, most; /* links, but for 0; most is 0 where there is none */
};

/* Reaches as far as these links, and farther where it is to grow again. False, of all: memory is out. */
bool launches_table_widen(struct launches_part *part, struct launches_reach reach);
/* For one of which the table has another end. */
bool launches_put_again(struct launches *launches, uint64_t link, uint64_t end_ns);
/* Links that it reaches. */
bool launches_table_put(struct launches *launches, struct launches_part *part, const uint64_t *links,
	const uint64_t *ends_ns, size_t count);
/* Of a row below part->rows: the end; 0: none is known. */
uint64_t launches_table_row(const struct launches_part *part, uint64_t row);
void launches_table_free(struct launches_part *part);
/* Pages that are of no table. */
void launches_pages_free(struct launches *launches);

/* One that reaches no link but 0, of which it knows nothing. */
extern const struct launches_part launches_nothing;

#endif
