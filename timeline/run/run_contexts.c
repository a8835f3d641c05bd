/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_contexts.c - the contexts of all stores in one id space. With one store the ids are the store's own and
 * nothing is built; with several, nodes whose whole paths have the same hash are one (S1 6.1: no reduction
 * tree is needed). And a context's path as every table prints it (design, Output).
 */
#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "timeline/run/run_internal.h"

static const struct store_context *node_source(const struct run *run, const struct run_node *node)
{
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(run->parts[node->part].reader, &count);

	return node->id < count ? &contexts[node->id] : NULL;
}

const struct run_node *run_node(const struct run *run, uint32_t context)
{
	struct run_node *node = intern_table_at(&run->contexts, context);

	/* One store: entries are filled in on first use. */
	if (!run->parts[0].contexts)
		node->id = context;
	return node;
}

struct store_hash run_context_hash(const struct run *run, uint32_t context)
{
	const struct store_context *source =
		context < run->contexts.count ? node_source(run, run_node(run, context)) : NULL;

	return source ? source->hash : (struct store_hash){0};
}

uint32_t run_node_parent(const struct run *run, uint32_t context)
{
	const struct run_node *node = run_node(run, context);
	const struct store_context *source = node_source(run, node);
	uint32_t parent = source ? run_context_of(run, node->part, source->parent) : 0;

	/* A parent comes before its child, so that every path ends. */
	return parent < context ? parent : 0;
}

struct path_key {
	const struct run *run;
	struct store_hash hash;
};

static bool path_equal(const void *element, const void *key)
{
	const struct path_key *path = key;
	const struct store_context *source = node_source(path->run, element);

	return source && source->hash.high == path->hash.high && source->hash.low == path->hash.low;
}

static int unify(struct run *run, unsigned p, uint32_t id, const struct store_hash *hash, struct error *error)
{
	struct path_key key = {run, *hash};
	struct run_node *node;
	uint32_t context = INTERN_TABLE_NONE;

	/* The three that every store has keep their ids. */
	if (id < STORE_CONTEXT_FIRST && p)
		context = id;
	if (id >= STORE_CONTEXT_FIRST)
		context = intern_table_find(&run->contexts, hash->low, path_equal, &key);
	if (context == INTERN_TABLE_NONE) {
		node = intern_table_add(&run->contexts, &context);
		if (!node)
			return error_memory(error);
		node->part = p;
		node->id = id;
		if (id >= STORE_CONTEXT_FIRST && !intern_table_index(&run->contexts, context, hash->low))
			return error_memory(error);
	}
	run->parts[p].contexts[id] = context;
	return 0;
}

/* Translates the contexts of a part from `first` on. */
static int map_part(struct run *run, unsigned p, uint32_t first, struct error *error)
{
	struct run_part *part = &run->parts[p];
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(part->reader, &count);
	int code = 0;

	if (!array_resize(&part->contexts, (size_t)count + 1, sizeof *part->contexts))
		return error_memory(error);
	for (uint32_t id = first; id < count && !code; id++)
		code = unify(run, p, id, &contexts[id].hash, error);
	part->context_count = count;
	return code;
}

/* The single store of a run gets company: what was the same number is written down. */
static int leave_identity(struct run *run, struct error *error)
{
	uint32_t count = run->contexts.count;
	uint32_t *map = malloc(((size_t)count + 1) * sizeof *map);

	if (!map)
		return error_memory(error);
	for (uint32_t id = 0; id < count; id++) {
		struct run_node *node = intern_table_at(&run->contexts, id);

		node->id = map[id] = id;
		if (id >= STORE_CONTEXT_FIRST &&
			!intern_table_index(&run->contexts, id, run_context_hash(run, id).low)) {
			free(map);
			return error_memory(error);
		}
	}
	run->parts[0].contexts = map;
	return 0;
}

int run_contexts_renew(struct run *run, struct error *error)
{
	uint32_t count;
	int code = 0;

	store_reader_contexts(run->parts[0].reader, &count);
	if (run->part_count == 1) {
		if (!intern_table_grow(&run->contexts, count))
			return error_memory(error);
		run->parts[0].context_count = count;
		return 0;
	}
	if (!run->parts[0].contexts)
		code = leave_identity(run, error);
	for (unsigned p = 0; p < run->part_count && !code; p++)
		code = map_part(run, p, run->parts[p].context_count, error);
	return code;
}

uint32_t run_context_count(const struct run *run)
{
	return run->contexts.count;
}

uint32_t run_context_of(const struct run *run, unsigned store, uint32_t context_in_store)
{
	const struct run_part *part = store < run->part_count ? &run->parts[store] : NULL;

	if (!part || context_in_store >= part->context_count)
		return STORE_CONTEXT_NONE;
	return part->contexts ? part->contexts[context_in_store] : context_in_store;
}

/* Scopes from `scope` up to the root in `scopes` (NULL: only counted). */
static uint32_t climb(const struct run *run, uint32_t scope, uint32_t *scopes)
{
	uint32_t count = 0;

	for (; scope != INTERN_TABLE_NONE && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(run, scope)->parent) {
		if (scopes)
			scopes[count] = scope;
		count++;
	}
	return count;
}

char *run_context_path(const struct run *run, uint32_t context, uint32_t depth, struct arena *arena)
{
	uint32_t scope = run_scope_at(run, run_context(run, context)->scope, depth);
	uint32_t count = climb(run, scope, NULL);
	uint32_t *scopes = malloc(((size_t)count + 1) * sizeof *scopes);
	struct store_bytes path = {0};
	char *copy = NULL;

	if (!scopes)
		return NULL;
	climb(run, scope, scopes);
	for (uint32_t i = count; i-- > 0;) {
		const struct run_function *function = run_function(run, run_scope(run, scopes[i])->function);

		escape_frame(&path, function->name, function->name_bytes);
		if (i)
			store_bytes_put(&path, ";", 1);
	}
	if (!path.failed)
		copy = arena_copy(arena, (const char *)path.data, path.size);
	store_bytes_fini(&path);
	free(scopes);
	return copy;
}
