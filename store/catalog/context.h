/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - the calling context tree of one store: nodes by id, parents before children. In the file: | id
 * - parent varint | module varint | offset varint | in append blocks (append_block.h). Path hashes are not
 * stored but recomputed, since they follow from the rest.
 *
 *   hash(node) = XXH3-128( hash(parent) | identity of the module | place )
 *   place      = (offset, 0); in a string table the 128-bit hash of the frame's name
 *   identity   = module.h; zero for reserved frames. hash(no context) = zero
 */
#ifndef STORE_CONTEXT_H
#define STORE_CONTEXT_H

#include "store/catalog/module.h"

struct store_contexts {
	struct store_context *nodes;
	uint32_t count, capacity;
	struct hash_index index; /* the writer's */
	const struct store_modules *modules;
	const struct store_texts *texts;
};

int store_contexts_init(struct store_contexts *contexts, const struct store_modules *modules,
	const struct store_texts *texts);
void store_contexts_fini(struct store_contexts *contexts);
/* Id of that child, new or known; STORE_ID_FAILED without memory. The parent must exist. */
uint32_t store_contexts_intern(
	struct store_contexts *contexts, uint32_t parent, uint32_t module, uint64_t offset);
void store_contexts_put(const void *contexts, uint32_t id, struct store_bytes *out);
int store_contexts_get(void *contexts, uint32_t id, struct store_input *input);

#endif
