/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - where the time of a window went: maps the window's sums by (context, op, state) to keys, so that
 * the text of a key is made once per context and not once per extent.
 */
#include "timeline/stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/stream_groups.h"
#include "timeline/run/row_key.h"
#include "timeline/scan/scan.h"
#include "timeline/select/bookmark.h"
#include "timeline/select/select.h"
#include "timeline/sum/figure.h"
#include "timeline/sum/figure_users.h"
#include "timeline/sum/state_metrics.h"
#include "timeline/sum/window.h"

/* Rows are numbered by their text; a state's row never meets a function of the same name. */
struct stats_key {
	struct store_hash text;
	uint64_t is_state;
};

struct stats_work {
	struct run *run;
	struct arena *arena;
	const struct select *select; /* NULL: everything matches */
	unsigned derived;	     /* metrics to count (state_metrics.h), 0: all time, states as rows */
	const struct stream_groups *groups; /* the keys; NULL: those of `by` */
	const char *label;		    /* the key, where it is the same for all; NULL: it is not */
	enum stats_by by;
	uint32_t depth;
	struct key_ids row_keys;
	struct stats_row *rows;
	uint64_t *row_best_ns; /* time of the row's `context` */
	size_t row_capacity;
	struct store_bytes key;	       /* scratch */
	const struct stats_when *when; /* NULL: always */
};

/* When figures met a condition. */
struct stats_when {
	const struct figure *figures;
	const struct figure_stretch *const *stretches; /* of each */
	const uint32_t *stretch_counts;
	uint32_t count;
	struct figure_users users;
	bool has_devices; /* some figure is of a device */
};

static const char *const by_names[STATS_BY_COUNT] = {
	[STATS_FUNCTION] = "function",
	[STATS_PATH] = "path",
	[STATS_MODULE] = "module",
	[STATS_LINE] = "line",
	[STATS_STREAM] = "stream",
	[STATS_OP] = "op",
	[STATS_LOOP] = "loop",
	[STATS_INLINE] = "inline",
	[STATS_FILE] = "file",
	[STATS_INSTRUCTION] = "instruction",
	[STATS_SCRIPT] = "script",
};

const char *stats_by_name(enum stats_by by)
{
	return by_names[by];
}

int stats_by_find(const char *name)
{
	for (int i = 0; i < STATS_BY_COUNT; i++)
		if (strcmp(by_names[i], name) == 0)
			return i;
	return -1;
}

/* ---- keys ---- */

static void put_text(struct store_bytes *out, const char *text)
{
	escape_field(out, text, strlen(text));
}

bool stats_by_row_key(enum stats_by by, enum row_key_by *place)
{
	static const enum row_key_by places[STATS_BY_COUNT] = {
		[STATS_FUNCTION] = ROW_KEY_FUNCTION,
		[STATS_PATH] = ROW_KEY_PATH,
		[STATS_MODULE] = ROW_KEY_MODULE,
		[STATS_LINE] = ROW_KEY_LINE,
		[STATS_LOOP] = ROW_KEY_LOOP,
		[STATS_INLINE] = ROW_KEY_INLINE,
		[STATS_FILE] = ROW_KEY_FILE,
		[STATS_INSTRUCTION] = ROW_KEY_INSTRUCTION,
		[STATS_SCRIPT] = ROW_KEY_SCRIPT,
	};

	*place = places[by];
	return by != STATS_STREAM && by != STATS_OP;
}

void stats_whole(const struct stats *stats, double whole[STATS_NUMBERS])
{
	whole[0] = (double)stats->total_ns;
	whole[1] = 100;
	whole[2] = 0;
	for (size_t i = 0; i < stats->count; i++)
		whole[2] += (double)stats->rows[i].records;
}

bool stats_put_key(struct store_bytes *out, bool *is_state, const struct run *run,
	const struct window_time *piece, uint32_t stream, enum stats_by by, uint32_t depth)
{
	enum row_key_by place;
	bool needs_context = stats_by_row_key(by, &place);

	*is_state = !extent_state_is_busy(piece->state) || (needs_context && piece->context == 0);
	if (!*is_state && needs_context)
		return row_key_put(out, run, piece->context, place, depth);
	if (!*is_state && by == STATS_STREAM)
		put_text(out, run_stream(run, stream)->text);
	else if (!*is_state && piece->op != STORE_OP_NONE)
		put_text(out, run_op_name(run, piece->op));
	else
		put_text(out, extent_state_name(piece->state));
	return !out->failed;
}

/* ---- rows ---- */

static bool rows_widen(struct stats_work *work)
{
	size_t capacity = work->row_capacity ? work->row_capacity * 2 : 64;

	if (!array_resize(&work->rows, capacity, sizeof *work->rows) ||
		!array_resize(&work->row_best_ns, capacity, sizeof *work->row_best_ns))
		return false;
	work->row_capacity = capacity;
	return true;
}

static struct stats_row *row_of(struct stats_work *work, bool is_state)
{
	struct stats_key key = {.text = store_hash128(work->key.data, work->key.size), .is_state = is_state};
	bool is_new;
	uint32_t number = key_ids_put(&work->row_keys, &key, &is_new);

	if (number == KEY_IDS_NONE || (number == work->row_capacity && !rows_widen(work)))
		return NULL;
	if (is_new) {
		work->rows[number] = (struct stats_row){
			.key = arena_copy(work->arena, (const char *)work->key.data, work->key.size)};
		work->row_best_ns[number] = 0;
	}
	return work->rows[number].key ? &work->rows[number] : NULL;
}

static bool put_key(struct stats_work *work, bool *is_state, const struct window_time *piece, uint32_t stream)
{
	work->key.size = 0;
	if (work->label && extent_state_is_busy(piece->state)) {
		*is_state = false;
		put_text(&work->key, work->label);
		return !work->key.failed;
	}
	if (!work->groups || !extent_state_is_busy(piece->state))
		return stats_put_key(&work->key, is_state, work->run, piece, stream, work->by, work->depth);
	*is_state = false;
	put_text(&work->key, stream_groups_text(work->groups, work->groups->of[stream]));
	return !work->key.failed;
}

/* Where waits are what is counted, they fall on the key of their place, as work does. */
static struct window_time keyed_as(const struct stats_work *work, const struct window_time *cell)
{
	struct window_time keyed = *cell;
	bool has_place = work->by == STATS_STREAM || (work->by != STATS_OP && cell->context != 0);

	if (work->derived && has_place)
		keyed.state = EXTENT_WORK;
	return keyed;
}

static bool add_cell(struct stats_work *work, const struct window_time *cell, uint32_t stream)
{
	struct window_time keyed = keyed_as(work, cell);
	struct stats_row *row;
	uint64_t *best_ns;
	bool is_state;

	if (!put_key(work, &is_state, &keyed, stream))
		return false;
	row = row_of(work, is_state);
	if (!row)
		return false;
	best_ns = &work->row_best_ns[row - work->rows];
	if (cell->time_ns >= *best_ns) {
		row->state = cell->state;
		row->function = !is_state && cell->context != 0
					? row_key_of(work->run, cell->context, work->depth).function
					: UINT32_MAX;
		row->context = cell->context;
		*best_ns = cell->time_ns;
	}
	row->time_ns += cell->time_ns;
	row->records += cell->records;
	return true;
}

static bool is_counted(const struct stats_work *work, const struct window_time *cell)
{
	for (unsigned d = 0; d < STATE_METRIC_COUNT; d++)
		if (work->derived >> d & 1 && state_metrics_counts((enum state_metric)d, cell->state))
			return true;
	return !work->derived;
}

static bool is_wanted(const struct stats_work *work, const struct window_time *cell)
{
	if (!is_counted(work, cell))
		return false;
	return !work->select ||
	       (select_wants_context(work->select, cell->context) && select_wants_op(work->select, cell->op));
}

static void add_totals(struct stats *stats, const struct window_time *cell)
{
	stats->total_ns += cell->time_ns;
	if (cell->state != EXTENT_ABSENT)
		stats->lived_ns += cell->time_ns;
	if (cell->state != EXTENT_ABSENT && cell->state != EXTENT_UNMONITORED)
		stats->monitored_ns += cell->time_ns;
	if (cell->op == STORE_OP_THINNED)
		stats->bare_ns += cell->time_ns;
	if (cell->state == EXTENT_LOST)
		stats->lost_ns += cell->time_ns;
}

/* What the window holds falls on rows. `stream`: whose it is, where rows are streams. */
static int fold(struct stats_work *work, struct stats *stats, const struct window *window, uint32_t stream,
	struct error *error)
{
	size_t count;
	const struct window_time *cells = window_times(window, &count);

	for (size_t i = 0; i < count; i++) {
		add_totals(stats, &cells[i]);
		if (is_wanted(work, &cells[i]) && !add_cell(work, &cells[i], stream))
			return error_memory(error);
	}
	return 0;
}

/* ---- operations beside the line ---- */

/* Of a thread whose samples own the line its calls (MPI, launches, ...) own nothing. Where they are asked for
 * they count for the time that one of them or several take. */
static int add_calls(
	struct stats_work *work, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	uint64_t reach_ns = begin_ns;
	long count = 0;
	int rc = scan_open(&scan, work->run, stream, STORE_SPANS, begin_ns, end_ns,
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT, SCAN_CLIP, error);

	if (rc < 0)
		return rc;
	while (rc == 0 && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t i = 0; i < batch->count && rc == 0; i++) {
			uint64_t from_ns = batch->begin_ns[i] > reach_ns ? batch->begin_ns[i] : reach_ns;
			const struct window_time cell = {.context = batch->context[i],
				.op = batch->what[i],
				.state = EXTENT_WORK,
				.records = 1,
				.time_ns = batch->end_ns[i] > from_ns ? batch->end_ns[i] - from_ns : 0};

			if (span_kind_of(cell.op, false, true) != SPAN_KIND_COUNT || !is_wanted(work, &cell))
				continue;
			if (batch->end_ns[i] > reach_ns)
				reach_ns = batch->end_ns[i];
			if (!add_cell(work, &cell, stream))
				rc = error_memory(error);
		}
	scan_close(scan);
	return count < 0 ? (int)count : rc;
}

static int add_all_calls(struct stats_work *work, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	int rc = 0;

	if (!work->select || !select_has_op(work->select) || work->derived)
		return 0;
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		const struct store_stream *s = &run_stream(work->run, streams[i])->s;

		if (s->kind == STORE_STREAM_CPU && s->count[STORE_SAMPLES] && s->count[STORE_SPANS])
			rc = add_calls(work, streams[i], begin_ns, end_ns, error);
	}
	return rc;
}

/* ---- the whole ---- */

static int row_compare(const void *left, const void *right)
{
	const struct stats_row *a = left, *b = right;
	int order;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	order = strcmp(a->key, b->key);
	return order ? order : (int)a->state - (int)b->state;
}

static int give_rows(struct stats_work *work, struct stats *stats, struct error *error)
{
	stats->count = work->row_keys.count;
	stats->rows = arena_calloc(work->arena, stats->count + 1, sizeof *stats->rows);
	if (!stats->rows)
		return error_memory(error);
	if (stats->count > 0) {
		memcpy(stats->rows, work->rows, stats->count * sizeof *stats->rows);
		qsort(stats->rows, stats->count, sizeof *stats->rows, row_compare);
	}
	return 0;
}

static int add_between(struct stats_work *work, struct window *window, const uint32_t *streams,
	uint32_t count, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	int rc = work->derived
			 ? state_metrics_add_times(window, work->run, streams, count, begin_ns, end_ns, error)
			 : window_add_times(window, streams, count, begin_ns, end_ns, error);

	return rc ? rc : add_all_calls(work, streams, count, begin_ns, end_ns, error);
}

/* Whether the figure tells of the stream. */
static bool is_owned(const struct figure_users *users, uint32_t stream, const struct figure *figure)
{
	return figure_nearness(users, stream, figure) >= FIGURE_OF_HOST;
}

/* When the last of what the figure tells of has ended: no value holds any longer. */
static uint64_t owner_end(
	const struct run *run, const struct figure_users *users, const struct figure *figure)
{
	uint64_t end_ns = run_stream(run, figure->stream)->s.end_ns;

	for (uint32_t i = 0; i < run_stream_count(run); i++)
		if (run_stream(run, i)->s.end_ns > end_ns && is_owned(users, i, figure))
			end_ns = run_stream(run, i)->s.end_ns;
	return end_ns;
}

/* How many figures tell of a stream: several if they are of devices that its process uses. */
static uint32_t owners_count(const struct stats_when *when, uint32_t stream)
{
	uint32_t count = 0;

	for (uint32_t f = 0; f < when->count; f++)
		count += is_owned(&when->users, stream, &when->figures[f]);
	return count;
}

static int compare_stretches(const void *x, const void *y)
{
	const struct figure_stretch *a = x, *b = y;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* A stream that several figures tell of, while any of them met the condition. */
static int add_shared(struct stats_work *work, struct window *window, uint32_t stream, struct error *error)
{
	const struct stats_when *when = work->when;
	struct figure_stretch *all;
	uint64_t until_ns = 0;
	size_t count = 0;
	int rc = 0;

	for (uint32_t f = 0; f < when->count; f++)
		count += when->stretch_counts[f];
	all = calloc(count + 1, sizeof *all);
	if (!all)
		return error_memory(error);
	count = 0;
	for (uint32_t f = 0; f < when->count; f++) {
		if (!is_owned(&when->users, stream, &when->figures[f]))
			continue;
		for (uint32_t i = 0; i < when->stretch_counts[f]; i++)
			all[count++] = when->stretches[f][i];
	}
	qsort(all, count, sizeof *all, compare_stretches);
	for (size_t i = 0; i < count && !rc; i++) {
		uint64_t begin_ns = all[i].begin_ns > until_ns ? all[i].begin_ns : until_ns;

		if (all[i].end_ns <= begin_ns)
			continue;
		rc = add_between(work, window, &stream, 1, begin_ns, all[i].end_ns, error);
		until_ns = all[i].end_ns;
	}
	free(all);
	return rc;
}

/* Each figure's streams, while it met the condition. */
static int add_when(struct stats_work *work, struct window *window, const uint32_t *streams, uint32_t count,
	struct error *error)
{
	const struct stats_when *when = work->when;
	uint32_t *owned = arena_calloc(work->arena, (size_t)count + 1, sizeof *owned);
	bool *is_shared = arena_calloc(work->arena, (size_t)count + 1, sizeof *is_shared);
	int rc = owned && is_shared ? 0 : error_memory(error);

	for (uint32_t i = 0; i < count && !rc; i++) {
		is_shared[i] = when->has_devices && owners_count(when, streams[i]) > 1;
		rc = is_shared[i] ? add_shared(work, window, streams[i], error) : 0;
	}
	for (uint32_t f = 0; f < when->count && !rc; f++) {
		uint32_t owned_count = 0;

		for (uint32_t i = 0; i < count; i++)
			if (!is_shared[i] && is_owned(&when->users, streams[i], &when->figures[f]))
				owned[owned_count++] = streams[i];
		for (uint32_t i = 0; owned_count && i < when->stretch_counts[f] && !rc; i++) {
			const struct figure_stretch *stretch = &when->stretches[f][i];

			rc = add_between(
				work, window, owned, owned_count, stretch->begin_ns, stretch->end_ns, error);
		}
	}
	return rc;
}

/* All of these streams as one. */
static int add_streams(struct stats_work *work, struct stats *stats, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct window *window;
	int rc = window_new(&window, work->run, error);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < count; i++)
		stats->streams +=
			!work->derived || run_stream(work->run, streams[i])->s.kind == STORE_STREAM_CPU;
	rc = work->when ? add_when(work, window, streams, count, error)
			: add_between(work, window, streams, count, begin_ns, end_ns, error);
	if (rc == 0)
		rc = fold(work, stats, window, streams[0], error);
	window_free(window);
	return rc;
}

/* Group by group, then those that have none. */
static int add_groups(struct stats_work *work, struct stats *stats, const uint32_t *streams,
	uint32_t stream_count, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct stream_groups *groups = work->groups;
	uint32_t *others = arena_calloc(work->arena, (size_t)stream_count + 1, sizeof *others), count = 0;
	int rc = others ? 0 : error_memory(error);

	for (uint32_t g = 0; g < groups->count && rc == 0; g++)
		rc = add_streams(work, stats, groups->streams + groups->groups[g].first,
			groups->groups[g].count, begin_ns, end_ns, error);
	for (uint32_t i = 0; i < stream_count && rc == 0; i++)
		if (groups->of[streams[i]] == STREAM_GROUPS_NONE)
			others[count++] = streams[i];
	return rc || !count ? rc : add_streams(work, stats, others, count, begin_ns, end_ns, error);
}

/* ---- by marks ---- */

#define NO_MARK "<no %s>"

/* The marks of a name, by begin, of all processes; a bookmark is everybody's. */
struct instance {
	uint64_t begin_ns, end_ns;
	uint32_t stream, number;
};
struct instances {
	const char *name;
	struct instance *list;
	size_t count;
	struct stream_groups processes;
};

const char *stats_marks_name(const char *by)
{
	if (by && *by == '@' && by[1])
		return by + 1;
	return by && strcmp(by, "step") == 0 ? by : NULL;
}

static int instances_find(struct instances *instances, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	const struct mark *marks;
	size_t count;
	uint32_t streams = run_stream_count(run), number = 0;
	uint32_t *all = arena_calloc(arena, (size_t)streams + 1, sizeof *all);
	int rc = all ? mark_instances(run, select_end_ns(select), arena, &marks, &count, error)
		     : error_memory(error);

	for (uint32_t i = 0; i < streams && rc == 0; i++)
		all[i] = i;
	if (rc == 0)
		rc = stream_groups_make(
			&instances->processes, run, all, streams, STREAM_GROUPS_PROCESS, false, arena, error);
	if (rc)
		return rc;
	instances->list = arena_calloc(arena, count + 1, sizeof *instances->list);
	if (!instances->list)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (strcmp(marks[i].name, instances->name) == 0)
			instances->list[instances->count++] = (struct instance){
				marks[i].begin_ns, marks[i].end_ns, marks[i].stream, ++number};
	return instances->count
		       ? 0
		       : error_set(error, ERROR_USAGE,
				 "--by: %s has no mark or range '%s'; hpct-blame --by mark lists them",
				 run_path(run), instances->name);
}

/* What these streams did between two moments, on the row of a key. */
static int add_stretch(struct stats_work *work, struct stats *stats, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, const char *label, struct error *error)
{
	struct stats counted = {0}; /* streams are counted once */
	int rc;

	work->label = label;
	rc = begin_ns < end_ns ? add_streams(work, &counted, streams, count, begin_ns, end_ns, error) : 0;
	stats->total_ns += counted.total_ns;
	stats->lived_ns += counted.lived_ns;
	stats->monitored_ns += counted.monitored_ns;
	stats->bare_ns += counted.bare_ns;
	stats->lost_ns += counted.lost_ns;
	return rc;
}

/* A mark has a row, if nothing was done in it, too. */
static int add_instance(struct stats_work *work, struct stats *stats, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, const char *name, uint32_t number, struct error *error)
{
	char *label = arena_printf(work->arena, "%s#%u", name, number);
	struct stats_row *row;

	if (!label)
		return error_memory(error);
	work->key.size = 0;
	put_text(&work->key, label);
	row = work->key.failed ? NULL : row_of(work, false);
	if (!row)
		return error_memory(error);
	if (!row->time_ns) {
		row->state = EXTENT_WORK;
		row->function = UINT32_MAX;
	}
	return add_stretch(work, stats, streams, count, begin_ns, end_ns, label, error);
}

static bool is_of(const struct instances *instances, const struct instance *instance, uint32_t process)
{
	return instance->stream == UINT32_MAX || instances->processes.of[instance->stream] == process;
}

/* The streams of a process, from its first mark to its last one and outside of them. */
static int add_process(struct stats_work *work, struct stats *stats, const struct instances *instances,
	uint32_t process, const uint32_t *streams, uint32_t count, struct error *error)
{
	uint64_t end_ns = select_end_ns(work->select), at_ns = select_begin_ns(work->select);
	const char *outside = arena_printf(work->arena, NO_MARK, instances->name);
	const struct instance *last = NULL;
	int rc = outside ? 0 : error_memory(error);

	for (size_t i = 0; i <= instances->count && rc == 0; i++) {
		const struct instance *next = i < instances->count ? &instances->list[i] : NULL;
		uint64_t until_ns = next ? next->begin_ns : end_ns;

		if (next && !is_of(instances, next, process))
			continue;
		until_ns = until_ns < end_ns ? until_ns : end_ns;
		if (last && last->end_ns > at_ns) {
			uint64_t to_ns = last->end_ns < until_ns ? last->end_ns : until_ns;

			if (to_ns > at_ns)
				rc = add_instance(work, stats, streams, count, at_ns, to_ns, instances->name,
					last->number, error);
			at_ns = to_ns > at_ns ? to_ns : at_ns;
		}
		if (rc == 0 && until_ns > at_ns) {
			rc = add_stretch(work, stats, streams, count, at_ns, until_ns, outside, error);
			at_ns = until_ns;
		}
		last = next;
	}
	return rc;
}

static int add_marks(struct stats_work *work, struct stats *stats, const struct instances *instances,
	const uint32_t *streams, uint32_t stream_count, struct error *error)
{
	uint32_t *own = arena_calloc(work->arena, (size_t)stream_count + 1, sizeof *own);
	int rc = own ? 0 : error_memory(error);

	for (uint32_t p = 0; p <= instances->processes.count && rc == 0; p++) {
		uint32_t process = p < instances->processes.count ? p : STREAM_GROUPS_NONE, count = 0;

		for (uint32_t i = 0; i < stream_count; i++)
			if (instances->processes.of[streams[i]] == process)
				own[count++] = streams[i];
		for (uint32_t i = 0; i < count; i++)
			stats->streams +=
				!work->derived || run_stream(work->run, own[i])->s.kind == STORE_STREAM_CPU;
		if (count)
			rc = add_process(work, stats, instances, process, own, count, error);
	}
	return rc;
}

static int compute(struct stats_work *work, struct stats *stats, const uint32_t *streams,
	uint32_t stream_count, uint64_t begin_ns, uint64_t end_ns, const struct instances *marks,
	struct error *error)
{
	uint32_t step = work->by == STATS_STREAM ? 1 : stream_count;
	int rc = 0;

	*stats = (struct stats){0};
	key_ids_init(&work->row_keys, sizeof(struct stats_key));
	if (marks)
		rc = add_marks(work, stats, marks, streams, stream_count, error);
	else if (work->groups)
		rc = add_groups(work, stats, streams, stream_count, begin_ns, end_ns, error);
	for (uint32_t i = 0; i < stream_count && rc == 0 && !work->groups && !marks; i += step)
		rc = add_streams(work, stats, streams + i, step, begin_ns, end_ns, error);
	if (rc == 0)
		rc = give_rows(work, stats, error);
	key_ids_fini(&work->row_keys);
	store_bytes_fini(&work->key);
	free(work->rows);
	free(work->row_best_ns);
	return rc;
}

int stats_compute(struct stats *stats, struct run *run, const uint32_t *streams, uint32_t stream_count,
	uint64_t begin_ns, uint64_t end_ns, enum stats_by by, uint32_t depth, struct arena *arena,
	struct error *error)
{
	struct stats_work work = {.run = run, .arena = arena, .by = by, .depth = depth};

	return compute(&work, stats, streams, stream_count, begin_ns, end_ns, NULL, error);
}

int stats_of_selection(struct stats *stats, struct run *run, const struct select *select, enum stats_by by,
	const struct stream_groups *groups, struct arena *arena, struct error *error)
{
	struct stats_work work = {.run = run,
		.arena = arena,
		.select = select,
		.derived = select_state_metrics(select),
		.groups = groups,
		.by = groups ? STATS_STREAM : by,
		.depth = select_depth(select)};
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	return compute(
		&work, stats, streams, count, select_begin_ns(select), select_end_ns(select), NULL, error);
}

int stats_of_marks(struct stats *stats, struct run *run, const struct select *select, const char *name,
	struct arena *arena, struct error *error)
{
	struct stats_work work = {.run = run,
		.arena = arena,
		.select = select,
		.derived = select_state_metrics(select),
		.by = STATS_STREAM,
		.depth = select_depth(select)};
	struct instances instances = {.name = name};
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = instances_find(&instances, run, select, arena, error);

	return rc ? rc : compute(&work, stats, streams, count, 0, 0, &instances, error);
}

/* ---- while a figure met a condition ---- */

static int find_when(struct stats_when *when, struct run *run, const struct select *select, const char *text,
	uint64_t *met_ns, struct arena *arena, struct error *error)
{
	struct figure_condition condition;
	const char *name = condition.name;
	const struct figure_stretch **stretches;
	struct figure *figures;
	uint32_t *counts;
	int rc = figure_condition_parse(&condition, text, error);

	rc = rc ? rc : figures_list(&figures, &when->count, run, &name, 1, arena, error);
	rc = rc ? rc : figure_users_find(&when->users, run, arena, error);
	if (rc)
		return rc;
	if (!when->count)
		return error_set(error, ERROR_USAGE,
			"--when '%s': %s has no figure '%s' over time; hpct-info --metrics lists them", text,
			run_path(run), name);
	stretches = arena_calloc(arena, when->count, sizeof *stretches);
	counts = arena_calloc(arena, when->count, sizeof *counts);
	if (!stretches || !counts)
		return error_memory(error);
	for (uint32_t f = 0; f < when->count && !rc; f++) {
		uint64_t ended_ns = owner_end(run, &when->users, &figures[f]), end_ns = select_end_ns(select);
		struct figure_stretch *found;

		rc = figure_stretches(&found, &counts[f], run, &figures[f], &condition,
			select_begin_ns(select), ended_ns < end_ns ? ended_ns : end_ns, arena, error);
		stretches[f] = found;
		for (uint32_t i = 0; i < counts[f] && !rc; i++)
			*met_ns += found[i].end_ns - found[i].begin_ns;
	}
	for (uint32_t f = 0; f < when->count; f++)
		when->has_devices |= run_stream(run, figures[f].stream)->s.device != UINT32_MAX;
	when->figures = figures;
	when->stretches = stretches;
	when->stretch_counts = counts;
	return rc;
}

int stats_of_when(struct stats *stats, struct run *run, const struct select *select, enum stats_by by,
	const struct stream_groups *groups, const char *condition, uint64_t *met_ns, struct arena *arena,
	struct error *error)
{
	struct stats_when when = {.count = 0};
	struct stats_work work = {.run = run,
		.arena = arena,
		.select = select,
		.derived = select_state_metrics(select),
		.groups = groups,
		.by = groups ? STATS_STREAM : by,
		.depth = select_depth(select),
		.when = &when};
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc;

	*met_ns = 0;
	rc = find_when(&when, run, select, condition, met_ns, arena, error);
	return rc ? rc
		  : compute(&work, stats, streams, count, select_begin_ns(select), select_end_ns(select),
			    NULL, error);
}
