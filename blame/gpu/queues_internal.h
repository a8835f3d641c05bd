/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues_internal.h - for queues*.c only: rows of the store become edges (queues_read.c), whose common gaps
 * are found many at a time (queues_unite.c, gap_intersect.c), in loops without calls or data-dependent
 * branches.
 *
 *   queue     |#0#|   |#1#||#2#|     |#3#|
 *   open_ns   w   0e      1e   2e        3e     before span i nothing has run since open_ns[i]: the end of
 *   begin_ns  0b      1b   2b        3b  never  those before, w for the window's begin
 */
#ifndef BLAME_QUEUES_INTERNAL_H
#define BLAME_QUEUES_INTERNAL_H

#include "blame/gpu/queues.h"
#include "timeline/scan/scan.h"

/* The kind of a span, and the kinds that count as busy: all up to a level. */
enum level { LEVEL_KERNEL, LEVEL_COMM, LEVEL_ANY, LEVEL_COUNT };

/* A queue's spans at a level; [at, count) are read but not merged yet. Row `count` begins never. */
struct edges {
	uint64_t *open_ns, *begin_ns;
	uint64_t reach_ns; /* end of the spans so far */
	size_t at, count;
};

struct queue_reader {
	struct scan *scan;
	struct edges edges[LEVEL_COUNT]; /* those requested */
	uint64_t *links;		 /* by row of LEVEL_ANY; NULL: queued work is not needed */
	uint64_t *since_ns; /* of the rows being merged: when the first of it and all later rows became
			       queued */
	uint64_t *origin;   /* by row of LEVEL_ANY: queues_origin(); NULL: not needed */
	size_t capacity;
	bool is_over;
	uint32_t stream;
	uint64_t life_begin_ns, life_end_ns;
	uint64_t reach_ns; /* end of its spans so far */
	bool is_monitored;
};

struct life {
	uint64_t begin_ns, end_ns;
};

/* Columns of gaps, with room for one more before and one after. */
struct gap_columns {
	uint64_t *begin_ns, *end_ns;
	uint64_t *queued_ns; /* of work that begins at its end or later, as far as merged */
	uint64_t *origin;
	uint8_t *is_copy; /* of kernels */
	size_t count, capacity;
};

/* The row after the last exists too, and begins later than all merged rows; nothing is queued there. */
struct view {
	const uint64_t *open_ns, *begin_ns;
	const uint64_t *since_ns; /* when that row or a later one became queued */
	const uint64_t *origin;
	uint64_t before_ns; /* minimum of since_ns */
	size_t count;
};

/* In order, removed from the front. Row 0 is the last one removed. */
struct gap_list {
	struct gap_columns of;
	size_t first, final; /* of.count includes removed rows */
	size_t ordered;	     /* from `final` to here queued_ns does not fall */
};

/* Rows of a batch that are work. */
struct rows {
	const uint64_t *begin_ns, *end_ns, *links;
	const uint32_t *context;
	size_t count;
	unsigned kinds; /* bits 1 << enum level */
	bool overlap;	/* these rows, or earlier ones, may overlap */
};

/* The same for a batch with other rows too, or of which only some count. */
struct rows_memory {
	uint64_t begin_ns[BATCH_ROWS], end_ns[BATCH_ROWS], links[BATCH_ROWS];
	uint32_t context[BATCH_ROWS];
	uint8_t kind[BATCH_ROWS];
};

struct queues {
	struct run *run;
	struct queues_question question;
	bool wants[LEVEL_COUNT]; /* LEVEL_KERNEL: from the first communicating kernel on */
	struct queue_reader *list;
	uint32_t count;
	uint32_t unmonitored; /* that live in the window, as far as known */
	struct view *views;   /* one for each queue */
	struct gap_columns scratch[2], found[LEVEL_COUNT];
	uint8_t *kernels; /* by context: what kind of kernel it is */
	uint32_t context_count;
	uint8_t classes[STORE_OP_TEXT + 1]; /* of operations */
	struct rows_memory *work, *part;
	bool is_odd, is_over;
	bool has_ended;		       /* all is merged up to the window's end */
	uint64_t idle_ns[LEVEL_COUNT]; /* gaps so far */
	uint64_t now_ns;	       /* spans that begin before are merged; UINT64_MAX: all are */
	uint64_t given_ns;	       /* of gaps between kernels: they are in the list up to there */
	uint32_t part_number;
	struct queues_sums sums, sums_before; /* in total; up to the begin of the part */
	struct life *lives;		      /* in order, disjoint */
	uint32_t life_count, life;
	struct queues_gap rest; /* of the current gap */
	struct gap_list gaps;
};

static inline uint64_t queues_earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static inline uint64_t queues_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Packs a span's queue number and context. */
static inline uint64_t queues_origin(uint32_t number, uint32_t context)
{
	return (uint64_t)number << 32 | context;
}

/* ---- queues_read.c ---- */

/* Sets queues->list[number] to that stream of the run, read from the window's begin on; call queue_close()
 * also after an error (no memory, damaged run). */
int queue_open(struct queues *queues, uint32_t number, uint32_t stream, struct error *error);
void queue_close(struct queue_reader *queue);
/* Reads at least one more row, unless the queue has ended. */
int queue_fill(struct queues *queues, uint32_t number, struct error *error);
void queues_tell_classes(struct queues *queues);

/* ---- queues_edges.c: false: no memory ---- */

/* begin() expects all-zero but its life; forget() frees. */
bool queue_begin(const struct queues *queues, struct queue_reader *queue);
void queue_forget(struct queue_reader *queue);
/* For one more batch. */
bool queue_reserve(const struct queues *queues, struct queue_reader *queue);
bool queue_put_rows(struct queues *queues, uint32_t number, const struct rows *rows);

/* ---- gap_intersect.c ---- */

/* Appends the gaps common to both lists; `b` NULL: those of one. */
void gap_intersect(const struct view *a, const struct view *b, struct gap_columns *to);
/* Intersects neighbours until at most two of the queues' views are left, `rows` long together. False: no
 * memory. */
bool gap_intersect_pairs(struct queues *queues, uint32_t *count, size_t rows, const struct gap_columns *like);

/* ---- queues_unite.c ---- */

/* Room for `more` rows in the columns that `like` has; gap_columns_fini() frees. False: no memory. */
bool gap_columns_reserve(struct gap_columns *columns, size_t more, const struct gap_columns *like);
/* Adds an empty row before the first one. */
void gap_columns_begin(struct gap_columns *columns);
/* True when each value is known not to be larger than later ones; make_least() makes it so. */
bool queues_are_least(const uint64_t *since_ns, size_t count);
void queues_make_least(uint64_t *since_ns, size_t known, size_t count);
void gap_columns_fini(struct gap_columns *columns);
/* Finds the gaps that end before, or the last one, which the window's end cuts. False: no memory. */
bool queues_unite(struct queues *queues, uint64_t until_ns, bool is_end);
/* From when on all queues are quiet at that level: all that begins before is merged. */
uint64_t queues_open_ns(const struct queues *queues, enum level level);

#endif
