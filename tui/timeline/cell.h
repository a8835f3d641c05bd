/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - what one cell of the timeline shows (tui/SCREEN.md, "Cells"), from the exact shares of its column.
 * Pure: shares in, decision out; the thresholds are all in one table here.
 */
#ifndef TUI_CELL_H
#define TUI_CELL_H

#include "timeline/scan/extent.h"

/* Shares are fractions of the column, in eighths. */
#define CELL_LOST_EIGHTHS 1	/* so much lost makes the cell lost */
#define CELL_DOMINANT_EIGHTHS 4 /* so much of one context makes it the cell's */
#define CELL_HELD_EIGHTHS 4	/* so much held by one context, running or not, gives it the cell's name */
#define CELL_NICK_EIGHTHS 1	/* so much of a state shows inside a block */
#define CELL_BUSY_EIGHTHS 4	/* so much work without a dominant context is `mixed` */
#define CELL_BLIND_EIGHTHS 4	/* unmonitored must be at least so much, else the known state shows */

/* Time of one function, or of one state, in a column. Copies and sets have no function of their own. */
struct cell_share {
	enum extent_state state;
	uint32_t function; /* run function, UINT32_MAX: none */
	uint64_t hash;	   /* of the function: decides ties the same way on every machine */
	uint64_t time_ns;
	uint64_t records;
	bool is_shorter; /* the path ends above the depth asked for */
};

enum cell_kind {
	CELL_UNREAD, /* not read yet, or not committed yet */
	CELL_BLOCK,  /* share `lead` dominates and works */
	CELL_MIXED,
	CELL_SOME, /* some work of `lead`; with is_held the rest of the column is its, too */
	CELL_STATE /* no work, or records were lost */
};

struct cell {
	uint8_t kind;	 /* enum cell_kind */
	uint8_t state;	 /* enum extent_state of the block or of the glyph */
	uint8_t nick;	 /* state inside a block or beside some work; EXTENT_ABSENT: none */
	uint8_t eighths; /* CELL_SOME: height 1..4 */
	bool is_brief;	 /* CELL_SOME: less than one eighth */
	bool is_held; /* CELL_SOME: the lead holds the column: it ran a part, and was preempted or waited */
	bool is_shorter;
	uint8_t above;	   /* the function stands so many levels above the depth: none at the depth holds the
			      column */
	uint32_t function; /* of the lead or of the state's context; UINT32_MAX: none */
	uint64_t hash;
	uint64_t time_ns; /* of the lead or state */
};

/* `column_ns` is the length of the column; the shares' times add up to it. */
struct cell cell_decide(const struct cell_share *shares, size_t count, uint64_t column_ns);
/* A cell that shows no more than the wait of its function, which is a caller of those of the shares: where
 * one of these waited for half of the column, the cell is its wait. True: it is. */
bool cell_decide_wait(struct cell *cell, const struct cell_share *shares, size_t count, uint64_t column_ns);

/* Does the cell's function hold most of its column, running, preempted or waiting? It has name and colour. */
bool cell_has_holder(const struct cell *cell);

/* Neighbours that belong to one run: it carries one name. A nick does not end a run, nor does how much of the
 * column the function ran; a state does. */
bool cell_is_same_run(const struct cell *a, const struct cell *b);

#endif
