/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_loops.h - puts the loops around an offset between the scopes that are known of it: each below the
 * function or inlined function whose source holds it, with the file and line of its header.
 */
#ifndef TIMELINE_NAMES_LOOPS_H
#define TIMELINE_NAMES_LOOPS_H

#include "store/catalog/symbol_protocol.h"
#include "timeline/code/loops.h"

/* Where lines come from: functions at an address, outermost first, at most NAMES_SCOPE_MAX; their number, 0:
 * nothing known there, negative: memory. Strings live as long as the module. */
struct names_lines {
	int (*find)(void *context, uint64_t address, struct names_scope *scopes, struct error *error);
	void *context;
};

/*
 * The answer holds functions only, outermost first; `lines` (may be NULL) is where it comes from. Loops are
 * added as scopes of kind NAMES_LOOP: `decl_file` and `decl_line` are the header's ("" and 0 when there are
 * no lines), `start` its offset, `name` is empty, and positions (`file`, `line`) pass through them as through
 * inlined calls. Returns 0 or negative (memory).
 *
 * The line of a loop is the lowest that its own function has for the branches back and out, in the file of
 * the first branch back: that is where compilers put the `for` or `while` (of `do ... while`, its
 * end). Other instructions are not asked, since many were moved in from elsewhere; nor is a line
 * believed that lies above the outer loop's.
 */
int names_loops_insert(struct loops *loops, const struct loops_function *function,
	const struct names_lines *lines, struct symbol_answer *answer, struct error *error);

#endif
