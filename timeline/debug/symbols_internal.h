/* SPDX-License-Identifier: Apache-2.0 */
/* symbols_internal.h - shared by symbols.c and symbols_dynamic.c, which finds symbols where no section has
 * them. */
#ifndef TIMELINE_SYMBOLS_INTERNAL_H
#define TIMELINE_SYMBOLS_INTERNAL_H

#include <gelf.h>

#include "timeline/debug/symbols.h"

/* Adds a symbol if it is a function with a name. `is_code`, of `sections` sections: a label counts there
 * only. 0 or -1 (no memory). */
int symbol_table_take(struct symbol_table *table, const GElf_Sym *symbol, const char *name,
	const uint8_t *is_code, size_t sections);
/* Adds the functions that the dynamic section leads to; as symbol_table_add. */
int symbol_table_add_dynamic(struct symbol_table *table, Elf *elf);
/* Adds those of a Go program's own table; as symbol_table_add. */
int symbol_table_add_go(struct symbol_table *table, Elf *elf);

#endif
