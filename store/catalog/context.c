/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - the calling context tree: look-up by (parent, module, offset), encoding and decoding.
 */
#include "store/catalog/context.h"

#include <stdlib.h>

#include "store/base/hash.h"
#include "store/base/id_table.h"

static struct store_hash place_of(const struct store_contexts *contexts, uint32_t module, uint64_t offset)
{
	struct store_slice name;

	enum store_module_kind kind = contexts->modules->modules[module].kind;
	uint64_t line = 0;
	struct store_hash hash;

	if ((kind != STORE_MODULE_TEXT && kind != STORE_MODULE_PYTHON) || module == STORE_MODULE_RESERVED)
		return (struct store_hash){.high = offset};
	if (kind == STORE_MODULE_PYTHON) {
		line = offset & STORE_PYTHON_LINE_MAX;
		offset >>= STORE_PYTHON_LINE_BITS;
	}
	name = store_texts_at(contexts->texts, offset <= UINT32_MAX ? (uint32_t)offset : 0);
	hash = store_hash128(name.bytes, name.size);
	hash.low += line;
	return hash;
}

static struct store_hash path_hash(
	const struct store_contexts *contexts, uint32_t parent, uint32_t module, uint64_t offset)
{
	const struct store_hash parts[3] = {contexts->nodes[parent].hash,
		contexts->modules->identities[module], place_of(contexts, module, offset)};

	return store_hash128(parts, sizeof parts);
}

static uint32_t contexts_append(
	struct store_contexts *contexts, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct store_context *node =
		store_id_table_add(&contexts->nodes, &contexts->count, &contexts->capacity, sizeof *node);

	if (!node)
		return STORE_ID_FAILED;
	node->parent = parent;
	node->module = module;
	node->offset = offset;
	if (contexts->count > 1)
		node->hash = path_hash(contexts, parent, module, offset);
	return contexts->count - 1;
}

int store_contexts_init(
	struct store_contexts *contexts, const struct store_modules *modules, const struct store_texts *texts)
{
	*contexts = (struct store_contexts){.modules = modules, .texts = texts};
	if (contexts_append(contexts, 0, 0, 0) == STORE_ID_FAILED ||
		contexts_append(contexts, STORE_CONTEXT_NONE, STORE_MODULE_RESERVED,
			STORE_FRAME_PROGRAM_ROOT) == STORE_ID_FAILED ||
		contexts_append(contexts, STORE_CONTEXT_NONE, STORE_MODULE_RESERVED,
			STORE_FRAME_THREAD_ROOT) == STORE_ID_FAILED)
		return -1;
	return 0;
}

void store_contexts_fini(struct store_contexts *contexts)
{
	free(contexts->nodes);
	free(contexts->index.slots);
	*contexts = (struct store_contexts){0};
}

static uint64_t child_hash(uint32_t parent, uint32_t module, uint64_t offset)
{
	uint64_t hash =
		(offset ^ (uint64_t)module << 48) * 0x9e3779b97f4a7c15u ^ parent * 0xd6e8feb86659fd93u;

	hash ^= hash >> 32;
	return hash * 0xd6e8feb86659fd93u >> 16;
}

static uint64_t node_hash(const void *contexts, uint32_t id)
{
	const struct store_context *node = &((const struct store_contexts *)contexts)->nodes[id];

	return child_hash(node->parent, node->module, node->offset);
}

static bool node_equal(const void *contexts, uint32_t id, const void *key)
{
	const struct store_context *node = &((const struct store_contexts *)contexts)->nodes[id];
	const struct store_context *wanted = key;

	return node->parent == wanted->parent && node->module == wanted->module &&
	       node->offset == wanted->offset;
}

uint32_t store_contexts_intern(
	struct store_contexts *contexts, uint32_t parent, uint32_t module, uint64_t offset)
{
	const struct store_context key = {.parent = parent, .module = module, .offset = offset};
	uint32_t *slot;

	/* Paths come node by node, so mostly the first child follows: checking it first avoids a slot
	 * look-up, and in a deep recursion a cache miss for each level. */
	if (parent && parent + 1 < contexts->count && node_equal(contexts, parent + 1, &key))
		return parent + 1;
	if (!store_id_table_index(&contexts->index, contexts->count, node_hash, contexts))
		return STORE_ID_FAILED;
	slot = hash_index_slot(
		&contexts->index, child_hash(parent, module, offset), node_equal, contexts, &key);
	if (*slot)
		return *slot - 1;
	if (contexts_append(contexts, parent, module, offset) == STORE_ID_FAILED)
		return STORE_ID_FAILED;
	*slot = contexts->count;
	return contexts->count - 1;
}

void store_contexts_put(const void *contexts, uint32_t id, struct store_bytes *out)
{
	const struct store_context *node = &((const struct store_contexts *)contexts)->nodes[id];

	store_bytes_put_varint(out, id - node->parent);
	store_bytes_put_varint(out, node->module);
	store_bytes_put_varint(out, node->offset);
}

int store_contexts_get(void *contexts, uint32_t id, struct store_input *input)
{
	struct store_contexts *of = contexts;
	uint32_t up = store_input_u32(input), module = store_input_u32(input);
	uint64_t offset = store_input_varint(input);

	if (!input->bad && id < of->count)
		return 0;
	if (up == 0 || up > id || module >= of->modules->count)
		input->bad = true;
	if (input->bad)
		return 0;
	return contexts_append(of, id - up, module, offset) == STORE_ID_FAILED ? -1 : 0;
}
