/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_heap.h - for scan.c only: merges chunks, least next record first.
 */
#ifndef TIMELINE_SCAN_HEAP_H
#define TIMELINE_SCAN_HEAP_H

#include "store/read/reader.h"

/* One chunk, or the open spans. */
struct scan_source {
	struct store_chunk chunk;
	struct store_batch batch;
	size_t at;	  /* next row */
	uint64_t head_ns; /* its begin; before decoding, that of the chunk's first record */
	uint32_t order;	  /* of arrival */
	bool is_decoded;
	void *own; /* columns of open spans */
};

/* All-zero is empty. */
struct scan_heap {
	struct scan_source **sources; /* the least first */
	size_t count, capacity;
	struct scan_source **spare; /* for reuse: room for the largest number so far */
	size_t spare_count;
	uint32_t arrivals;
};

/* An empty source; NULL: no memory. */
struct scan_source *scan_source_new(struct scan_heap *heap);
void scan_source_free(struct scan_source *source);
/* Makes open spans look like a decoded chunk; negative: no memory. */
int scan_source_fill(struct scan_source *source, const struct store_record *records, size_t count);

/* Takes ownership of the source, even on failure. */
int scan_heap_push(struct scan_heap *heap, struct scan_source *source, struct error *error);
/* Removes the first source. */
void scan_heap_pop(struct scan_heap *heap);
/* Reorders the first source after its next record has changed. */
void scan_heap_settle(struct scan_heap *heap);
void scan_heap_fini(struct scan_heap *heap);

#endif
