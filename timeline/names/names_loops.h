/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_loops.h - inserts loops between the scopes of an offset: each below the function or inlined function
 * whose source contains it, with the file and line of its header.
 */
#ifndef TIMELINE_NAMES_LOOPS_H
#define TIMELINE_NAMES_LOOPS_H

#include "store/catalog/symbol_protocol.h"
#include "timeline/code/loops.h"

/* Source of lines: functions at an address, outermost first, at most NAMES_SCOPE_MAX; returns their number,
 * 0: unknown, negative: no memory. Strings live as long as the module. */
struct names_lines {
	int (*find)(void *context, uint64_t address, struct names_scope *scopes, struct error *error);
	void *context;
};

/*
 * The answer has only functions, outermost first; `lines` (may be NULL) is its source. Loops are added as
 * scopes of kind NAMES_LOOP: `decl_file` and `decl_line` are the header's ("" and 0 without lines), `start`
 * its offset, `name` is STORE_LOOP_SPIN or empty, and positions (`file`, `line`) pass through them as through
 * inlined calls. Returns 0 or negative (no memory).
 *
 * A loop's line is the lowest line of its own function at the branches back and out, in the file of the
 * first branch back: compilers put the `for` or `while` there (of `do ... while`, its end). Other
 * instructions are ignored, because many were moved in from elsewhere; so is a line above the outer loop's.
 */
int names_loops_insert(struct loops *loops, const struct loops_function *function,
	const struct names_lines *lines, struct symbol_answer *answer, struct error *error);

#endif
