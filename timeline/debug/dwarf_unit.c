/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_unit.c - turns the nested, scattered ranges of a unit's functions and inlined calls into flat
 * segments: at each address the last scope in the walk wins, which is the innermost one, even if a compiler
 * lets an inlined call exceed its caller's range.
 */
#include "timeline/debug/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/heap.h"

#define DEPTH_MAX 256	      /* entries inside entries */
#define RANGES_MAX (1u << 20) /* of one entry */

bool dwarf_code_has(const struct dwarf_code *code, uint64_t address)
{
	/* Dropped functions are left behind at 0, which may be inside the first segment. */
	for (unsigned i = 0; i < code->count && address; i++)
		if (address >= code->range[i].begin && address < code->range[i].end)
			return true;
	return false;
}

void dwarf_code_cut(const struct dwarf_code *code, uint64_t address, struct symbol_stretch *stretch)
{
	for (unsigned i = 0; i < code->count; i++)
		if (address >= code->range[i].begin && address < code->range[i].end)
			symbol_stretch_cut(stretch, code->range[i].begin, code->range[i].end);
}

void dwarf_unit_fini(struct dwarf_unit *unit)
{
	free(unit->scopes);
	free(unit->segments);
	free(unit->places);
}

/* ---- the walk ---- */

struct interval {
	uint64_t low, high;
	uint32_t scope;
};

/* Where the walk stands: the entries from the unit down to the current one. */
struct walk {
	struct dwarf_unit *unit;
	const struct dwarf_code *code;
	struct parse_budget *budget;
	struct interval *intervals;
	size_t interval_count, interval_capacity, scope_capacity, place_capacity;
	bool keeps_places, failed;
	struct {
		Dwarf_Die die;
		uint32_t scope, place; /* in force for the entry's children */
	} level[DEPTH_MAX];
};

static void walk_interval(struct walk *walk, uint64_t low, uint64_t high, uint32_t scope)
{
	if (!array_widen(&walk->intervals, &walk->interval_capacity, walk->interval_count,
		    sizeof *walk->intervals))
		walk->failed = true;
	if (!walk->failed)
		walk->intervals[walk->interval_count++] = (struct interval){low, high, scope};
}

/* The entry's ranges that hold code; how many there were. */
static size_t walk_ranges(struct walk *walk, Dwarf_Die *die, uint32_t scope, uint64_t *first)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t kept = 0;

	for (unsigned i = 0; i < RANGES_MAX && !walk->failed && parse_budget_step(walk->budget); i++) {
		at = dwarf_ranges(die, at, &base, &low, &high);
		if (at <= 0)
			break;
		if (low >= high || !dwarf_code_has(walk->code, low))
			continue;
		if (!kept++)
			*first = low;
		walk_interval(walk, low, high, scope);
	}
	return kept;
}

static uint32_t walk_scope(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct dwarf_unit *unit = walk->unit;
	uint32_t scope = (uint32_t)unit->scope_count;
	uint64_t low = 0;

	if (scope >= DWARF_NONE - 1 || !walk_ranges(walk, die, scope, &low))
		return DWARF_NONE;
	if (!array_widen(&unit->scopes, &walk->scope_capacity, scope, sizeof *unit->scopes))
		walk->failed = true;
	if (walk->failed)
		return DWARF_NONE;
	unit->scopes[unit->scope_count++] = (struct dwarf_scope){.die = *die, .parent = parent, .low = low};
	return scope;
}

static uint32_t walk_place(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct dwarf_unit *unit = walk->unit;

	if (!walk->keeps_places || unit->place_count >= DWARF_NONE - 1)
		return parent;
	if (!array_widen(&unit->places, &walk->place_capacity, unit->place_count, sizeof *unit->places))
		walk->failed = true;
	if (walk->failed)
		return parent;
	unit->places[unit->place_count] = (struct dwarf_place){dwarf_dieoffset(die), parent};
	return (uint32_t)unit->place_count++;
}

static bool die_has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr(die, name, &attribute) && !dwarf_formflag(&attribute, &flag) && flag;
}

/* Takes in the entry at `depth`; true when its children are worth a visit. */
static bool walk_visit(struct walk *walk, unsigned depth)
{
	Dwarf_Die *die = &walk->level[depth].die;
	uint32_t scope = walk->level[depth - 1].scope, place = walk->level[depth - 1].place;
	bool descends = true;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		place = walk_place(walk, die, place);
		scope = walk_scope(walk, die, DWARF_NONE);
		descends = scope != DWARF_NONE || !die_has_flag(die, DW_AT_declaration);
		break;
	case DW_TAG_inlined_subroutine: {
		uint32_t inner = walk_scope(walk, die, scope);

		scope = inner != DWARF_NONE ? inner : scope;
		break;
	}
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		place = walk_place(walk, die, place);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_common_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		break;
	default:
		descends = false;
	}
	walk->level[depth].scope = scope;
	walk->level[depth].place = place;
	return descends;
}

/* Steps to the next entry in file order; returns the new depth, 0 at the end. Checks the order: a damaged
 * file may claim that an entry's sibling is before it. */
static unsigned walk_next(struct walk *walk, unsigned depth, bool descends)
{
	const void *seen = walk->level[depth].die.addr;
	Dwarf_Die next;

	if (descends && depth + 1 < DEPTH_MAX && dwarf_haschildren(&walk->level[depth].die) > 0 &&
		!dwarf_child(&walk->level[depth].die, &next))
		depth++;
	else
		while (depth > 0 && dwarf_siblingof(&walk->level[depth].die, &next) != 0)
			depth--;
	if (depth == 0 || (const char *)next.addr <= (const char *)seen)
		return 0;
	walk->level[depth].die = next;
	return depth;
}

static void walk_unit(struct walk *walk)
{
	unsigned depth = 0;

	walk->level[0].die = walk->unit->die;
	walk->level[0].scope = walk->level[0].place = DWARF_NONE;
	depth = walk_next(walk, 0, true);
	while (depth > 0 && !walk->failed && parse_budget_step(walk->budget))
		depth = walk_next(walk, depth, walk_visit(walk, depth));
}

/* ---- ranges to segments ---- */

static int interval_compare(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* A heap of the intervals that are open, the latest scope on top. */
struct heap {
	struct interval **items;
	size_t count;
};

static bool is_later(const void *a, const void *b)
{
	return (*(struct interval *const *)a)->scope > (*(struct interval *const *)b)->scope;
}

static void heap_push(struct heap *heap, struct interval *item)
{
	heap->items[heap->count] = item;
	heap_rise(heap->items, heap->count++, sizeof item, is_later);
}

static void heap_pop(struct heap *heap)
{
	heap->items[0] = heap->items[--heap->count];
	heap_sink(heap->items, heap->count, 0, sizeof(struct interval *), is_later);
}

static void segment_add(struct dwarf_unit *unit, uint64_t low, uint32_t scope)
{
	struct dwarf_segment *last = unit->segment_count ? &unit->segments[unit->segment_count - 1] : NULL;

	if (last && last->low == low)
		last->scope = scope;
	else if (!last || last->scope != scope)
		unit->segments[unit->segment_count++] = (struct dwarf_segment){low, scope};
}

/* Sweeps over the sorted intervals. Each begin and each end makes at most one segment. */
static void segments_sweep(
	struct dwarf_unit *unit, struct interval *intervals, size_t count, struct heap *heap)
{
	size_t i = 0;
	uint64_t at = 0;

	while (i < count || heap->count) {
		if (!heap->count)
			at = intervals[i].low;
		while (i < count && intervals[i].low <= at)
			heap_push(heap, &intervals[i++]);
		while (heap->count && heap->items[0]->high <= at)
			heap_pop(heap);
		segment_add(unit, at, heap->count ? heap->items[0]->scope : DWARF_NONE);
		if (heap->count)
			at = heap->items[0]->high;
		if (heap->count && i < count && intervals[i].low < at)
			at = intervals[i].low;
	}
}

static int segments_build(struct dwarf_unit *unit, struct interval *intervals, size_t count)
{
	struct heap heap = {malloc((count + 1) * sizeof *heap.items), 0};

	unit->segments = malloc((2 * count + 2) * sizeof *unit->segments);
	if (!heap.items || !unit->segments) {
		free(heap.items);
		return -1;
	}
	if (count)
		qsort(intervals, count, sizeof *intervals, interval_compare);
	segments_sweep(unit, intervals, count, &heap);
	free(heap.items);
	return 0;
}

/* ---- the unit ---- */

static bool language_has_places(Dwarf_Die *die)
{
	switch (dwarf_srclang(die)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

int dwarf_unit_index(struct dwarf_unit *unit, const struct dwarf_code *code, struct parse_budget *budget)
{
	struct walk *walk;
	int rc;

	if (unit->is_indexed)
		return 0;
	walk = calloc(1, sizeof *walk);
	if (!walk)
		return -1;
	walk->unit = unit;
	walk->code = code;
	walk->budget = budget;
	walk->keeps_places = language_has_places(&unit->die);
	walk_unit(walk);
	rc = walk->failed ? -1 : segments_build(unit, walk->intervals, walk->interval_count);
	unit->is_indexed = true;
	free(walk->intervals);
	free(walk);
	return rc;
}

uint32_t dwarf_unit_find(const struct dwarf_unit *unit, uint64_t address, struct symbol_stretch *stretch)
{
	size_t low = 0, high = unit->segment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->segments[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	symbol_stretch_cut(stretch, low ? unit->segments[low - 1].low : 0,
		low < unit->segment_count ? unit->segments[low].low : UINT64_MAX);
	return low ? unit->segments[low - 1].scope : DWARF_NONE;
}

uint32_t dwarf_unit_place(const struct dwarf_unit *unit, Dwarf_Off offset)
{
	size_t low = 0, high = unit->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->places[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < unit->place_count && unit->places[low].offset == offset ? (uint32_t)low : DWARF_NONE;
}
