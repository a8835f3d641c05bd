/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_unit.h - one compilation unit's functions and inlined calls, read in a single pass into an interval
 * index from address to innermost scope. (dwarf_getscopes() walks the unit again for each address, 1 ms
 * each.)
 */
#ifndef TIMELINE_DWARF_UNIT_H
#define TIMELINE_DWARF_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "store/catalog/symbol_protocol.h"
#include "timeline/base/parse_budget.h"

#define DWARF_NONE UINT32_MAX

/* Addresses of code; functions outside were dropped by the linker. */
struct dwarf_code {
	struct {
		uint64_t begin, end;
	} range[16];
	unsigned count;
};
bool dwarf_code_has(const struct dwarf_code *code, uint64_t address);
/* Cuts the stretch to the range that contains the address. */
void dwarf_code_cut(const struct dwarf_code *code, uint64_t address, struct symbol_stretch *stretch);

/* A function with code, or one inlined call. */
struct dwarf_scope {
	Dwarf_Die die;
	uint32_t parent; /* scope it is inlined in, always a smaller index; DWARF_NONE: a function */
	uint64_t low;	 /* start of its first range */
	/* -- filled in on first use -- */
	const char *name, *linkage, *decl_file, *call_file;
	uint32_t decl_line, call_line;
	bool is_resolved;
};

struct dwarf_segment {
	uint64_t low; /* a segment ends where the next one begins */
	uint32_t scope;
};

/* An entry that qualifies the names below it, or a function. */
struct dwarf_place {
	Dwarf_Off offset;
	uint32_t parent; /* enclosing place, DWARF_NONE: the unit itself */
};

struct dwarf_unit {
	Dwarf_Die die;	    /* has the functions; of the split unit where there is one */
	Dwarf_Die skeleton; /* has the lines */
	struct dwarf_scope *scopes;
	struct dwarf_segment *segments; /* by low */
	struct dwarf_place *places;	/* by offset; omitted for C and assembly */
	size_t scope_count, segment_count, place_count;
	bool is_indexed;
	Dwarf_Lines *lines;
	size_t line_count;
	bool has_lines;
};

void dwarf_unit_fini(struct dwarf_unit *unit);
/* Indexes the unit, once. Returns 0, or -1: no memory; damage or a spent budget shorten the index. */
int dwarf_unit_index(struct dwarf_unit *unit, const struct dwarf_code *code, struct parse_budget *budget);
/* Innermost scope at `address`, DWARF_NONE: no function of the unit. Cuts the stretch to addresses with the
 * same scope. */
uint32_t dwarf_unit_find(const struct dwarf_unit *unit, uint64_t address, struct symbol_stretch *stretch);
/* The place of the entry at `offset` (of this unit's own section), DWARF_NONE: none. */
uint32_t dwarf_unit_place(const struct dwarf_unit *unit, Dwarf_Off offset);

#endif
