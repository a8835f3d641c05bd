/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_name.h - inside of timeline/dwarf: what dwarf.c (which unit, which line) and dwarf_name.c
 * (what a scope is called) share.
 */
#ifndef TIMELINE_DWARF_NAME_H
#define TIMELINE_DWARF_NAME_H

#include "store/base/arena.h"
#include "timeline/base/key_ids.h"
#include "timeline/debug/dwarf.h"
#include "timeline/debug/dwarf_unit.h"

struct dwarf_module {
	Dwarf *dwarf;
	Dwarf *alternate; /* what dwz moved out; NULL: none, or libdw finds it */
	struct dwarf_code code;
	struct parse_budget budget;
	struct arena arena; /* names, paths */

	/* Relative paths met so far, by their place in libdw's memory, and whole ones. */
	struct key_ids path_ids;
	const char **paths;
	size_t path_capacity;

	/* Units met so far, by the identity of their entry's unit; NULL: could not be read. */
	struct key_ids unit_ids;
	struct dwarf_unit **units;
	size_t unit_capacity;

	/* Which unit covers an address: .debug_aranges first, else all units' own ranges, read once. */
	Dwarf_Aranges *aranges;
	size_t arange_count;
	struct dwarf_unit_range *unit_ranges; /* by low */
	size_t unit_range_count;
	bool has_aranges, has_unit_ranges;
	struct dwp *package; /* NULL: none */
	bool lacks_split;    /* a unit was asked for whose other half is not there */
};

/* Addresses [low, high) belong to the unit whose entry is at `die`. */
struct dwarf_unit_range {
	uint64_t low, high;
	uint64_t reach; /* largest high of this and all before */
	Dwarf_Die die;
};

/* The unit that `die` lies in, walked; NULL when memory is out. `skeleton` is kept with a new unit. */
struct dwarf_unit *dwarf_module_unit(
	struct dwarf_module *module, const Dwarf_Die *unit_die, const Dwarf_Die *skeleton);

/* The unit of a unit's entry as the file lists it: where the code was split off, its other half. NULL when
 * memory is out. */
struct dwarf_unit *dwarf_module_listed(struct dwarf_module *module, const Dwarf_Die *listed);

/* The unit of the address; of several the one whose range begins last and has a function there, of those the
 * first in the file. *unit stays NULL when there is none. The stretch is cut to addresses that have it, too.
 * 0, or -1 when memory is out. */
int dwarf_module_unit_at(struct dwarf_module *module, uint64_t address, struct dwarf_unit **unit,
	struct symbol_stretch *stretch);

/* A path of the unit's file table, which may be relative to where the compiler ran, made absolute; "" for
 * NULL. NULL when memory is out. */
const char *dwarf_module_path(struct dwarf_module *module, Dwarf_Die *unit_die, const char *path);

/* The last row at or before the address, unless it ends its sequence; the spot's file and line stay as they
 * were where there is none. 0, or -1 when memory is out. */
int dwarf_unit_line(
	struct dwarf_module *module, struct dwarf_unit *unit, uint64_t address, struct dwarf_spot *spot);

/* Fills in the scope's names and places. 0, or -1 when memory is out. */
int dwarf_scope_resolve(struct dwarf_module *module, struct dwarf_scope *scope);

#endif
