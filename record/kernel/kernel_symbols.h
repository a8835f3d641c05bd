/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - functions of the kernel, or of a kernel module, by their offset. /proc/kallsyms takes a
 * tenth of a second to read, so the table is cached by build id in the user's cache directory. Offsets are
 * the same at each boot and reveal no addresses.
 *
 * A run needs a few dozen of 100,000 functions, so of a cached table only the blocks in question are read and
 * checked.
 *
 *   DIRECTORY/kernel/BUILD-ID   magic | u32 blocks, functions, span, 0 | index | u64 checksum so far | blocks
 *     index, for each block     u32 offset of its first function, its end counted from the first block, u64
 * checksum block                     u32 count | for each function, ascending: u32 offset, place of its name
 *                               after these | names, NUL-terminated | zeros up to a multiple of four bytes
 */
#ifndef RECORD_KERNEL_SYMBOLS_H
#define RECORD_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_BYTES 128u /* per name with its NUL; longer names are cut */

/* Empty when zeroed. */
struct kernel_symbols {
	struct kernel_symbol {
		uint32_t at;   /* offset in the module */
		uint32_t name; /* index in `names` */
	} * list;
	uint32_t count, capacity;
	char *names;
	uint32_t name_bytes, name_capacity;
	uint32_t span;			  /* size of the module in bytes; 0: not known */
	struct kernel_symbols_file *file; /* the cached table, then `list` is empty; NULL: none */
};

void kernel_symbols_fini(struct kernel_symbols *symbols);
/* False: no memory. */
bool kernel_symbols_add(struct kernel_symbols *symbols, uint32_t at, const char *name, size_t length);
/* Call after the last kernel_symbols_add. */
void kernel_symbols_sort(struct kernel_symbols *symbols);
/* Reads the block of a cached table that kernel_symbols_find(at) will search. False: the file is damaged;
 * the table is then empty. */
bool kernel_symbols_fetch(struct kernel_symbols *symbols, uint32_t at);
/* Finds the function that contains `at`, and its begin; at equal offsets the first added. NULL: `at` is
 * before all functions, or its block was not fetched. The table owns the name. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t at, uint32_t *begin);

/* Loads the cached table of a build id into an empty table. False: none is cached; the table stays empty. */
bool kernel_symbols_load(struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);
void kernel_symbols_save(const struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);

#endif
