/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_copies.h - hpct-record --with-sources: the source files that names mention, kept in the run as they
 * are when it ends, so that lines can be read where the sources are not.
 */
#ifndef RECORD_SOURCE_COPIES_H
#define RECORD_SOURCE_COPIES_H

#include "store/write/writer.h"

#define SOURCE_COPIES_FILE_BYTES_MAX (4u << 20)
#define SOURCE_COPIES_BYTES_MAX (64u << 20) /* of all files of a store, unpacked */
#define SOURCE_COPIES_FILES_MAX 8192u

/* All-zero: nothing is mentioned, and nothing is kept until is_wanted. */
struct source_copies {
	bool is_wanted;
	uint8_t *is_known; /* a bit for each text of the store */
	uint32_t known_capacity;
	uint32_t *waiting; /* texts not read yet */
	uint32_t waiting_count;
	size_t waiting_capacity;
	uint64_t bytes;
	uint32_t kept, missing, left_out; /* left out: beyond the limits */
};

/* The text is the path of a source file. */
void source_copies_mention(struct source_copies *sources, uint32_t text);
/* Reads what was mentioned since the last time into the store, and says in its meta `sources` how much. */
void source_copies_keep(struct source_copies *sources, struct store_writer *writer);
void source_copies_fini(struct source_copies *sources);

#endif
