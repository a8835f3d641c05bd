/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.c - see cfg.h. Every byte of the function has a mark; transfers (instructions that do not simply
 * continue) and links (edges from tables) are lists by address, from which blocks are made at the end.
 */
#include "timeline/code/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/code/jump_table.h"

/* Marks of a byte. jump_table.h reads the lowest bit. */
enum {
	MARK_START = 1,
	MARK_INSIDE = 2,
	MARK_LEADER = 4,
	MARK_DATA = 8,
	MARK_BAD = 16,
	MARK_PADDING = 32,
	MARK_PAUSE = 64,
	MARK_CALL = 128
};

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
	struct cfg_list work;	      /* uint64_t: addresses to decode */
	struct cfg_list transfers;    /* struct cfg_transfer */
	struct cfg_list links;	      /* struct cfg_link */
	struct cfg_list jumps;	      /* uint64_t: indirect jumps not yet examined */
	struct cfg_list unknown;      /* uint64_t: indirect jumps without a known table */
	struct jump_effects *effects; /* NULL: no jump was examined, or no memory */
	bool failed;
};

/* A new item at the end; NULL, and builder->failed,: no memory. */
static void *list_add(struct cfg_builder *builder, struct cfg_list *list, size_t item_bytes)
{
	if (!array_widen(&list->items, &list->capacity, list->count, item_bytes)) {
		builder->failed = true;
		return NULL;
	}
	return (char *)list->items + list->count++ * item_bytes;
}

static void add_address(struct cfg_builder *builder, struct cfg_list *list, uint64_t address)
{
	uint64_t *item = list_add(builder, list, sizeof *item);

	if (item)
		*item = address;
}

/* Without memory it sets builder->failed. */
static void cfg_add_link(struct cfg_builder *builder, uint64_t from, uint64_t to)
{
	struct cfg_link *link = list_add(builder, &builder->links, sizeof *link);

	if (link)
		*link = (struct cfg_link){from, to};
}

/* ---- bytes ---- */

static struct cfg_area *area_of(struct cfg_builder *builder, uint64_t address)
{
	for (unsigned i = 0; i < builder->area_count; i++)
		if (address - builder->areas[i].begin < builder->areas[i].size)
			return &builder->areas[i];
	return NULL;
}

static int area_compare(const void *left, const void *right)
{
	const struct cfg_area *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static bool areas_open(struct cfg_builder *builder)
{
	const struct cfg_code *code = builder->code;
	size_t total = 0;

	for (unsigned i = 0; i < code->range_count && i < CFG_RANGES_MAX; i++) {
		uint64_t size = code->ranges[i].end - code->ranges[i].begin;
		struct cfg_area *area = &builder->areas[builder->area_count];

		if (code->ranges[i].end <= code->ranges[i].begin || size > CFG_BYTES_MAX - total)
			continue;
		area->begin = code->ranges[i].begin;
		area->size = (size_t)size;
		area->bytes = code->image(code->context, area->begin, area->size);
		if (!area->bytes)
			continue;
		area->marks = calloc(area->size + 1, 1);
		if (!area->marks)
			return false;
		total += area->size;
		builder->area_count++;
	}
	qsort(builder->areas, builder->area_count, sizeof *builder->areas, area_compare);
	return true;
}

/* ---- instructions ---- */

static bool comes_back(const struct cfg_builder *builder, const struct instruction *in)
{
	const struct cfg_code *code = builder->code;

	return !code->returns || code->returns(code->context, in->target, in->slot);
}

/* A place that something leads to. False: outside, or in the middle of an instruction. */
static bool take_target(struct cfg_builder *builder, uint64_t address)
{
	struct cfg_area *area = area_of(builder, address);
	uint8_t *mark = area ? &area->marks[address - area->begin] : NULL;

	if (!area || (*mark & (MARK_INSIDE | MARK_DATA)))
		return false;
	*mark |= MARK_LEADER;
	if (!(*mark & MARK_START))
		add_address(builder, &builder->work, address);
	return true;
}

/* Follows one that does not simply go on; false: the next instruction is not reached from here. */
static bool take_transfer(struct cfg_builder *builder, const struct instruction *in)
{
	uint64_t next = in->address + in->size;
	bool goes_on = in->flow == FLOW_BRANCH || (in->flow == FLOW_CALL && comes_back(builder, in));
	struct cfg_transfer *transfer;

	if (in->flow == FLOW_CALL && goes_on)
		return true; /* a call does not end a block */
	transfer = list_add(builder, &builder->transfers, sizeof *transfer);
	if (!transfer)
		return false;
	*transfer = (struct cfg_transfer){
		.address = in->address, .next = next, .flow = in->flow, .goes_on = goes_on};
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && take_target(builder, in->target))
		transfer->target = in->target;
	if (in->flow == FLOW_JUMP_INDIRECT)
		add_address(builder, &builder->jumps, in->address);
	if (goes_on)
		take_target(builder, next);
	return goes_on;
}

/* Marks the instruction's bytes; false: one of them starts another instruction already. */
static bool mark_instruction(struct cfg_area *area, size_t at, const struct instruction *in)
{
	for (size_t i = 1; i < in->size; i++)
		if (area->marks[at + i] & (MARK_START | MARK_DATA))
			return false;
	area->marks[at] |= MARK_START | (in->is_bad ? MARK_BAD : 0) | (in->is_padding ? MARK_PADDING : 0) |
			   (in->is_pause ? MARK_PAUSE : 0) | (in->flow == FLOW_CALL ? MARK_CALL : 0);
	for (size_t i = 1; i < in->size; i++)
		area->marks[at + i] |= MARK_INSIDE;
	return true;
}

/* Decodes from `address` to what ends the flow or is decoded already. */
static void decode_from(struct cfg_builder *builder, uint64_t address)
{
	struct cfg_area *area = area_of(builder, address);
	size_t at = area ? (size_t)(address - area->begin) : 0;
	struct instruction in;

	while (area && at < area->size && !(area->marks[at] & (MARK_START | MARK_INSIDE | MARK_DATA))) {
		if (!parse_budget_step(builder->budget)) {
			builder->cfg->is_cut = true;
			return;
		}
		decoder_next(builder->decoder, area->bytes + at, area->size - at, area->begin + at, &in);
		if (in.size > area->size - at)
			in.size = (uint8_t)(area->size - at);
		if (!mark_instruction(area, at, &in))
			return;
		builder->cfg->instructions++;
		builder->cfg->bad_instructions += in.is_bad;
		if (in.flow != FLOW_NEXT && !take_transfer(builder, &in))
			return;
		at += in.size;
	}
}

static void decode_all(struct cfg_builder *builder)
{
	while (builder->work.count && !builder->failed && !builder->cfg->is_cut)
		decode_from(builder, ((uint64_t *)builder->work.items)[--builder->work.count]);
	builder->work.count = 0;
}

/* ---- indirect jumps ---- */

static bool entry_read(
	const struct cfg_builder *builder, const struct jump_table *table, uint32_t i, uint64_t *target)
{
	const uint8_t *bytes = builder->code->image(
		builder->code->context, table->begin + (uint64_t)i * table->width, table->width);
	uint64_t entry = 0, sign = 1ull << (8 * table->width - 1);

	if (!bytes)
		return false;
	memcpy(&entry, bytes, table->width); /* both machines are little endian */
	if (table->is_signed && table->width < 8)
		entry = (entry ^ sign) - sign;
	*target = table->base + (entry << table->shift);
	return true;
}

/* A table between instructions is not to be decoded. */
static void mark_table(struct cfg_builder *builder, const struct jump_table *table, uint32_t entries)
{
	for (uint64_t i = 0; i < (uint64_t)entries * table->width; i++) {
		struct cfg_area *area = area_of(builder, table->begin + i);
		uint8_t *mark = area ? &area->marks[table->begin + i - area->begin] : NULL;

		if (mark && !(*mark & (MARK_START | MARK_INSIDE)))
			*mark |= MARK_DATA;
	}
}

/* With a bound, odd entries are passed over: cases the compiler knows cannot be. Without, the first ends it.
 */
static uint32_t follow_table(struct cfg_builder *builder, const struct jump_table *table, uint64_t jump)
{
	uint32_t limit = table->bound ? table->bound : JUMP_TABLE_MAX, i, taken = 0;
	uint64_t target, last = 0;

	for (i = 0; i < limit && entry_read(builder, table, i, &target); i++) {
		if (!parse_budget_step(builder->budget))
			break;
		if (!area_of(builder, target) || !take_target(builder, target)) {
			if (table->bound)
				continue;
			break;
		}
		taken++;
		if (target != last)
			cfg_add_link(builder, jump, target);
		last = target;
	}
	if (taken)
		mark_table(builder, table, i);
	return taken;
}

static uint32_t follow_list(struct cfg_builder *builder, uint64_t jump)
{
	const struct cfg_code *code = builder->code;
	uint32_t taken = 0;
	uint64_t target;

	for (uint32_t i = 0;
		code->target && i < JUMP_TABLE_MAX && code->target(code->context, jump, i, &target); i++) {
		if (!parse_budget_step(builder->budget))
			break;
		if (!take_target(builder, target))
			continue;
		cfg_add_link(builder, jump, target);
		taken++;
	}
	return taken;
}

static void follow_jump(struct cfg_builder *builder, uint64_t jump)
{
	const struct cfg_area *area = area_of(builder, jump);
	struct jump_window window = {area->bytes, area->marks, area->begin, area->size};
	struct jump_table table;
	bool is_listed = follow_list(builder, jump);

	if (!is_listed && !builder->effects)
		builder->effects = calloc(1, sizeof *builder->effects);
	if (is_listed || (jump_table_find(builder->decoder, &window, jump, builder->effects, builder->budget,
				  &table) &&
				 follow_table(builder, &table, jump)))
		builder->cfg->tables++;
	else
		add_address(builder, &builder->unknown, jump);
}

static void follow_jumps(struct cfg_builder *builder)
{
	while (builder->jumps.count && !builder->failed && !builder->cfg->is_cut) {
		follow_jump(builder, ((uint64_t *)builder->jumps.items)[--builder->jumps.count]);
		decode_all(builder);
	}
}

/* ---- what nothing leads to ---- */

static int address_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Number of items of an ascending list at or below the address. */
static size_t upper(const struct cfg_list *list, uint64_t address)
{
	const uint64_t *items = list->items;
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Cases follow their switch: unreached code belongs to the unexplained jump before it. */
static void link_orphan(struct cfg_builder *builder, uint64_t address)
{
	size_t before = upper(&builder->unknown, address);

	if (before)
		cfg_add_link(builder, ((uint64_t *)builder->unknown.items)[before - 1], address);
}

static bool is_padding_at(struct cfg_builder *builder, struct cfg_area *area, size_t at, size_t *size)
{
	struct instruction in;

	decoder_next(builder->decoder, area->bytes + at, area->size - at, area->begin + at, &in);
	*size = in.size ? in.size : 1;
	return in.is_padding;
}

static void decode_gaps(struct cfg_builder *builder, struct cfg_area *area)
{
	size_t size;

	for (size_t at = 0; at < area->size && !builder->failed && !builder->cfg->is_cut;) {
		if (area->marks[at] & (MARK_START | MARK_INSIDE | MARK_DATA)) {
			at++;
			continue;
		}
		if (!parse_budget_step(builder->budget)) {
			builder->cfg->is_cut = true;
			return;
		}
		if (is_padding_at(builder, area, at, &size)) {
			at += size;
			continue;
		}
		take_target(builder, area->begin + at);
		link_orphan(builder, area->begin + at);
		decode_all(builder);
		follow_jumps(builder);
		at++;
	}
}

static void follow_pads(struct cfg_builder *builder)
{
	const struct cfg_code *code = builder->code;

	for (size_t i = 0; i < code->pad_count && parse_budget_step(builder->budget); i++)
		if (take_target(builder, code->pads[i].pad))
			decode_all(builder);
	follow_jumps(builder);
}

static void decode_function(struct cfg_builder *builder)
{
	take_target(builder, builder->code->entry);
	decode_all(builder);
	follow_jumps(builder);
	follow_pads(builder);
	if (builder->unknown.count)
		qsort(builder->unknown.items, builder->unknown.count, sizeof(uint64_t), address_compare);
	builder->cfg->unresolved = (uint32_t)builder->unknown.count;
	for (unsigned i = 0; i < builder->area_count; i++)
		decode_gaps(builder, &builder->areas[i]);
}

/* ---- blocks: false: no memory ---- */

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

static void block_take(struct cfg_block *block, uint64_t address, uint8_t mark)
{
	block->last = address;
	block->instructions++;
	block->has_pause |= (mark & MARK_PAUSE) != 0;
	block->has_call |= (mark & MARK_CALL) != 0;
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
			block_take(&cfg->blocks[cfg->block_count - 1], address, mark);
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

static bool cfg_cut_blocks(struct cfg_builder *builder)
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

static bool cfg_make_edges(struct cfg_builder *builder)
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

/* ---- the whole ---- */

static void builder_fini(struct cfg_builder *builder)
{
	for (unsigned i = 0; i < CFG_RANGES_MAX; i++)
		free(builder->areas[i].marks);
	free(builder->work.items);
	free(builder->transfers.items);
	free(builder->links.items);
	free(builder->jumps.items);
	free(builder->unknown.items);
	free(builder->effects);
}

int cfg_build(
	struct cfg *cfg, const struct cfg_code *code, struct decoder *decoder, struct parse_budget *budget)
{
	struct cfg_builder builder = {.code = code, .decoder = decoder, .budget = budget, .cfg = cfg};
	bool ok;

	*cfg = (struct cfg){.entry = CFG_NONE};
	ok = areas_open(&builder);
	if (ok)
		decode_function(&builder);
	ok = ok && !builder.failed && cfg_cut_blocks(&builder) && cfg_make_edges(&builder);
	builder_fini(&builder);
	return ok ? 0 : -1;
}

void cfg_fini(struct cfg *cfg)
{
	free(cfg->blocks);
	free(cfg->edges);
	*cfg = (struct cfg){.entry = CFG_NONE};
}

uint32_t cfg_find(const struct cfg *cfg, uint64_t address)
{
	uint32_t low = 0, high = cfg->block_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cfg->blocks[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < cfg->blocks[low - 1].end ? low - 1 : CFG_NONE;
}
