/* SPDX-License-Identifier: Apache-2.0 */
/* rows_tree.c - see rows_tree.h. */
#include "tui/timeline/rows_tree.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "timeline/report/process_tree.h"

struct rows_tree {
	struct arena arena;
	struct process_tree tree;
	uint32_t *place; /* by node of the tree */
};

/* ---- order ---- */

/* Siblings side by side: ranks in their order, then the others by begin. */
struct sorting {
	const struct process_tree *tree;
	const struct run *run;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_siblings(const void *left, const void *right, void *data)
{
	const struct sorting *sorting = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct process_tree_node *x = &sorting->tree->nodes[a], *y = &sorting->tree->nodes[b];
	const struct run_stream *s = run_stream(sorting->run, x->stream),
				*t = run_stream(sorting->run, y->stream);
	int order = compare_numbers(x->parent, y->parent);

	if (!order) /* none comes last */
		order = compare_numbers((uint32_t)s->s.rank, (uint32_t)t->s.rank);
	if (!order)
		order = strcmp(s->host, t->host);
	if (!order)
		order = compare_numbers(x->begin_ns, y->begin_ns);
	return order ? order : compare_numbers(a, b);
}

/* Each behind its parent and all of its elder siblings' children. A parent stands before its children in
 * `sorted` or not: places are given from the root down. */
static void give_places(struct rows_tree *tree, const uint32_t *sorted, uint32_t parent, uint32_t *next)
{
	uint32_t from = 0, to = tree->tree.count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (tree->tree.nodes[sorted[middle]].parent < parent)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < tree->tree.count && tree->tree.nodes[sorted[from]].parent == parent; from++) {
		tree->place[sorted[from]] = (*next)++;
		give_places(tree, sorted, sorted[from], next);
	}
}

static int order(struct rows_tree *tree, const struct run *run, struct error *error)
{
	struct sorting sorting = {&tree->tree, run};
	uint32_t count = tree->tree.count, next = 0;
	uint32_t *sorted = calloc((size_t)count + 1, sizeof(*sorted));

	tree->place = arena_calloc(&tree->arena, (size_t)count + 1, sizeof(*tree->place));
	if (!sorted || !tree->place) {
		free(sorted);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), compare_siblings, &sorting);
	give_places(tree, sorted, PROCESS_TREE_NONE, &next);
	free(sorted);
	return 0;
}

/* ---- what the run tells ---- */

/* Streams of a process stand together: never less than there are processes, ROWS_TREE_PROCESSES + 1 at most.
 */
static uint32_t count_processes(struct run *run)
{
	struct run_stream last = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < run_stream_count(run) && count <= ROWS_TREE_PROCESSES; i++) {
		const struct run_stream *r = run_stream_peek_unnamed(run, i);

		count += !i || r->s.pid != last.s.pid || r->s.generation != last.s.generation ||
			 r->s.rank != last.s.rank || strcmp(r->host, last.host) != 0;
		last = *r;
	}
	return count;
}

static bool is_telling(const struct process_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].parent != PROCESS_TREE_NONE || tree->nodes[i].command[0])
			return true;
	return false;
}

int rows_tree_new(struct rows_tree **made, const struct run *run, struct error *error)
{
	struct run *reads = (struct run *)(uintptr_t)run; /* which changes no answer */
	struct rows_tree *tree;
	int result;

	*made = NULL;
	if (count_processes(reads) > ROWS_TREE_PROCESSES)
		return 0;
	tree = calloc(1, sizeof(*tree));
	if (!tree)
		return error_memory(error);
	result = process_tree_make(&tree->tree, reads, &tree->arena, error);
	if (!result && is_telling(&tree->tree))
		result = order(tree, run, error);
	if (tree->place && !result)
		*made = tree;
	else
		rows_tree_free(tree);
	/* what is damaged is told where it is read: rows are the stream table's */
	return result == -ERROR_RUN ? 0 : result;
}

void rows_tree_free(struct rows_tree *tree)
{
	if (!tree)
		return;
	arena_fini(&tree->arena);
	free(tree);
}

/* Of a stream that is no process's (gauges of a host): what is nowhere. */
static const struct process_tree_node *node_of(const struct rows_tree *tree, uint32_t stream)
{
	static const struct process_tree_node none = {.command = "", .title = ""};
	uint32_t node = tree->tree.node_of[stream];

	return node == PROCESS_TREE_NONE ? &none : &tree->tree.nodes[node];
}

uint32_t rows_tree_place(const struct rows_tree *tree, uint32_t stream)
{
	uint32_t node = tree->tree.node_of[stream];

	return node == PROCESS_TREE_NONE ? UINT32_MAX : tree->place[node];
}

uint32_t rows_tree_depth(const struct rows_tree *tree, uint32_t stream)
{
	return node_of(tree, stream)->depth;
}

const char *rows_tree_command(const struct rows_tree *tree, uint32_t stream)
{
	return node_of(tree, stream)->command;
}

const char *rows_tree_title(const struct rows_tree *tree, uint32_t stream)
{
	return node_of(tree, stream)->title;
}

static uint64_t name_of(const struct run *run, uint32_t stream)
{
	const char *name =
		run_stream_peek((struct run *)(uintptr_t)run, stream)->name; /* changes no answer */

	return store_hash64(name, strlen(name), 0);
}

bool rows_tree_is_shared(const struct rows_tree *tree, const struct run *run, uint32_t stream)
{
	const struct process_tree_node *node = node_of(tree, stream);
	uint32_t same = 0;

	for (uint32_t i = 0; i < tree->tree.count && same < 2; i++) {
		const struct process_tree_node *other = &tree->tree.nodes[i];

		if (strcmp(other->title, node->title) != 0)
			continue;
		same += other == node || node->title[0] ||
			(strcmp(other->command, node->command) == 0 &&
				name_of(run, other->stream) == name_of(run, node->stream));
	}
	return same > 1;
}
