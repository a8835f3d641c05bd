/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations_internal.h - for operations*.c only. operations.c reads launches and operations into lists,
 * operations_sum.c sorts the lists and sums them.
 */
#ifndef TIMELINE_OPERATIONS_INTERNAL_H
#define TIMELINE_OPERATIONS_INTERNAL_H

#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/stats/operations.h"

struct operation {
	uint64_t link, begin_ns, end_ns;
	uint32_t process, row;
};

/* A process has its own link numbers, if a script made the trace. */
struct operations_launch {
	uint64_t link, end_ns;
	uint32_t process;
};

/* Duration or delay of an operation. */
struct took {
	uint64_t time_ns;
	uint32_t row;
};

struct change {
	uint64_t time_ns;
	int step;
};

struct operations_work {
	struct run *run;
	const struct select *select;
	struct arena *arena;
	struct external_sort *launches, *operations;
	struct external_sort *durations, *at_work; /* struct took; struct change: of the union of each
						      queue */
	struct external_sort *delays, *queued;
	uint64_t begin_ns, end_ns; /* current operation of the current queue; end 0: none yet */
	struct key_ids keys;	   /* of rows */
	struct key_ids processes;
	uint32_t process; /* of the current stream */
	struct operations_row *rows;
	size_t row_capacity;
};

/* Makes the empty lists for reading. Free them also after an error. */
int operations_lists_new(struct operations_work *work, struct error *error);
void operations_lists_free(struct operations_work *work);
/* After reading: computes the sums from the lists, freeing each, and sorts the rows. ERROR_IO: no memory, or
 * no space for a file. */
int operations_sum(struct operations_work *work, struct operations *operations, struct error *error);

#endif
