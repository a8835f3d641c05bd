/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_symbols.h - what a loaded module exports, by name: reads its dynamic symbols where they are mapped,
 * as the loader does (System V gABI, "Hash Table"; GNU hash). Signal safe; damaged tables give NULL, as far
 * as they lie inside the module.
 */
#ifndef RECORD_AGENT_PYTHON_SYMBOLS_H
#define RECORD_AGENT_PYTHON_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct python_symbols {
	uint64_t begin, end, bias;
	const uint32_t *hash; /* DT_GNU_HASH */
	const void *symbols;
	const char *names;
	uint64_t names_bytes;
};

/* The tables of the module mapped at [begin, end). False: it has none. */
bool python_symbols_open(struct python_symbols *of, uint64_t begin, uint64_t end, uint64_t bias);

/* The same of one that dl_iterate_phdr(3) tells of. */
struct dl_phdr_info;
bool python_symbols_loaded(struct python_symbols *of, const struct dl_phdr_info *info);

/* Runtime address of a defined symbol, 0: none. */
uint64_t python_symbols_find(const struct python_symbols *of, const char *name);
/* The same, with its size as the table has it. */
uint64_t python_symbols_range(const struct python_symbols *of, const char *name, uint64_t *bytes);

#endif
