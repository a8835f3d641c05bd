/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_tree.h - calling context tree of one thread: nodes (parent, module slot, offset) with ids that
 * count up from EVENT_NODE_FIRST, found by a hash that grows by one bucket per node (linear hashing: no
 * rehash ever delays a sample). Memory is reserved once and touched as it grows. Single thread, signal safe.
 *
 *   nodes[0 .. capacity)  24 bytes each       buckets[0 .. capacity)  4 bytes each
 */
#ifndef RECORD_AGENT_CONTEXT_TREE_H
#define RECORD_AGENT_CONTEXT_TREE_H

#include <stddef.h>
#include <stdint.h>

struct context_node {
	uint64_t offset;
	uint32_t slot;
	uint32_t parent;
	uint32_t next; /* in its bucket; 0: last */
	uint32_t hash;
};

struct context_tree {
	struct context_node *nodes; /* nodes[id - EVENT_NODE_FIRST] */
	uint32_t *buckets;
	uint32_t count;
	uint32_t capacity;
	uint32_t bucket_count;
};

#define CONTEXT_TREE_NODE_BYTES (sizeof(struct context_node) + sizeof(uint32_t))

/* `memory`: the caller's capacity * CONTEXT_TREE_NODE_BYTES zeroed bytes, aligned to 8. */
void context_tree_init(struct context_tree *tree, void *memory, uint32_t capacity);

/* Zeroes the nodes and buckets in use, so that `memory` can be used for the next context_tree_init. */
void context_tree_clear(struct context_tree *tree);

/* Id of the child, 0 if there is none. */
uint32_t context_tree_child_find(
	const struct context_tree *tree, uint32_t parent, uint32_t slot, uint64_t offset);

/* How many more nodes fit. */
uint32_t context_tree_nodes_left(const struct context_tree *tree);

/* Adds a new child; there must be space. Returns its id. */
uint32_t context_tree_child_add(struct context_tree *tree, uint32_t parent, uint32_t slot, uint64_t offset);

#endif
