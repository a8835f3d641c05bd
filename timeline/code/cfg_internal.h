/* SPDX-License-Identifier: Apache-2.0 */
/* cfg_internal.h - a graph being built: shared by cfg.c, which decodes, and cfg_blocks.c. */
#ifndef TIMELINE_CFG_INTERNAL_H
#define TIMELINE_CFG_INTERNAL_H

#include "timeline/code/cfg.h"

/* Marks of a byte. jump_table.h reads the lowest bit. */
enum { MARK_START = 1, MARK_INSIDE = 2, MARK_LEADER = 4, MARK_DATA = 8, MARK_BAD = 16, MARK_PADDING = 32 };

struct cfg_area {
	uint64_t begin;
	const uint8_t *bytes;
	uint8_t *marks;
	size_t size;
};

struct cfg_transfer {
	uint64_t address, next, target; /* target 0: none */
	uint8_t flow;
	bool goes_on;
};

struct cfg_link {
	uint64_t from, to; /* `from`: address of the jump, or anywhere in the block */
};

struct cfg_list {
	void *items;
	size_t count, capacity;
};

struct cfg_builder {
	const struct cfg_code *code;
	struct decoder *decoder;
	struct parse_budget *budget;
	struct cfg *cfg;
	struct cfg_area areas[CFG_RANGES_MAX];
	unsigned area_count;
	struct cfg_list work;	   /* uint64_t: addresses to decode */
	struct cfg_list transfers; /* struct cfg_transfer */
	struct cfg_list links;	   /* struct cfg_link */
	struct cfg_list jumps;	   /* uint64_t: indirect jumps not yet examined */
	struct cfg_list unknown;   /* uint64_t: indirect jumps without a known table */
	bool failed;
};

/* ---- cfg.c ---- */

/* Without memory it sets builder->failed. */
void cfg_add_link(struct cfg_builder *builder, uint64_t from, uint64_t to);

/* ---- cfg_blocks.c; both: false: no memory ---- */

bool cfg_cut_blocks(struct cfg_builder *builder);
bool cfg_make_edges(struct cfg_builder *builder);

#endif
