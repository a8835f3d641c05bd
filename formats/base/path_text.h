/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_text.h - a call path as hpct prints it, "main;solve;<gpu kernel>;k1", back into contexts of a store.
 */
#ifndef FORMATS_PATH_TEXT_H
#define FORMATS_PATH_TEXT_H

#include "store/base/bytes.h"
#include "store/write/writer.h"

struct path_text {
	struct store_writer *writer;
	uint32_t text_module;
	struct store_bytes name; /* scratch; the owner's to free */
};

/* The context of a path that is not empty; sets *is_partial if one of its frames says so. ERROR_USAGE,
 * without a sentence: a wrong escape; ERROR_IO: no memory. */
int path_text_context(
	struct path_text *to, const char *text, size_t size, uint32_t *context, bool *is_partial);

/* The context of that frame below `parent` (0: it is the first). Frames of hpct's own, as "<thread root>",
 * are known by their names. */
uint32_t path_text_frame(struct path_text *to, uint32_t parent, const char *name, size_t size);

#endif
