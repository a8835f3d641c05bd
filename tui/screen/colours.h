/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colours.h - colours that the user gave to functions by pattern (S4 10.10.3). The first match wins; all
 * other functions keep the colour of their hash.
 */
#ifndef TUI_COLOURS_H
#define TUI_COLOURS_H

#include "timeline/run/run.h"
#include "tui/screen/grid.h"

#define COLOURS_PATTERNS 32
#define COLOURS_GLOB 128

struct colours_pattern {
	char glob[COLOURS_GLOB]; /* of the name */
	int slot; /* of a context colour; -1: none, mixed grey; GRID_CONTEXTS + i: user colour i */
};

struct colours {
	struct colours_pattern patterns[COLOURS_PATTERNS];
	size_t count;
	int user[GRID_USERS]; /* colour indices of the terminal */
	int user_count;
	/* slot of the functions that match, by hash of the name */
	struct colours_match {
		uint64_t hash;
		int slot;
	} * matches;
	size_t match_count, match_room;
	struct colours_match spread[GRID_CONTEXTS]; /* slots given out so that none is shared */
	size_t spread_count;
	uint32_t functions; /* looked at so far */
};

void colours_fini(struct colours *colours);
/* WHAT as in config.h. False: not understood, or no room. */
bool colours_add(struct colours *colours, const char *glob, size_t glob_bytes, const char *what);
/* Gives the functions of these hashes, largest first, slots of their own: each keeps that of its name unless
 * a larger one has it. Patterns go first. */
void colours_spread(struct colours *colours, const uint64_t *hashes, size_t count);
/* Patterns and slots of another session, where they differ. */
void colours_follow(struct colours *colours, const struct colours *from);
/* Style of a function's block or ink; false: no pattern speaks of it. */
bool colours_find(
	struct colours *colours, const struct run *run, uint64_t hash, bool is_ink, enum grid_style *style);

#endif
