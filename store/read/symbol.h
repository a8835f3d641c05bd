/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - a reader's symbols: single values while the run is recorded, compressed blocks (zstd_block.h)
 * once the store has settled. Blocks once used stay decompressed until the reader renews.
 */
#ifndef STORE_SYMBOL_H
#define STORE_SYMBOL_H

#include "store/base/bytes.h"
#include "store/base/error.h"

struct store_reader;
struct store_symbol_place {
	uint64_t offset;
	uint32_t at, size; /* position and size of its scopes in the bytes */
};

/* One compressed block. */
struct store_symbol_part {
	uint32_t module;
	struct store_symbol_place *places; /* by offset; at least one */
	uint32_t count, capacity;
	struct store_bytes bytes;
};

/* All-zero is empty. */
struct store_symbols {
	struct store_symbol_part *parts; /* by module and first offset */
	uint32_t count, capacity;
};
void store_symbols_fini(struct store_symbols *symbols);

/* Reads every one. */
int store_reader_symbols_check(struct store_reader *reader, struct error *error);

#endif
