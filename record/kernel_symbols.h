/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - functions of the kernel, or of one of its modules, by their distance from where it
 * begins. The kernel takes a tenth of a second to write its list, so what was read once is kept in the user's
 * cache by build id, which distances go with: they are the same at each boot, wherever the kernel was put
 * this time, and tell nobody where that is.
 *
 *   DIRECTORY/kernel/BUILD-ID   magic | u32 count, name bytes, span, 0 | per function, ascending:
 *                               u32 distance, place of its name | names, each with its 0 | u64 checksum
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
	uint32_t count, room;
	char *names;
	uint32_t name_bytes, name_room;
	uint32_t span; /* of it, in bytes; 0: not known */
	uint8_t *file; /* that both are in; NULL: they stand alone */
};

void kernel_symbols_fini(struct kernel_symbols *symbols);
/* False: no memory. */
bool kernel_symbols_add(struct kernel_symbols *symbols, uint32_t at, const char *name, size_t length);
/* After the last kernel_symbols_add. */
void kernel_symbols_sort(struct kernel_symbols *symbols);
/* The function that `at` lies in, of several at one place the first that was added, and where it begins.
 * NULL: it lies below all. The table's. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t at, uint32_t *begin);

/* What was kept by that build id goes to an empty table. False: nothing that is whole; it stays empty. */
bool kernel_symbols_load(struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);
void kernel_symbols_save(const struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes);

#endif
