/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues_parts.h - for queues*.c alone: rows of the store become items (queues_read.c), which are merged and
 * united many at a time (queues_unite.c), in loops without a call or a branch that depends on the data.
 */
#ifndef BLAME_QUEUES_PARTS_H
#define BLAME_QUEUES_PARTS_H

#include "blame/queues.h"
#include "timeline/scan.h"

enum work { WORK_KERNEL, WORK_COMM, WORK_OTHER, WORK_COUNT };

/* A span that is work. */
struct item {
	uint64_t begin_ns, end_ns;
	uint64_t since_ns; /* when it was queued */
	uint32_t context;
	uint32_t queue : 30; /* its number in the list */
	uint32_t work : 2;
};
_Static_assert(sizeof(struct item) == 32, "a register of 256 bits");

struct queue {
	struct scan *scan;
	struct item *items; /* [at, count): read, but not united yet */
	size_t at, count, room;
	bool is_over;
	uint32_t stream;
	size_t hint; /* where its launches are */
	uint64_t life_begin_ns, life_end_ns;
	uint64_t reach_ns; /* end of its spans so far */
	uint32_t reach_work;
	bool is_monitored;
};

struct life {
	uint64_t begin_ns, end_ns;
};

/* In order, taken away from the front. list[0] is the last that went. Of those from `final` on `queued_ns` is
 * that of the work up to the next one. */
struct gap_list {
	struct queues_gap *list;
	size_t first, final, count, room; /* count: with those that are gone */
};

struct slice {
	const struct item *items;
	size_t count;
};

struct queues {
	struct run *run;
	struct queues_question question;
	struct queue *list;
	uint32_t count;
	struct slice *slices;	/* one for each queue */
	struct item *merged[2]; /* scratch */
	size_t merged_room;
	uint8_t *kernels; /* by context: what a kernel there does */
	uint32_t context_count;
	uint8_t classes[STORE_OP_TEXT]; /* of operations */
	uint64_t since_ns[BATCH_ROWS];	/* of the batch at hand */
	bool is_odd, is_over;
	uint64_t reach_ns[WORK_COUNT]; /* of kernels, of kernels and communication, of all */
	uint64_t sum_ns[WORK_COUNT];
	uint64_t now_ns; /* spans that begin before are united; UINT64_MAX: all are */
	uint32_t part;
	struct queues_sums sums, sums_before; /* in all; up to the part's begin */
	struct life *lives;		      /* in order, apart */
	uint32_t life_count, life;
	struct queues_gap rest; /* of the gap that is being given */
	struct gap_list gaps;
};

/* ---- queues_read.c ---- */

int queue_open(struct queues *queues, uint32_t number, uint32_t stream, struct error *error);
/* At least one item more, unless the queue is over. */
int queue_fill(struct queues *queues, uint32_t number, struct error *error);
void queues_tell_classes(struct queues *queues);

/* ---- queues_unite.c ---- */

/* Unites the items of all slices. False when memory is out. */
bool queues_unite(struct queues *queues);
/* The gap that is left at the window's end. */
bool queues_unite_end(struct queues *queues);

#endif
