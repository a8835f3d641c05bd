/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_internal.h - for gaps.c and gaps_kept.c: the gap that is open, and those that are kept. */
#ifndef BLAME_GAPS_INTERNAL_H
#define BLAME_GAPS_INTERNAL_H

#include "blame/idle/gaps.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"

/* Whose time it is within a gap. */
struct charge_key {
	uint32_t cause, context;
};

/* One of those whose time it is. */
struct party {
	uint32_t function, context;
	exact_share_fixed amount;
};

#define GAPS_FUNCTIONS 1024u

struct gaps {
	const struct run *run; /* since the first moment of a gap */
	uint64_t min_ns;
	size_t limit;
	struct gap *list; /* with as many as the limit: a heap, the last of them first */
	size_t count, capacity, given;
	struct external_sort *spill;
	struct error failure; /* of the spill */
	bool is_open, is_sorted;
	uint64_t begin_ns, end_ns; /* of the open one */
	uint64_t cause_ns[GAP_CAUSE_COUNT];
	struct key_ids keys;	    /* of the open one: charge_key */
	exact_share_fixed *charges; /* by number */
	size_t charge_capacity;
	struct party *parties;
	size_t party_capacity;
	struct {
		uint32_t context, function;
	} functions[GAPS_FUNCTIONS]; /* that were asked for before, by context */
	struct gap_class classes[GAP_CLASSES];
};

/* One of the list, unless it is full of larger ones. False when memory is out. */
bool gaps_keep(struct gaps *gaps, const struct gap *gap);

#endif
