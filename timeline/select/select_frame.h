/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_frame.h - a frame of a --context pattern that has conditions, GLOB@CONDITION@CONDITION...:
 *
 *   @function @inline @kernel    what it is; with =GLOB, and its name matches: @inline=operator*
 *   @file=GLOB @module=GLOB      of the function, by its whole path or by the path's last part
 *   @loop @line                  another node: one of the loops around the call, or the line of the call (of
 *                                the innermost frame: of the sample), both below the frame whose code they
 *                                are; with =12, =FILE:12 or a glob of that
 *   @cost>1% @own>=10ms          its inclusive, its exclusive time in the selector's window and streams: in
 *                                per cent of all, or with ns us ms s; signs < <= > >=
 *
 * An '@' before anything else is part of a name, as in memcpy@plt. Nodes that the pattern does not name,
 * loops and lines, are left out of paths, as they are in tables.
 */
#ifndef TIMELINE_SELECT_FRAME_H
#define TIMELINE_SELECT_FRAME_H

#include "store/base/bytes.h"
#include "timeline/select/select_cost.h"

enum select_frame_node { SELECT_FRAME_FUNCTION, SELECT_FRAME_LOOP, SELECT_FRAME_LINE };

struct select_frame_condition {
	unsigned what; /* index of the table of select_frame.c */
	char *glob;    /* NULL: none */
	char sign[3];  /* of a cost */
	double limit;
	bool is_percent;
};

struct select_frame {
	size_t begin, end; /* in the pattern */
	enum select_frame_node node;
	bool has_cost;
	char *name; /* glob of a function; NULL: any */
	struct select_frame_condition *conditions;
	size_t count;
};

/* Where the frame that begins at `text` ends: at a ';' that is not escaped, or at the text's end. */
size_t select_frame_size(const char *text);
/* Whether this frame has conditions; else the pattern's bytes are compared. */
bool select_frame_is_special(const char *text, size_t size);
/* ERROR_USAGE: what is wrong with it. Call fini in any case. */
int select_frame_parse(struct select_frame *frame, const char *text, size_t size, struct error *error);
void select_frame_fini(struct select_frame *frame);

/* `name`: the frame as it stands in paths. `costs` are read where the frame has conditions on them. */
bool select_frame_match_scope(const struct select_frame *frame, const struct run *run, uint32_t scope,
	const char *name, const struct select_cost *costs);
bool select_frame_match_loop(const struct select_frame *frame, const struct run *run, uint32_t scope,
	uint32_t loop, const struct select_cost *costs);
bool select_frame_match_line(const struct select_frame *frame, const struct run *run, uint32_t scope,
	const char *file, uint32_t line, const struct select_cost *costs);

#endif
