/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_cache_file.h - the sums of idle_cache.h as a file: written as a whole and renamed to its place, read
 * node by node. Only rolled*.c include it.
 *
 *   head | per level 0, 1, 2 ...: where each node begins (u64), and where the last ends | nodes
 *   node: u64 XXH3 of the rest, IDLE_CACHE_NUMBERS u64, then blamed and waited shares, each u32 context, u128
 * amount
 */
#ifndef BLAME_IDLE_CACHE_FILE_H
#define BLAME_IDLE_CACHE_FILE_H

#include "blame/idle/idle_group.h"
#include "store/base/bytes.h"

#define IDLE_CACHE_NUMBERS 11u
#define IDLE_CACHE_BYTES_MAX (UINT64_C(1) << 30) /* more is not kept */

/* The stretches [first, last) of 2^shift ns, numbered from time 0. */
struct idle_cache_grid {
	uint64_t first, last;
	uint32_t shift;
};

/* What one stretch, or several, come to. */
struct idle_cache_sums {
	struct idle idle;
	struct exact_share_sums blamed, waited;
};
void idle_cache_sums_clear(struct idle_cache_sums *sums);
void idle_cache_sums_fini(struct idle_cache_sums *sums);
void idle_cache_sums_add_idle(struct idle *to, const struct idle *from);

/* Nodes of all levels, bottom up: level n has a node for each whole 2^n stretches that begin at a multiple.
 */
struct idle_cache_writer {
	struct idle_cache_grid grid;
	struct store_bytes nodes;
	struct store_bytes places; /* u64 each */
	bool is_too_large;
};
/* The next stretch. */
void idle_cache_writer_add(struct idle_cache_writer *writer, const struct idle_cache_sums *sums);
/* The levels above, then the file. What cannot be written is not there: no error. */
void idle_cache_writer_finish(
	struct idle_cache_writer *writer, const struct store_hash *of, const char *path);
void idle_cache_writer_fini(struct idle_cache_writer *writer);

struct idle_cache_file;
/* NULL: there is none, or it is of something else. It is damaged where it names contexts from `contexts` on.
 */
struct idle_cache_file *idle_cache_file_open(
	const char *path, const struct idle_cache_grid *grid, const struct store_hash *of, uint32_t contexts);
void idle_cache_file_close(struct idle_cache_file *file);
/* Adds the stretches [from, to), which lie in the grid. False: it is damaged, or memory is out. */
bool idle_cache_file_add(
	struct idle_cache_file *file, uint64_t from, uint64_t to, struct idle_cache_sums *sums);

#endif
