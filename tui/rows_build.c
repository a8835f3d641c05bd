/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_build.c - sorts the streams of a run into a tree of rows: process > CPU threads, device > queues, each
 * with its labels. Reads the stream table alone.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/rows.h"

/* The same process: streams of one rank, host, pid and generation. */
static int compare_process(const struct run_stream *a, const struct run_stream *b)
{
	uint32_t rank_a = (uint32_t)a->s.rank, rank_b = (uint32_t)b->s.rank; /* none comes last */
	int hosts;

	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	hosts = strcmp(a->host, b->host);
	if (hosts)
		return hosts;
	if (a->s.pid != b->s.pid)
		return a->s.pid < b->s.pid ? -1 : 1;
	if (a->s.generation != b->s.generation)
		return a->s.generation < b->s.generation ? -1 : 1;
	return 0;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_streams(const void *a, const void *b, void *data)
{
	const struct run *run = data;
	uint32_t id_a = *(const uint32_t *)a, id_b = *(const uint32_t *)b;
	const struct run_stream *x = run_stream(run, id_a), *y = run_stream(run, id_b);
	int order = compare_process(x, y);

	if (order)
		return order;
	if (x->s.kind != y->s.kind)
		return x->s.kind < y->s.kind ? -1 : 1;
	if (x->s.kind == STORE_STREAM_CPU)
		order = compare_u32(x->s.thread, y->s.thread);
	else if ((order = compare_u32(x->s.device, y->s.device)) == 0 &&
		 (order = compare_u32(x->s.context, y->s.context)) == 0)
		order = compare_u32(x->s.queue, y->s.queue);
	return order ? order : compare_u32(id_a, id_b);
}

/* What the labels are made of. */
struct builder {
	struct rows *rows;
	const struct run *run;
	const uint32_t *order;
	uint32_t count;
	bool has_memory;
};

/* Labels are copies: the run's own strings may move when it is renewed. */
static const char *made(struct builder *b, const char *text)
{
	if (!text)
		b->has_memory = false;
	return text ? text : "";
}

static const char *process_label(struct builder *b, const struct run_stream *first, bool is_long)
{
	const char *name = first->name[0] ? first->name : "process";

	if (first->s.rank >= 0 && is_long)
		return made(b, arena_printf(&b->rows->arena, "rank %d", first->s.rank));
	if (first->s.rank >= 0)
		return made(b, arena_printf(&b->rows->arena, "rank %d %s", first->s.rank, first->host));
	if (first->s.generation)
		return made(b,
			arena_printf(&b->rows->arena, "%s %u.%u", name, first->s.pid, first->s.generation));
	return made(b, arena_printf(&b->rows->arena, "%s %u", name, first->s.pid));
}

/* Threads that share a name get their number behind it. */
static bool is_shared_name(struct builder *b, uint32_t at, uint32_t begin, uint32_t end)
{
	const char *name = run_stream(b->run, b->order[at])->name;

	for (uint32_t i = begin; i < end && end - begin < 1000; i++)
		if (i != at && strcmp(run_stream(b->run, b->order[i])->name, name) == 0)
			return true;
	return end - begin >= 1000;
}

static const char *thread_label(struct builder *b, uint32_t at, uint32_t begin, uint32_t end)
{
	const struct run_stream *s = run_stream(b->run, b->order[at]);

	if (s->s.thread == 0)
		return "main";
	if (!s->name[0])
		return made(b, arena_printf(&b->rows->arena, "thread %u", s->s.thread));
	if (is_shared_name(b, at, begin, end))
		return made(b, arena_printf(&b->rows->arena, "%s %u", s->name, s->s.thread));
	return made(b, arena_printf(&b->rows->arena, "%s", s->name));
}

static const char *queue_label(struct builder *b, const struct run_stream *s)
{
	if (!s->name[0])
		return made(b, arena_printf(&b->rows->arena, "q%u", s->s.queue));
	return made(b, arena_printf(&b->rows->arena, "q%u %s", s->s.queue, s->name));
}

static const char *join(struct builder *b, const char *group, const char *label)
{
	return made(b, arena_printf(&b->rows->arena, "%s %s", group, label));
}

static uint32_t add_node(struct builder *b, enum rows_kind kind, uint32_t stream, uint32_t parent, int level)
{
	uint32_t node = b->rows->node_count++;

	b->rows->nodes[node] = (struct rows_node){.kind = kind,
		.stream = stream,
		.parent = parent,
		.level = (uint8_t)level,
		.next = node + 1,
		.begin_ns = UINT64_MAX};
	return node;
}

static void add_thread(
	struct builder *b, uint32_t at, uint32_t begin, uint32_t end, uint32_t process, const char *group)
{
	uint32_t node = add_node(b, ROWS_THREAD, b->order[at], process, 1);
	struct rows_node *n = &b->rows->nodes[node];

	n->label = n->short_label = thread_label(b, at, begin, end);
	n->long_label = join(b, group, n->label);
}

static uint32_t add_device(struct builder *b, uint32_t at, uint32_t end, uint32_t process)
{
	const struct run_stream *first = run_stream(b->run, b->order[at]);
	uint32_t device = add_node(b, ROWS_DEVICE, b->order[at], process, 1);
	const char *name = made(b, arena_printf(&b->rows->arena, "gpu%u", first->s.device));

	b->rows->nodes[device].long_label = b->rows->nodes[device].short_label = name;
	b->rows->nodes[device].label = first->device_name[0] ? join(b, name, first->device_name) : name;
	b->rows->device_count++;
	for (; at < end; at++) {
		const struct run_stream *s = run_stream(b->run, b->order[at]);
		uint32_t node;
		if (s->s.kind != STORE_STREAM_GPU || s->s.device != first->s.device)
			break;
		node = add_node(b, ROWS_QUEUE, b->order[at], device, 2);
		b->rows->nodes[node].label = queue_label(b, s);
		b->rows->nodes[node].short_label = made(b, arena_printf(&b->rows->arena, "q%u", s->s.queue));
		b->rows->nodes[node].long_label =
			made(b, arena_printf(&b->rows->arena, "%s q%u", name, s->s.queue));
	}
	b->rows->nodes[device].next = b->rows->node_count;
	return at;
}

static void add_process(struct builder *b, uint32_t begin, uint32_t end)
{
	const struct run_stream *first = run_stream(b->run, b->order[begin]);
	const char *group = process_label(b, first, true);
	uint32_t process, at = begin;

	b->rows->process_count++;
	if (end - begin == 1 && first->s.kind == STORE_STREAM_CPU) {
		process = add_node(b, ROWS_THREAD, b->order[begin], UINT32_MAX, 0);
		b->rows->nodes[process].label = process_label(b, first, false);
		b->rows->nodes[process].long_label = b->rows->nodes[process].short_label = group;
		return;
	}
	process = add_node(b, ROWS_PROCESS, b->order[begin], UINT32_MAX, 0);
	b->rows->nodes[process].label = process_label(b, first, false);
	b->rows->nodes[process].long_label = b->rows->nodes[process].short_label = group;
	while (at < end) {
		if (run_stream(b->run, b->order[at])->s.kind == STORE_STREAM_CPU)
			add_thread(b, at, begin, end, process, group), at++;
		else
			at = add_device(b, at, end, process);
	}
	b->rows->nodes[process].next = b->rows->node_count;
}

#define HOSTS_MAX 256u /* more are not told apart */

static void count_hosts(struct rows *rows, const struct run *run)
{
	const char *hosts[HOSTS_MAX];

	rows->host_count = rows->rank_count = 0;
	for (uint32_t i = 0, h; i < rows->node_count; i = rows->nodes[i].next) {
		const struct run_stream *s = run_stream(run, rows->nodes[i].stream);
		rows->rank_count += s->s.rank >= 0;
		for (h = 0; h < rows->host_count; h++)
			if (strcmp(hosts[h], s->host) == 0)
				break;
		if (h == rows->host_count && h < HOSTS_MAX)
			hosts[rows->host_count++] = s->host;
	}
}

int rows_build(struct rows *rows, const struct run *run, struct error *error)
{
	uint32_t count = run_stream_count(run);
	struct builder b = {.rows = rows, .run = run, .count = count, .has_memory = true};
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));

	rows->nodes = calloc((size_t)count * 3 + 1, sizeof(*rows->nodes));
	rows->shown = malloc(((size_t)count * 3 + 1) * sizeof(*rows->shown));
	rows->side_by_side = malloc(((size_t)count * 3 + 1) * sizeof(*rows->side_by_side));
	if (!order || !rows->nodes || !rows->shown || !rows->side_by_side) {
		free(order);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_streams, (void *)(uintptr_t)run);
	b.order = order;
	rows->stream_count = count;
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (compare_process(run_stream(run, order[begin]), run_stream(run, order[end])) != 0)
				break;
		add_process(&b, begin, end);
	}
	free(order);
	rows_order_take(rows, run);
	count_hosts(rows, run);
	return b.has_memory ? 0 : error_memory(error);
}
