/* SPDX-License-Identifier: Apache-2.0 */
/* extent_internal.h - for extent.c and extent_at.c: a walk, between the records read and its pieces. */
#ifndef TIMELINE_EXTENT_INTERNAL_H
#define TIMELINE_EXTENT_INTERNAL_H

#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"

#define EXTENT_KIND_CACHE 16u

/* Records of one track, one by one. */
struct extent_feed {
	struct scan *scan;
	struct extent_source source; /* instead of a scan */
	const struct batch *batch;
	size_t row;
	uint64_t next_ns; /* begin of the row; UINT64_MAX: no more */
	uint64_t ops;	  /* spans: bits of the operations that affect the timeline */
	bool wants_texts; /* also those that are texts */
};

struct extent_walk {
	struct run *run;
	const struct run_line *line;
	unsigned store;
	uint64_t begin_ns, end_ns; /* window */
	struct extent_feed samples, spans;
	struct line_walk sweep;
	struct extent held; /* grows until a different piece follows */
	uint64_t held_owner;
	uint32_t ended; /* synchronization in which the last sample was taken */
	bool has_held, tells_resumed, tells_ended;
	struct { /* attributes of copies already parsed */
		uint32_t attributes;
		enum extent_state state;
	} kinds[EXTENT_KIND_CACHE];
};

#endif
