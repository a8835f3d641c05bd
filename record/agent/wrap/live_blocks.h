/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_blocks.h - table of the tallied live memory blocks, by address. Separate from the program's heap:
 * blocks keep their size, alignment and allocator.
 *
 *   level 0   [bucket of 16][bucket of 16] ...       an address has one bucket in each level and
 *   level 1   [bucket of 16] ... (4 times as many)   is in the first that had space. Levels are
 *   ...                                              added as needed.
 *
 * No locks, and entries never move: any thread, any signal handler, at any point. An address belongs to one
 * thread at a time, from malloc to free, so it is never added and removed at once. A fork child starts empty.
 */
#ifndef RECORD_AGENT_LIVE_BLOCKS_H
#define RECORD_AGENT_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct live_block {
	const void *site;
	uint64_t bytes;
};

/* False: no memory; once per process. */
bool live_blocks_open(void);

/* False: no space. */
bool live_blocks_add(const void *address, const struct live_block *block);

/* Finds and removes it; false: not found. */
bool live_blocks_take(const void *address, struct live_block *block);

#endif
