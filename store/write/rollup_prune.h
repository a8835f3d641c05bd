/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_prune.h - chooses which rollups a settled store keeps. Where call paths hardly repeat, a rollup is
 * about as large as the chunks that it sums: it takes their space twice, and saves no reading. Readers sum
 * the parts of a missing rollup (FORMAT.md), so such rollups are left out.
 */
#ifndef STORE_ROLLUP_PRUNE_H
#define STORE_ROLLUP_PRUNE_H

#include "store/file/file.h"

extern bool store_rollup_prune_none; /* tests set it: keep all, since small stores would have hardly any */

/* True when the rollup is at most a fifth of the chunks below it. For rollups of timelines, samples, values,
 * and the total; keeps others, small ones, and those with a damaged key. */
bool store_rollup_prune_keeps(const struct store_snapshot *snapshot, struct store_slice key, size_t size);

#endif
