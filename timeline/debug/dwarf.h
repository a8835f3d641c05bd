/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.h - the debug information of one ELF file: from an address to the function, the calls
 * inlined into it and the line in each of them. What other files a module has is decided above, in
 * timeline/names/names.h.
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
 * `elf` holds the debug information and outlives the module; `alternate` (may be NULL) is the file that
 * dwz moved shared parts to; `code` is copied. Nothing but the headers of the sections is read yet. ERROR_IO:
 * no debug information that libdw can read. One thread per module.
 */
int dwarf_module_open(struct dwarf_module **module, Elf *elf, Elf *alternate, const struct dwarf_code *code,
	struct error *error);
void dwarf_module_close(struct dwarf_module *module);

/* Where units that were split off are looked for, besides .dwo files; outlives the module. */
void dwarf_module_set_package(struct dwarf_module *module, struct dwp *package);

/* What the next look-ups may cost together: CPU time (0: any) and, against damaged files, entries read. A
 * spent budget ends in answers without debug information. */
void dwarf_module_allow(struct dwarf_module *module, uint64_t cpu_ns);
bool dwarf_module_is_spent(const struct dwarf_module *module);

/* dwz moved parts to a file that was not found: names of what is described there are missing. */
bool dwarf_module_lacks_shared(struct dwarf_module *module);
/* So far a unit was met whose .dwo file was not found: what was split off is missing. */
bool dwarf_module_lacks_split(const struct dwarf_module *module);

/* Where in the debug information the unit of that address seems to lie, by the file's own list; 0: not said
 * there. What is asked of one unit together costs least. */
uint64_t dwarf_module_place(struct dwarf_module *module, uint64_t address);

/* Where an address is in the sources ("" and 0: not known). */
struct dwarf_spot {
	const char *file;
	uint32_t line;
	struct symbol_stretch
		stretch; /* in: any; out: the part of it in which all addresses have the answer */
};

/*
 * Scopes at `address` (as in the program headers), outermost first; at most NAMES_SCOPE_MAX (of a deeper
 * chain the innermost and the outer 63). Returns their number; 0: no function there. The spot is set all the
 * same. Strings live as long as the module. Negative: memory.
 */
int dwarf_module_find(struct dwarf_module *module, uint64_t address, struct names_scope *scopes,
	struct dwarf_spot *spot, struct error *error);

/* Where the code of the function at `address` lies: at most `max` ranges (begin, end pairs) and its first
 * instruction. Their number; 0: no function there. */
unsigned dwarf_module_function(
	struct dwarf_module *module, uint64_t address, uint64_t (*ranges)[2], unsigned max, uint64_t *entry);

#endif
