/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_copies.h - hpct-record --with-sources: the source files that names mention, kept in the run as they
 * are when it ends, so that lines can be read where the sources are not.
 */
#ifndef RECORD_SOURCE_COPIES_H
#define RECORD_SOURCE_COPIES_H

#include "store/write/writer.h"

#define SOURCES_FILE_BYTES_MAX (4u << 20)
#define SOURCES_BYTES_MAX (64u << 20) /* of all files of a store, unpacked */
#define SOURCES_FILES_MAX 8192u

/* All-zero: nothing is mentioned, and nothing is kept until is_wanted. */
struct sources {
	bool is_wanted;
	uint8_t *is_known; /* a bit for each text of the store */
	uint32_t known_room;
	uint32_t *waiting; /* texts not read yet */
	uint32_t waiting_count;
	size_t waiting_room;
	uint64_t bytes;
	uint32_t kept, missing, left_out; /* left out: beyond the limits */
};

/* The text is the path of a source file. */
void sources_mention(struct sources *sources, uint32_t text);
/* Reads what was mentioned since the last time into the store, and says in its meta `sources` how much. */
void sources_keep(struct sources *sources, struct store_writer *writer);
void sources_fini(struct sources *sources);

#endif
