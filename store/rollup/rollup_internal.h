/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_internal.h - what the readers of rollups share: the source of keys for the walk, and decoding one
 * rollup.
 */
#ifndef STORE_ROLLUP_INTERNAL_H
#define STORE_ROLLUP_INTERNAL_H

#include "store/read/reader_internal.h"
#include "store/rollup/rollup.h"

#define STORE_ROLLUP_WEIGHTS (1u << STORE_CONTEXT_SUMS_WEIGHT)
#define STORE_ROLLUP_TIMES (1u << STORE_CONTEXT_SUMS_TIME)

/* The seek of a struct store_rollup_source whose `own` is a reader. */
int store_rollup_seek(void *own, bool is_roll, const uint8_t *key, size_t key_size, struct store_slice *found,
	struct store_slice *value, struct error *error);
/* Reads one rollup into reader->sums; `wanted`: STORE_ROLLUP_*. */
int store_rollup_read(struct store_reader *reader, const struct store_key_rollup *roll,
	struct store_slice value, unsigned wanted, struct error *error);
/* Reads the total into reader->sums: 1; 0: this snapshot has none. */
int store_rollup_read_total(struct store_reader *reader, struct error *error);

#endif
