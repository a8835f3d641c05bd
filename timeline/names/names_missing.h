/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_missing.h - lists the frames of a store that a file can name.
 */
#ifndef TIMELINE_NAMES_MISSING_H
#define TIMELINE_NAMES_MISSING_H

#include "store/read/reader.h"

struct names_missing {
	uint32_t module; /* of the store */
	uint64_t offset; /* bytes, in the module */
};

/* Frames of all contexts in a file or a GPU binary, each once, by module and offset. The caller frees the
 * list. ERROR_IO: no memory, and the list is NULL. */
int names_missing_collect(
	const struct store_reader *reader, struct names_missing **wants, size_t *count, struct error *error);

#endif
