/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_tree.c - the thread's calling context tree, see context_tree.h. callpath.c looks paths up here and
 * sends each new node to the collector once.
 */
#include "record/agent/unwind/context_tree.h"

#include <string.h>

#include "record/agent/base/hot_section.h"
#include "store/ring/ring.h"

static uint32_t hash_of(uint32_t parent, uint32_t slot, uint64_t offset)
{
	uint64_t h = (offset ^ ((uint64_t)slot << 48)) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ (h >> 29) ^ parent) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(h >> 32);
}

/* Linear hashing: buckets below the split point already use one more bit. */
static uint32_t bucket_of(const struct context_tree *tree, uint32_t hash)
{
	uint32_t wide = UINT32_C(2) << (31 - __builtin_clz(tree->bucket_count));
	uint32_t bucket = hash & (wide - 1);

	return bucket < tree->bucket_count ? bucket : bucket & (wide / 2 - 1);
}

void context_tree_init(struct context_tree *tree, void *memory, uint32_t capacity)
{
	tree->nodes = memory;
	tree->buckets = (uint32_t *)(tree->nodes + capacity);
	tree->count = 0;
	tree->capacity = capacity;
	tree->bucket_count = 1;
}

void context_tree_clear(struct context_tree *tree)
{
	memset(tree->nodes, 0, tree->count * sizeof(*tree->nodes));
	memset(tree->buckets, 0, tree->bucket_count * sizeof(*tree->buckets));
	tree->count = 0;
	tree->bucket_count = 1;
}

HOT uint32_t context_tree_child_find(
	const struct context_tree *tree, uint32_t parent, uint32_t slot, uint64_t offset)
{
	uint32_t hash = hash_of(parent, slot, offset);
	uint32_t id = tree->buckets[bucket_of(tree, hash)];

	while (id) {
		const struct context_node *node = &tree->nodes[id - EVENT_NODE_FIRST];

		if (node->hash == hash && node->offset == offset && node->parent == parent &&
			node->slot == slot)
			break;
		id = node->next;
	}
	return id;
}

HOT uint32_t context_tree_nodes_left(const struct context_tree *tree)
{
	return tree->capacity - tree->count;
}

/* Adds a bucket and moves the entries that now belong to it. */
static void bucket_split(struct context_tree *tree)
{
	uint32_t fresh = tree->bucket_count++;
	uint32_t from = fresh - (UINT32_C(1) << (31 - __builtin_clz(fresh)));
	uint32_t *link = &tree->buckets[from];

	while (*link) {
		uint32_t id = *link;
		struct context_node *node = &tree->nodes[id - EVENT_NODE_FIRST];

		if (bucket_of(tree, node->hash) == from) {
			link = &node->next;
			continue;
		}
		*link = node->next;
		node->next = tree->buckets[fresh];
		tree->buckets[fresh] = id;
	}
}

uint32_t context_tree_child_add(struct context_tree *tree, uint32_t parent, uint32_t slot, uint64_t offset)
{
	uint32_t hash = hash_of(parent, slot, offset), id, bucket;
	struct context_node *node;

	if (tree->bucket_count < tree->capacity)
		bucket_split(tree);
	id = EVENT_NODE_FIRST + tree->count;
	bucket = bucket_of(tree, hash);
	node = &tree->nodes[tree->count++];
	*node = (struct context_node){offset, slot, parent, tree->buckets[bucket], hash};
	tree->buckets[bucket] = id;
	return id;
}
