/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.h - the control-flow graph of one function from its machine code (S4 2.2), independent of the machine:
 * one algorithm finds loops for all (timeline/code/loop_forest.h).
 *
 *   ranges, entry --follow branches--> instructions --jump tables, what is left over--> blocks, edges
 *
 * Code that no branch reaches (after an unexplained indirect jump, landing pads of exceptions) is decoded
 * too: it gets an edge from the jump before it, or the exception table gives its place. Invalid instruction
 * bytes are skipped and marked; no code can make the builder fail or hang.
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

/* While code in [begin, end) runs, an exception may continue at `pad`. */
struct cfg_pad {
	uint64_t begin, end, pad;
};

/* Input of a graph. */
struct cfg_code {
	struct cfg_range ranges[CFG_RANGES_MAX]; /* in any order, without overlaps */
	unsigned range_count;
	uint64_t entry;
	const struct cfg_pad *pads;
	size_t pad_count;
	/* `size` bytes as loaded at `address`; NULL: not in the file */
	const uint8_t *(*image)(void *context, uint64_t address, size_t size);
	/* May be NULL. Returns whether a call to `target`, or through the pointer at `slot`, returns. */
	bool (*returns)(void *context, uint64_t target, uint64_t slot);
	/* May be NULL. The i-th target of an indirect jump, where the file lists it outside the code. */
	bool (*target)(void *context, uint64_t jump, uint32_t i, uint64_t *target);
	void *context;
};

struct cfg_block {
	uint64_t begin, end, last; /* last: address of its last instruction */
	uint32_t edge, edges;	   /* in cfg->edges: numbers of its successor blocks */
	uint32_t instructions;
	uint8_t flow; /* how it ends (enum flow) */
	bool has_pause, has_call;
};

struct cfg {
	struct cfg_block *blocks; /* by address */
	uint32_t *edges;
	uint32_t block_count, edge_count;
	uint32_t entry; /* CFG_NONE: no code */
	/* -- statistics -- */
	uint32_t instructions, bad_instructions, tables, unresolved;
	bool is_cut; /* the budget ended before the code did */
};

/* Returns 0, or -1: no memory. Free `cfg` in both cases. */
int cfg_build(
	struct cfg *cfg, const struct cfg_code *code, struct decoder *decoder, struct parse_budget *budget);
void cfg_fini(struct cfg *cfg);
/* The block that contains the address; CFG_NONE: none. */
uint32_t cfg_find(const struct cfg *cfg, uint64_t address);

#endif
