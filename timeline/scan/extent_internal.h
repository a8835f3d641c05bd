/* SPDX-License-Identifier: Apache-2.0 */
/* extent_internal.h - for extent.c and extent_at.c: a walk, between the records that it reads and its pieces.
 */
#ifndef TIMELINE_EXTENT_INTERNAL_H
#define TIMELINE_EXTENT_INTERNAL_H

#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"

#define EXTENT_KIND_CACHE 16u

/* Records of one track, one by one. */
struct extent_feed {
	struct scan *scan;
	struct extent_source source; /* where there is no scan */
	const struct batch *batch;
	size_t row;
	uint64_t next_ns; /* begin of the row; UINT64_MAX: no more */
	uint64_t ops;	  /* spans: bits of the operations that say something about the line */
	bool wants_texts; /* those that are texts, too */
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
	uint32_t ended; /* synchronization that the last sample was taken in */
	bool has_held, tells_resumed, tells_ended;
	struct extent_classes classes;
	struct {
		uint64_t end_ns; /* of its operations so far */
		uint32_t context;
	} running[EXTENT_CLASSES];
	struct { /* copies' attributes that were read already */
		uint32_t attributes;
		enum extent_state state;
	} kinds[EXTENT_KIND_CACHE];
};

#endif
