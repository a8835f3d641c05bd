/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.c - see cfg.h. Every byte of the function has a mark; transfers (instructions that do not simply
 * continue) and links (edges from tables) are lists by address, from which cfg_blocks.c makes blocks at the
 * end.
 */
#include "timeline/code/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/code/cfg_internal.h"
#include "timeline/code/jump_table.h"

/* A new item at the end; NULL, and builder->failed, when memory is out. */
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

void cfg_add_link(struct cfg_builder *builder, uint64_t from, uint64_t to)
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
	area->marks[at] |= MARK_START | (in->is_bad ? MARK_BAD : 0) | (in->is_padding ? MARK_PADDING : 0);
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

	if (follow_list(builder, jump) ||
		(jump_table_find(builder->decoder, &window, jump, builder->budget, &table) &&
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
