/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations_internal.h - inside the count of operations; for operations*.c alone. operations.c reads
 * launches and operations into lists, operations_sum.c puts the lists in order and answers from them.
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

/* A process numbers its links by itself, where a script made the trace. */
struct operations_launch {
	uint64_t link, end_ns;
	uint32_t process;
};

/* How long an operation took, or waited. */
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
	struct external_sort *durations, *at_work; /* struct took; struct change: of the queues, united */
	struct external_sort *delays, *queued;
	uint64_t begin_ns, end_ns; /* of the queue at hand: what it does now; end 0: nothing yet */
	struct key_ids keys;	   /* of rows */
	struct key_ids processes;
	uint32_t process; /* of the stream at hand */
	struct operations_row *rows;
	size_t row_capacity;
};

/* Those that are put to while reading, empty. They are to be freed after an error, too. */
int operations_lists_new(struct operations_work *work, struct error *error);
void operations_lists_free(struct operations_work *work);
/* When all is read: the answers from the lists, each of which goes when it has answered, and the rows in
 * order. ERROR_IO: memory or its file's disk is out. */
int operations_sum(struct operations_work *work, struct operations *operations, struct error *error);

#endif
