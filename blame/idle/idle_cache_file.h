/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_cache_file.h - the file of idle_cache.h: written as a whole and renamed into place, read node by
 * node. For idle_cache*.c only.
 *
 *   head | per level 0, 1, 2 ...: where each node begins (u64), and where the last ends | nodes
 *   node: u64 XXH3 of the rest, IDLE_CACHE_NUMBERS u64, blamed and waited shares: u32 context, u128 amount
 */
#ifndef BLAME_IDLE_CACHE_FILE_H
#define BLAME_IDLE_CACHE_FILE_H

#include "blame/idle/idle_group.h"
#include "store/base/bytes.h"

#define IDLE_CACHE_NUMBERS 11u
#define IDLE_CACHE_BYTES_MAX (UINT64_C(1) << 30) /* larger files are not written */

/* The stretches [first, last) of 2^shift ns, numbered from time 0. */
struct idle_cache_grid {
	uint64_t first, last;
	uint32_t shift;
};

/* The sums of one or several stretches. */
struct idle_cache_sums {
	struct idle idle;
	struct exact_share_sums blamed, waited;
};
void idle_cache_sums_clear(struct idle_cache_sums *sums);
void idle_cache_sums_fini(struct idle_cache_sums *sums);
void idle_cache_sums_add_idle(struct idle *to, const struct idle *from);

/* Nodes of all levels, bottom up: level n has a node for each aligned group of 2^n stretches. */
struct idle_cache_writer {
	struct idle_cache_grid grid;
	struct store_bytes nodes;
	struct store_bytes places; /* u64 each */
	bool is_too_large;
};
/* Adds the next stretch. */
void idle_cache_writer_add(struct idle_cache_writer *writer, const struct idle_cache_sums *sums);
/* Makes the upper levels and writes the file. A failed write is no error: there is then no file. */
void idle_cache_writer_finish(
	struct idle_cache_writer *writer, const struct store_hash *of, const char *path);
void idle_cache_writer_fini(struct idle_cache_writer *writer);

struct idle_cache_file;
/* NULL: none, or of another run or question. A context from `contexts` on means damage. */
struct idle_cache_file *idle_cache_file_open(
	const char *path, const struct idle_cache_grid *grid, const struct store_hash *of, uint32_t contexts);
void idle_cache_file_close(struct idle_cache_file *file);
/* Adds the stretches [from, to) of the grid. False: damage, or no memory. */
bool idle_cache_file_add(
	struct idle_cache_file *file, uint64_t from, uint64_t to, struct idle_cache_sums *sums);

#endif
