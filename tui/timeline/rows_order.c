/* SPDX-License-Identifier: Apache-2.0 */
/* rows_order.c - the order of rows that stand side by side. What is equal stays as it is made: by identity.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/timeline/rows.h"

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

static int compare(const void *left, const void *right, void *data)
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

void rows_order_sort(struct rows *rows, uint32_t *nodes, uint32_t count)
{
	if (rows->order != ROWS_BY_IDENTITY && count)
		qsort_r(nodes, count, sizeof(*nodes), compare, rows);
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
