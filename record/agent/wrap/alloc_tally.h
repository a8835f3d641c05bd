/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc_tally.h - tallies the program's allocations and frees by the call path that allocated. A free counts
 * at the path of its allocation, whichever thread frees, so the difference is what was never freed. Only in
 * the agent variant for EVENT_WORD_MEMLEAK.
 *
 *   result = real malloc(bytes); alloc_tally_allocated(result, bytes);
 *   alloc_tally_free_begin(at, &block); real free(at); alloc_tally_free_end(&block);
 *
 * A block is removed before it is freed, as another thread may get the address at once.
 */
#ifndef RECORD_AGENT_ALLOC_TALLY_H
#define RECORD_AGENT_ALLOC_TALLY_H

#include "record/agent/wrap/live_blocks.h"
#include <stddef.h>

/* The calling thread has allocated this. Ignores NULL and empty blocks. Keeps errno. */
void alloc_tally_allocated(const void *address, size_t bytes);

/* It is about to be freed; block->site NULL: not tallied. */
void alloc_tally_free_begin(const void *address, struct live_block *block);
void alloc_tally_free_end(const struct live_block *block);
/* It was not freed after all. */
void alloc_tally_free_failed(const void *address, const struct live_block *block);

#endif
