/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - functions of the kernel, or of one of its modules, by their distance from where it
 * begins. The kernel takes a tenth of a second to write its list, so what was read once is kept in the user's
 * cache by build id, which distances go with: they are the same at each boot, wherever the kernel was put
 * this time, and tell nobody where that is.
 *
 * A run meets some dozens of the hundred thousand: of a table that was kept, what is asked for is read, and
 * checked, in blocks.
 *
 *   DIRECTORY/kernel/BUILD-ID   magic | u32 blocks, functions, span, 0 | index | u64 checksum so far | blocks
 *     index, for each block     u32 distance of its first, its end from the first block on, u64 checksum
 *     block                     u32 count | for each function, ascending: u32 distance, place of its name
 *                               behind these | names, each with its 0 | 0 up to a multiple of four bytes
 */
#ifndef RECORD_KERNEL_SYMBOLS_H
#define RECORD_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_BYTES 128u /* of a name, its 0 included: longer ones are cut */

/* All-zero is an empty table. */
struct kernel_symbols {
	struct kernel_symbol {
		uint32_t at;   /* from the begin */
		uint32_t name; /* in `names` */
	} * list;
	uint32_t count, capacity;
	char *names;
	uint32_t name_bytes, name_capacity;
	uint32_t span;			  /* of it, in bytes; 0: not known */
	struct kernel_symbols_file *file; /* that a table was kept in, `list` is empty then; NULL: none */
};

void kernel_symbols_fini(struct kernel_symbols *symbols);
/* False: no memory. */
bool kernel_symbols_add(struct kernel_symbols *symbols, uint32_t at, const char *name, size_t length);
/* After the last kernel_symbols_add. */
void kernel_symbols_sort(struct kernel_symbols *symbols);
/* Reads what kernel_symbols_find(at) is to look at, where that is in a file. False: the file is not as it was
 * written; the table is empty then. */
bool kernel_symbols_fetch(struct kernel_symbols *symbols, uint32_t at);
/* The function that `at` lies in, of several at one place the first that was added, and where it begins.
 * NULL: it lies below all, or was not fetched. The table's. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t at, uint32_t *begin);

/* An empty table becomes what was kept by that build id. False: there is nothing; it stays empty. */
bool kernel_symbols_load(struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);
void kernel_symbols_save(const struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);

#endif
