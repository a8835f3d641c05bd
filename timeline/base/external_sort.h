/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_sort.h - sorts more entries than memory may hold (--mem): what is above it goes, sorted, into a
 * file without a name (TMPDIR, or /var/tmp), and comes back merged.
 *
 *   put -> | memory, full | -sort-> file: | run 0 | run 1 | ...       next <- merge of all runs and memory
 */
#ifndef TIMELINE_EXTERNAL_SORT_H
#define TIMELINE_EXTERNAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"

#define SPILL_ENTRY_MAX 256u

struct spill;

/* Entries of `entry_bytes` (SPILL_ENTRY_MAX at most). `mem_bytes` 0: all stays in memory. */
int spill_new(struct spill **spill, size_t entry_bytes, int (*compare)(const void *a, const void *b),
	uint64_t mem_bytes, struct error *error);
void spill_free(struct spill *spill);
/* Copies the entry. ERROR_IO: memory or the file's disk is out. */
int spill_put(struct spill *spill, const void *entry, struct error *error);
/* Back to the first entry, which also ends putting. */
int spill_rewind(struct spill *spill, struct error *error);
/* The next one, valid until the next call; NULL: no more. ERROR_IO in *code else. */
const void *spill_next(struct spill *spill, int *code, struct error *error);

#endif
