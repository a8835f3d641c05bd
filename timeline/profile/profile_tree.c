/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_tree.c - nodes found by content and parent, and the sorted rows made of them. Independent of
 * views.
 */
#include "timeline/profile/profile_tree.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/path.h"

void value_add(const struct profile_metric *metric, union profile_value *sum, union profile_value value)
{
	if (metric->is_real)
		sum->real += value.real;
	else
		sum->number += value.number;
}

bool values_are_zero(const union profile_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].number != 0)
			return false;
	return true;
}

/* ---- nodes ---- */

int profile_tree_init(struct profile_tree *tree, const struct profile_metric *metrics, size_t metric_count)
{
	struct profile_tree_key root = {.parent = PROFILE_TREE_NONE, .kind = PROFILE_ROOT};

	*tree = (struct profile_tree){.metrics = metrics, .metric_count = metric_count};
	key_ids_init(&tree->nodes, sizeof(struct profile_tree_key));
	return profile_tree_node(tree, &root) == PROFILE_TREE_ROOT ? 0 : -1;
}

void profile_tree_fini(struct profile_tree *tree)
{
	key_ids_fini(&tree->nodes);
	free(tree->values);
}

uint32_t profile_tree_node(struct profile_tree *tree, const struct profile_tree_key *key)
{
	bool is_new;
	uint32_t node = key_ids_put(&tree->nodes, key, &is_new);

	if (node == KEY_IDS_NONE || !array_widen(&tree->values, &tree->capacity, node,
					    (2 * tree->metric_count + 1) * sizeof *tree->values)) {
		tree->failed = true;
		return PROFILE_TREE_NONE;
	}
	if (is_new)
		memset(tree->values + node * 2 * tree->metric_count, 0,
			2 * tree->metric_count * sizeof *tree->values);
	return node;
}

static void add(struct profile_tree *tree, size_t at, const union profile_value *values)
{
	for (size_t i = 0; i < tree->metric_count; i++)
		value_add(&tree->metrics[i], &tree->values[at + i], values[i]);
}

void profile_tree_add_inclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values)
{
	if (node != PROFILE_TREE_NONE)
		add(tree, node * 2 * tree->metric_count, values);
}

void profile_tree_add_exclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values)
{
	if (node != PROFILE_TREE_NONE)
		add(tree, (node * 2 + 1) * tree->metric_count, values);
}

/* ---- rows ---- */

/* A row before it has its place. */
struct entry {
	struct profile_row row;
	uint32_t node, parent;		 /* nodes */
	const struct profile_tree *tree; /* for the comparison */
};

static bool name_row(struct profile_row *row, const struct run *run, const struct profile_tree_key *key,
	struct arena *arena)
{
	const struct run_function *function = NULL;
	const char *text = (const char *)(uintptr_t)key->what;

	switch (row->kind) {
	case PROFILE_LINE:
		row->name = arena_printf(arena, "%s:%u", path_base(row->file), row->line);
		break;
	case PROFILE_LOOP:
		row->name = run_loop(run, (uint32_t)key->what)->name;
		row->module = run_function(run, run_loop(run, (uint32_t)key->what)->function)->module;
		break;
	case PROFILE_FILE:
		row->name = text[0] ? path_base(text) : "<unknown file>";
		row->file = text;
		break;
	case PROFILE_MODULE:
		row->name = text[0] ? path_base(text) : "<unknown module>";
		row->module = text;
		break;
	default:
		function = run_function(run, (uint32_t)key->what);
		row->name = function->name;
		row->name_bytes = function->name_bytes;
		row->module = function->module;
		row->home = function->file;
		return true;
	}
	row->name_bytes = row->name ? strlen(row->name) : 0;
	return row->name != NULL;
}

static bool fill_entry(struct entry *entry, const struct profile_tree *tree, const struct run *run,
	uint32_t node, struct arena *arena)
{
	const struct profile_tree_key *key = key_ids_key(&tree->nodes, node);
	struct profile_row *row = &entry->row;

	entry->node = node;
	entry->parent = key->parent;
	entry->tree = tree;
	if (tree->like) {
		*row = *tree->like[node];
		return true;
	}
	row->kind = (enum profile_kind)key->kind;
	row->module = row->home = "";
	row->file = key->file ? (const char *)(uintptr_t)key->file : "";
	row->line = key->line;
	if (node == PROFILE_TREE_ROOT) {
		row->name = store_frame_name(STORE_FRAME_PROGRAM_ROOT);
		row->name_bytes = strlen(row->name);
		return true;
	}
	return name_row(row, run, key, arena);
}

static int compare_values(const struct profile_metric *metric, union profile_value a, union profile_value b)
{
	if (metric->is_real)
		return (b.real > a.real) - (b.real < a.real);
	return (b.number > a.number) - (b.number < a.number);
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	const struct profile_tree *tree = a->tree;
	size_t stride = 2 * tree->metric_count, shorter;
	int order;

	if (a->parent != b->parent)
		return a->parent + 1 < b->parent + 1 ? -1 : 1; /* the root's, PROFILE_TREE_NONE, first */
	if (tree->metric_count > 0) {
		order = compare_values(
			&tree->metrics[0], tree->values[a->node * stride], tree->values[b->node * stride]);
		if (order)
			return order;
	}
	shorter = a->row.name_bytes < b->row.name_bytes ? a->row.name_bytes : b->row.name_bytes;
	order = memcmp(a->row.name, b->row.name, shorter);
	if (!order)
		order = (a->row.name_bytes > b->row.name_bytes) - (a->row.name_bytes < b->row.name_bytes);
	if (!order)
		order = strcmp(a->row.file, b->row.file);
	if (!order)
		order = strcmp(a->row.module, b->row.module);
	if (!order)
		order = (a->row.line > b->row.line) - (a->row.line < b->row.line);
	return order ? order : (int)a->row.kind - (int)b->row.kind;
}

/* Where each node's children begin among the sorted entries. */
static void find_children(const struct entry *entries, uint32_t count, uint32_t *first)
{
	for (uint32_t i = 0; i <= count; i++)
		first[i] = PROFILE_TREE_NONE;
	for (uint32_t i = count; i-- > 1;)
		first[entries[i].parent] = i;
}

static void place_row(
	struct profile *profile, const struct profile_tree *tree, const struct entry *entry, uint32_t parent)
{
	struct profile_row *row = &profile->rows[profile->count++];

	*row = entry->row;
	row->parent = parent;
	row->depth = parent == UINT32_MAX ? 0 : profile->rows[parent].depth + 1;
	row->inclusive = tree->values + entry->node * 2 * tree->metric_count;
	row->exclusive = row->inclusive + tree->metric_count;
}

/* Preorder. `stack`: entries whose subtrees are not done, with their rows. */
static void place_rows(struct profile *profile, const struct profile_tree *tree, const struct entry *entries,
	const uint32_t *first, uint32_t depth, uint32_t *stack)
{
	uint32_t count = tree->nodes.count, height = 0;
	uint32_t next = 0, parent = UINT32_MAX;

	for (;;) {
		uint32_t child;

		place_row(profile, tree, &entries[next], parent);
		child = first[entries[next].node];
		if (child != PROFILE_TREE_NONE && profile->rows[profile->count - 1].depth < depth) {
			stack[2 * height] = next;
			stack[2 * height + 1] = parent;
			height++;
			parent = (uint32_t)profile->count - 1;
			next = child;
			continue;
		}
		while (next + 1 == count || next == 0 || entries[next + 1].parent != entries[next].parent) {
			if (height == 0)
				return;
			height--;
			next = stack[2 * height];
			parent = stack[2 * height + 1];
		}
		next++;
	}
}

int profile_tree_rows(struct profile_tree *tree, const struct run *run, uint32_t depth,
	struct profile *profile, struct arena *arena, struct error *error)
{
	uint32_t count = tree->nodes.count;
	size_t values = (size_t)count * 2 * tree->metric_count;
	struct entry *entries = calloc(count, sizeof *entries);
	uint32_t *first = calloc((size_t)count * 3 + 3, sizeof *first);
	union profile_value *kept = arena_alloc(arena, values * sizeof *kept);
	bool ok = entries && first && kept;

	profile->rows = arena_calloc(arena, count, sizeof *profile->rows);
	profile->count = 0;
	for (uint32_t i = 0; i < count && ok; i++)
		ok = fill_entry(&entries[i], tree, run, i, arena);
	if (ok && profile->rows) {
		struct profile_tree kept_tree = *tree;

		if (values > 0)
			memcpy(kept, tree->values, values * sizeof *kept);
		kept_tree.values = kept;
		qsort(entries, count, sizeof *entries, compare_entries);
		find_children(entries, count, first);
		place_rows(profile, &kept_tree, entries, first, depth, first + count + 1);
	}
	free(entries);
	free(first);
	return ok && profile->rows ? 0 : error_memory(error);
}
