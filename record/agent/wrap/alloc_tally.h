/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc_tally.h - what the program allocates and frees, tallied by the call path that allocated
 * it: what is freed counts there, too, whoever frees it, so that the difference of the two
 * is what was never freed. Only in the agent that EVENT_WORD_MEMLEAK asks for.
 *
 *   result = real malloc(bytes); alloc_tally_allocated(result, bytes);
 *   alloc_tally_free_begin(at, &block); real free(at); alloc_tally_free_end(&block);
 *
 * A block is forgotten before it is freed: the address may be another thread's at once.
 */
#ifndef RECORD_AGENT_ALLOC_TALLY_H
#define RECORD_AGENT_ALLOC_TALLY_H

#include "record/agent/wrap/live_blocks.h"
#include <stddef.h>

/* The calling thread has allocated this. NULL and empty blocks are passed over. errno is left alone. */
void alloc_tally_allocated(const void *address, size_t bytes);

/* It is about to be freed; block->site NULL: it is not tallied. */
void alloc_tally_free_begin(const void *address, struct live_block *block);
void alloc_tally_free_end(const struct live_block *block);
/* It was not freed after all. */
void alloc_tally_free_failed(const void *address, const struct live_block *block);

#endif
