/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - names in an ELF file without debug information: function symbols, PLT entries, unwind entries.
 * Answers are exact or none: never the nearest neighbour.
 */
#ifndef TIMELINE_SYMBOLS_H
#define TIMELINE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

#include "store/catalog/symbol_protocol.h"

/* A function symbol. `name` points into the file's mapping. */
struct symbol {
	uint64_t start, end; /* end == start: the symbol has no size */
	const char *name;
	uint8_t rank; /* of aliases the lowest is shown */
};

/* All-zero is an empty table. One thread. */
struct symbol_table {
	struct symbol *symbols; /* by start, then end, then rank and name */
	uint64_t *reach;	/* largest end of symbols[0..i] */
	size_t count, capacity;
	bool sorted;
};

void symbol_table_fini(struct symbol_table *table);
/* Adds the functions of .symtab and .dynsym, without section headers those of the dynamic section; `elf` must
 * outlive the table. Damage loses only the symbols it hits. Returns 0 or -1 (no memory). */
int symbol_table_add(struct symbol_table *table, Elf *elf);
/* The innermost symbol whose [start, end) contains `offset`; of aliases the best known: global before local,
 * fewer leading underscores, shorter, then by name. NULL: none. Cuts the stretch to addresses with the same
 * symbol. */
const struct symbol *symbol_table_find(
	struct symbol_table *table, uint64_t offset, struct symbol_stretch *stretch);
/* The best alias that starts exactly at `start`, of any size; NULL: none. */
const struct symbol *symbol_table_at(struct symbol_table *table, uint64_t start);

/* Bytes of the file loaded at `address`; NULL: fewer than `size` of them. */
const uint8_t *elf_image(Elf *elf, uint64_t address, size_t size);
/* How many bytes of the file are loaded from there on, one after the other. */
uint64_t elf_image_room(Elf *elf, uint64_t address);
/* Copies them. false: fewer than `size`. */
bool elf_image_read(Elf *elf, uint64_t address, void *value, size_t size);

/* Position and first address of the unwind entry (FDE) that may cover `offset`. */
bool unwind_entry_place(Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *fde);
/* The unwind entry (FDE) that covers `offset`, through the sorted table of .eh_frame_hdr. */
bool unwind_entry_find(Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *end);

/* The function that the PLT entry at `offset` jumps to; NULL: not a PLT entry (x86-64 only). *begin: the
 * entry's start. The name points into the file's mapping. */
const char *plt_entry_find(Elf *elf, uint64_t offset, uint64_t *begin);

#endif
