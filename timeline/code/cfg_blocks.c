/* SPDX-License-Identifier: Apache-2.0 */
/* cfg_blocks.c - turns the marked bytes, transfers and links that cfg.c found into blocks and edges. */
#include <stdlib.h>

#include "timeline/code/cfg_internal.h"

/* ---- blocks ---- */

static int transfer_compare(const void *left, const void *right)
{
	const struct cfg_transfer *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int link_compare(const void *left, const void *right)
{
	const struct cfg_link *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static uint32_t count_leaders(const struct cfg_builder *builder)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < builder->area_count; i++) {
		const struct cfg_area *area = &builder->areas[i];
		bool inside = false;

		for (size_t at = 0; at < area->size; at++) {
			uint8_t mark = area->marks[at];

			if (mark & MARK_START) {
				count += !inside || mark & MARK_LEADER;
				inside = true;
			} else if (!(mark & MARK_INSIDE)) {
				inside = false;
			}
		}
	}
	return count;
}

static void block_begin(struct cfg *cfg, uint64_t address)
{
	cfg->blocks[cfg->block_count++] =
		(struct cfg_block){.begin = address, .end = address, .last = address, .flow = FLOW_NEXT};
}

/* Cuts the area's instructions at leaders and behind transfers. */
static void cut_area(
	struct cfg_builder *builder, const struct cfg_area *area, size_t *transfer, uint32_t capacity)
{
	const struct cfg_transfer *transfers = builder->transfers.items;
	struct cfg *cfg = builder->cfg;
	bool inside = false;

	for (size_t at = 0; at < area->size; at++) {
		uint64_t address = area->begin + at;
		uint8_t mark = area->marks[at];

		if (!(mark & (MARK_START | MARK_INSIDE))) {
			inside = false;
			continue;
		}
		if (mark & MARK_START) {
			if (!inside || mark & MARK_LEADER) {
				if (cfg->block_count == capacity)
					return;
				block_begin(cfg, address);
			}
			inside = true;
			cfg->blocks[cfg->block_count - 1].last = address;
		}
		cfg->blocks[cfg->block_count - 1].end = address + 1;
		while (*transfer < builder->transfers.count && transfers[*transfer].address < address)
			++*transfer;
		if (*transfer < builder->transfers.count && transfers[*transfer].address == address) {
			cfg->blocks[cfg->block_count - 1].flow = transfers[*transfer].flow;
			if (at + 1 < area->size && transfers[*transfer].next - area->begin < area->size)
				area->marks[transfers[*transfer].next - area->begin] |= MARK_LEADER;
		}
	}
}

bool cfg_cut_blocks(struct cfg_builder *builder)
{
	struct cfg *cfg = builder->cfg;
	uint32_t capacity = count_leaders(builder) + (uint32_t)builder->transfers.count + 1;
	size_t transfer = 0;

	if (builder->transfers.count)
		qsort(builder->transfers.items, builder->transfers.count, sizeof(struct cfg_transfer),
			transfer_compare);
	cfg->blocks = calloc((size_t)capacity + 1, sizeof *cfg->blocks);
	if (!cfg->blocks)
		return false;
	for (unsigned i = 0; i < builder->area_count; i++)
		cut_area(builder, &builder->areas[i], &transfer, capacity);
	cfg->entry = cfg_find(cfg, builder->code->entry);
	return true;
}

/* Edges as links between blocks, by block. */
static void link_block(struct cfg_builder *builder, uint32_t from, const struct cfg_transfer *transfer)
{
	const struct cfg *cfg = builder->cfg;
	const struct cfg_block *block = &cfg->blocks[from];
	bool goes_on = transfer ? transfer->goes_on : true;

	if (transfer && transfer->target)
		cfg_add_link(builder, block->last, transfer->target);
	if (goes_on && from + 1 < cfg->block_count && cfg->blocks[from + 1].begin == block->end)
		cfg_add_link(builder, block->last, block->end);
}

static void link_blocks(struct cfg_builder *builder)
{
	const struct cfg_transfer *transfers = builder->transfers.items;
	size_t transfer = 0;

	for (uint32_t i = 0; i < builder->cfg->block_count; i++) {
		const struct cfg_block *block = &builder->cfg->blocks[i];

		while (transfer < builder->transfers.count && transfers[transfer].address < block->last)
			transfer++;
		link_block(builder, i,
			transfer < builder->transfers.count && transfers[transfer].address == block->last
				? &transfers[transfer]
				: NULL);
	}
}

/* From every block that runs code of the pad's range. */
static void link_pads(struct cfg_builder *builder)
{
	const struct cfg_code *code = builder->code;
	const struct cfg *cfg = builder->cfg;

	for (size_t i = 0; i < code->pad_count; i++) {
		uint32_t at = cfg_find(cfg, code->pads[i].begin);

		for (; at < cfg->block_count && cfg->blocks[at].begin < code->pads[i].end; at++) {
			if (!parse_budget_step(builder->budget))
				return;
			cfg_add_link(builder, cfg->blocks[at].last, code->pads[i].pad);
		}
	}
}

bool cfg_make_edges(struct cfg_builder *builder)
{
	struct cfg *cfg = builder->cfg;
	const struct cfg_link *links;
	uint32_t at = 0;

	link_blocks(builder);
	link_pads(builder);
	links = builder->links.items;
	if (builder->links.count)
		qsort(builder->links.items, builder->links.count, sizeof(struct cfg_link), link_compare);
	cfg->edges = malloc((builder->links.count + 1) * sizeof *cfg->edges);
	if (!cfg->edges || builder->failed)
		return false;
	for (size_t i = 0; i < builder->links.count; i++) {
		uint32_t to = cfg_find(cfg, links[i].to);

		while (at < cfg->block_count && cfg->blocks[at].end <= links[i].from)
			cfg->blocks[++at].edge = cfg->edge_count;
		if (at == cfg->block_count)
			break;
		if (to == CFG_NONE || cfg->blocks[to].begin != links[i].to ||
			(i && !link_compare(&links[i - 1], &links[i])))
			continue;
		cfg->edges[cfg->edge_count++] = to;
		cfg->blocks[at].edges++;
	}
	while (at < cfg->block_count)
		cfg->blocks[++at].edge = cfg->edge_count;
	return true;
}
