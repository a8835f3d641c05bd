/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline.h - a profile as a tree that folds: open rows, order of siblings, zoom, flattening, hot path. Knows
 * no screen.
 *
 *   profile rows --columns--> values --sort, open, zoom, flatten--> lines
 *
 * Rows are identified by the hash of their path, so that open rows stay open when the window moves.
 */
#ifndef TUI_OUTLINE_H
#define TUI_OUTLINE_H

#include "timeline/base/formula.h"
#include "timeline/profile/frame_filter.h"
#include "timeline/profile/profile.h"

#define OUTLINE_COLUMNS 32 /* metrics twice, and derived ones */
#define OUTLINE_NAME 64
#define OUTLINE_FORMULA 512
#define OUTLINE_FORMAT 16
#define OUTLINE_ZOOMS 64

enum outline_column_kind { OUTLINE_INCLUSIVE, OUTLINE_EXCLUSIVE, OUTLINE_DERIVED };

struct outline_column {
	enum outline_column_kind kind;
	char name[OUTLINE_NAME];
	char title[OUTLINE_NAME];    /* given by the user; "": the name */
	char format[OUTLINE_FORMAT]; /* of printf, given by the user; "": its own */
	int place;		     /* shown ones stand by it, then by number */
	size_t metric;		     /* of the profile; derived: none */
	struct formula *formula;
	char text[OUTLINE_FORMULA]; /* of the formula */
	bool is_hidden;
	bool is_time, is_bytes; /* its unit: ns, bytes, else counts */
	bool has_percent;
};

struct outline_line {
	uint32_t row; /* of the profile */
	uint32_t level;
};

struct outline_set { /* of path hashes */
	uint64_t *items;
	size_t count, capacity;
};

struct outline {
	struct profile profile;
	struct outline_column columns[OUTLINE_COLUMNS];
	size_t column_count;
	size_t sort; /* column */
	bool is_ascending;
	double *values; /* [row][column] */
	uint64_t *hashes;
	uint32_t *order, *first_child, *next; /* siblings in sort order */
	struct outline_set open;
	uint64_t hot[OUTLINE_ZOOMS * 4];
	size_t hot_count;
	uint64_t zooms[OUTLINE_ZOOMS];
	size_t zoom_count;
	unsigned flatten; /* levels of the top taken away */
	struct outline_line *lines;
	size_t line_count;
};

/* Loads a profile, whose rows must outlive the outline. Makes the columns of metrics; keeps derived columns
 * and parses them again. */
int outline_load(struct outline *outline, const struct profile *profile, struct error *error);
void outline_fini(struct outline *outline);

/* Adds a derived metric; one of that name is replaced. */
int outline_derive(struct outline *outline, const char *name, const char *formula, bool has_percent,
	struct error *error);
/* Sorts siblings by that column, or by the first one if it does not exist. */
void outline_sort(struct outline *outline, size_t column);
/* Heading of the column. */
const char *outline_title(const struct outline_column *column);
/* Writes the shown columns in their order to `order` (OUTLINE_COLUMNS); returns their number. */
size_t outline_shown(const struct outline *outline, size_t *order);
/* Puts a shown column to that place, 0: first. */
void outline_move(struct outline *outline, size_t column, size_t place);
double outline_value(const struct outline *outline, uint32_t row, size_t column);
/* Opens or closes a row; call outline_list() afterwards. */
void outline_set_open(struct outline *outline, uint32_t row, bool is_open);
bool outline_is_open(const struct outline *outline, uint32_t row);
bool outline_has_children(const struct outline *outline, uint32_t row);
bool outline_is_hot(const struct outline *outline, uint32_t row);
/* Opens and marks the hot path from the row down: children with at least `share` of their parent's sort
 * column (S4 10.3.2). Returns its last row. */
uint32_t outline_hot_path(struct outline *outline, uint32_t row, double share);
/* Recomputes the shown lines; call after any change. */
int outline_list(struct outline *outline, struct error *error);
/* Opens the ancestors of the row, and leaves a zoom that hides it. */
void outline_reveal(struct outline *outline, uint32_t row);
/* Line of a row, or of the nearest one above it. */
size_t outline_line_of(const struct outline *outline, uint32_t row);
/* The next row in sorted tree order, open or not; UINT32_MAX behind the last one. */
uint32_t outline_next_row(const struct outline *outline, uint32_t row, bool is_back);
/* Row with that path hash, UINT32_MAX: none. */
uint32_t outline_find_hash(const struct outline *outline, uint64_t hash);

/* ---- for outline*.c ---- */

/* Makes the columns and values of a newly loaded profile; keeps the user's choices for columns that existed.
 */
void outline_make_columns(struct outline *outline);

#endif
