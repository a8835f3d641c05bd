/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_runs.c - draws glyphs, colours and names of the runs in a row.
 */
#include "tui/views/cell_runs.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/label.h"
#include "tui/screen/palette.h"
#include "tui/screen/text.h"

#define NAME_AT 2	  /* a state's name stands this far inside its run, or by one where that is tight */
#define NAME_MIN_COLOUR 4 /* shorter runs have no name where colour tells them apart */

static enum grid_style plain_style(const struct session *session, const struct cell *cell, bool is_ink)
{
	if (session->lit != UINT32_MAX && cell->function != session->lit && !is_ink)
		return GRID_MIXED;
	return session_style(session, (enum extent_state)cell->state, cell->hash, is_ink);
}

/* The slot of a cell that has its function's own colour; UINT32_MAX: none. */
static unsigned slot_of(const struct session *session, const struct cell *cell)
{
	enum grid_style style;

	if (cell->function == UINT32_MAX || !(cell_has_holder(cell) || cell->kind == CELL_SOME))
		return UINT32_MAX;
	style = plain_style(session, cell, false);
	return style >= GRID_BLOCK && style < GRID_INK ? (unsigned)(style - GRID_BLOCK) : UINT32_MAX;
}

/* Beside a run of the same colour a function takes another. */
static enum grid_style block_style(const struct cell_runs_place *place, const struct cell *cell, bool is_ink)
{
	enum grid_style style = plain_style(place->session, cell, is_ink);

	if (place->second == UINT32_MAX || slot_of(place->session, cell) == UINT32_MAX)
		return style;
	return (enum grid_style)((is_ink ? GRID_INK : GRID_BLOCK) + (int)place->second);
}

static enum grid_style state_style(enum extent_state state)
{
	switch (state) {
	case EXTENT_SYNC:
		return GRID_WARNING;
	case EXTENT_LOST:
		return GRID_ERROR;
	case EXTENT_ABSENT:
		return GRID_TEXT;
	default:
		return GRID_GREY;
	}
}

static uint32_t block_fill(const struct session *session, const struct cell *cell)
{
	bool is_code = cell->state == EXTENT_WORK || cell->state == EXTENT_KERNEL;

	if (is_code && session->looks.colours && !session->looks.is_fill)
		return ' ';
	return (uint32_t)extent_state_glyph((enum extent_state)cell->state);
}

/* How much ran, as a height; where that is next to nothing, what the thread did instead. */
static uint32_t some_rune(const struct session *session, const struct cell *cell)
{
	if (cell->is_held && cell->is_brief)
		return (uint32_t)extent_state_glyph((enum extent_state)cell->nick);
	if (session->looks.is_ascii)
		return cell->eighths <= 1 ? ',' : ';';
	return 0x2580u + cell->eighths;
}

void cell_runs_put(const struct cell_runs_place *place, uint32_t column, uint32_t rune, enum grid_style style)
{
	for (int i = 0; i < place->wide; i++)
		grid_put(place->grid, place->row, place->column + (int)column * place->wide + i, rune, style);
}

static void draw_cell(const struct cell_runs_place *place, uint32_t column, const struct cell *cell)
{
	enum extent_state state = (enum extent_state)cell->state;

	switch (cell->kind) {
	case CELL_UNREAD:
		cell_runs_put(place, column, ':',
			cell->function == UINT32_MAX ? GRID_GREY : block_style(place, cell, true));
		break;
	case CELL_BLOCK:
		cell_runs_put(place, column,
			cell->nick ? (uint32_t)extent_state_glyph((enum extent_state)cell->nick)
				   : block_fill(place->session, cell),
			block_style(place, cell, false));
		break;
	case CELL_MIXED:
		cell_runs_put(place, column, '%', GRID_MIXED);
		break;
	case CELL_SOME:
		cell_runs_put(place, column, some_rune(place->session, cell), block_style(place, cell, true));
		break;
	default:
		cell_runs_put(place, column, (uint32_t)extent_state_glyph(state), state_style(state));
	}
}

/* The name's characters take the style of the cells that they stand in: paint where the function ran. */
static void restyle(
	const struct cell_runs_place *place, uint32_t from, uint32_t cells, const struct cell *row)
{
	for (uint32_t i = 0; i < cells * (uint32_t)place->wide; i++) {
		const struct cell *cell = &row[i / (uint32_t)place->wide];
		int column = place->column + (int)from * place->wide + (int)i;

		if (column < place->grid->columns)
			place->grid->cells[place->row * place->grid->columns + column].style =
				(uint8_t)(cell->kind == CELL_STATE
						  ? state_style((enum extent_state)cell->state)
						  : block_style(place, cell, cell->kind == CELL_SOME));
	}
}

/* Name of a run of one function: from its first cell, and its last one stays fill so that neighbours part. */
static void name_block(
	const struct cell_runs_place *place, uint32_t from, uint32_t cells, const struct cell *cell)
{
	char name[LABEL_BYTES], short_name[LABEL_BYTES + 2];
	const struct run_function *function;
	bool is_bracketed = cell->is_shorter && cell->state == EXTENT_WORK && cells >= NAME_MIN_COLOUR;
	int room = (int)cells - 1;

	if (cell->function == UINT32_MAX || room < 1 ||
		(place->session->looks.colours && cells < NAME_MIN_COLOUR))
		return;
	function = run_function(place->session->run, cell->function);
	label_fit(name, function->name, is_bracketed ? room - 2 : room, LABEL_CELL, place->grid->is_ascii);
	if (is_bracketed)
		snprintf(short_name, sizeof(short_name), "(%s)", name);
	else
		snprintf(short_name, sizeof(short_name), "%s", name);
	grid_text(place->grid, place->row, place->column + (int)from * place->wide, room, short_name,
		block_style(place, cell, false));
}

bool cell_runs_says_what(const struct run_function *function)
{
	return !function->is_placeholder || strncmp(function->name, "<omp ", 5) == 0;
}

/* Name of a run of a state, if there is one and all of it has room between its glyphs. */
static void name_state(
	const struct cell_runs_place *place, uint32_t from, uint32_t cells, const struct cell *cell)
{
	const struct run_function *function;
	char name[LABEL_BYTES] = "";
	int at = NAME_AT, length;

	if (cell->state == EXTENT_UNMONITORED)
		strcpy(name, "not monitored");
	if (cell->function != UINT32_MAX) {
		function = run_function(place->session->run, cell->function);
		if (cell_runs_says_what(function))
			label_fit(name, function->name, (int)cells, LABEL_CELL, place->grid->is_ascii);
	}
	length = text_cells(name);
	if (length + 2 * at > (int)cells)
		at = 1;
	if (!length || length + 2 * at > (int)cells || strstr(name, "\xe2\x80\xa6"))
		return;
	grid_text(place->grid, place->row, place->column + (int)from * place->wide + at, (int)cells, name,
		state_style((enum extent_state)cell->state));
}

/* A column of a run in which all did nothing but wait; NULL: one of them shows work, or none is only a wait.
 */
static const struct cell *wait_of_run(const struct cell *run, uint32_t cells)
{
	const struct cell *wait = NULL;

	for (uint32_t i = 0; i < cells; i++) {
		if (run[i].kind == CELL_STATE)
			wait = &run[i];
		else if (!run[i].is_brief)
			return NULL;
	}
	return wait;
}

static void draw_run(
	const struct cell_runs_place *place, uint32_t from, uint32_t cells, const struct cell *row)
{
	const struct cell *wait = wait_of_run(&row[from], cells);

	for (uint32_t i = 0; i < cells; i++)
		draw_cell(place, from + i, &row[from + i]);
	if (wait)
		name_state(place, from, cells * (uint32_t)place->wide, wait);
	else if (cell_has_holder(&row[from]) &&
		 (row[from].state == EXTENT_WORK || row[from].state == EXTENT_KERNEL)) {
		name_block(place, from, cells * (uint32_t)place->wide, &row[from]);
		restyle(place, from, cells, &row[from]);
	}
}

void cell_runs_draw(const struct cell_runs_place *place, const struct cell *row, uint32_t count)
{
	struct cell_runs_place at = *place;
	int colours = place->session->looks.colours;
	unsigned slots = palette_slots(colours), before = UINT32_MAX;

	for (uint32_t from = 0, i; from < count; from = i) {
		unsigned slot = colours ? slot_of(place->session, &row[from]) : UINT32_MAX;
		bool is_equal = from && slot != UINT32_MAX && before != UINT32_MAX &&
				slot % slots == before % slots && row[from].hash != row[from - 1].hash;

		for (i = from + 1; i < count && cell_is_same_run(&row[from], &row[i]); i++)
			;
		at.second = is_equal ? palette_second_slot(row[from].hash, before, colours) : UINT32_MAX;
		draw_run(&at, from, i - from, row);
		before = is_equal ? at.second : slot;
	}
}
