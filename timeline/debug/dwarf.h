/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.h - reads the debug information of one ELF file: from an address to the function, the calls inlined
 * into it and the line in each. timeline/names/names.h chooses among a module's files.
 */
#ifndef TIMELINE_DWARF_H
#define TIMELINE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"
#include "timeline/debug/dwarf_unit.h"

struct dwarf_module;
struct dwp;

/*
 * `elf` holds the debug information and must outlive the module; `alternate` (may be NULL) is the file that
 * dwz moved shared parts to; `code` is copied. Reads only section headers so far. ERROR_IO: libdw finds no
 * debug information it can read. One thread per module.
 */
int dwarf_module_open(struct dwarf_module **module, Elf *elf, Elf *alternate, const struct dwarf_code *code,
	struct error *error);
void dwarf_module_close(struct dwarf_module *module);

/* Where to find split units, besides .dwo files; must outlive the module. */
void dwarf_module_set_package(struct dwarf_module *module, struct dwp *package);

/* Limits the next look-ups together: CPU time (0: no limit) and, against damaged files, entries read. With a
 * spent budget answers lack debug information. */
void dwarf_module_allow(struct dwarf_module *module, uint64_t cpu_ns);
bool dwarf_module_is_spent(const struct dwarf_module *module);

/* True when dwz moved parts to a file that was not found: names described there are missing. */
bool dwarf_module_lacks_shared(struct dwarf_module *module);
/* True when some unit's .dwo file was not found: what was split off is missing. */
bool dwarf_module_lacks_split(const struct dwarf_module *module);

/* The probable position of an address's unit in the debug information, from the file's own list; 0: not
 * listed. Requests for one unit are cheapest one after another. */
uint64_t dwarf_module_place(struct dwarf_module *module, uint64_t address);

/* File and line of an address ("" and 0: unknown). */
struct dwarf_spot {
	const char *file;
	uint32_t line;
	struct symbol_stretch stretch; /* in: any; out: cut to the addresses with the same answer */
};

/*
 * Scopes at `address` (as in the program headers), outermost first; at most NAMES_SCOPE_MAX (of a deeper
 * chain the innermost and the outer 63). Returns their number; 0: no function there. Sets the spot in any
 * case. Strings live as long as the module. Negative: no memory.
 */
int dwarf_module_find(struct dwarf_module *module, uint64_t address, struct names_scope *scopes,
	struct dwarf_spot *spot, struct error *error);

/* The code of the function at `address`: at most `max` ranges (begin, end pairs) and its first instruction.
 * Returns their number; 0: no function there. */
unsigned dwarf_module_function(
	struct dwarf_module *module, uint64_t address, uint64_t (*ranges)[2], unsigned max, uint64_t *entry);

#endif
