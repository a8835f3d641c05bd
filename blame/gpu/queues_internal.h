/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues_internal.h - for queues*.c alone: rows of the store become edges (queues_read.c), of which the gaps
 * of all queues are found many at a time (queues_unite.c, gap_intersect.c), in loops without a call or a
 * branch that depends on the data.
 *
 *   queue     |#0#|   |#1#||#2#|     |#3#|
 *   open_ns   w   0e      1e   2e        3e     before span i nothing has run since open_ns[i]: the end of
 *   begin_ns  0b      1b   2b        3b  never  those before, w for the window's begin
 */
#ifndef BLAME_QUEUES_INTERNAL_H
#define BLAME_QUEUES_INTERNAL_H

#include "blame/gpu/queues.h"
#include "timeline/scan/scan.h"

/* What a span is, and which spans count: those of a kind up to there. */
enum level { LEVEL_KERNEL, LEVEL_COMM, LEVEL_ANY, LEVEL_COUNT };

/* Of a queue's spans that count at a level, [at, count) being read, but not united yet. Row `count` begins
 * never. */
struct edges {
	uint64_t *open_ns, *begin_ns;
	uint64_t reach_ns; /* end of the spans so far */
	size_t at, count;
};

struct queue_reader {
	struct scan *scan;
	struct edges edges[LEVEL_COUNT]; /* those that are wanted */
	uint64_t *links; /* by row of LEVEL_ANY; NULL: nobody asks since when work is queued */
	uint64_t
		*since_ns; /* of the rows that are being united: since when one of them or behind is queued */
	uint64_t *origin;  /* by row of LEVEL_ANY: queues_origin(); NULL: nobody asks */
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

/* Columns of gaps, and room for one more before them and one behind. */
struct gap_columns {
	uint64_t *begin_ns, *end_ns;
	uint64_t *queued_ns; /* of what begins at its end or behind, as far as was united with it */
	uint64_t *origin;
	uint8_t *is_copy; /* of kernels */
	size_t count, capacity;
};

/* The first row behind `count` is there, too, and begins later than all that is met; nothing is queued there.
 */
struct view {
	const uint64_t *open_ns, *begin_ns;
	const uint64_t *since_ns; /* when that row or one behind was queued */
	const uint64_t *origin;
	uint64_t before_ns; /* since_ns of any */
	size_t count;
};

/* In order, taken away from the front. Row 0 is the last that went. */
struct gap_list {
	struct gap_columns of;
	size_t first, final; /* of.count: with those that are gone */
	size_t ordered;	     /* from `final` to there queued_ns does not fall */
};

/* Rows of a batch that are work. */
struct rows {
	const uint64_t *begin_ns, *end_ns, *links;
	const uint32_t *context;
	size_t count;
	unsigned kinds; /* bits 1 << enum level */
	bool overlap;	/* they may, or what came before */
};

/* The same when the batch has others, too, or when only some count. */
struct rows_memory {
	uint64_t begin_ns[BATCH_ROWS], end_ns[BATCH_ROWS], links[BATCH_ROWS];
	uint32_t context[BATCH_ROWS];
	uint8_t kind[BATCH_ROWS];
};

struct queues {
	struct run *run;
	struct queues_question question;
	bool wants[LEVEL_COUNT]; /* LEVEL_KERNEL: from the first kernel that communicates */
	struct queue_reader *list;
	uint32_t count;
	uint32_t unmonitored; /* that live in the window, as far as is known */
	struct view *views;   /* one for each queue */
	struct gap_columns scratch[2], found[LEVEL_COUNT];
	uint8_t *kernels; /* by context: what a kernel there does */
	uint32_t context_count;
	uint8_t classes[STORE_OP_TEXT + 1]; /* of operations */
	struct rows_memory *work, *part;
	bool is_odd, is_over;
	bool has_ended;		       /* all is united up to the window's end */
	uint64_t idle_ns[LEVEL_COUNT]; /* gaps so far */
	uint64_t now_ns;	       /* spans that begin before are united; UINT64_MAX: all are */
	uint64_t given_ns;	       /* of gaps of kernels: up to there they are in the list */
	uint32_t part_number;
	struct queues_sums sums, sums_before; /* in all; up to the part's begin */
	struct life *lives;		      /* in order, apart */
	uint32_t life_count, life;
	struct queues_gap rest; /* of the gap that is being given */
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

/* The queue that a span is of, by its number, and its context. */
static inline uint64_t queues_origin(uint32_t number, uint32_t context)
{
	return (uint64_t)number << 32 | context;
}

/* ---- queues_read.c ---- */

/* queues->list[number] becomes that stream of the run, read from the window's begin on; queue_close() also
 * after an error (memory, a damaged run). */
int queue_open(struct queues *queues, uint32_t number, uint32_t stream, struct error *error);
void queue_close(struct queue_reader *queue);
/* At least one row more, unless the queue is over. */
int queue_fill(struct queues *queues, uint32_t number, struct error *error);
void queues_tell_classes(struct queues *queues);

/* ---- queues_edges.c: false when memory is out ---- */

/* All-zero but for its life; frees what it holds. */
bool queue_begin(const struct queues *queues, struct queue_reader *queue);
void queue_forget(struct queue_reader *queue);
/* For one batch more. */
bool queue_reserve(const struct queues *queues, struct queue_reader *queue);
bool queue_put_rows(struct queues *queues, uint32_t number, const struct rows *rows);

/* ---- gap_intersect.c ---- */

/* The gaps that both lists have in common, appended; `b` NULL: those of one. */
void gap_intersect(const struct view *a, const struct view *b, struct gap_columns *to);
/* Meets neighbours until no more than two of the queues' views are left, `rows` long in all. False when
 * memory is out. */
bool gap_intersect_pairs(struct queues *queues, uint32_t *count, size_t rows, const struct gap_columns *like);

/* ---- queues_unite.c ---- */

/* Room for `more` rows in the columns that `like` has; gap_columns_fini() frees. False: memory is out. */
bool gap_columns_reserve(struct gap_columns *columns, size_t more, const struct gap_columns *like);
/* A row before the first one, which is over. */
void gap_columns_begin(struct gap_columns *columns);
/* Whether each is surely not later than those behind it; makes it so, where of `known` rows it is known. */
bool queues_are_least(const uint64_t *since_ns, size_t count);
void queues_make_least(uint64_t *since_ns, size_t known, size_t count);
void gap_columns_fini(struct gap_columns *columns);
/* Finds the gaps that end before, or the last one, which the window's end cuts there. False when memory is
 * out. */
bool queues_unite(struct queues *queues, uint64_t until_ns, bool is_end);
/* All queues are quiet from then on, at that level: what begins before was united. */
uint64_t queues_open_ns(const struct queues *queues, enum level level);

#endif
