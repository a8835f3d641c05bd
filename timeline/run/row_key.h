/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_key.h - the key of a context: the function, path, module or line that its time counts for, after
 * cutting it at a depth. Statistics and blame both use these keys for rows, so that equal keys mean the same
 * code.
 */
#ifndef TIMELINE_ROW_KEY_H
#define TIMELINE_ROW_KEY_H

#include "store/base/bytes.h"
#include "timeline/run/run.h"

enum row_key_by {
	ROW_KEY_FUNCTION, /* the innermost function, inlined or not */
	ROW_KEY_PATH,
	ROW_KEY_MODULE,
	ROW_KEY_LINE,
	ROW_KEY_LOOP,	     /* the innermost loop: FILE:LINE of its header, MODULE+0xOFFSET without lines */
	ROW_KEY_INLINE,	     /* the function and what is inlined in it up to there, joined by ';' */
	ROW_KEY_FILE,	     /* the file of the line */
	ROW_KEY_INSTRUCTION, /* MODULE+0xOFFSET */
	ROW_KEY_SCRIPT	     /* the innermost function of a script (row_key_is_script); without one the
				innermost of all */
};

/* The function at the requested depth, and the position and loop in it. */
struct row_key {
	uint32_t function; /* of the run; UINT32_MAX: no context */
	const char *file;  /* "" if unknown */
	uint32_t line;
	uint32_t loop;	/* RUN_LOOP_NONE: none */
	uint32_t scope; /* UINT32_MAX: no context */
};

/* The key of a run's context, cut at `depth` frames from the root; its strings are the run's, valid until it
 * is renewed or closed. */
struct row_key row_key_of(const struct run *run, uint32_t context, uint32_t depth);
/* True for named code generated at run time: Python's, JavaScript's, Java's. Work that such a function
 * causes in an interpreter or a library counts for it. */
bool row_key_is_script(const struct run_function *function);
bool row_key_has_script(const struct run *run, uint32_t context);
/* Appends the key's text, escaped as in the TSV. False: no memory. */
bool row_key_put(
	struct store_bytes *out, const struct run *run, uint32_t context, enum row_key_by by, uint32_t depth);

#endif
