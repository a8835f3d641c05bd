/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the numbers of one screen: the window laid on columns, and for each stream read the exact time by
 * context and state in every column. Views (cells, statistics, call stack) project the leaf contexts to a
 * depth; that, and moving the cursor, reads nothing from the store.
 *
 * A dense line (hundreds of records per column) is read already projected: its contexts stand for their
 * function at the depth. Another depth projects it again, from the leaves that tiles keep or, where a column
 * has many thousands, from rollups. frame_leaves() reads its leaves.
 */
#ifndef TUI_FRAME_H
#define TUI_FRAME_H

#include "store/base/arena.h"
#include "timeline/profile/frame_filter.h"
#include "timeline/tile/tile.h"
#include "tui/timeline/shares.h"

/* One stream under the frame's columns. Column i has entries [first[i], first[i + 1]). */
struct frame_line {
	uint32_t stream;
	uint32_t level;	 /* of the projection of its entries (frame_level); 0: of leaf contexts */
	uint32_t *first; /* column count + 1 */
	struct tile_entry *entries;
	uint64_t there_ns, known_ns, lost_ns; /* of all columns: alive; monitored; with records lost */
	uint64_t busy_ns, waits_ns, preempted_ns;
	struct cell *cells;		   /* what frame_cell found, by column */
	uint32_t cells_level;		   /* of which projection; 0: not yet */
	struct cell *chart;		   /* chart.h: [level below][column] */
	uint32_t chart_lines, chart_level; /* room in it; of which projection, 0: not yet */
};

struct group_busy;
struct frame_coarse;

struct frame {
	struct run *run;
	struct tiles *tiles;
	struct tile_columns columns;
	uint32_t capacity; /* of the edges */
	uint64_t want_begin_ns, want_end_ns;
	uint32_t want_width;
	uint64_t begin_ns, end_ns; /* of the columns: exactly what is on the screen */
	struct arena arena;
	struct frame_line **lines;	   /* by stream; NULL: not read */
	uint32_t step_stream, step_column; /* progress of frame_read_step(), at step_level */
	uint32_t step_level;
	struct frame_line **leaves;   /* of dense ones; NULL: not read */
	struct frame_coarse **coarse; /* of dense ones; NULL: not read */
	struct group_busy *busy;      /* of groups, group_busy.c */
	uint64_t
		*lost_ns; /* by stream: of those beyond the screen; FRAME_LOST_UNREAD: not read. NULL: none */
	uint8_t *is_damaged; /* by stream: its line cannot be read */
	bool is_damage_said; /* of these lines */
	uint32_t stream_count;
	/* projection of contexts to a depth */
	uint32_t depth; /* a number, or one of run_depth_below() */
	uint32_t below; /* so many levels below it are drawn, too: dense lines keep them apart */
	uint32_t level; /* of the projection: frame_level() */
	struct frame_level_key {
		uint32_t depth, below, filters, passing;
	} * levels; /* those that there were */
	uint32_t level_count;
	uint32_t passing_changes; /* how often run_set_passing() changed something: the session tells */
	uint32_t *function;	  /* by context; UINT32_MAX - 1: not looked up yet */
	uint8_t *is_shorter;
	uint32_t context_count;
	uint32_t *stand_ins; /* [scope + 1] first context met; 0: none yet */
	size_t stand_in_count;
	struct tile_projection projection; /* to the depth */
	uint32_t dense_records;		   /* a line with as many per column is dense */
	uint32_t rolled_records; /* with as many, reading it again is as cheap as keeping its leaves */
	uint32_t deepest_met;	 /* of leaves of dense lines */
	struct shares shares;	 /* of the column used last */
	const struct frame_filter_pattern *filters;
	size_t filter_count;
	uint32_t filter_changes;
	uint8_t *filter_of; /* by function */
	uint32_t filter_functions;
};

/* Identifies a projection: depth, levels below it and filters. */
static inline uint32_t frame_level(const struct frame *frame)
{
	return frame->level;
}

/* Makes an empty frame; run and tiles must outlive it. Fails only for lack of memory; call frame_fini() then,
 * too. */
int frame_init(struct frame *frame, struct run *run, struct tiles *tiles, struct error *error);
void frame_fini(struct frame *frame);
/* Lays [begin, end) on `width` columns. Lines stay when nothing changed. */
int frame_lay(struct frame *frame, uint64_t begin_ns, uint64_t end_ns, uint32_t width, struct error *error);
/* Forgets all lines: the run was renewed. */
int frame_renew(struct frame *frame, struct error *error);
/* The line of a stream, read now if needed. Valid until frame_lay() changes the window. */
int frame_read(struct frame *frame, uint32_t stream, const struct frame_line **line, struct error *error);
/* Reads the next `columns` of the line; sets *is_done once the line is complete. Switching to another stream
 * keeps the data of this one, but the next step on it starts over. */
int frame_read_step(
	struct frame *frame, uint32_t stream, uint32_t columns, bool *is_done, struct error *error);
/* The same without reading; NULL: not read yet. */
const struct frame_line *frame_line(const struct frame *frame, uint32_t stream);

/* The same with leaf contexts. Reads those of a dense line now; NULL if that fails, too. */
const struct frame_line *frame_leaves(struct frame *frame, uint32_t stream);
/* The entries of one column with leaf contexts; of a dense line this reads only that column. Valid until the
 * next call; NULL: the read failed, or the line is not read yet. */
const struct tile_entry *frame_leaves_at(
	struct frame *frame, uint32_t stream, uint32_t column, uint32_t *count, struct error *error);
uint64_t frame_column_ns(const struct frame *frame, uint32_t column); /* begin; column == count: the end */
uint64_t frame_column_length(const struct frame *frame, uint32_t column);
uint32_t frame_column_at(const struct frame *frame, uint64_t time_ns); /* clamped to the window */

/* ---- frame_cell.c: what a column shows ---- */

/* The share that an entry belongs to: copies and sets by state, others by function. */
struct cell_share frame_share(struct frame *frame, const struct tile_entry *entry);
/* Writes the largest `capacity` shares of a column, by descending time; returns their number. */
size_t frame_shares(struct frame *frame, const struct frame_line *line, uint32_t column,
	struct cell_share *shares, size_t capacity);
/* The cell of the column at the frame's depth. */
struct cell frame_cell(struct frame *frame, const struct frame_line *line, uint32_t column);
/* The cell of these entries. */
struct cell frame_decide(
	struct frame *frame, const struct tile_entry *entries, uint32_t count, uint64_t length_ns);
/* Time at work among a tile's entries, and the time in which the stream existed. */
uint64_t frame_busy_of(
	const struct tile_entry *entries, uint32_t count, uint64_t length_ns, uint64_t *there_ns);
/* Time at work in a column, and the time in it during which the stream existed. */
uint64_t frame_busy_ns(
	const struct frame *frame, const struct frame_line *line, uint32_t column, uint64_t *there_ns);
/* Adds a stream's time at work and its lifetime to sums by column; does not keep its line. */
int frame_busy_read(
	struct frame *frame, uint32_t stream, uint64_t *busy_ns, uint64_t *there_ns, struct error *error);

#define FRAME_LOST_UNREAD UINT64_MAX
/* Reads how much of the window a stream lost; does not keep its line. */
int frame_lost_read(struct frame *frame, uint32_t stream, struct error *error);
/* Of its line, if that is read, else as frame_lost_read() found; FRAME_LOST_UNREAD before, and of a stream
 * that cannot be read. */
uint64_t frame_lost_ns(const struct frame *frame, uint32_t stream);

/* ---- frame_coarse.c: previews ---- */

/* Reads a dense line in tiles of a dozen columns, which need few rollups, until the line itself is read. */
int frame_read_coarse(struct frame *frame, uint32_t stream, struct error *error);
/* frame_busy_read() of a dense stream in such tiles, spread evenly over the columns; else the same. */
int frame_busy_read_coarse(
	struct frame *frame, uint32_t stream, uint64_t *busy_ns, uint64_t *there_ns, struct error *error);
/* The preview's cells by column at the frame's depth; NULL: not read. */
const struct cell *frame_coarse(const struct frame *frame, uint32_t stream);

/* ---- frame_depth.c: contexts at a depth ---- */

/* True: this stream's line is read projected. */
bool frame_is_dense(const struct frame *frame, uint32_t stream);
/* The projection for such a stream; valid until the next call. */
const struct tile_projection *frame_projection(struct frame *frame, uint32_t stream);
/* Sets the depth of the projection, and how many levels below it lines are to keep apart. Also after
 * run_set_passing() changed something. */
void frame_set_depth(struct frame *frame, uint32_t depth);
void frame_set_below(struct frame *frame, uint32_t below);
void frame_passing_changed(struct frame *frame);
/* Function of a context at the depth, UINT32_MAX for none. */
uint32_t frame_function(struct frame *frame, uint32_t context, bool *is_shorter);
/* The function so many levels above the depth; at depth 1 at the most. Sets *is_deep if there are more above.
 */
uint32_t frame_function_above(struct frame *frame, uint32_t context, uint32_t above, bool *is_deep);
/* Filters remove functions from every path. The frame keeps the pointer. `changes` differs for every list. */
void frame_set_filters(
	struct frame *frame, const struct frame_filter_pattern *filters, size_t count, uint32_t changes);
/* The scope of a path, given by its innermost one, that stands so many levels below the depth. Below the
 * depth of a kernel (its own frame) the frames that launched it follow, from the outermost. */
uint32_t frame_scope_below(struct frame *frame, uint32_t scope, uint32_t below, bool *is_shorter);
static inline uint32_t frame_scope(struct frame *frame, uint32_t scope, bool *is_shorter)
{
	return frame_scope_below(frame, scope, 0, is_shorter);
}
/* The deepest path among the contexts of the lines read. */
uint32_t frame_deepest(const struct frame *frame);

#endif
