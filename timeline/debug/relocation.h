/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relocation.h - the loader's relocations of a program's data: places that hold another place's address.
 * Some linkers leave zeros in the file there, so tables of `goto *table[i]` must be read from the
 * relocations.
 */
#ifndef TIMELINE_RELOCATION_H
#define TIMELINE_RELOCATION_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocation {
	uint64_t at, value;
};

/* By address. All-zero: not read yet. */
struct relocations {
	struct relocation *list;
	size_t count;
	bool is_read;
};

/* The 8 bytes that the loader writes at the address (relative to the load address); false: it writes none.
 * The first call reads the list; a file with an implausible number of them has none. */
bool relocations_find(struct relocations *relocations, Elf *elf, uint64_t address, uint64_t *value);
void relocations_fini(struct relocations *relocations);

#endif
