/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - sums the lines below a group. Queues of one device may be busy at the same time; where sums alone
 * cannot tell how much they overlap, their extents are read and swept.
 */
#include "tui/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/extent.h"

#define LANES_BATCH 512

struct frame_lanes {
	struct frame_lanes *next;
	uint64_t key;  /* of the streams below and how they are joined */
	uint32_t node; /* threads: the last one that is in the sums; UINT32_MAX: none */
	bool is_done;
	uint64_t *busy_ns, *there_ns; /* threads: sums so far, by column */
	float shares[];
};

/* A folded group shows its devices if it has any: that is what a GPU program is about. */
static enum rows_kind kind_below(const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	if (n->kind == ROWS_DEVICE)
		return ROWS_QUEUE;
	if (n->is_folded && rows_below(rows, node, UINT32_MAX, ROWS_QUEUE) != UINT32_MAX)
		return ROWS_QUEUE;
	return ROWS_THREAD;
}

static uint64_t key_below(const struct rows *rows, uint32_t node, enum rows_kind kind)
{
	uint64_t key = kind + 1u;

	for (uint32_t i = rows_below(rows, node, UINT32_MAX, kind); i != UINT32_MAX;
		i = rows_below(rows, node, i, kind))
		key = (key ^ rows->nodes[i].stream) * 0x100000001b3u;
	return key;
}

/* The lanes of the node, made when they are first asked for; NULL: memory is out. */
static struct frame_lanes *find(
	struct frame *frame, const struct rows *rows, uint32_t node, enum rows_kind kind)
{
	uint64_t key = key_below(rows, node, kind);
	size_t columns = frame->columns.count;
	struct frame_lanes *lanes;

	for (lanes = frame->lanes; lanes; lanes = lanes->next)
		if (lanes->key == key)
			return lanes;
	lanes = arena_calloc(&frame->arena, 1, sizeof(*lanes) + (columns + 1) * sizeof(float));
	if (!lanes)
		return NULL;
	lanes->busy_ns = arena_calloc(&frame->arena, columns * 2 + 1, sizeof(*lanes->busy_ns));
	if (!lanes->busy_ns)
		return NULL;
	lanes->there_ns = lanes->busy_ns + columns;
	lanes->key = key;
	lanes->node = UINT32_MAX;
	lanes->next = frame->lanes;
	frame->lanes = lanes;
	return lanes;
}

/* ---- threads: shares of the time that they were there ---- */

static int add_thread(struct frame *frame, const struct rows *rows, uint32_t node, struct frame_lanes *lanes,
	struct error *error)
{
	uint32_t count = frame->columns.count, thread = rows_below(rows, node, lanes->node, ROWS_THREAD);

	if (thread != UINT32_MAX) {
		int result = frame_busy_read(
			frame, rows->nodes[thread].stream, lanes->busy_ns, lanes->there_ns, error);

		if (!result)
			lanes->node = thread;
		return result;
	}
	for (uint32_t c = 0; c < count; c++)
		lanes->shares[c] = lanes->there_ns[c]
					   ? (float)((double)lanes->busy_ns[c] / (double)lanes->there_ns[c])
					   : -1.0f;
	lanes->is_done = true;
	return 0;
}

/* ---- devices: the union of their queues ---- */

struct interval {
	uint64_t begin_ns, end_ns;
};

struct intervals {
	struct interval *items;
	size_t count, capacity;
	bool has_failed;
};

static void add_interval(struct intervals *list, const struct extent *extent)
{
	if (list->count && list->items[list->count - 1].end_ns == extent->begin_ns) {
		list->items[list->count - 1].end_ns = extent->end_ns;
		return;
	}
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 1024;
		struct interval *items = realloc(list->items, capacity * sizeof(*items));
		if (!items) {
			list->has_failed = true;
			return;
		}
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = (struct interval){extent->begin_ns, extent->end_ns};
}

static void list_busy(struct frame *frame, uint32_t stream, struct intervals *list)
{
	struct extent extents[LANES_BATCH];
	struct extent_walk *walk;
	long count;

	if (extent_open(&walk, frame->run, stream, frame->begin_ns, frame->end_ns, NULL)) {
		list->has_failed = true;
		return;
	}
	while ((count = extent_next(walk, extents, LANES_BATCH, NULL)) > 0)
		for (long i = 0; i < count; i++)
			if (extent_state_is_busy(extents[i].state))
				add_interval(list, &extents[i]);
	list->has_failed = list->has_failed || count < 0;
	extent_close(walk);
}

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Adds [begin, end) to the columns that it touches. */
static void add_stretch(struct frame *frame, uint64_t *busy_ns, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint32_t c = frame_column_at(frame, begin_ns); c < frame->columns.count && begin_ns < end_ns;
		c++) {
		uint64_t until_ns = frame_column_ns(frame, c + 1);
		if (until_ns > end_ns)
			until_ns = end_ns;
		if (until_ns > begin_ns) {
			busy_ns[c] += until_ns - begin_ns;
			begin_ns = until_ns;
		}
	}
}

static void sweep(struct frame *frame, struct intervals *list, uint64_t *busy_ns)
{
	uint64_t end_ns = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(list->items[0]), compare_intervals);
	for (size_t i = 0; i < list->count; i++) {
		uint64_t begin_ns = list->items[i].begin_ns > end_ns ? list->items[i].begin_ns : end_ns;
		if (list->items[i].end_ns <= begin_ns)
			continue;
		end_ns = list->items[i].end_ns;
		add_stretch(frame, busy_ns, begin_ns, end_ns);
	}
}

/* Busy time of one device in each column; its queues are the nodes (device, end). False: memory is out. */
static bool unite_device(
	struct frame *frame, const struct rows *rows, uint32_t device, uint64_t *busy_ns, uint64_t *there_ns)
{
	uint32_t busy_queues, columns = frame->columns.count;
	struct intervals list = {0};
	bool is_clear = true;

	for (uint32_t c = 0; c < columns; c++) {
		uint64_t sum_ns = 0, one_ns, there;
		busy_queues = 0;
		for (uint32_t i = rows_below(rows, device, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
			i = rows_below(rows, device, i, ROWS_QUEUE)) {
			one_ns = frame_busy_ns(frame, frame_line(frame, rows->nodes[i].stream), c, &there);
			busy_queues += one_ns > 0;
			sum_ns += one_ns;
			there_ns[c] = there > there_ns[c] ? there : there_ns[c];
		}
		is_clear = is_clear && busy_queues < 2;
		busy_ns[c] = sum_ns;
	}
	if (is_clear)
		return true;
	memset(busy_ns, 0, columns * sizeof(*busy_ns));
	for (uint32_t i = rows_below(rows, device, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
		i = rows_below(rows, device, i, ROWS_QUEUE))
		list_busy(frame, rows->nodes[i].stream, &list);
	sweep(frame, &list, busy_ns);
	free(list.items);
	return !list.has_failed;
}

/* The mean over the devices below the node (one, if it is a device). */
static bool add_devices(struct frame *frame, const struct rows *rows, uint32_t node, float *shares,
	uint64_t *busy_ns, uint64_t *there_ns)
{
	uint32_t columns = frame->columns.count, devices = 0;

	for (uint32_t d = rows_below(rows, node, UINT32_MAX, ROWS_DEVICE); d != UINT32_MAX;
		d = rows_below(rows, node, d, ROWS_DEVICE), devices++) {
		memset(busy_ns, 0, columns * sizeof(*busy_ns));
		if (!unite_device(frame, rows, d, busy_ns, there_ns))
			return false;
		for (uint32_t c = 0; c < columns; c++)
			shares[c] += (float)((double)busy_ns[c] / (double)frame_column_length(frame, c));
	}
	for (uint32_t c = 0; c < columns; c++)
		shares[c] = there_ns[c] ? shares[c] / (float)(devices ? devices : 1) : -1.0f;
	return true;
}

static int add_queue(struct frame *frame, const struct rows *rows, uint32_t node, struct frame_lanes *lanes,
	struct error *error)
{
	const struct frame_line *line;

	for (uint32_t i = rows_below(rows, node, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
		i = rows_below(rows, node, i, ROWS_QUEUE))
		if (!frame_line(frame, rows->nodes[i].stream))
			return frame_read(frame, rows->nodes[i].stream, &line, error);
	lanes->is_done = true;
	if (!add_devices(frame, rows, node, lanes->shares, lanes->busy_ns, lanes->there_ns))
		return error_memory(error);
	return 0;
}

int lanes_step(
	struct frame *frame, const struct rows *rows, uint32_t node, bool *is_done, struct error *error)
{
	enum rows_kind kind = kind_below(rows, node);
	struct frame_lanes *lanes = find(frame, rows, node, kind);
	int result = 0;

	*is_done = true;
	if (!lanes)
		return error_memory(error);
	if (!lanes->is_done)
		result = kind == ROWS_THREAD ? add_thread(frame, rows, node, lanes, error)
					     : add_queue(frame, rows, node, lanes, error);
	*is_done = lanes->is_done || result;
	return result;
}

const float *lanes_of(struct frame *frame, const struct rows *rows, uint32_t node)
{
	struct frame_lanes *lanes = find(frame, rows, node, kind_below(rows, node));

	return lanes && lanes->is_done ? lanes->shares : NULL;
}
