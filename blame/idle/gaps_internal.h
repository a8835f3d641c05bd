/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_internal.h - for gaps.c and gaps_kept.c: the open gap, and the gaps kept. */
#ifndef BLAME_GAPS_INTERNAL_H
#define BLAME_GAPS_INTERNAL_H

#include "blame/idle/gaps.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"

/* What a part of a gap's time is charged to. */
struct charge_key {
	uint32_t cause, context;
};

/* One of these charges. */
struct party {
	uint32_t function, context;
	exact_share_fixed amount;
};

#define GAPS_FUNCTIONS 1024u

struct gaps {
	const struct run *run; /* since the first moment of a gap */
	uint64_t min_ns;
	size_t limit;
	struct gap *list; /* with a limit, once full: a heap, the last of the order first */
	size_t count, capacity, given;
	struct external_sort *spill;
	struct error failure; /* of the external sort */
	bool is_open, is_sorted;
	uint64_t begin_ns, end_ns; /* of the open gap */
	uint64_t cause_ns[GAP_CAUSE_COUNT];
	struct key_ids keys;	    /* of the open gap: charge_key */
	exact_share_fixed *charges; /* by number */
	uint32_t charge_capacity;
	struct party *parties;
	uint32_t party_capacity;
	struct {
		uint32_t context, function;
	} functions[GAPS_FUNCTIONS]; /* cache of earlier results, by context */
	struct gap_class classes[GAP_CLASSES];
};

/* Keeps a gap, unless the list is full of larger ones. False: no memory. */
bool gaps_keep(struct gaps *gaps, const struct gap *gap);

#endif
