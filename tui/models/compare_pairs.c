/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_pairs.c - pairs streams of two runs by role: merges two sorted lists by name, then pairs the rest
 * in order of creation.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/models/compare.h"

struct role {
	uint32_t stream;
	uint32_t part; /* rank, or the number of the process */
	uint32_t device;
	uint32_t partner;
	enum store_stream_kind kind;
	const char *name;
};

struct roles {
	struct role *items;
	uint32_t count;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_places(const struct role *a, const struct role *b)
{
	int order = compare_numbers(a->part, b->part);

	if (!order)
		order = compare_numbers(a->kind, b->kind);
	return order ? order : compare_numbers(a->device, b->device);
}

static int compare_names(const struct role *a, const struct role *b)
{
	int order = compare_places(a, b);

	return order ? order : strcmp(a->name, b->name);
}

static int by_name(const void *a, const void *b)
{
	const struct role *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : compare_numbers(x->stream, y->stream);
}

static int by_order(const void *a, const void *b)
{
	const struct role *x = a, *y = b;
	int order = compare_places(x, y);

	return order ? order : compare_numbers(x->stream, y->stream);
}

static bool is_same_process(const struct run_stream *a, const struct run_stream *b)
{
	return a->store == b->store && a->s.rank == b->s.rank && a->s.pid == b->s.pid &&
	       a->s.generation == b->s.generation;
}

/* Devices count from the first one of their process: two runs may have got different ones. */
static int list_roles(const struct session *session, struct roles *roles)
{
	const struct rows *rows = &session->rows;
	const struct run_stream *before = NULL; /* what figures belong to stands on both sides of them */
	uint32_t part = 0, count = rows->stream_count, device = 0;
	bool *is_shown = calloc((size_t)count + 1, sizeof(*is_shown));

	roles->items = calloc((size_t)count + 1, sizeof(*roles->items));
	if (!roles->items || !is_shown) {
		free(is_shown);
		return -1;
	}
	for (uint32_t i = 0; i < rows->shown_count; i++)
		if (!rows_is_group(&rows->nodes[rows->shown[i]]))
			is_shown[rows->nodes[rows->shown[i]].stream] = true;
	for (uint32_t i = 0; i < count; i++) {
		const struct run_stream *s = run_stream(session->run, i);
		bool is_new = before && !is_same_process(s, before);

		if (s->s.kind == STORE_STREAM_GAUGES)
			continue;
		part += is_new;
		if (is_new || !before || before->s.kind != s->s.kind)
			device = 0;
		else if (before->s.device != s->s.device)
			device++;
		before = s;
		if (is_shown[i])
			roles->items[roles->count++] = (struct role){i,
				s->s.rank >= 0 ? (uint32_t)s->s.rank : part,
				s->s.kind == STORE_STREAM_GPU ? device : 0, UINT32_MAX, s->s.kind, s->name};
	}
	free(is_shown);
	return 0;
}

/* Neighbours in both lists that are equal and still free. */
static void merge(struct roles *a, struct roles *b, int (*sort)(const void *, const void *),
	int (*order)(const struct role *, const struct role *))
{
	qsort(a->items, a->count, sizeof(*a->items), sort);
	qsort(b->items, b->count, sizeof(*b->items), sort);
	for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
		int which = order(&a->items[i], &b->items[j]);

		if (a->items[i].partner != UINT32_MAX) {
			i++;
		} else if (b->items[j].partner != UINT32_MAX) {
			j++;
		} else if (which) {
			i += which < 0;
			j += which > 0;
		} else {
			a->items[i].partner = b->items[j].stream;
			b->items[j++].partner = a->items[i++].stream;
		}
	}
}

static int put_pairs(const struct session *a, const struct roles *roles_a, const struct roles *roles_b,
	struct compare_pair **pairs, uint32_t *count)
{
	uint32_t *partner = malloc(((size_t)a->rows.stream_count + 1) * sizeof(*partner));

	*pairs = calloc((size_t)roles_a->count + roles_b->count + 1, sizeof(**pairs));
	*count = 0;
	if (!partner || !*pairs) {
		free(partner);
		return -1;
	}
	for (uint32_t i = 0; i < roles_a->count; i++)
		partner[roles_a->items[i].stream] = roles_a->items[i].partner;
	for (uint32_t i = 0; i < a->rows.shown_count; i++) {
		const struct rows_node *node = &a->rows.nodes[a->rows.shown[i]];
		if (!rows_is_group(node))
			(*pairs)[(*count)++] = (struct compare_pair){node->stream, partner[node->stream]};
	}
	for (uint32_t i = 0; i < roles_b->count; i++)
		if (roles_b->items[i].partner == UINT32_MAX)
			(*pairs)[(*count)++] = (struct compare_pair){UINT32_MAX, roles_b->items[i].stream};
	free(partner);
	return 0;
}

int compare_make_pairs(
	const struct session *a, const struct session *b, struct compare_pair **pairs, uint32_t *count)
{
	struct roles roles_a = {0}, roles_b = {0};
	int result = list_roles(a, &roles_a);

	if (!result)
		result = list_roles(b, &roles_b);
	if (!result) {
		merge(&roles_a, &roles_b, by_name, compare_names);
		merge(&roles_a, &roles_b, by_order, compare_places);
		result = put_pairs(a, &roles_a, &roles_b, pairs, count);
	}
	free(roles_a.items);
	free(roles_b.items);
	return result;
}
