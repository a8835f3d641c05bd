/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_unit_index.c - the unit of an address: from the file's list of ranges (.debug_aranges), which is
 * fast to read, else from the ranges of all units.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/debug/dwarf.h"
#include "timeline/debug/dwarf_name.h"

static int unit_range_compare(const void *left, const void *right)
{
	const struct dwarf_unit_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->die.addr > b->die.addr ? -1 : a->die.addr < b->die.addr; /* read from the end */
}

static int unit_range_add(
	struct dwarf_module *module, const Dwarf_Die *die, uint64_t low, uint64_t high, size_t *capacity)
{
	if (!array_widen(
		    &module->unit_ranges, capacity, module->unit_range_count, sizeof *module->unit_ranges))
		return -1;
	module->unit_ranges[module->unit_range_count++] = (struct dwarf_unit_range){low, high, 0, *die};
	return 0;
}

/* NVIDIA's units say where they begin but not where they end: from the first function to the last. */
static int unit_range_functions(struct dwarf_module *module, Dwarf_Die *die, size_t *capacity)
{
	struct dwarf_unit *unit;

	if (!dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_high_pc) ||
		dwarf_hasattr(die, DW_AT_ranges))
		return 0;
	unit = dwarf_module_listed(module, die);
	if (!unit)
		return -1;
	return unit->segment_count ? unit_range_add(module, die, unit->segments[0].low,
					     unit->segments[unit->segment_count - 1].low, capacity)
				   : 0;
}

static int unit_ranges_add(struct dwarf_module *module, Dwarf_Die *die, size_t *capacity)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0 && parse_budget_step(&module->budget))
		if (low < high && dwarf_code_has(&module->code, low) &&
			unit_range_add(module, die, low, high, capacity))
			return -1;
	return unit_range_functions(module, die, capacity);
}

/* Reads the ranges of all units. */
static int unit_ranges_build(struct dwarf_module *module)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	size_t capacity = 0;
	uint64_t reach = 0;

	module->has_unit_ranges = true;
	memset(&die, 0, sizeof die);
	while (!dwarf_get_units(module->dwarf, cu, &cu, NULL, NULL, &die, NULL) &&
		parse_budget_step(&module->budget))
		if (die.addr && unit_ranges_add(module, &die, &capacity))
			return -1;
	if (module->unit_range_count)
		qsort(module->unit_ranges, module->unit_range_count, sizeof *module->unit_ranges,
			unit_range_compare);
	for (size_t i = 0; i < module->unit_range_count; i++) {
		if (module->unit_ranges[i].high > reach)
			reach = module->unit_ranges[i].high;
		module->unit_ranges[i].reach = reach;
	}
	return 0;
}

/* Cuts the stretch to the side of [begin, end) that the address is on: in it, before or behind. */
static bool cut_at(struct symbol_stretch *stretch, uint64_t begin, uint64_t end, uint64_t address)
{
	bool is_in = begin <= address && address < end;

	if (is_in)
		symbol_stretch_cut(stretch, begin, end);
	else if (address < begin)
		symbol_stretch_cut(stretch, 0, begin);
	else
		symbol_stretch_cut(stretch, end, UINT64_MAX);
	return is_in;
}

/* By the unit's own ranges: assembly has code without functions. */
static bool listed_has(
	struct dwarf_module *module, Dwarf_Die *listed, uint64_t address, struct symbol_stretch *stretch)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(listed, at, &base, &low, &high)) > 0 && parse_budget_step(&module->budget))
		if (cut_at(stretch, low, high, address) && dwarf_code_has(&module->code, low))
			return true;
	return false;
}

/* How many of them begin at or below the address. */
static size_t aranges_upto(Dwarf_Aranges *aranges, size_t count, uint64_t address)
{
	size_t low = 0, high = count;
	Dwarf_Addr begin;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (!dwarf_getarangeinfo(dwarf_onearange(aranges, middle), &begin, NULL, NULL) &&
			begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A unit that has the address, by .debug_aranges, which some compilers leave out or short. Of a function that
 * several units made (templates) the linker kept the first one's code, and may leave all their ranges
 * pointing there. */
static bool listed_by_arange(
	struct dwarf_module *module, uint64_t address, Dwarf_Die *listed, struct symbol_stretch *stretch)
{
	Dwarf_Off found = 0, offset;
	Dwarf_Addr begin, first = 0;
	Dwarf_Word size;
	bool has = false;
	size_t i;

	if (!module->has_aranges && dwarf_getaranges(module->dwarf, &module->aranges, &module->arange_count))
		module->aranges = NULL;
	module->has_aranges = true;
	i = module->aranges ? aranges_upto(module->aranges, module->arange_count, address) : 0;
	if (i < module->arange_count && module->aranges &&
		!dwarf_getarangeinfo(dwarf_onearange(module->aranges, i), &begin, NULL, NULL))
		symbol_stretch_cut(stretch, 0, begin);
	for (; i > 0; i--) {
		if (dwarf_getarangeinfo(dwarf_onearange(module->aranges, i - 1), &begin, &size, &offset) ||
			(has && begin != first) ||
			!cut_at(stretch, begin, size < UINT64_MAX - begin ? begin + size : UINT64_MAX,
				address) ||
			!parse_budget_step(&module->budget))
			break;
		found = has && found < offset ? found : offset;
		first = begin;
		has = true;
	}
	return has && dwarf_offdie(module->dwarf, found, listed);
}

uint64_t dwarf_module_place(struct dwarf_module *module, uint64_t address)
{
	struct symbol_stretch any = {0, UINT64_MAX};
	Dwarf_Die listed;

	return listed_by_arange(module, address, &listed, &any) ? dwarf_dieoffset(&listed) : 0;
}

int dwarf_module_unit_at(struct dwarf_module *module, uint64_t address, struct dwarf_unit **unit,
	struct symbol_stretch *stretch)
{
	size_t low = 0, high;
	Dwarf_Die listed;

	*unit = NULL;
	if (!module->has_unit_ranges && listed_by_arange(module, address, &listed, stretch)) {
		*unit = dwarf_module_listed(module, &listed);
		if (!*unit)
			return -1;
		if (dwarf_unit_find(*unit, address, stretch) != DWARF_NONE ||
			listed_has(module, &listed, address, stretch))
			return 0;
		*unit = NULL;
	}
	if (!module->has_unit_ranges && unit_ranges_build(module))
		return -1;
	high = module->unit_range_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->unit_ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	symbol_stretch_cut(stretch, low ? module->unit_ranges[low - 1].low : 0,
		low < module->unit_range_count ? module->unit_ranges[low].low : UINT64_MAX);
	for (size_t i = low; i > 0 && cut_at(stretch, 0, module->unit_ranges[i - 1].reach, address); i--) {
		struct dwarf_unit_range *unit_range = &module->unit_ranges[i - 1];
		struct dwarf_unit *found;

		if (!cut_at(stretch, unit_range->low, unit_range->high, address))
			continue;
		found = dwarf_module_listed(module, &unit_range->die);
		if (!found)
			return -1;
		*unit = *unit ? *unit : found;
		if (dwarf_unit_find(found, address, stretch) != DWARF_NONE) {
			*unit = found;
			break;
		}
		if (!parse_budget_step(&module->budget))
			break;
	}
	return 0;
}
