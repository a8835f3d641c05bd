/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_busy.c - sums the lines below a group. Queues of one device may be busy at the same time; where sums
 * cannot tell the overlap, the union is read.
 */
#include "tui/timeline/group_busy.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/sum/all_streams_columns.h"
#include "timeline/sum/device_busy.h"

struct group_busy {
	struct group_busy *next;
	uint64_t key;		/* of the streams below and how they are joined */
	enum rows_kind kind;	/* of those */
	uint64_t asked_version; /* of the rows, when it was last looked for: by which node */
	uint32_t asked_node;
	/* threads: the last one that is in the sums, UINT32_MAX: none; how many there are below the node, how
	 * many of them are read, how many lie up to `node`, how many of those were read */
	uint32_t node, threads, chosen, passed, read;
	bool is_done;
	bool is_coarse; /* threads: shares are of longer times than columns; devices: of parts of them */
	bool has_sums_missed;	      /* the sums of all streams were asked for, and there are none */
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

static uint64_t key_below(const struct rows *rows, uint32_t node, enum rows_kind kind, uint32_t *count)
{
	uint64_t key = kind + 1u;

	*count = 0;
	for (uint32_t i = rows_below(rows, node, UINT32_MAX, kind); i != UINT32_MAX;
		i = rows_below(rows, node, i, kind))
		++*count, key = (key ^ rows->nodes[i].stream) * 0x100000001b3u;
	return key;
}

/* Finds earlier sums without walking the group: a process may have many thousand threads. */
static struct group_busy *find_asked(const struct frame *frame, const struct rows *rows, uint32_t node)
{
	for (struct group_busy *busy = frame->busy; busy; busy = busy->next)
		if (busy->asked_version == rows->version && busy->asked_node == node)
			return busy;
	return NULL;
}

static struct group_busy *find_key(const struct frame *frame, uint64_t key)
{
	for (struct group_busy *busy = frame->busy; busy; busy = busy->next)
		if (busy->key == key)
			return busy;
	return NULL;
}

static struct group_busy *add(struct frame *frame, uint64_t key, enum rows_kind kind, uint32_t count)
{
	size_t columns = frame->columns.count;
	struct group_busy *busy =
		arena_calloc(&frame->arena, 1, sizeof(*busy) + (columns + 1) * sizeof(float));

	if (!busy)
		return NULL;
	busy->busy_ns = arena_calloc(&frame->arena, columns * 2 + 1, sizeof(*busy->busy_ns));
	if (!busy->busy_ns)
		return NULL;
	busy->there_ns = busy->busy_ns + columns;
	busy->key = key;
	busy->kind = kind;
	busy->node = UINT32_MAX;
	busy->threads = kind == ROWS_THREAD ? count : 0;
	busy->next = frame->busy;
	frame->busy = busy;
	return busy;
}

/* Dense threads have to be read for their columns unless the screen shows them: of more than a few, longer
 * times are read, which cost little. */
static void choose_threads(
	const struct frame *frame, const struct rows *rows, uint32_t node, struct group_busy *busy)
{
	uint32_t thread = rows_below(rows, node, UINT32_MAX, ROWS_THREAD), dense = 0, most;

	for (uint32_t seen = 0; thread != UINT32_MAX && seen < GROUP_BUSY_COARSE_MAX; seen++) {
		uint32_t stream = rows->nodes[thread].stream;

		dense += !frame_line(frame, stream) && frame_is_dense(frame, stream);
		thread = rows_below(rows, node, thread, ROWS_THREAD);
	}
	busy->is_coarse = dense > GROUP_BUSY_DENSE_MAX;
	most = busy->is_coarse ? GROUP_BUSY_COARSE_MAX : GROUP_BUSY_EXACT_MAX;
	busy->chosen = busy->threads < most ? busy->threads : most;
}

/* The sums of the node, made at the first call; NULL: memory is out. */
static struct group_busy *find(struct frame *frame, const struct rows *rows, uint32_t node)
{
	struct group_busy *busy = find_asked(frame, rows, node);
	enum rows_kind kind;
	uint32_t count;
	uint64_t key;

	if (busy)
		return busy;
	kind = kind_below(rows, node);
	key = key_below(rows, node, kind, &count);
	busy = find_key(frame, key);
	if (!busy) {
		busy = add(frame, key, kind, count);
		if (busy && kind == ROWS_THREAD)
			choose_threads(frame, rows, node, busy);
	}
	if (!busy)
		return NULL;
	busy->asked_version = rows->version;
	busy->asked_node = node;
	return busy;
}

/* ---- threads: shares of the time that they were there ---- */

static void finish_threads(const struct frame *frame, struct group_busy *busy)
{
	for (uint32_t c = 0; c < frame->columns.count; c++)
		busy->shares[c] = busy->there_ns[c]
					  ? (float)((double)busy->busy_ns[c] / (double)busy->there_ns[c])
					  : -1.0f;
	busy->is_done = true;
}

/* A group of all streams of the run has stored sums. 1: they are taken; 0: there are none. */
static int add_all_streams(struct frame *frame, struct group_busy *busy, struct error *error)
{
	uint32_t count = frame->columns.count;
	struct all_streams_column *columns = calloc((size_t)count + 1, sizeof(*columns));
	bool is_spread = false;
	int result = columns ? all_streams_columns(frame->run, frame->columns.edges, frame->columns.shift,
				       count, columns, &is_spread, error)
			     : error_memory(error);

	for (uint32_t c = 0; c < count && result == 1; c++) {
		busy->busy_ns[c] = columns[c].busy_ns;
		busy->there_ns[c] = columns[c].there_ns;
	}
	free(columns);
	if (result == 1) {
		busy->chosen = busy->threads;
		busy->is_coarse = is_spread;
		finish_threads(frame, busy);
	}
	busy->has_sums_missed = result == 0;
	return result;
}

/* The next thread that is read: every one, or an even choice of very many. */
static uint32_t next_thread(
	const struct rows *rows, uint32_t node, const struct group_busy *busy, uint32_t *passed)
{
	uint64_t wanted = (uint64_t)busy->read * busy->threads / (busy->chosen ? busy->chosen : 1);
	uint32_t thread = rows_below(rows, node, busy->node, ROWS_THREAD);

	*passed = busy->passed;
	if (busy->read == busy->chosen)
		return UINT32_MAX;
	for (; thread != UINT32_MAX && *passed < wanted; ++*passed)
		thread = rows_below(rows, node, thread, ROWS_THREAD);
	return thread;
}

static int add_thread(struct frame *frame, const struct rows *rows, uint32_t node, struct group_busy *busy,
	struct error *error)
{
	uint32_t thread, passed;
	int result = 0;

	if (busy->threads == run_timed_count(frame->run) && busy->threads > 1 && !busy->read &&
		!busy->has_sums_missed)
		result = add_all_streams(frame, busy, error);
	if (result)
		return result < 0 ? result : 0;
	thread = next_thread(rows, node, busy, &passed);
	if (thread == UINT32_MAX) {
		finish_threads(frame, busy);
		return 0;
	}
	result = (busy->is_coarse ? frame_busy_read_coarse : frame_busy_read)(
		frame, rows->nodes[thread].stream, busy->busy_ns, busy->there_ns, error);
	if (!result) {
		busy->node = thread;
		busy->passed = passed + 1;
		busy->read++;
	}
	return result;
}

/* ---- devices: the union of their queues ---- */

struct busy {
	const struct frame *frame;
	uint64_t *ns; /* by column */
};

/* Adds [begin, end) to the columns that it touches. */
static void add_stretch(void *own, uint64_t begin_ns, uint64_t end_ns)
{
	const struct busy *busy = own;
	const struct frame *frame = busy->frame;

	for (uint32_t c = frame_column_at(frame, begin_ns); c < frame->columns.count && begin_ns < end_ns;
		c++) {
		uint64_t until_ns = frame_column_ns(frame, c + 1);
		if (until_ns > end_ns)
			until_ns = end_ns;
		if (until_ns > begin_ns) {
			busy->ns[c] += until_ns - begin_ns;
			begin_ns = until_ns;
		}
	}
}

/* About so many spans the queues have in the window: as if they were spread evenly. */
static double spans_in_window(const struct frame *frame, const uint32_t *queues, uint32_t count)
{
	double spans = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct store_stream *s = &run_stream(frame->run, queues[i])->s;
		uint64_t from = s->begin_ns > frame->begin_ns ? s->begin_ns : frame->begin_ns;
		uint64_t until = s->end_ns < frame->end_ns ? s->end_ns : frame->end_ns;

		if (until > from)
			spans += (double)s->count[STORE_SPANS] * (double)(until - from) /
				 (double)(s->end_ns - s->begin_ns);
	}
	return spans;
}

/* Where no sums tell, and reading all would take too long: what holds in the middle of a column holds in all
 * of it, as far as the sum of the queues, which is known, allows. */
static int unite_middles(struct frame *frame, const uint32_t *queues, uint32_t count, const bool *is_shared,
	uint64_t *busy_ns, struct error *error)
{
	uint64_t *part_ns = calloc((size_t)frame->columns.count + 1, sizeof(*part_ns));
	struct busy busy = {frame, part_ns};
	int result = part_ns ? 0 : error_memory(error);

	for (uint32_t c = 0; c < frame->columns.count && !result; c++) {
		uint64_t begin_ns = frame_column_ns(frame, c), length_ns = frame_column_length(frame, c);
		uint64_t part = length_ns / GROUP_BUSY_UNION_PART, most, least;

		if (!is_shared[c] || !part)
			continue;
		begin_ns += (length_ns - part) / 2;
		result = device_busy_sweep(
			frame->run, queues, count, begin_ns, begin_ns + part, add_stretch, &busy, error);
		most = busy_ns[c] < length_ns ? busy_ns[c] : length_ns;
		least = busy_ns[c] / count;
		busy_ns[c] = (uint64_t)((double)part_ns[c] * (double)length_ns / (double)part);
		busy_ns[c] = busy_ns[c] > most ? most : busy_ns[c] < least ? least : busy_ns[c];
	}
	free(part_ns);
	return result;
}

/* Columns in which several queues are busy: the rest is in *busy_ns already. */
static int unite_columns(struct frame *frame, const uint32_t *queues, uint32_t count, const bool *is_shared,
	uint64_t *busy_ns, bool *is_about, struct error *error)
{
	struct busy busy = {frame, busy_ns};
	struct device_busy_gaps gaps = {0};
	struct device_busy united;
	int result = device_busy_open(&united, frame->run, queues, count, error);

	if (!result && !united.is_there && run_sums_rollups(frame->run) &&
		spans_in_window(frame, queues, count) > GROUP_BUSY_UNION_SPANS) {
		*is_about = true;
		return unite_middles(frame, queues, count, is_shared, busy_ns, error);
	}
	for (uint32_t c = 0; c < frame->columns.count && !result; c++) {
		if (!is_shared[c])
			continue;
		busy_ns[c] = 0;
		result = device_busy_add(&united, frame_column_ns(frame, c), frame_column_ns(frame, c + 1),
			&busy_ns[c], &gaps, error);
	}
	for (uint32_t i = 0; i < gaps.count && !result; i++)
		result = device_busy_sweep(frame->run, queues, count, gaps.items[i].begin_ns,
			gaps.items[i].end_ns, add_stretch, &busy, error);
	free(gaps.items);
	return result;
}

/* Sums the queues, which are lines of the frame, by column. Gives whether any column is shared by several. */
static bool sum_queues(struct frame *frame, const uint32_t *queues, uint32_t count, bool *is_shared,
	uint64_t *busy_ns, uint64_t *there_ns)
{
	bool is_any = false;

	for (uint32_t c = 0; c < frame->columns.count; c++) {
		uint32_t busy_queues = 0;

		busy_ns[c] = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint64_t there,
				one_ns = frame_busy_ns(frame, frame_line(frame, queues[i]), c, &there);

			busy_queues += one_ns > 0;
			busy_ns[c] += one_ns;
			there_ns[c] = there > there_ns[c] ? there : there_ns[c];
		}
		is_shared[c] = busy_queues > 1;
		is_any |= is_shared[c];
	}
	return is_any;
}

/* Busy time of one device in each column; its queues are the nodes (device, end). */
static int unite_device(struct frame *frame, const struct rows *rows, uint32_t device, uint64_t *busy_ns,
	uint64_t *there_ns, bool *is_about, struct error *error)
{
	bool *is_shared = calloc((size_t)frame->columns.count + 1, sizeof(*is_shared));
	uint32_t *queues = calloc(rows->nodes[device].next - device, sizeof(*queues)), count = 0;
	int result = 0;

	if (!is_shared || !queues) {
		result = error_memory(error);
		goto free_lists;
	}
	for (uint32_t i = rows_below(rows, device, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
		i = rows_below(rows, device, i, ROWS_QUEUE))
		queues[count++] = rows->nodes[i].stream;
	if (sum_queues(frame, queues, count, is_shared, busy_ns, there_ns))
		result = unite_columns(frame, queues, count, is_shared, busy_ns, is_about, error);
free_lists:
	free(is_shared);
	free(queues);
	return result;
}

/* The mean over the devices below the node (one, if it is a device). It may have been stopped before. */
static int add_devices(struct frame *frame, const struct rows *rows, uint32_t node, struct group_busy *busy,
	struct error *error)
{
	uint64_t *busy_ns = busy->busy_ns, *there_ns = busy->there_ns;
	uint32_t columns = frame->columns.count, devices = 0;
	float *shares = busy->shares;
	int result;

	for (uint32_t c = 0; c < columns; c++)
		shares[c] = 0;
	for (uint32_t d = rows_below(rows, node, UINT32_MAX, ROWS_DEVICE); d != UINT32_MAX;
		d = rows_below(rows, node, d, ROWS_DEVICE), devices++) {
		memset(busy_ns, 0, columns * sizeof(*busy_ns));
		result = unite_device(frame, rows, d, busy_ns, there_ns, &busy->is_coarse, error);
		if (result)
			return result;
		for (uint32_t c = 0; c < columns; c++)
			shares[c] += (float)((double)busy_ns[c] / (double)frame_column_length(frame, c));
	}
	for (uint32_t c = 0; c < columns; c++)
		shares[c] = there_ns[c] ? shares[c] / (float)(devices ? devices : 1) : -1.0f;
	return 0;
}

static int add_queue(struct frame *frame, const struct rows *rows, uint32_t node, struct group_busy *busy,
	struct error *error)
{
	const struct frame_line *line;
	int result;

	for (uint32_t i = rows_below(rows, node, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
		i = rows_below(rows, node, i, ROWS_QUEUE))
		if (!frame_line(frame, rows->nodes[i].stream))
			return frame_read(frame, rows->nodes[i].stream, &line, error);
	result = add_devices(frame, rows, node, busy, error);
	busy->is_done = !result;
	return result;
}

bool group_busy_is_uniting(struct frame *frame, const struct rows *rows, uint32_t node)
{
	enum rows_kind kind = kind_below(rows, node);
	uint32_t queue = UINT32_MAX;

	if (kind != ROWS_QUEUE)
		return false;
	while ((queue = rows_below(rows, node, queue, kind)) != UINT32_MAX)
		if (!frame_line(frame, rows->nodes[queue].stream))
			return false;
	return true;
}

int group_busy_step(
	struct frame *frame, const struct rows *rows, uint32_t node, bool *is_done, struct error *error)
{
	struct group_busy *busy = find(frame, rows, node);
	int result = 0;

	*is_done = true;
	if (!busy)
		return error_memory(error);
	if (!busy->is_done)
		result = busy->kind == ROWS_THREAD ? add_thread(frame, rows, node, busy, error)
						   : add_queue(frame, rows, node, busy, error);
	*is_done = busy->is_done || result;
	return result;
}

const float *group_busy_of(struct frame *frame, const struct rows *rows, uint32_t node)
{
	struct group_busy *busy = find(frame, rows, node);

	return busy && busy->is_done ? busy->shares : NULL;
}

bool group_busy_is_about(struct frame *frame, const struct rows *rows, uint32_t node)
{
	const struct group_busy *busy = find(frame, rows, node);

	return busy && busy->is_done && (busy->is_coarse || busy->chosen < busy->threads);
}
