/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_key.h - the key of a context: which function, path, module or line its time falls on, after it
 * was cut at a depth. Statistics and blame make their rows of these, so that the same key means the same
 * code.
 */
#ifndef TIMELINE_ROW_KEY_H
#define TIMELINE_ROW_KEY_H

#include "store/base/bytes.h"
#include "timeline/run/run.h"

enum row_key_by {
	ROW_KEY_FUNCTION, /* the innermost, be it inlined */
	ROW_KEY_PATH,
	ROW_KEY_MODULE,
	ROW_KEY_LINE,
	ROW_KEY_LOOP,	     /* the innermost: FILE:LINE of its header, MODULE+0xOFFSET without lines */
	ROW_KEY_INLINE,	     /* the function and what is inlined in it up to there, joined by ';' */
	ROW_KEY_FILE,	     /* that holds the line */
	ROW_KEY_INSTRUCTION, /* MODULE+0xOFFSET */
	ROW_KEY_SCRIPT /* the innermost function of a script (row_key_is_script), where the path has none the
			innermost of all */
};

/* The function at the depth asked for, and the position and loop in it. */
struct row_key {
	uint32_t function; /* of the run; UINT32_MAX: no context */
	const char *file;  /* "" when not known */
	uint32_t line;
	uint32_t loop;	/* RUN_LOOP_NONE: in none */
	uint32_t scope; /* UINT32_MAX: no context */
};

/* Of a context of the run, cut at `depth` frames from the root; its strings are the run's, until it is
 * renewed or closed. */
struct row_key row_key_of(const struct run *run, uint32_t context, uint32_t depth);
/* Is it code that was made at run time and has a name: Python's, JavaScript's, Java's? What such a function
 * calls in an interpreter or a library, it asked for. */
bool row_key_is_script(const struct run_function *function);
bool row_key_has_script(const struct run *run, uint32_t context);
/* Appends the key's text, escaped, as the TSV prints it. False when memory is out. */
bool row_key_put(
	struct store_bytes *out, const struct run *run, uint32_t context, enum row_key_by by, uint32_t depth);

#endif
