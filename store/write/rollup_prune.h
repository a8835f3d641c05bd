/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_prune.h - which rollups a settled store keeps. Where call paths hardly come again, a rollup holds
 * about as much as the chunks that it sums up: it takes their room once more, and reading it saves nothing.
 * One that is not there is the sum of what lies below it (FORMAT.md), so such ones are left out.
 */
#ifndef STORE_ROLLUP_PRUNE_H
#define STORE_ROLLUP_PRUNE_H

#include "store/file/file.h"

extern bool
	store_rollup_prune_none; /* tests set it: all are worth it, or small stores would have hardly any */

/* Is the rollup of that key and size at most a fifth of the chunks below it? Of lines, of the sums of
 * samples and values, and of their total; others and small ones are always worth it, so are those with a
 * damaged key. */
bool store_rollup_prune_keeps(const struct store_snapshot *snapshot, struct store_slice key, size_t size);

#endif
