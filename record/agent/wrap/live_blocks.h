/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_blocks.h - the live blocks of memory that are tallied, by address. Beside the
 * program's heap, not in it: blocks keep their size, alignment and allocator.
 *
 *   level 0   [bucket of 16][bucket of 16] ...       an address has one bucket in each
 *   level 1   [bucket of 16] ... (4 times as many)   level; it lies in the first that had
 *   ...                                              room. A level comes when it is needed.
 *
 * No locks, and nothing moves: any thread, any signal handler, whatever it interrupts. An
 * address belongs to one thread at a time, from malloc to free, so it is never added and
 * taken at once. A child of fork starts empty.
 */
#ifndef RECORD_AGENT_LIVE_BLOCKS_H
#define RECORD_AGENT_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct live_block {
	const void *site;
	uint64_t bytes;
};

/* Whether there is memory for it; once per process. */
bool live_blocks_open(void);

/* false: there is no room. */
bool live_blocks_add(const void *address, const struct live_block *block);

/* Finds it and takes it out; false: it is not there. */
bool live_blocks_take(const void *address, struct live_block *block);

#endif
