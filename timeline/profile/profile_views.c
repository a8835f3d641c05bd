/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_views.c - three trees of the same scopes (S4 10.2):
 *
 *   top-down   root - caller - loop - callee ...   a scope is a node
 *              ... kernel - inlined - loop - line - instruction of a GPU
 *   bottom-up  root - function - its callers ...   a scope is in as many nodes as it has ancestors
 *   flat       root - module - file - function - loop, inlined, line
 */
#include "timeline/profile/profile_tree.h"

#include <stdlib.h>

static uint64_t text_key(const char *text)
{
	return (uint64_t)(uintptr_t)text;
}

static bool is_root(const struct run_scope *scope)
{
	return scope->parent == PROFILE_TREE_NONE;
}

static enum profile_kind kind_of(const struct run_scope *scope)
{
	if (scope->kind == RUN_SCOPE_INLINE)
		return PROFILE_INLINE;
	if (scope->kind == RUN_SCOPE_INSTRUCTION)
		return PROFILE_INSTRUCTION;
	return is_root(scope) ? PROFILE_ROOT : PROFILE_FUNCTION;
}

/* A root is a row of its own only if samples are directly in it. */
static bool has_row(const struct scope_sums *sums, uint32_t scope)
{
	unsigned wanted =
		is_root(run_scope(sums->run, scope)) ? SCOPE_MET_OWN : SCOPE_MET_OWN | SCOPE_MET_BELOW;

	return scope != RUN_SCOPE_PROGRAM_ROOT && sums->met[scope] & wanted;
}

static void add_root(struct profile_tree *tree, const struct scope_sums *sums)
{
	for (uint32_t scope = 0; scope < sums->scope_count; scope++)
		if (is_root(run_scope(sums->run, scope)))
			profile_tree_add_inclusive(
				tree, PROFILE_TREE_ROOT, scope_inclusive(tree, sums, scope));
	profile_tree_add_exclusive(
		tree, PROFILE_TREE_ROOT, scope_exclusive(tree, sums, RUN_SCOPE_PROGRAM_ROOT));
}

/* ---- loops ---- */

static bool is_loop(const struct profile_tree *tree, uint32_t node)
{
	return node != PROFILE_TREE_NONE &&
	       ((const struct profile_tree_key *)key_ids_key(&tree->nodes, node))->kind == PROFILE_LOOP;
}

static uint32_t parent_of(const struct profile_tree *tree, uint32_t node)
{
	return ((const struct profile_tree_key *)key_ids_key(&tree->nodes, node))->parent;
}

/* The node of a loop below its scope's, made with those of the loops around it; the scope's for no loop. */
static uint32_t loop_node(struct profile_tree *tree, const struct run *run, uint32_t node, uint32_t loop)
{
	uint32_t chain[STORE_SCOPE_MAX], count = 0;

	for (; loop != RUN_LOOP_NONE && count < STORE_SCOPE_MAX; loop = run_loop(run, loop)->parent)
		chain[count++] = loop;
	while (count && node != PROFILE_TREE_NONE) {
		const struct run_loop *l = run_loop(run, chain[--count]);
		struct profile_tree_key key = {.what = chain[count],
			.file = text_key(l->file),
			.parent = node,
			.kind = PROFILE_LOOP,
			.line = l->line};

		node = profile_tree_node(tree, &key);
	}
	return node;
}

/* Is the loop's node the one that the scope, or one above it, was called in, or around that? */
static bool is_called_in(const struct profile_tree *tree, const struct scope_sums *sums, uint32_t loop,
	uint32_t scope, const uint32_t *called_in)
{
	for (; scope != PROFILE_TREE_NONE; scope = run_scope(sums->run, scope)->parent)
		for (uint32_t node = called_in[scope]; is_loop(tree, node); node = parent_of(tree, node))
			if (node == loop)
				return true;
	return false;
}

/* Adds to a node that is a loop, and to the loops around it: something called or sampled there, in `scope`.
 * With `called_in` ([scope], flat view) a loop that is around the scope further up has it already. */
static void add_loops(struct profile_tree *tree, const struct scope_sums *sums, uint32_t node, uint32_t scope,
	const uint32_t *called_in, const union profile_value *values, bool is_own)
{
	for (; is_loop(tree, node); node = parent_of(tree, node)) {
		if (!called_in || !is_called_in(tree, sums, node, scope, called_in))
			profile_tree_add_inclusive(tree, node, values);
		if (is_own)
			profile_tree_add_exclusive(tree, node, values);
	}
}

/* ---- lines ---- */

static bool is_instruction(const struct scope_sums *sums, uint32_t scope)
{
	return run_scope(sums->run, scope)->kind == RUN_SCOPE_INSTRUCTION;
}

/* The node of an instruction's line below the node that it is in; that one where no line is known. */
static uint32_t instruction_line(
	struct profile_tree *tree, const struct scope_sums *sums, uint32_t node, uint32_t i)
{
	const struct run_scope *scope = run_scope(sums->run, i);
	struct profile_tree_key key = {.file = text_key(scope->call_file),
		.parent = node,
		.kind = PROFILE_LINE,
		.line = scope->call_line};

	if (!scope->call_line || node == PROFILE_TREE_NONE)
		return node;
	node = profile_tree_node(tree, &key);
	profile_tree_add_inclusive(tree, node, scope_inclusive(tree, sums, i));
	profile_tree_add_exclusive(tree, node, scope_exclusive(tree, sums, i));
	return node;
}

/* Below the nodes of their scopes; `called_in` as add_loops() has it. Lines of instructions are above them.
 */
static void add_lines(struct profile_tree *tree, const struct scope_sums *sums, const uint32_t *nodes,
	const uint32_t *called_in)
{
	for (uint32_t i = 0; i < sums->lines.count; i++) {
		const struct line_key *line = key_ids_key(&sums->lines, i);
		const union profile_value *values = sums->line_values + i * tree->metric_count;
		struct profile_tree_key key = {.file = line->file, .kind = PROFILE_LINE, .line = line->line};
		uint32_t node;

		if (nodes[line->scope] == PROFILE_TREE_NONE || is_instruction(sums, line->scope) ||
			values_are_zero(values, tree->metric_count))
			continue;
		key.parent = loop_node(tree, sums->run, nodes[line->scope], line->loop);
		add_loops(tree, sums, key.parent, line->scope, called_in, values, true);
		if (!line->line)
			continue;
		node = profile_tree_node(tree, &key);
		profile_tree_add_inclusive(tree, node, values);
		profile_tree_add_exclusive(tree, node, values);
	}
}

/* Nodes of scopes, PROFILE_TREE_NONE at first. */
static uint32_t *nodes_new(const struct scope_sums *sums)
{
	uint32_t *nodes = malloc(((size_t)sums->scope_count + 1) * sizeof *nodes);

	for (uint32_t i = 0; nodes && i < sums->scope_count; i++)
		nodes[i] = PROFILE_TREE_NONE;
	return nodes;
}

static void set_definition(struct profile_tree_key *key, const struct run *run, uint32_t function)
{
	key->file = text_key(run_function(run, function)->file);
	key->line = run_function(run, function)->line;
	key->is_definition = 1;
}

/* ---- top-down ---- */

int profile_top_down(struct profile_tree *tree, const struct scope_sums *sums)
{
	uint32_t *nodes = nodes_new(sums);
	int rc;

	if (!nodes)
		return -1;
	add_root(tree, sums);
	nodes[RUN_SCOPE_PROGRAM_ROOT] = PROFILE_TREE_ROOT;
	for (uint32_t i = 1; i < sums->scope_count; i++) {
		const struct run_scope *scope = run_scope(sums->run, i);
		struct profile_tree_key key = {
			.what = scope->function, .kind = kind_of(scope), .line = scope->call_line};

		if (!sums->met[i])
			continue;
		key.parent = is_root(scope)
				     ? PROFILE_TREE_ROOT
				     : loop_node(tree, sums->run, nodes[scope->parent], scope->call_loop);
		key.file = text_key(scope->call_file);
		if (!is_root(scope) && is_root(run_scope(sums->run, scope->parent)))
			set_definition(&key, sums->run, scope->function);
		add_loops(tree, sums, key.parent, scope->parent, NULL, scope_inclusive(tree, sums, i),
			is_instruction(sums, i));
		if (is_instruction(sums, i))
			key.parent = instruction_line(tree, sums, key.parent, i);
		nodes[i] = profile_tree_node(tree, &key);
		profile_tree_add_inclusive(tree, nodes[i], scope_inclusive(tree, sums, i));
		profile_tree_add_exclusive(tree, nodes[i], scope_exclusive(tree, sums, i));
	}
	add_lines(tree, sums, nodes, NULL);
	rc = tree->failed ? -1 : 0;
	free(nodes);
	return rc;
}

/* ---- flat ---- */

/* Nodes of a scope: its function or inlined function, file, module. */
struct home {
	uint32_t node, file, module;
};

static struct home home_of(
	struct profile_tree *tree, const struct scope_sums *sums, const struct home *homes, uint32_t i)
{
	const struct run_scope *scope = run_scope(sums->run, i);
	const struct run_function *function = run_function(sums->run, scope->function);
	struct profile_tree_key key = {
		.what = text_key(function->module), .kind = PROFILE_MODULE, .parent = PROFILE_TREE_ROOT};
	bool is_part = scope->kind == RUN_SCOPE_INLINE || is_instruction(sums, i);
	struct home home;

	if (is_part && homes[scope->parent].node != PROFILE_TREE_NONE) {
		home = homes[scope->parent];
		key = (struct profile_tree_key){.what = scope->function,
			.file = text_key(scope->call_file),
			.parent = loop_node(tree, sums->run, home.node, scope->call_loop),
			.kind = kind_of(scope),
			.line = scope->call_line};
		if (is_instruction(sums, i))
			key.parent = instruction_line(tree, sums, key.parent, i);
		home.node = profile_tree_node(tree, &key);
		return home;
	}
	home.module = profile_tree_node(tree, &key);
	key = (struct profile_tree_key){
		.what = text_key(function->file), .kind = PROFILE_FILE, .parent = home.module};
	home.file = profile_tree_node(tree, &key);
	key = (struct profile_tree_key){
		.what = scope->function, .kind = PROFILE_FUNCTION, .parent = home.file};
	set_definition(&key, sums->run, scope->function);
	home.node = profile_tree_node(tree, &key);
	return home;
}

/* Adds the scope to those of its nodes that no caller of it is in: there it is the outermost. */
static void add_outermost(
	struct profile_tree *tree, const struct scope_sums *sums, const struct home *homes, uint32_t i)
{
	const union profile_value *values = scope_inclusive(tree, sums, i);
	struct home home = homes[i];
	uint32_t above = run_scope(sums->run, i)->parent;

	/* a node found above has its file and module there too */
	for (; above != PROFILE_TREE_NONE && home.node != PROFILE_TREE_NONE;
		above = run_scope(sums->run, above)->parent) {
		if (homes[above].module == home.module)
			home.module = PROFILE_TREE_NONE;
		if (homes[above].file == home.file)
			home.file = PROFILE_TREE_NONE;
		if (homes[above].node == home.node)
			home.node = PROFILE_TREE_NONE;
	}
	profile_tree_add_inclusive(tree, home.node, values);
	profile_tree_add_inclusive(tree, home.file, values);
	profile_tree_add_inclusive(tree, home.module, values);
}

/* A loop holds what is called in it. */
static void add_callers_loops(struct profile_tree *tree, const struct scope_sums *sums,
	const struct home *homes, uint32_t *called_in, uint32_t i)
{
	const struct run_scope *scope = run_scope(sums->run, i);
	uint32_t node;

	if (scope->call_loop == RUN_LOOP_NONE || is_root(scope))
		return;
	node = loop_node(tree, sums->run, homes[scope->parent].node, scope->call_loop);
	add_loops(tree, sums, node, scope->parent, called_in, scope_inclusive(tree, sums, i),
		is_instruction(sums, i));
	called_in[i] = node;
}

int profile_flat(struct profile_tree *tree, const struct scope_sums *sums)
{
	struct home *homes = calloc((size_t)sums->scope_count + 1, sizeof *homes);
	uint32_t *nodes = nodes_new(sums), *called_in = nodes_new(sums);
	int rc = homes && nodes && called_in ? 0 : -1;

	add_root(tree, sums);
	for (uint32_t i = 0; i < sums->scope_count && rc == 0; i++) {
		homes[i] = (struct home){PROFILE_TREE_NONE, PROFILE_TREE_NONE, PROFILE_TREE_NONE};
		if (!has_row(sums, i))
			continue;
		homes[i] = home_of(tree, sums, homes, i);
		nodes[i] = homes[i].node;
		add_callers_loops(tree, sums, homes, called_in, i);
		add_outermost(tree, sums, homes, i);
		profile_tree_add_exclusive(tree, homes[i].node, scope_exclusive(tree, sums, i));
		if (is_instruction(sums, i)) /* the function that it is in has it already */
			continue;
		profile_tree_add_exclusive(tree, homes[i].file, scope_exclusive(tree, sums, i));
		profile_tree_add_exclusive(tree, homes[i].module, scope_exclusive(tree, sums, i));
	}
	if (rc == 0)
		add_lines(tree, sums, nodes, called_in);
	free(called_in);
	free(homes);
	free(nodes);
	return tree->failed ? -1 : rc;
}

/* ---- bottom-up ---- */

struct bottom_up {
	struct profile_tree *tree;
	const struct scope_sums *sums;
	uint32_t depth;
	uint32_t *active; /* [node] scopes on the path from the root that are in it */
	size_t active_count;
};

static bool active_widen(struct bottom_up *work)
{
	size_t count = work->tree->capacity;
	uint32_t *active = reallocarray(work->active, count, sizeof *active);

	if (!active)
		return false;
	for (size_t i = work->active_count; i < count; i++)
		active[i] = 0;
	work->active = active;
	work->active_count = count;
	return true;
}

static bool enter_node(struct bottom_up *work, uint32_t node, uint32_t scope)
{
	if (node == PROFILE_TREE_NONE || (node >= work->active_count && !active_widen(work)))
		return false;
	if (work->active[node]++ == 0)
		profile_tree_add_inclusive(work->tree, node, scope_inclusive(work->tree, work->sums, scope));
	profile_tree_add_exclusive(work->tree, node, scope_exclusive(work->tree, work->sums, scope));
	return true;
}

/* Walks from a scope to its callers: the nodes it is in. Each is entered, or left. */
static bool visit(struct bottom_up *work, uint32_t scope_id, bool is_entering)
{
	const struct run *run = work->sums->run;
	const struct run_scope *scope = run_scope(run, scope_id);
	struct profile_tree_key key = {
		.what = scope->function, .kind = PROFILE_FUNCTION, .parent = PROFILE_TREE_ROOT};

	if (is_instruction(work->sums, scope_id))
		key.kind = PROFILE_INSTRUCTION;
	set_definition(&key, run, scope->function);
	if (!has_row(work->sums, scope_id))
		return true;
	for (uint32_t depth = 1; depth <= work->depth; depth++) {
		uint32_t node = profile_tree_node(work->tree, &key);

		if (is_entering && !enter_node(work, node, scope_id))
			return false;
		if (!is_entering && work->active)
			work->active[node]--;
		if (scope->parent == PROFILE_TREE_NONE || scope->parent == RUN_SCOPE_PROGRAM_ROOT)
			break;
		key = (struct profile_tree_key){
			.parent = node, .file = text_key(scope->call_file), .line = scope->call_line};
		scope = run_scope(run, scope->parent);
		key.what = scope->function;
		key.kind = kind_of(scope);
	}
	return true;
}

/* Scopes below each scope, as lists. */
static bool link_children(const struct scope_sums *sums, uint32_t *first, uint32_t *next)
{
	for (uint32_t i = 0; i < sums->scope_count; i++)
		first[i] = next[i] = PROFILE_TREE_NONE;
	for (uint32_t i = sums->scope_count; i-- > 0;) {
		uint32_t parent = run_scope(sums->run, i)->parent;

		if (parent == PROFILE_TREE_NONE)
			continue;
		next[i] = first[parent];
		first[parent] = i;
	}
	return true;
}

/* Depth first without recursion: a path may be very deep. */
static bool walk_root(struct bottom_up *work, uint32_t root, const uint32_t *first, const uint32_t *next)
{
	uint32_t at = root;
	bool ok = visit(work, at, true);

	while (ok) {
		if (first[at] != PROFILE_TREE_NONE) {
			at = first[at];
			ok = visit(work, at, true);
			continue;
		}
		while (ok && at != root && next[at] == PROFILE_TREE_NONE) {
			ok = visit(work, at, false);
			at = run_scope(work->sums->run, at)->parent;
		}
		ok = ok && visit(work, at, false);
		if (at == root)
			break;
		at = next[at];
		ok = ok && visit(work, at, true);
	}
	return ok;
}

int profile_bottom_up(struct profile_tree *tree, const struct scope_sums *sums, uint32_t depth)
{
	struct bottom_up work = {.tree = tree, .sums = sums, .depth = depth};
	uint32_t *lists = calloc((size_t)sums->scope_count * 2 + 1, sizeof *lists);
	uint32_t *first = lists, *next = lists ? lists + sums->scope_count : NULL;
	bool ok = lists && link_children(sums, first, next);

	add_root(tree, sums);
	for (uint32_t i = 0; i < sums->scope_count && ok; i++)
		if (is_root(run_scope(sums->run, i)))
			ok = walk_root(&work, i, first, next);
	free(lists);
	free(work.active);
	return ok && !tree->failed ? 0 : -1;
}
