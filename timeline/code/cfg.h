/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.h - the control-flow graph of one function from its machine code (S4 2.2), in a form that knows no
 * machine: loops are found by one algorithm (timeline/code/loop_forest.h) whatever the code was made for.
 *
 *   ranges, entry --follow branches--> instructions --jump tables, what is left over--> blocks, edges
 *
 * Code that no branch leads to (behind a jump that no known form explains, landing pads of exceptions) is
 * decoded too: it belongs below the jump before it, or to where the table of exceptions says. Bytes that are
 * no instruction are passed over and marked; nothing in the code can make the builder fail or hang.
 */
#ifndef TIMELINE_CFG_H
#define TIMELINE_CFG_H

#include "store/base/error.h"
#include "timeline/base/parse_budget.h"
#include "timeline/code/decode.h"

#define CFG_RANGES_MAX 16u
#define CFG_BYTES_MAX (8u << 20) /* of one function */
#define CFG_NONE UINT32_MAX

struct cfg_range {
	uint64_t begin, end;
};

/* While the code in [begin, end) runs, an exception may continue at `pad`. */
struct cfg_pad {
	uint64_t begin, end, pad;
};

/* What a graph is made of. */
struct cfg_code {
	struct cfg_range ranges[CFG_RANGES_MAX]; /* need not be in order; none overlaps another */
	unsigned range_count;
	uint64_t entry;
	const struct cfg_pad *pads;
	size_t pad_count;
	/* `size` bytes as they are loaded at `address`; NULL: not in the file */
	const uint8_t *(*image)(void *context, uint64_t address, size_t size);
	/* May be NULL. Does a call to `target`, or through the pointer at `slot`, come back? */
	bool (*returns)(void *context, uint64_t target, uint64_t slot);
	/* May be NULL. The i-th place that the indirect jump leads to, where that is listed outside the code.
	 */
	bool (*target)(void *context, uint64_t jump, uint32_t i, uint64_t *target);
	void *context;
};

struct cfg_block {
	uint64_t begin, end, last; /* last: address of its last instruction */
	uint32_t edge, edges;	   /* in cfg->edges: numbers of blocks it may lead to */
	uint8_t flow;		   /* how it ends */
};

struct cfg {
	struct cfg_block *blocks; /* by address */
	uint32_t *edges;
	uint32_t block_count, edge_count;
	uint32_t entry; /* CFG_NONE: no code */
	/* -- what was met -- */
	uint32_t instructions, bad_instructions, tables, unresolved;
	bool is_cut; /* the budget ended before the code */
};

/* Returns 0, or -1: memory. `cfg` is to be freed in both cases. */
int cfg_build(
	struct cfg *cfg, const struct cfg_code *code, struct decoder *decoder, struct parse_budget *budget);
void cfg_fini(struct cfg *cfg);
/* The block that holds the address; CFG_NONE: none. */
uint32_t cfg_find(const struct cfg *cfg, uint64_t address);

#endif
