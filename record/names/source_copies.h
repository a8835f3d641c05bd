/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_copies.h - hpct-record --with-sources: copies the source files that symbols refer to into the run
 * when it ends, so that readers can show source lines on machines without the sources.
 */
#ifndef RECORD_SOURCE_COPIES_H
#define RECORD_SOURCE_COPIES_H

#include "store/write/writer.h"

#define SOURCE_COPIES_FILE_BYTES_MAX (4u << 20)
#define SOURCE_COPIES_BYTES_MAX (64u << 20) /* of all files of a store, uncompressed */
#define SOURCE_COPIES_FILES_MAX 8192u

/* Empty when zeroed. Copies nothing unless is_wanted. */
struct source_copies {
	bool is_wanted;
	uint8_t *is_known; /* one bit per text of the store */
	uint32_t known_capacity;
	uint32_t *waiting; /* texts of paths not copied yet */
	uint32_t waiting_count;
	size_t waiting_capacity;
	uint64_t bytes;
	uint32_t kept, missing, left_out; /* left_out: over the limits */
};

/* Queues the source file whose path is `text`. */
void source_copies_mention(struct source_copies *sources, uint32_t text);
/* Copies the queued files into the store and writes the counts to its meta `sources`. */
void source_copies_keep(struct source_copies *sources, struct store_writer *writer);
void source_copies_fini(struct source_copies *sources);

#endif
