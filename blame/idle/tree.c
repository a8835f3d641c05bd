/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - see tree.h: rounds what scopes were charged themselves, then sums whole ns up to the root. A
 * scope's number is larger than its parent's.
 */
#include "blame/idle/tree.h"

#include <stdlib.h>
#include <string.h>

#define ROOT RUN_SCOPE_PROGRAM_ROOT

/* Arrays by scope. */
struct sums {
	const struct run *run;
	uint32_t count;
	uint64_t *inclusive_ns, *exclusive_ns;
	uint32_t *first; /* of its children in `order`, 0: none */
	uint32_t *order; /* scopes with time, by parent, then as siblings are shown; [0] is the root */
	uint32_t used;
};

static uint32_t parent_of(const struct run *run, uint32_t scope)
{
	uint32_t parent = run_scope(run, scope)->parent;

	return parent == UINT32_MAX ? ROOT : parent;
}

static int sibling_compare(const void *left, const void *right, void *data)
{
	const struct sums *sums = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t parent_a = parent_of(sums->run, a), parent_b = parent_of(sums->run, b);
	int names;

	if (parent_a != parent_b)
		return parent_a < parent_b ? -1 : 1;
	if (sums->inclusive_ns[a] != sums->inclusive_ns[b])
		return sums->inclusive_ns[a] > sums->inclusive_ns[b] ? -1 : 1;
	names = strcmp(run_function(sums->run, run_scope(sums->run, a)->function)->name,
		run_function(sums->run, run_scope(sums->run, b)->function)->name);
	return names ? names : a < b ? -1 : a > b;
}

/* Own time of each scope, in whole ns. */
static int charge(struct sums *sums, const struct exact_share *shares, size_t count,
	const struct select *select, uint32_t depth, struct arena *arena, struct error *error)
{
	exact_share_fixed *amounts = arena_calloc(arena, sums->count, sizeof(*amounts));
	uint64_t *keys = arena_calloc(arena, sums->count, sizeof(*keys));
	size_t *order = arena_calloc(arena, sums->count, sizeof(*order));

	if (!amounts || !keys || !order)
		return error_memory(error);
	for (size_t i = 0; i < count; i++) {
		uint32_t scope = run_context(sums->run, shares[i].context)->scope;

		if (select && !select_wants_context(select, shares[i].context))
			continue;
		scope = scope == UINT32_MAX ? ROOT : run_scope_at(sums->run, scope, depth);
		amounts[scope] += shares[i].amount;
		keys[scope] += run_context_hash(sums->run, shares[i].context).low;
	}
	exact_share_round(amounts, keys, sums->exclusive_ns, order, sums->count);
	return 0;
}

static void sum_up(struct sums *sums)
{
	memcpy(sums->inclusive_ns, sums->exclusive_ns, sums->count * sizeof(*sums->inclusive_ns));
	for (uint32_t scope = sums->count; scope-- > 1;)
		sums->inclusive_ns[parent_of(sums->run, scope)] += sums->inclusive_ns[scope];
	sums->order[sums->used++] = ROOT;
	for (uint32_t scope = 1; scope < sums->count; scope++)
		if (sums->inclusive_ns[scope])
			sums->order[sums->used++] = scope;
	qsort_r(sums->order + 1, sums->used - 1, sizeof(*sums->order), sibling_compare, sums);
	for (uint32_t i = sums->used; i-- > 1;)
		sums->first[parent_of(sums->run, sums->order[i])] = i;
}

/* Puts a scope behind its parent's row and those of its elder siblings; `row_of` by scope. */
static void put_row(const struct sums *sums, struct tree *tree, uint32_t scope, uint32_t *row_of)
{
	uint32_t parent = scope == ROOT ? UINT32_MAX : row_of[parent_of(sums->run, scope)];

	row_of[scope] = (uint32_t)tree->count;
	tree->rows[tree->count++] = (struct tree_row){parent == UINT32_MAX ? 0 : tree->rows[parent].depth + 1,
		parent, scope, sums->inclusive_ns[scope], sums->exclusive_ns[scope]};
}

/* In preorder: `pending` holds places in `order` whose rows, and whose younger siblings', are still to come.
 */
static void put_rows(const struct sums *sums, struct tree *tree, uint32_t *row_of, uint32_t *pending)
{
	uint32_t depth = 0;

	put_row(sums, tree, ROOT, row_of);
	if (sums->first[ROOT])
		pending[depth++] = sums->first[ROOT];
	while (depth) {
		uint32_t at = pending[--depth], scope = sums->order[at];

		if (at + 1 < sums->used &&
			parent_of(sums->run, sums->order[at + 1]) == parent_of(sums->run, scope))
			pending[depth++] = at + 1;
		put_row(sums, tree, scope, row_of);
		if (sums->first[scope])
			pending[depth++] = sums->first[scope];
	}
}

int tree_make(struct tree *tree, const struct run *run, const struct exact_share *shares, size_t count,
	const struct select *select, uint32_t depth, struct arena *arena, struct error *error)
{
	uint32_t scopes;
	struct sums sums = {.run = run};
	uint32_t *row_of, *pending;
	int result;

	/* run_context() creates a context's scopes. */
	for (size_t i = 0; i < count; i++)
		run_context(run, shares[i].context);
	scopes = sums.count = run_scope_count(run);
	sums.inclusive_ns = arena_calloc(arena, scopes, sizeof(*sums.inclusive_ns));
	sums.exclusive_ns = arena_calloc(arena, scopes, sizeof(*sums.exclusive_ns));
	sums.first = arena_calloc(arena, scopes, sizeof(*sums.first));
	sums.order = arena_calloc(arena, scopes, sizeof(*sums.order));
	row_of = arena_calloc(arena, scopes, sizeof(*row_of));
	pending = arena_calloc(arena, scopes + 1, sizeof(*pending));
	tree->rows = arena_calloc(arena, scopes, sizeof(*tree->rows));
	tree->count = 0;
	if (!sums.inclusive_ns || !sums.exclusive_ns || !sums.first || !sums.order || !row_of || !pending ||
		!tree->rows)
		return error_memory(error);
	result = charge(&sums, shares, count, select, depth, arena, error);
	if (result)
		return result;
	sum_up(&sums);
	put_rows(&sums, tree, row_of, pending);
	return 0;
}
