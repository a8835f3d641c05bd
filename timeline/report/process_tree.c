/* SPDX-License-Identifier: Apache-2.0 */
/* process_tree.c - see process_tree.h: lists the processes, finds their parents by pid, then orders them. */
#include "timeline/report/process_tree.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/scan.h"

#define VALUE_BYTES 4096
#define FACTS_ROWS 4096 /* spans: what tells of the process begins with it */

/* A node on its way, and what joins streams and children to it. */
struct made {
	struct process_tree_node node;
	struct store_stream id; /* host is not used */
	const char *host;
	uint32_t index; /* as it was made */
	uint32_t first_child, next, last_child;
};

/* ---- processes ---- */

/* By host and pid, then by begin: where parents are looked for. */
static int compare_pids(const void *x, const void *y)
{
	const struct made *a = *(struct made *const *)x, *b = *(struct made *const *)y;
	int order = strcmp(a->host, b->host);

	if (order)
		return order;
	if (a->id.pid != b->id.pid)
		return a->id.pid < b->id.pid ? -1 : 1;
	if (a->node.begin_ns != b->node.begin_ns)
		return a->node.begin_ns < b->node.begin_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void take_stream(struct made *made, const struct run_stream *r, uint32_t stream)
{
	struct process_tree_node *node = &made->node;

	node->queues += r->s.kind == STORE_STREAM_GPU;
	node->threads += r->s.kind == STORE_STREAM_CPU;
	if (r->s.kind == STORE_STREAM_CPU && r->s.thread == 0)
		node->stream = stream;
	node->begin_ns = r->s.begin_ns < node->begin_ns ? r->s.begin_ns : node->begin_ns;
	node->end_ns = r->s.end_ns > node->end_ns ? r->s.end_ns : node->end_ns;
}

/* What is equal in all streams of a process. */
struct identity {
	struct store_hash host;
	uint32_t pid, generation;
	int64_t rank;
};

static void begin_process(struct made *made, uint32_t index, const struct run_stream *r, uint32_t stream)
{
	*made = (struct made){.id = r->s,
		.host = r->host,
		.index = index,
		.first_child = PROCESS_TREE_NONE,
		.last_child = PROCESS_TREE_NONE,
		.next = PROCESS_TREE_NONE,
		.node = {.stream = stream,
			.parent = PROCESS_TREE_NONE,
			.begin_ns = UINT64_MAX,
			.command = "",
			.title = "",
			.exit = ""}};
}

/* Streams of a process need not stand together: of a run that is recorded new ones come at the end. Returns
 * the number of processes; KEY_IDS_NONE: no memory. */
static uint32_t list(struct run *run, struct made *made, uint32_t *node_of)
{
	uint32_t streams = run_stream_count(run), count = 0;
	struct key_ids processes;

	key_ids_init(&processes, sizeof(struct identity));
	for (uint32_t i = 0; i < streams; i++) {
		const struct run_stream *r = run_stream_peek_unnamed(run, i);
		struct identity identity = {
			store_hash128(r->host, strlen(r->host)), r->s.pid, r->s.generation, r->s.rank};
		bool is_new;
		uint32_t at;

		node_of[i] = PROCESS_TREE_NONE;
		if (r->s.kind == STORE_STREAM_GAUGES)
			continue;
		at = key_ids_put(&processes, &identity, &is_new);
		if (at == KEY_IDS_NONE) {
			count = KEY_IDS_NONE;
			break;
		}
		if (is_new)
			begin_process(&made[count++], at, r, i);
		take_stream(&made[at], r, i);
		node_of[i] = at;
	}
	key_ids_fini(&processes);
	return count;
}

/* ---- what its main thread tells ---- */

static bool take_text(struct process_tree_node *node, const char *text, size_t size, struct arena *arena)
{
	char value[VALUE_BYTES];

	node->parent_pid = attribute_number(text, size, "parent", 0);
	if (attribute_get(text, size, "command", value, sizeof value))
		node->command = arena_copy(arena, value, strlen(value));
	if (attribute_get(text, size, "title", value, sizeof value))
		node->title = arena_copy(arena, value, strlen(value));
	if (attribute_get(text, size, "exit", value, sizeof value))
		node->exit = arena_copy(arena, value, strlen(value));
	if (attribute_get(text, size, "signal", value, sizeof value))
		node->exit = arena_printf(arena, "signal %s", value);
	return node->command && node->title && node->exit;
}

static int read_facts(
	struct process_tree_node *node, struct run *run, struct arena *arena, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	bool is_found = false;
	size_t met = 0;
	long count;
	int code = scan_open(&scan, run, node->stream, STORE_SPANS, 0, STORE_OPEN_NS,
		STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	if (code)
		return code;
	while (!is_found && met < FACTS_ROWS && (count = scan_next(scan, &batch, error)) != 0) {
		if (count < 0) {
			code = (int)count;
			break;
		}
		met += batch->count;
		for (size_t i = 0; i < batch->count && !is_found; i++) {
			size_t size = 0;
			const char *text;

			if (batch->what[i] != STORE_OP_MONITORED && batch->what[i] != STORE_OP_UNMONITORED)
				continue;
			is_found = true;
			text = batch_attributes(run, batch, i, &size);
			if (!take_text(node, text, size, arena))
				code = error_memory(error);
		}
	}
	scan_close(scan);
	return code;
}

/* ---- parents ---- */

/* The last of them that began before the child; NULL: none did. */
static struct made *find_parent(struct made **by_pid, uint32_t count, const struct made *child)
{
	struct made key = {.host = child->host, .id = {.pid = (uint32_t)child->node.parent_pid}};
	uint32_t from = 0, to = count;
	struct made *pointer = &key;

	/* behind all that began before, or at the same time and stand before it: no circle comes of that */
	key.node.begin_ns = child->node.begin_ns;
	key.index = child->index;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (compare_pids(&by_pid[middle], &pointer) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || strcmp(by_pid[from - 1]->host, key.host) != 0 || by_pid[from - 1]->id.pid != key.id.pid)
		return NULL;
	return by_pid[from - 1];
}

static void join(struct made *made, uint32_t count, struct made **by_pid)
{
	for (uint32_t i = 0; i < count; i++)
		by_pid[i] = &made[i];
	if (count)
		qsort(by_pid, count, sizeof(*by_pid), compare_pids);
	for (uint32_t i = 0; i < count; i++) {
		struct made *parent = made[i].node.parent_pid && made[i].node.parent_pid <= UINT32_MAX
					      ? find_parent(by_pid, count, &made[i])
					      : NULL;

		if (parent)
			made[i].node.parent = parent->index;
	}
	for (uint32_t i = 0; i + 1 < count; i++) /* the program that an exec began */
		if (!by_pid[i]->node.exit[0] && by_pid[i]->id.pid == by_pid[i + 1]->id.pid &&
			strcmp(by_pid[i]->host, by_pid[i + 1]->host) == 0 &&
			by_pid[i]->id.generation + 1 == by_pid[i + 1]->id.generation)
			by_pid[i]->node.exit = "exec";
}

/* ---- order ---- */

static int compare_begins(const void *x, const void *y)
{
	const struct made *a = *(struct made *const *)x, *b = *(struct made *const *)y;

	if (a->node.begin_ns != b->node.begin_ns)
		return a->node.begin_ns < b->node.begin_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void append(uint32_t *first, uint32_t *last, struct made *made, uint32_t index)
{
	if (*first == PROCESS_TREE_NONE)
		*first = index;
	else
		made[*last].next = index;
	*last = index;
}

/* Parents first, each with all below it. */
static void order(struct process_tree *tree, struct made *made, struct made **by_begin, uint32_t *place_of)
{
	uint32_t first = PROCESS_TREE_NONE, last = PROCESS_TREE_NONE, depth = 0;

	if (tree->count)
		qsort(by_begin, tree->count, sizeof(*by_begin), compare_begins);
	for (uint32_t i = 0; i < tree->count; i++) {
		struct made *at = by_begin[i];

		if (at->node.parent == PROCESS_TREE_NONE)
			append(&first, &last, made, at->index);
		else
			append(&made[at->node.parent].first_child, &made[at->node.parent].last_child, made,
				at->index);
	}
	for (uint32_t at = first, place = 0; at != PROCESS_TREE_NONE && place < tree->count;) {
		struct process_tree_node *to = &tree->nodes[place];

		*to = made[at].node;
		to->depth = depth;
		if (to->parent != PROCESS_TREE_NONE)
			to->parent = place_of[to->parent];
		place_of[at] = place++;
		if (made[at].first_child != PROCESS_TREE_NONE) {
			at = made[at].first_child;
			depth++;
			continue;
		}
		while (at != PROCESS_TREE_NONE && made[at].next == PROCESS_TREE_NONE) {
			at = made[at].node.parent;
			depth -= at != PROCESS_TREE_NONE;
		}
		at = at == PROCESS_TREE_NONE ? at : made[at].next;
	}
}

int process_tree_make(struct process_tree *tree, struct run *run, struct arena *arena, struct error *error)
{
	size_t streams = (size_t)run_stream_count(run) + 1;
	struct made *made = calloc(streams, sizeof(*made)), **sorted = calloc(streams, sizeof(*sorted));
	uint32_t *node_of = arena_calloc(arena, streams, sizeof(*node_of));
	uint32_t *place_of = calloc(streams, sizeof(*place_of));
	int code = made && sorted && node_of && place_of ? 0 : error_memory(error);

	*tree = (struct process_tree){0};
	if (!code) {
		tree->count = list(run, made, node_of);
		if (tree->count == KEY_IDS_NONE) {
			tree->count = 0;
			code = error_memory(error);
		}
	}
	if (!code)
		tree->nodes = arena_calloc(arena, (size_t)tree->count + 1, sizeof(*tree->nodes));
	if (!code && !tree->nodes)
		code = error_memory(error);
	for (uint32_t i = 0; i < tree->count && !code; i++)
		code = read_facts(&made[i].node, run, arena, error);
	if (!code) {
		join(made, tree->count, sorted);
		order(tree, made, sorted, place_of);
		for (uint32_t i = 0; i + 1 < streams; i++)
			node_of[i] =
				node_of[i] == PROCESS_TREE_NONE ? PROCESS_TREE_NONE : place_of[node_of[i]];
		tree->node_of = node_of;
	}
	free(made);
	free(sorted);
	free(place_of);
	return code;
}
