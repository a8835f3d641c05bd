/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the key of a context: which function, path, module or line its time falls on, after it
 * was cut at a depth. Statistics and blame make their rows of these, so that the same key means the same
 * code.
 */
#ifndef TIMELINE_PLACE_H
#define TIMELINE_PLACE_H

#include "store/bytes.h"
#include "timeline/run.h"

enum place_by { PLACE_FUNCTION, PLACE_PATH, PLACE_MODULE, PLACE_LINE };

/* The function at the depth asked for, and the position in it. */
struct place {
	uint32_t function; /* of the run; UINT32_MAX: no context */
	const char *file;  /* "" when not known */
	uint32_t line;
};

struct place place_of(const struct run *run, uint32_t context, uint32_t depth);
/* Appends the key's text, escaped, as the TSV prints it. False when memory is out. */
bool place_put_key(
	struct store_bytes *out, const struct run *run, uint32_t context, enum place_by by, uint32_t depth);

#endif
