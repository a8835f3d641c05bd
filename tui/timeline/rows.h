/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the rows of the timeline: process > CPU threads, device > queues, each group open or folded.
 * Made from the run's stream table alone; no records are read for a row before it is on the screen.
 *
 *   nodes    process, its threads, its devices, their queues, next process ... (a pre-order tree)
 *            threads of a pool that hardly does anything stand in one group, folded at first (rows_build.c)
 *   shown    the nodes that are rows now: nothing folded away, hidden or filtered out; pinned ones first
 *
 * A process that is a single stream is that one row, without a group row above it.
 *
 * Where the run tells who started whom, processes stand below the one that started them (rows_tree.h): a
 * process's nodes, then those of its children. That is an order and an indentation, no group: a process has
 * its own streams alone.
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "timeline/run/run.h"

/* Of rows that stand side by side. */
enum rows_order { ROWS_BY_IDENTITY, ROWS_BY_NAME, ROWS_BY_BEGIN, ROWS_BY_RECORDS, ROWS_ORDER_COUNT };

enum rows_kind { ROWS_PROCESS, ROWS_THREAD, ROWS_DEVICE, ROWS_QUEUE, ROWS_POOL, ROWS_KIND_COUNT };

struct rows_node {
	enum rows_kind kind;
	uint32_t stream; /* the stream, or a group's first one */
	uint32_t next;	 /* node behind its subtree */
	uint32_t parent; /* node, UINT32_MAX: none */
	uint8_t level;	 /* in its process: 0, 1, 2 */
	uint8_t depth;	 /* of its process, below the one that started it */
	uint8_t lines;	 /* that the user chose for it; 0: as many as there is room for */
	bool is_folded, is_hidden, is_pinned, is_match;
	bool is_branch_folded;	    /* of a process's first node: its children are not shown */
	uint32_t branch_next;	    /* of a process's first node: the node behind its children's children */
	uint32_t branch_parent;	    /* the first node of the process that started it; UINT32_MAX: none */
	bool has_lost;		    /* the stream lost records, somewhere in the run */
	uint64_t begin_ns, records; /* of the stream; of a group's first, of all together */
};

struct rows_tree;

struct rows {
	struct rows_node *nodes;
	uint32_t node_count;
	uint32_t *shown; /* node of each row */
	uint32_t shown_count;
	uint32_t *side_by_side; /* room for rows_update() */
	bool has_lines;		/* the user chose the lines of some */
	enum rows_order order;	/* call rows_update() after a change */
	uint32_t stream_count;	/* of the run */
	uint32_t line_count;	/* those with a row: without streams of PC samples */
	uint32_t process_count, thread_count, device_count, host_count, rank_count;
	uint32_t lost_count; /* streams that lost records */
	bool *is_filtered;   /* by stream: the filter takes it; NULL: no filter */
	uint64_t version;    /* another one after each update, of all rows that there are */
	struct rows_labels *labels;
	struct rows_tree *tree; /* NULL: not told, or of very many processes */
};

/* Makes rows of all streams of the run. If there are very many, only the first group is open. */
int rows_init(struct rows *rows, const struct run *run, struct error *error);
void rows_fini(struct rows *rows);
/* After run_renew(): adds new streams; keeps which rows are folded, hidden or pinned. */
int rows_renew(struct rows *rows, const struct run *run, struct error *error);

/* Shows only these streams, those of pools, too; NULL removes the filter. */
int rows_filter(struct rows *rows, const uint32_t *streams, uint32_t count, struct error *error);
/* Call after changing a flag of a node, or the order. */
void rows_update(struct rows *rows);

/* Labels of a node, raw, as the stream table has them; made at the first request, since a run may have many
 * thousand rows and a screen shows fifty. Valid as long as the rows; "": memory is out.
 *
 *   label         "rank 0 node07", "cc1plus foo.cc 4711", "main", "client 2" (the function it was started
 * for), "q7 compute" short_label   where that has no room: "rank 0", "q7" long_label    for the status line:
 * "rank 1 main"; stream_label: that of the stream's node
 */
const char *rows_label(const struct rows *rows, uint32_t node);
const char *rows_short_label(const struct rows *rows, uint32_t node);
const char *rows_long_label(const struct rows *rows, uint32_t node);
const char *rows_stream_label(const struct rows *rows, uint32_t stream);
/* For rows.c; NULL: memory is out. */
struct rows_labels *rows_labels_new(const struct run *run, uint32_t node_count, const struct rows_tree *tree);
void rows_labels_free(struct rows_labels *labels);

const char *rows_order_name(enum rows_order order);
/* For rows.c: fills the empty `rows`, without the list of shown rows and without labels. Call rows_fini()
 * after an error, too. */
int rows_build(struct rows *rows, const struct run *run, struct error *error);
/* For rows_build.c: sets the values that rows are sorted by: of each stream's node, then of all groups. */
void rows_order_take(struct rows_node *node, const struct store_stream *s);
void rows_order_take_groups(struct rows *rows);

bool rows_is_group(const struct rows_node *node);
/* Whether processes that this node's process started stand below it. */
bool rows_has_branch(const struct rows *rows, uint32_t node);
/* The first node of the process that a node is of. */
uint32_t rows_process(const struct rows *rows, uint32_t node);
/* Row of a node, or of the group it is folded into; UINT32_MAX: it is not shown. */
uint32_t rows_find(const struct rows *rows, uint32_t node);
/* Node of a stream. */
uint32_t rows_node_of(const struct rows *rows, uint32_t stream);
/* Nodes of a kind below a node (itself, if it is one) that are neither hidden nor filtered out: the next node
 * after `from`, UINT32_MAX at the end.
 */
uint32_t rows_below(const struct rows *rows, uint32_t node, uint32_t from, enum rows_kind kind);
/* All streams that are neither hidden nor filtered out, folded or not, into the caller's array of
 * stream_count (NULL: only counted); returns their number. */
uint32_t rows_streams(const struct rows *rows, uint32_t *streams);
/* After run_renew() without new streams: which of them lost records by now. */
void rows_renew_lost(struct rows *rows, const struct run *run);
/* The same of those that lost records. */
uint32_t rows_lost_streams(const struct rows *rows, uint32_t *streams);

#endif
