/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_name.h - shared by dwarf.c (finds unit and line) and dwarf_name.c (names scopes).
 */
#ifndef TIMELINE_DWARF_NAME_H
#define TIMELINE_DWARF_NAME_H

#include "store/base/arena.h"
#include "timeline/base/key_ids.h"
#include "timeline/debug/dwarf.h"
#include "timeline/debug/dwarf_unit.h"

struct dwarf_module {
	Dwarf *dwarf;
	Dwarf *alternate; /* parts that dwz moved out; NULL: none, or libdw finds them */
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

	/* Which unit covers an address: from .debug_aranges, else from all units' own ranges, read once. */
	Dwarf_Aranges *aranges;
	size_t arange_count;
	struct dwarf_unit_range *unit_ranges; /* by low */
	size_t unit_range_count;
	bool has_aranges, has_unit_ranges;
	struct dwp *package; /* NULL: none */
	bool lacks_split;    /* some unit's split half was not found */
};

/* Addresses [low, high) belong to the unit with the entry `die`. */
struct dwarf_unit_range {
	uint64_t low, high;
	uint64_t reach; /* largest high of this and all before */
	Dwarf_Die die;
};

/* The unit of `die`, indexed; NULL: no memory. `skeleton` is kept with a new unit. */
struct dwarf_unit *dwarf_module_unit(
	struct dwarf_module *module, const Dwarf_Die *unit_die, const Dwarf_Die *skeleton);

/* The unit for an entry of the file's list: its split half where there is one. NULL: no memory. */
struct dwarf_unit *dwarf_module_listed(struct dwarf_module *module, const Dwarf_Die *listed);

/* The unit of the address; of several, the one whose range begins last and has a function there, then the
 * first in the file. *unit stays NULL if there is none. Cuts the stretch to addresses of the same unit. 0,
 * or -1: no memory. */
int dwarf_module_unit_at(struct dwarf_module *module, uint64_t address, struct dwarf_unit **unit,
	struct symbol_stretch *stretch);

/* Makes a path of the unit's file table absolute (relative ones start in the compiler's directory); "" for
 * NULL. NULL: no memory. */
const char *dwarf_module_path(struct dwarf_module *module, Dwarf_Die *unit_die, const char *path);

/* The last row at or before the address, unless it ends its sequence; without one the spot's file and line
 * stay unchanged. 0, or -1: no memory. */
int dwarf_unit_line(
	struct dwarf_module *module, struct dwarf_unit *unit, uint64_t address, struct dwarf_spot *spot);

/* Fills in the scope's names and positions. 0, or -1: no memory. */
int dwarf_scope_resolve(struct dwarf_module *module, struct dwarf_scope *scope);

#endif
