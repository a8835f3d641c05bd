/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_sort.h - sorts more entries than memory may hold (--mem): when memory is full, entries go,
 * sorted, to an unlinked file (in TMPDIR, or /var/tmp), and are merged when read.
 *
 *   put -> | memory, full | -sort-> file: | run 0 | run 1 | ...       next <- merge of all runs and memory
 */
#ifndef TIMELINE_EXTERNAL_SORT_H
#define TIMELINE_EXTERNAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"

#define EXTERNAL_SORT_ENTRY_MAX 256u

struct external_sort;

/* Entries of `entry_bytes` (at most EXTERNAL_SORT_ENTRY_MAX). `mem_bytes` 0: all stays in memory. */
int external_sort_new(struct external_sort **spill, size_t entry_bytes,
	int (*compare)(const void *a, const void *b), uint64_t mem_bytes, struct error *error);
/* For many entries of some size: `key` gives the two numbers by which they are ordered first, and `compare`
 * those whose numbers are equal. Before the first put. */
void external_sort_by(struct external_sort *spill, void (*key)(const void *entry, uint64_t key[2]));
void external_sort_free(struct external_sort *spill);
/* Copies the entry. ERROR_IO: no memory, or no space for the file. */
int external_sort_put(struct external_sort *spill, const void *entry, struct error *error);
/* Returns to the first entry; ends putting. */
int external_sort_rewind(struct external_sort *spill, struct error *error);
/* The next entry, valid until the next call; NULL: no more, or an error in *code (ERROR_IO). */
const void *external_sort_next(struct external_sort *spill, int *code, struct error *error);

#endif
