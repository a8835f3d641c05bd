/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relocation.h - what the loader writes into a program's data: places that hold another place's address. Some
 * linkers leave zeros in the file there, so that tables of `goto *table[i]` are to be had from the list
 * alone.
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

/* By address. All zero is a list that was not read yet. */
struct relocations {
	struct relocation *list;
	size_t count;
	bool is_read;
};

/* The 8 bytes at the address, counted from where the file is loaded; false: the loader leaves them alone. The
 * list is read at the first call; a file that has more of them than any program has none. */
bool relocations_find(struct relocations *relocations, Elf *elf, uint64_t address, uint64_t *value);
void relocations_fini(struct relocations *relocations);

#endif
