/* SPDX-License-Identifier: Apache-2.0 */
/* loops_internal.h - shared by loops.c and loops_keep.c: a function's loops, kept after its graph is freed.
 */
#ifndef TIMELINE_LOOPS_INTERNAL_H
#define TIMELINE_LOOPS_INTERNAL_H

#include "timeline/code/loops.h"

struct loops_piece {
	uint64_t begin, end;
	uint32_t loop; /* innermost */
};

struct loops_kept_one {
	uint64_t header;
	uint32_t parent, place, place_count, back_count; /* place: index of the first in `places` */
	uint32_t body, body_count, level;		 /* body: index of the first in `bodies` */
	bool is_irreducible;
};

struct loops_kept {
	struct loops_kept *next;
	uint64_t entry;
	struct loops_piece *pieces; /* blocks within loops, by address */
	struct loops_kept_one *loops;
	uint64_t *places, *bodies;
	uint32_t piece_count, loop_count;
};

/* Fills in a function that has only its entry; the caller frees its arrays. 0 or -1: no memory. */
int loops_keep(struct loops_kept *function, const struct cfg *cfg, struct parse_budget *budget);

#endif
