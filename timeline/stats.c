/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - where the time of a window went: the window's sums by (context, op, state) fall on keys, so
 * that the text of a key is made once per context and not once per extent.
 */
#include "timeline/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/arena.h"
#include "store/hash.h"
#include "timeline/escape.h"
#include "timeline/numbering.h"
#include "timeline/select.h"
#include "timeline/window.h"

/* Rows are numbered by their text; a state's row never meets a function of the same name. */
struct row_key {
	struct store_hash text;
	uint64_t is_state;
};

struct stats_work {
	struct run *run;
	struct arena *arena;
	const struct select *select; /* NULL: everything matches */
	enum stats_by by;
	uint32_t depth;
	struct numbering row_keys;
	struct stats_row *rows;
	uint64_t *row_best_ns; /* time of the row's `context` */
	size_t row_capacity;
	struct store_bytes key; /* scratch */
};

static const char *const by_names[STATS_BY_COUNT] = {
	[STATS_FUNCTION] = "function",
	[STATS_PATH] = "path",
	[STATS_MODULE] = "module",
	[STATS_LINE] = "line",
	[STATS_STREAM] = "stream",
	[STATS_OP] = "op",
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

/* The function at the depth asked for, and the position in it. */
struct place {
	uint32_t function;
	const char *file;
	uint32_t line;
};

static struct place place_of(const struct stats_work *work, uint32_t context_id)
{
	const struct run_context *context = run_context(work->run, context_id);
	struct place place = {UINT32_MAX, context->file, context->line};
	uint32_t scope = context->scope, target;

	if (scope == UINT32_MAX)
		return place;
	target = run_scope_at(work->run, scope, work->depth);
	while (scope != target) {
		const struct run_scope *inner = run_scope(work->run, scope);

		place.file = inner->call_file;
		place.line = inner->call_line;
		scope = inner->parent;
	}
	place.function = run_scope(work->run, scope)->function;
	return place;
}

static void put_text(struct stats_work *work, const char *text)
{
	escape_field(&work->key, text, strlen(text));
}

static void put_line(struct stats_work *work, const struct place *place)
{
	char number[16];

	if (!place->file || !place->file[0]) {
		put_text(work, "<unknown line>");
		return;
	}
	put_text(work, place->file);
	snprintf(number, sizeof number, ":%u", place->line);
	put_text(work, number);
}

static bool put_path(struct stats_work *work, uint32_t context)
{
	struct arena arena = {0};
	const char *path = run_context_path(work->run, context, work->depth, &arena);

	if (path)
		store_bytes_put(&work->key, path, strlen(path));
	arena_fini(&arena);
	return path != NULL;
}

/* Text of the row that the cell falls on, into work->key. False when memory is out. */
static bool put_key(
	struct stats_work *work, const struct window_time *cell, const struct place *place, uint32_t stream)
{
	const struct run_function *function =
		place->function == UINT32_MAX ? NULL : run_function(work->run, place->function);

	switch (work->by) {
	case STATS_FUNCTION:
		if (function)
			escape_field(&work->key, function->name, function->name_bytes);
		else
			put_text(work, "<unknown>");
		break;
	case STATS_PATH:
		return put_path(work, cell->context);
	case STATS_MODULE:
		put_text(work, function && function->module[0] ? function->module : "<unknown module>");
		break;
	case STATS_LINE:
		put_line(work, place);
		break;
	case STATS_STREAM:
		put_text(work, run_stream(work->run, stream)->text);
		break;
	default:
		put_text(work, cell->op == STORE_OP_NONE ? extent_state_name(cell->state)
							 : run_op_name(work->run, cell->op));
	}
	return true;
}

/* Somebody works, in a context that is known: by stream and by operation the context need not be. */
static bool has_key(const struct stats_work *work, const struct window_time *cell)
{
	return extent_state_is_busy(cell->state) &&
	       (cell->context != 0 || work->by == STATS_STREAM || work->by == STATS_OP);
}

/* ---- rows ---- */

static bool rows_widen(struct stats_work *work)
{
	size_t capacity = work->row_capacity ? work->row_capacity * 2 : 64;
	void *rows = realloc(work->rows, capacity * sizeof *work->rows), *best;

	if (!rows)
		return false;
	work->rows = rows;
	best = realloc(work->row_best_ns, capacity * sizeof *work->row_best_ns);
	if (!best)
		return false;
	work->row_best_ns = best;
	work->row_capacity = capacity;
	return true;
}

static struct stats_row *row_of(struct stats_work *work, bool is_state)
{
	struct row_key key = {.text = store_hash128(work->key.data, work->key.size), .is_state = is_state};
	bool is_new;
	uint32_t number = numbering_put(&work->row_keys, &key, &is_new);

	if (number == NUMBERING_NONE || (number == work->row_capacity && !rows_widen(work)))
		return NULL;
	if (is_new) {
		work->rows[number] = (struct stats_row){
			.key = arena_copy(work->arena, (const char *)work->key.data, work->key.size)};
		work->row_best_ns[number] = 0;
	}
	return work->rows[number].key ? &work->rows[number] : NULL;
}

static bool add_cell(struct stats_work *work, const struct window_time *cell, uint32_t stream)
{
	bool is_keyed = has_key(work, cell);
	struct place place = {.function = UINT32_MAX};
	struct stats_row *row;
	uint64_t *best_ns;

	work->key.size = 0;
	if (is_keyed && cell->context != 0)
		place = place_of(work, cell->context);
	if (!is_keyed)
		put_text(work, extent_state_name(cell->state));
	else if (!put_key(work, cell, &place, stream))
		return false;
	row = work->key.failed ? NULL : row_of(work, !is_keyed);
	if (!row)
		return false;
	best_ns = &work->row_best_ns[row - work->rows];
	if (cell->time_ns >= *best_ns) {
		row->state = cell->state;
		row->function = place.function;
		row->context = cell->context;
		*best_ns = cell->time_ns;
	}
	row->time_ns += cell->time_ns;
	row->records += cell->records;
	return true;
}

static bool is_wanted(const struct stats_work *work, const struct window_time *cell)
{
	return !work->select ||
	       (select_wants_context(work->select, cell->context) && select_wants_op(work->select, cell->op));
}

static void add_totals(struct stats *stats, const struct window_time *cell)
{
	stats->total_ns += cell->time_ns;
	if (cell->state != EXTENT_ABSENT && cell->state != EXTENT_UNMONITORED)
		stats->monitored_ns += cell->time_ns;
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

/* All of these streams as one. */
static int add_streams(struct stats_work *work, struct stats *stats, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct window *window;
	int rc = window_new(&window, work->run, error);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = window_add_time(window, streams[i], begin_ns, end_ns, error);
	if (rc == 0)
		rc = fold(work, stats, window, streams[0], error);
	window_free(window);
	return rc;
}

static int compute(struct stats_work *work, struct stats *stats, const uint32_t *streams,
	uint32_t stream_count, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	uint32_t step = work->by == STATS_STREAM ? 1 : stream_count;
	int rc = 0;

	*stats = (struct stats){0};
	numbering_init(&work->row_keys, sizeof(struct row_key));
	for (uint32_t i = 0; i < stream_count && rc == 0; i += step)
		rc = add_streams(work, stats, streams + i, step, begin_ns, end_ns, error);
	if (rc == 0)
		rc = give_rows(work, stats, error);
	numbering_fini(&work->row_keys);
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

	return compute(&work, stats, streams, stream_count, begin_ns, end_ns, error);
}

int stats_of_selection(struct stats *stats, struct run *run, const struct select *select, enum stats_by by,
	struct arena *arena, struct error *error)
{
	struct stats_work work = {
		.run = run, .arena = arena, .select = select, .by = by, .depth = select_depth(select)};
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	return compute(&work, stats, streams, count, select_begin_ns(select), select_end_ns(select), error);
}
