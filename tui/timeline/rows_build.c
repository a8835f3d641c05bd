/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_build.c - sorts the streams of a run into a tree of rows: process > CPU threads, device > queues.
 * Reads only the stream table. Libraries start a thread for each core that then waits: of a process that has
 * many which hardly do anything, these stand behind its other threads, as one group.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/id_table.h"
#include "tui/timeline/rows.h"
#include "tui/timeline/rows_tree.h"

#define HOSTS_MAX 256u	/* more are not told apart */
#define POOL_LEAST 8u	/* threads; fewer stand for themselves */
#define POOL_PARTS 100u /* each has less than such a part of the records of its process's busiest thread */
#define POOL_LINES_MAX 400u /* runs of more streams begin folded */

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

/* Within a process. */
static int compare_parts(const struct run_stream *x, const struct run_stream *y)
{
	int order;

	if (x->s.kind != y->s.kind)
		return x->s.kind < y->s.kind ? -1 : 1;
	if (x->s.kind == STORE_STREAM_CPU)
		order = compare_u32(x->s.thread, y->s.thread);
	else if ((order = compare_u32(x->s.device, y->s.device)) == 0 &&
		 (order = compare_u32(x->s.context, y->s.context)) == 0)
		order = compare_u32(x->s.queue, y->s.queue);
	return order;
}

static int compare(const struct run_stream *x, const struct run_stream *y)
{
	int order = compare_process(x, y);

	return order ? order : compare_parts(x, y);
}

struct sorting {
	const struct run *run;
	const struct rows_tree *tree; /* NULL: processes stand by rank, host and pid */
};

static int compare_streams(const void *a, const void *b, void *data)
{
	const struct sorting *sorting = data;
	uint32_t id_a = *(const uint32_t *)a, id_b = *(const uint32_t *)b;
	const struct run_stream *x = run_stream(sorting->run, id_a), *y = run_stream(sorting->run, id_b);
	int order = sorting->tree ? compare_u32(rows_tree_place(sorting->tree, id_a),
					    rows_tree_place(sorting->tree, id_b))
				  : compare_process(x, y);

	if (!order)
		order = compare_parts(x, y);
	return order ? order : compare_u32(id_a, id_b);
}

/* Streams are only looked at in passing, one after the other: a run may have many thousand, and a screen
 * shows fifty. Stays until the next one. */
static const struct run_stream *peek(const struct run *run, uint32_t stream)
{
	return run_stream_peek_unnamed((struct run *)(uintptr_t)run, stream); /* which changes no answer */
}

/* Most runs without children have them in this order already. */
static bool is_in_order(const struct run *run, uint32_t count)
{
	struct run_stream last = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct run_stream *s = peek(run, i);

		if (i && compare(&last, s) > 0)
			return false;
		last = *s;
	}
	return true;
}

struct builder {
	struct rows *rows;
	const struct run *run;
	const uint32_t *order;
	uint32_t count;
	const char *hosts[HOSTS_MAX];
	uint32_t *branches; /* the last process's first node and those above it, by depth */
	uint32_t branch_count;
};

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

/* A row of that stream's own. */
static uint32_t add_stream(struct builder *b, enum rows_kind kind, uint32_t at, const struct run_stream *s,
	uint32_t parent, int level)
{
	uint32_t node = add_node(b, kind, b->order[at], parent, level);

	rows_order_take(&b->rows->nodes[node], &s->s);
	b->rows->thread_count += kind == ROWS_THREAD;
	return node;
}

static uint64_t count_records(const struct run_stream *s)
{
	uint64_t records = 0;

	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		records += s->s.count[track];
	return records;
}

/* Records of a thread that is not in the pool of its process; 0: it has none. */
static uint64_t pool_limit(const struct builder *b, uint32_t at, uint32_t end)
{
	uint64_t most = 0;
	uint32_t few = 0;

	if (b->rows->line_count > POOL_LINES_MAX)
		return 0;
	for (uint32_t i = at; i < end; i++) {
		const struct run_stream *s = peek(b->run, b->order[i]);
		uint64_t records = s->s.kind == STORE_STREAM_CPU ? count_records(s) : 0;

		most = records > most ? records : most;
	}
	for (uint32_t i = at; i < end; i++) {
		const struct run_stream *s = peek(b->run, b->order[i]);

		few += s->s.kind == STORE_STREAM_CPU && s->s.thread && count_records(s) < most / POOL_PARTS;
	}
	return few >= POOL_LEAST ? most / POOL_PARTS : 0;
}

static bool is_in_pool(const struct run_stream *s, uint64_t limit)
{
	return limit && s->s.thread && count_records(s) < limit;
}

/* The threads of a process that are, or are not, in its pool. Returns where its queues begin. */
static uint32_t add_threads(
	struct builder *b, uint32_t at, uint32_t end, uint32_t parent, uint64_t limit, bool is_pool)
{
	for (; at < end; at++) {
		const struct run_stream *s = peek(b->run, b->order[at]);

		if (s->s.kind != STORE_STREAM_CPU)
			break;
		if (is_in_pool(s, limit) == is_pool)
			add_stream(b, ROWS_THREAD, at, s, parent, is_pool ? 2 : 1);
	}
	return at;
}

static void add_pool(struct builder *b, uint32_t at, uint32_t end, uint32_t process, uint64_t limit)
{
	uint32_t first = at, pool;

	while (!is_in_pool(peek(b->run, b->order[first]), limit))
		first++;
	pool = add_node(b, ROWS_POOL, b->order[first], process, 1);
	add_threads(b, at, end, pool, limit, true);
	b->rows->nodes[pool].next = b->rows->node_count;
	b->rows->nodes[pool].is_folded = true;
}

static uint32_t add_device(struct builder *b, uint32_t at, uint32_t end, uint32_t process)
{
	const uint32_t number = peek(b->run, b->order[at])->s.device;
	uint32_t device = add_node(b, ROWS_DEVICE, b->order[at], process, 1);

	b->rows->device_count++;
	for (; at < end; at++) {
		const struct run_stream *s = peek(b->run, b->order[at]);

		if (s->s.kind != STORE_STREAM_GPU || s->s.device != number)
			break;
		add_stream(b, ROWS_QUEUE, at, s, device, 2);
	}
	b->rows->nodes[device].next = b->rows->node_count;
	return at;
}

static void count_host(struct builder *b, const struct run_stream *first)
{
	struct rows *rows = b->rows;
	uint32_t h = 0;

	rows->rank_count += first->s.rank >= 0;
	while (h < rows->host_count && strcmp(b->hosts[h], first->host) != 0)
		h++;
	if (h == rows->host_count && h < HOSTS_MAX)
		b->hosts[rows->host_count++] = first->host;
}

static void add_threads_and_devices(struct builder *b, uint32_t at, uint32_t end, uint32_t process)
{
	uint64_t limit = pool_limit(b, at, end);
	uint32_t devices = add_threads(b, at, end, process, limit, false);

	if (limit)
		add_pool(b, at, devices, process, limit);
	while (devices < end)
		devices = add_device(b, devices, end, process);
}

/* The processes whose children are being added, by their depth: each ends the branches of those below. */
static void end_branches(struct builder *b, uint32_t depth)
{
	while (b->branch_count > depth)
		b->rows->nodes[b->branches[--b->branch_count]].branch_next = b->rows->node_count;
}

static void take_branch(struct builder *b, uint32_t node, uint32_t begin)
{
	uint32_t depth = b->rows->tree ? rows_tree_depth(b->rows->tree, b->order[begin]) : 0;

	depth = depth < b->branch_count ? depth : b->branch_count; /* one above it may have no rows */
	b->rows->nodes[node].branch_parent = depth ? b->branches[depth - 1] : UINT32_MAX;
	b->branches[depth] = node;
	b->branch_count = depth + 1;
	for (uint32_t i = node; i < b->rows->node_count; i++)
		b->rows->nodes[i].depth = depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
}

static void add_process(struct builder *b, uint32_t begin, uint32_t end)
{
	const struct run_stream *first = peek(b->run, b->order[begin]);
	const bool is_alone = end - begin == 1 && first->s.kind == STORE_STREAM_CPU;
	uint32_t node;

	end_branches(b, b->rows->tree ? rows_tree_depth(b->rows->tree, b->order[begin]) : 0);
	node = is_alone ? add_stream(b, ROWS_THREAD, begin, first, UINT32_MAX, 0)
			: add_node(b, ROWS_PROCESS, b->order[begin], UINT32_MAX, 0);

	b->rows->process_count++;
	count_host(b, first);
	if (!is_alone) {
		add_threads_and_devices(b, begin, end, node);
		b->rows->nodes[node].next = b->rows->node_count;
	}
	take_branch(b, node, begin);
}

/* End of the streams of the process that begins there. */
static uint32_t process_end(const struct builder *b, uint32_t begin)
{
	const struct run_stream first = *peek(b->run, b->order[begin]);
	uint32_t end = begin + 1;

	while (end < b->count && compare_process(&first, peek(b->run, b->order[end])) == 0)
		end++;
	return end;
}

void rows_renew_lost(struct rows *rows, const struct run *run)
{
	rows->lost_count = 0;
	for (uint32_t i = 0; i < rows->node_count; i++) {
		struct rows_node *n = &rows->nodes[i];

		n->has_lost = !rows_is_group(n) && peek(run, n->stream)->s.lost;
		rows->lost_count += n->has_lost;
	}
}

/* Only of streams that have rows: others (gauges) may be of no process. */
static bool is_in_tree_order(const struct rows_tree *tree, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 1; tree && i < count; i++)
		if (rows_tree_place(tree, order[i]) < rows_tree_place(tree, order[i - 1]))
			return false;
	return true;
}

static void sort(struct rows *rows, const struct run *run, uint32_t *order)
{
	struct sorting sorting = {run, rows->tree};
	uint32_t count = run_stream_count(run);

	for (uint32_t i = 0; i < count; i++)
		if (store_stream_has_states(peek(run, i)->s.kind)) /* those have no time to draw */
			order[rows->line_count++] = i;
	if (!is_in_tree_order(rows->tree, order, rows->line_count) || !is_in_order(run, count))
		qsort_r(order, rows->line_count, sizeof(*order), compare_streams, &sorting);
}

static bool allocate(struct rows *rows, uint32_t count)
{
	uint32_t room = 0;

	rows->shown = malloc(((size_t)count * 3 + 1) * sizeof(*rows->shown));
	rows->side_by_side = malloc(((size_t)count * 3 + 1) * sizeof(*rows->side_by_side));
	return count < UINT32_MAX / 3 && rows->shown && rows->side_by_side &&
	       store_id_table_reserve((void **)&rows->nodes, &room, count * 3 + 1, sizeof(*rows->nodes));
}

int rows_build(struct rows *rows, const struct run *run, struct error *error)
{
	uint32_t count = run_stream_count(run);
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	struct builder b = {.rows = rows, .run = run, .order = order};
	int result = rows_tree_new(&rows->tree, run, error);

	b.branches = calloc((rows->tree ? ROWS_TREE_PROCESSES : 0) + 1u, sizeof(*b.branches));
	if (!result && (!allocate(rows, count) || !order || !b.branches))
		result = error_memory(error);
	if (!result) {
		sort(rows, run, order);
		b.count = rows->line_count;
		rows->stream_count = count;
		for (uint32_t begin = 0, end; begin < rows->line_count; begin = end) {
			end = process_end(&b, begin);
			add_process(&b, begin, end);
		}
		end_branches(&b, 0);
		rows_order_take_groups(rows);
		rows_renew_lost(rows, run);
	}
	free(b.branches);
	free(order);
	return result;
}
