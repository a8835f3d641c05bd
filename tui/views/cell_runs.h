/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_runs.h - a row of cells on the grid: neighbouring cells of one function form a run with one name
 * (tui/SCREEN.md). The timeline draws streams with it, the depth view the levels of a call path.
 */
#ifndef TUI_CELL_RUNS_H
#define TUI_CELL_RUNS_H

#include "tui/session/session.h"

/* Where cells of one row go. */
struct cell_runs_place {
	struct session *session;
	struct grid *grid;
	int row, column;
	bool has_cursor;
	int wide;	 /* screen columns of a cell */
	unsigned second; /* cell_runs_draw()'s own */
};

/* The cells of `count` columns, names of runs in them, a nick where a state has its part. */
void cell_runs_draw(const struct cell_runs_place *place, const struct cell *row, uint32_t count);
/* Whether a frame says what is done in it: OpenMP's constructs do, roots and unknown places do not. */
bool cell_runs_says_what(const struct run_function *function);
/* One character in all columns of a cell. */
void cell_runs_put(
	const struct cell_runs_place *place, uint32_t column, uint32_t rune, enum grid_style style);

#endif
