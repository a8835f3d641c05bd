/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - the list of shown rows out of the tree of rows_build.c, and their order. Keeps the user's choices
 * (folded, hidden, pinned) when the run grows.
 */
#include "tui/timeline/rows.h"

#include <stdlib.h>
#include <string.h>

#include "tui/timeline/rows_tree.h"

#define ROWS_OPEN_MAX 400u /* more rows than this start folded */

/* ---- order: nodes that compare equal keep their identity's order ---- */

const char *rows_order_name(enum rows_order order)
{
	static const char *const names[] = {
		"process, thread and queue", "name", "begin, earliest first", "records, most first"};

	return names[order];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_nodes(const void *left, const void *right, void *data)
{
	const struct rows *rows = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct rows_node *x = &rows->nodes[a], *y = &rows->nodes[b];
	int order = 0;

	if (rows->order == ROWS_BY_NAME)
		order = strverscmp(rows_label(rows, a), rows_label(rows, b));
	else if (rows->order == ROWS_BY_BEGIN)
		order = compare_numbers(x->begin_ns, y->begin_ns);
	else if (rows->order == ROWS_BY_RECORDS)
		order = compare_numbers(y->records, x->records);
	return order ? order : compare_numbers(a, b);
}

static void sort_nodes(struct rows *rows, uint32_t *nodes, uint32_t count)
{
	if (rows->order != ROWS_BY_IDENTITY && count)
		qsort_r(nodes, count, sizeof(*nodes), compare_nodes, rows);
}

static void group_add(struct rows_node *group, const struct rows_node *node)
{
	group->begin_ns = node->begin_ns < group->begin_ns ? node->begin_ns : group->begin_ns;
	group->records += node->records;
}

void rows_order_take(struct rows_node *node, const struct store_stream *s)
{
	node->begin_ns = s->begin_ns;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		node->records += s->count[track];
}

/* A group begins with its first stream and has the records of all. */
void rows_order_take_groups(struct rows *rows)
{
	for (uint32_t i = rows->node_count; i-- > 0;)
		if (rows->nodes[i].parent != UINT32_MAX)
			group_add(&rows->nodes[rows->nodes[i].parent], &rows->nodes[i]);
}

/* ---- the list ---- */

static int make(struct rows *rows, const struct run *run, struct error *error)
{
	int result = rows_build(rows, run, error);

	if (result)
		return result;
	rows->labels = rows_labels_new(run, rows->node_count, rows->tree);
	return rows->labels ? 0 : error_memory(error);
}

int rows_init(struct rows *rows, const struct run *run, struct error *error)
{
	int result;

	memset(rows, 0, sizeof(*rows));
	result = make(rows, run, error);
	if (result)
		return result;
	for (uint32_t i = 0; rows->node_count > ROWS_OPEN_MAX && i < rows->node_count;
		i = rows->nodes[i].next)
		rows->nodes[i].is_folded = i > 0 && rows_is_group(&rows->nodes[i]);
	for (uint32_t i = 0; rows->process_count > ROWS_OPEN_MAX && i < rows->node_count;
		i = rows->nodes[i].next)
		rows->nodes[i].is_branch_folded = rows->nodes[i].depth > 0 && rows_has_branch(rows, i);
	rows_update(rows);
	return 0;
}

void rows_fini(struct rows *rows)
{
	free(rows->nodes);
	free(rows->shown);
	free(rows->side_by_side);
	free(rows->is_filtered);
	rows_labels_free(rows->labels);
	rows_tree_free(rows->tree);
	memset(rows, 0, sizeof(*rows));
}

/* Streams keep their ids, so a node is known by its stream and kind. */
static int take_flags(struct rows *rows, const struct rows *old, struct error *error)
{
	const struct rows_node **by_stream =
		calloc((size_t)rows->stream_count * ROWS_KIND_COUNT + 1, sizeof(*by_stream));

	if (!by_stream)
		return error_memory(error);
	for (uint32_t i = 0; i < old->node_count; i++)
		if (old->nodes[i].stream < rows->stream_count)
			by_stream[old->nodes[i].stream * ROWS_KIND_COUNT + old->nodes[i].kind] =
				&old->nodes[i];
	for (uint32_t i = 0; i < rows->node_count; i++) {
		struct rows_node *node = &rows->nodes[i];
		const struct rows_node *from = by_stream[node->stream * ROWS_KIND_COUNT + node->kind];
		if (!from)
			continue;
		node->is_folded = from->is_folded;
		node->is_branch_folded = from->is_branch_folded;
		node->is_hidden = from->is_hidden;
		node->is_pinned = from->is_pinned;
		node->is_match = from->is_match;
	}
	free(by_stream);
	return 0;
}

int rows_renew(struct rows *rows, const struct run *run, struct error *error)
{
	struct rows old = *rows;
	int result;

	memset(rows, 0, sizeof(*rows));
	rows->order = old.order;
	result = make(rows, run, error);
	if (!result)
		result = take_flags(rows, &old, error);
	if (result) {
		rows_fini(rows);
		*rows = old;
		return result;
	}
	rows_fini(&old);
	rows_update(rows);
	return 0;
}

int rows_filter(struct rows *rows, const uint32_t *streams, uint32_t count, struct error *error)
{
	bool *is_filtered = NULL;

	if (streams) {
		is_filtered = calloc((size_t)rows->stream_count + 1, sizeof(*is_filtered));
		if (!is_filtered)
			return error_memory(error);
		for (uint32_t i = 0; i < count; i++)
			if (streams[i] < rows->stream_count)
				is_filtered[streams[i]] = true;
	}
	free(rows->is_filtered);
	rows->is_filtered = is_filtered;
	for (uint32_t i = 0; streams && i < rows->node_count; i++)
		if (rows->nodes[i].kind == ROWS_POOL)
			rows->nodes[i].is_folded = false;
	rows_update(rows);
	return 0;
}

bool rows_is_group(const struct rows_node *node)
{
	return node->kind == ROWS_PROCESS || node->kind == ROWS_DEVICE || node->kind == ROWS_POOL;
}

uint32_t rows_process(const struct rows *rows, uint32_t node)
{
	while (rows->nodes[node].parent != UINT32_MAX)
		node = rows->nodes[node].parent;
	return node;
}

bool rows_has_branch(const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	return n->parent == UINT32_MAX && n->branch_next > n->next;
}

static bool is_taken(const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	if (n->is_hidden)
		return false;
	if (!rows_is_group(n))
		return !rows->is_filtered || rows->is_filtered[n->stream];
	for (uint32_t i = node + 1; i < n->next; i++)
		if (!rows_is_group(&rows->nodes[i]) && is_taken(rows, i))
			return true;
	return false;
}

static void show_all(struct rows *rows, uint32_t begin, uint32_t end, uint32_t *room, bool is_pinned);

/* Adds the rows of a subtree, either those that are pinned or the others. */
static void show(struct rows *rows, uint32_t node, uint32_t *room, bool is_pinned)
{
	struct rows_node *n = &rows->nodes[node];

	if (n->is_hidden || (is_pinned != n->is_pinned && !rows_is_group(n)) || !is_taken(rows, node))
		return;
	if (is_pinned == n->is_pinned)
		rows->shown[rows->shown_count++] = node;
	if (rows_is_group(n) && !n->is_folded)
		show_all(rows, node + 1, n->next, room, is_pinned);
}

/* The next sibling; processes below one that is folded are none, but in orders that mix them. */
static uint32_t next_sibling(const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	return n->is_branch_folded && rows->order == ROWS_BY_IDENTITY ? n->branch_next : n->next;
}

/* Siblings in [begin, end), in order. */
static void show_all(struct rows *rows, uint32_t begin, uint32_t end, uint32_t *room, bool is_pinned)
{
	uint32_t count = 0;

	for (uint32_t i = begin; i < end; i = next_sibling(rows, i))
		room[count++] = i;
	sort_nodes(rows, room, count);
	for (uint32_t i = 0; i < count; i++)
		show(rows, room[i], room + count, is_pinned);
}

void rows_update(struct rows *rows)
{
	static uint64_t updates;

	rows->version = ++updates;
	rows->shown_count = 0;
	for (int pinned = 1; pinned >= 0; pinned--)
		show_all(rows, 0, rows->node_count, rows->side_by_side, pinned);
}

uint32_t rows_find(const struct rows *rows, uint32_t node)
{
	while (node != UINT32_MAX && node < rows->node_count) {
		for (uint32_t row = 0; row < rows->shown_count; row++)
			if (rows->shown[row] == node)
				return row;
		node = rows->nodes[node].parent != UINT32_MAX ? rows->nodes[node].parent
							      : rows->nodes[node].branch_parent;
	}
	return UINT32_MAX;
}

uint32_t rows_node_of(const struct rows *rows, uint32_t stream)
{
	for (uint32_t i = 0; i < rows->node_count; i++)
		if (!rows_is_group(&rows->nodes[i]) && rows->nodes[i].stream == stream)
			return i;
	return UINT32_MAX;
}

uint32_t rows_below(const struct rows *rows, uint32_t node, uint32_t from, enum rows_kind kind)
{
	uint32_t end = rows->nodes[node].next;

	for (uint32_t i = from == UINT32_MAX ? node : from + 1; i < end; i++)
		if (rows->nodes[i].kind == kind && is_taken(rows, i))
			return i;
	return UINT32_MAX;
}

static bool is_counted(const struct rows *rows, const struct rows_node *n)
{
	return !rows_is_group(n) && (!rows->is_filtered || rows->is_filtered[n->stream]);
}

static uint32_t list_streams(const struct rows *rows, bool is_lost, uint32_t *streams)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->node_count;) {
		const struct rows_node *n = &rows->nodes[i];

		if (n->is_hidden) {
			i = n->next;
			continue;
		}
		if (is_counted(rows, n) && (!is_lost || n->has_lost)) {
			if (streams)
				streams[count] = n->stream;
			count++;
		}
		i++;
	}
	return count;
}

uint32_t rows_streams(const struct rows *rows, uint32_t *streams)
{
	return list_streams(rows, false, streams);
}

uint32_t rows_lost_streams(const struct rows *rows, uint32_t *streams)
{
	return rows->lost_count ? list_streams(rows, true, streams) : 0;
}
