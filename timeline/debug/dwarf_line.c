/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_line.c - the line of an address. libdw returns a unit's rows by address, those of one address in
 * file order, without the sequence that a row belongs to.
 */
#include <dwarf.h>
#include <string.h>

#include "timeline/debug/dwarf_name.h"

static Dwarf_Line *line_at(const struct dwarf_unit *unit, size_t i, Dwarf_Addr *address)
{
	Dwarf_Line *line = i < unit->line_count ? dwarf_onesrcline(unit->lines, i) : NULL;

	return line && !dwarf_lineaddr(line, address) ? line : NULL;
}

static bool is_end(Dwarf_Line *line)
{
	bool end;

	return !line || dwarf_lineendsequence(line, &end) || end;
}

static bool is_same_file(Dwarf_Line *a, Dwarf_Line *b)
{
	const char *one = a ? dwarf_linesrc(a, NULL, NULL) : NULL,
		   *two = b ? dwarf_linesrc(b, NULL, NULL) : NULL;

	return one && two && !strcmp(one, two);
}

static bool is_same_place(Dwarf_Line *a, Dwarf_Line *b)
{
	int one, two;

	return is_same_file(a, b) && !dwarf_lineno(a, &one) && !dwarf_lineno(b, &two) && one == two;
}

/* Where one sequence ends at the address at which another begins, the first one's last row may have that
 * address too, without code: skips it. `last` is the last row of that address. */
static size_t pass_ended(const struct dwarf_unit *unit, size_t last, Dwarf_Addr address)
{
	Dwarf_Addr at;
	Dwarf_Line *row, *before, *behind = line_at(unit, last + 1, &at);
	size_t first = last;
	bool has_end = false;

	while (first && (row = line_at(unit, first - 1, &at)) && at == address) {
		has_end |= is_end(row);
		first--;
	}
	if (!has_end || !first)
		return last;
	before = line_at(unit, first - 1, &at);
	for (size_t i = last + 1; i-- > first;) {
		row = line_at(unit, i, &at);
		if (is_end(row) || (is_same_file(row, before) && !is_same_file(row, behind)) ||
			(is_same_place(row, before) && !is_same_place(row, behind)))
			continue;
		return i;
	}
	return last;
}

/* How many rows are at or below the address. */
static size_t lines_upto(const struct dwarf_unit *unit, uint64_t address)
{
	size_t low = 0, high = unit->line_count;
	Dwarf_Addr at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (!line_at(unit, middle, &at))
			return 0;
		if (at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* From the row ahead of `upto` to that. */
static void row_cut(const struct dwarf_unit *unit, size_t upto, struct symbol_stretch *stretch)
{
	Dwarf_Addr begin = 0, end = UINT64_MAX;

	if ((upto && !line_at(unit, upto - 1, &begin)) ||
		(upto < unit->line_count && !line_at(unit, upto, &end)))
		end = begin; /* rows that cannot be read */
	symbol_stretch_cut(stretch, begin, end);
}

int dwarf_unit_line(
	struct dwarf_module *module, struct dwarf_unit *unit, uint64_t address, struct dwarf_spot *spot)
{
	Dwarf_Addr at;
	Dwarf_Line *line;
	size_t upto;
	int number;

	if (!unit->has_lines && dwarf_getsrclines(&unit->skeleton, &unit->lines, &unit->line_count))
		unit->line_count = 0;
	unit->has_lines = true;
	upto = lines_upto(unit, address);
	row_cut(unit, upto, &spot->stretch);
	line = upto ? line_at(unit, upto - 1, &at) : NULL;
	if (is_end(line))
		return 0;
	line = line_at(unit, pass_ended(unit, upto - 1, at), &at);
	if (dwarf_lineno(line, &number) || number < 0)
		return 0;
	spot->line = (uint32_t)number;
	spot->file = dwarf_module_path(module, &unit->skeleton, dwarf_linesrc(line, NULL, NULL));
	return spot->file ? 0 : -1;
}
