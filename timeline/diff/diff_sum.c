/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sum.c - one repeat of a comparison: sums its window by key, exclusive and, if requested, inclusive.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/diff/diff_internal.h"
#include "timeline/report/coverage.h"
#include "timeline/run/row_key.h"
#include "timeline/select/bookmark.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/state_metrics.h"
#include "timeline/sum/window.h"

#define NO_ROW UINT32_MAX
#define DEPTH_MAX \
	512u /* of callers that inclusive paths are made for: a recursion 1e5 deep has 5e9 frames of them */

/* Rows of the scopes of one run (or of its functions, where rows are functions), found once each. */
struct callers {
	uint32_t *rows;
	uint64_t *charged; /* by row: the piece it was charged last, so that recursion counts once */
	size_t count, row_count;
	uint64_t piece;
};

struct work {
	struct diff *diff;
	struct diff_repeat *repeat;
	struct run *run;
	const struct select *select;
	unsigned derived; /* metrics to count (state_metrics.h), waits at their place; 0: all time, states as
			     rows */
	struct callers callers;
};

/* ---- rows and cells ---- */

/* The row of the key in diff->key; NO_ROW: no memory. */
static uint32_t row_of(struct diff *diff, bool is_state)
{
	struct diff_key key = {store_hash128(diff->key.data, diff->key.size), is_state};
	bool is_new;
	uint32_t row = diff->key.failed ? NO_ROW : key_ids_put(&diff->keys, &key, &is_new);

	if (row == NO_ROW || !is_new)
		return row;
	if (!array_widen(&diff->texts, &diff->text_capacity, row, sizeof(const char *)))
		return NO_ROW;
	diff->texts[row] = arena_copy(&diff->arena, (const char *)diff->key.data, diff->key.size);
	return diff->texts[row] ? row : NO_ROW;
}

static struct diff_cell *cell_of(struct diff_repeat *repeat, uint32_t row)
{
	if (row == NO_ROW || !array_reserve_zero(&repeat->cells, &repeat->capacity, (size_t)row + 1,
				     sizeof *repeat->cells))
		return NULL;
	return &repeat->cells[row];
}

/* ---- inclusive time ---- */

static uint64_t sampled_ns_of(const struct window_time *piece)
{
	return piece->state == EXTENT_WORK && piece->op == STORE_OP_NONE ? piece->time_ns : 0;
}

/* n samples of p each: (p n)^2 / n. */
static double variance_of(const struct window_time *piece)
{
	double time = (double)sampled_ns_of(piece), samples = piece->records ? (double)piece->records : 1;

	return time * time / samples;
}

static bool callers_grow(struct callers *callers, uint32_t count, uint32_t row_count)
{
	const size_t before = callers->count;

	if (!array_reserve(&callers->rows, &callers->count, count, sizeof *callers->rows))
		return false;
	if (callers->count > before)
		memset(callers->rows + before, 0xff, (callers->count - before) * sizeof *callers->rows);
	return array_reserve_zero(
		&callers->charged, &callers->row_count, row_count, sizeof *callers->charged);
}

/* The row of a scope, by way of a context below it. */
static uint32_t caller_row(struct work *work, uint32_t scope, uint32_t context)
{
	bool is_path = work->diff->question.by == STATS_PATH;
	const struct run_scope *s = run_scope(work->run, scope);
	uint32_t at = is_path ? scope : s->function;
	uint32_t count = is_path ? run_scope_count(work->run) : run_function_count(work->run);

	if (!callers_grow(&work->callers, count, work->diff->keys.count + 1))
		return NO_ROW;
	if (work->callers.rows[at] != NO_ROW)
		return work->callers.rows[at];
	work->diff->key.size = 0;
	if (!row_key_put(&work->diff->key, work->run, context, is_path ? ROW_KEY_PATH : ROW_KEY_FUNCTION,
		    s->depth))
		return NO_ROW;
	work->callers.rows[at] = row_of(work->diff, false);
	return callers_grow(&work->callers, count, work->diff->keys.count) ? work->callers.rows[at] : NO_ROW;
}

static bool charge(struct work *work, uint32_t row, const struct window_time *piece)
{
	struct diff_cell *cell = cell_of(work->repeat, row);

	if (!cell)
		return false;
	if (work->callers.charged[row] == work->callers.piece)
		return true;
	work->callers.charged[row] = work->callers.piece;
	cell->inclusive_ns += piece->time_ns;
	cell->inclusive_sampled_ns += sampled_ns_of(piece);
	cell->inclusive_variance += variance_of(piece);
	return true;
}

/* Charges every function on the path, or every path that leads to it; roots alone are none. */
static bool charge_callers(struct work *work, const struct window_time *piece)
{
	uint32_t scope = run_scope_at(
		work->run, run_context(work->run, piece->context)->scope, select_depth(work->select));
	uint32_t leaf = scope;

	work->callers.piece++;
	for (; scope != UINT32_MAX; scope = run_scope(work->run, scope)->parent) {
		const struct run_scope *s = run_scope(work->run, scope);
		bool is_wanted =
			s->depth && (s->depth <= DEPTH_MAX || work->diff->question.by == STATS_FUNCTION);

		if ((is_wanted || scope == leaf) &&
			!charge(work, caller_row(work, scope, piece->context), piece))
			return false;
	}
	return true;
}

/* ---- one repeat ---- */

static bool needs_callers(const struct diff *diff)
{
	return diff->question.is_inclusive || diff->question.scaling;
}

/* Where waits are what is counted, they fall on the key of their place, as work does. */
static struct window_time keyed_as(const struct work *work, const struct window_time *piece)
{
	struct window_time keyed = *piece;

	if (work->derived && piece->context && work->diff->question.by != STATS_OP)
		keyed.state = EXTENT_WORK;
	return keyed;
}

static bool add_piece(struct work *work, const struct window_time *piece)
{
	const struct window_time keyed = keyed_as(work, piece);
	struct diff *diff = work->diff;
	struct diff_cell *cell;
	bool is_state;

	diff->key.size = 0;
	if (!stats_put_key(&diff->key, &is_state, work->run, &keyed, 0, diff->question.by,
		    select_depth(work->select)))
		return false;
	cell = cell_of(work->repeat, row_of(diff, is_state));
	if (!cell)
		return false;
	cell->exclusive_ns += piece->time_ns;
	cell->exclusive_sampled_ns += sampled_ns_of(piece);
	cell->exclusive_variance += variance_of(piece);
	cell->records += piece->records;
	if (needs_callers(diff) && !is_state)
		return charge_callers(work, piece);
	cell->inclusive_ns += piece->time_ns;
	cell->inclusive_sampled_ns += sampled_ns_of(piece);
	cell->inclusive_variance += variance_of(piece);
	return true;
}

static bool is_known(enum extent_state state)
{
	return state != EXTENT_UNMONITORED && state != EXTENT_LOST && state != EXTENT_UNKNOWN;
}

/* The line of a thread has no gaps: what all samples together tell is sure, and a part of it the surer the
 * more it is of the whole. */
static void narrow(struct diff_cell *cell, uint64_t whole_ns)
{
	if (!whole_ns)
		return;
	cell->exclusive_variance *= 1 - (double)cell->exclusive_sampled_ns / (double)whole_ns;
	cell->inclusive_variance *= 1 - (double)cell->inclusive_sampled_ns / (double)whole_ns;
}

static bool is_counted(const struct work *work, enum extent_state state)
{
	for (unsigned d = 0; d < STATE_METRIC_COUNT; d++)
		if (work->derived >> d & 1 && state_metrics_counts((enum state_metric)d, state))
			return true;
	return !work->derived;
}

static void narrow_all(struct work *work)
{
	for (uint32_t row = 0; row < work->repeat->capacity; row++)
		narrow(&work->repeat->cells[row], work->repeat->sampled_ns);
}

static int fold(struct work *work, const struct window *window, bool has_rows, struct error *error)
{
	size_t count;
	const struct window_time *pieces = window_times(window, &count);

	for (size_t i = 0; i < count; i++) {
		const struct window_time *piece = &pieces[i];

		if (piece->state == EXTENT_ABSENT)
			continue;
		work->repeat->lived_ns += piece->time_ns;
		work->repeat->known_ns += is_known(piece->state) ? piece->time_ns : 0;
		if (!has_rows || !is_counted(work, piece->state))
			continue;
		work->repeat->sampled_ns += sampled_ns_of(piece);
		work->repeat->cost_ns += piece->time_ns;
		if (!select_wants_context(work->select, piece->context) ||
			!select_wants_op(work->select, piece->op))
			continue;
		if (!add_piece(work, piece))
			return error_memory(error);
	}
	narrow_all(work);
	return 0;
}

/* Streams are sorted by host, rank and process. */
static void count_parts(struct work *work, const struct run_stream *stream, const struct run_stream *before)
{
	work->repeat->threads++;
	if (!before || before->store != stream->store || before->s.rank != stream->s.rank ||
		before->s.pid != stream->s.pid || before->s.generation != stream->s.generation)
		work->repeat->processes++;
}

/* The streams that the question is about, in `wanted`; their number. */
static uint32_t choose_streams(struct work *work, uint32_t *wanted)
{
	bool needs_threads = work->diff->question.scaling && !select_gpu(work->select);
	const struct run_stream *before = NULL;
	uint32_t count, chosen = 0;
	const uint32_t *streams = select_streams(work->select, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct run_stream *stream = run_stream(work->run, streams[i]);
		bool is_thread = stream->s.kind == STORE_STREAM_CPU;

		if (needs_threads && !is_thread)
			continue;
		if (is_thread) {
			count_parts(work, stream, before);
			before = stream;
		}
		wanted[chosen++] = streams[i];
	}
	return chosen;
}

/* ---- a metric ---- */

/* The one metric that --metric names, beside derived ones; negative: error. */
static int find_metric(struct work *work, uint32_t *metric, struct error *error)
{
	const struct run *run = work->run;
	uint64_t gpu = select_gpu(work->select);
	uint32_t found = 0;
	bool is_real = false;

	for (uint32_t m = 0; m < run_metric_count(run); m++) {
		if (!select_wants_metric(work->select, m))
			continue;
		*metric = m;
		work->diff->unit = run_metric_unit(run, m);
		is_real = run_metric_is_real(run, m);
		found++;
	}
	for (unsigned m = 0; m < GPU_METRIC_COUNT; m++) {
		if (!(gpu >> m & 1) || !select_names_metric(work->select, gpu_metric_name(m)))
			continue;
		if (GPU_METRIC_SAMPLES >> m & 1)
			return error_set(error, ERROR_USAGE,
				"--metric %s is of hpct-profile alone; hpct-advise --before and --after "
				"compares kernels by their samples",
				gpu_metric_name(m));
		*metric = gpu_metric_number(run, m);
		work->diff->unit = gpu_metric_unit(m);
		is_real = gpu_metric_is_ratio(m);
		found++;
	}
	if (found == 1 && is_real)
		return error_set(error, ERROR_USAGE,
			"--metric: a ratio is no amount that is lost or won; compare what it is a ratio of");
	work->diff->unit = arena_copy(&work->diff->arena, work->diff->unit, strlen(work->diff->unit));
	if (!work->diff->unit)
		return error_memory(error);
	return found == 1 ? 0
			  : error_set(error, ERROR_USAGE,
				    "--metric: name one metric whole, or some of " STATE_METRICS_NAMES
				    "; hpct-info --metrics lists those of %s",
				    run_path(run));
}

/* Of samples that each stand for a period the count says how sure the sum is; bytes and single events are
 * counted exactly. */
static bool is_sampled(const struct work *work, const struct window_weight *weight)
{
	return weight->metric < run_metric_count(work->run) && weight->weight > weight->samples &&
	       strcmp(work->diff->unit, "bytes") != 0;
}

static int fold_weights(struct work *work, const struct window *window, uint32_t metric, struct error *error)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count; i++) {
		const struct window_weight *weight = &weights[i];
		const struct window_time piece = {.context = weight->context,
			.op = is_sampled(work, weight) ? STORE_OP_NONE : STORE_OP_MARK,
			.state = EXTENT_WORK,
			.records = weight->samples,
			.time_ns = weight->weight};

		if (weight->metric != metric)
			continue;
		work->repeat->sampled_ns += sampled_ns_of(&piece);
		work->repeat->cost_ns += piece.time_ns;
		if (select_wants_context(work->select, piece.context) && !add_piece(work, &piece))
			return error_memory(error);
	}
	narrow_all(work);
	return 0;
}

static int add_metric(struct work *work, const uint32_t *streams, uint32_t count, struct error *error)
{
	uint64_t begin_ns = select_records_begin_ns(work->select),
		 end_ns = select_records_end_ns(work->select);
	uint32_t metric = 0;
	struct window *window;
	int code = find_metric(work, &metric, error);

	code = code ? code : window_new(&window, work->run, error);
	if (code)
		return code;
	if (metric >= run_metric_count(work->run))
		code = gpu_metric_add_weights(
			window, work->run, streams, count, begin_ns, end_ns, select_gpu(work->select), error);
	else
		code = window_add_weights(window, streams, count, begin_ns, end_ns, error);
	if (!code && metric < run_metric_count(work->run))
		code = window_add_values(window, streams, count, begin_ns, end_ns, error);
	if (!code)
		code = window_check_weights(window, error);
	if (!code)
		code = fold_weights(work, window, metric, error);
	window_free(window);
	return code;
}

/* ---- the window ---- */

static int add_times(
	struct work *work, const uint32_t *streams, uint32_t count, bool has_rows, struct error *error)
{
	uint64_t begin_ns = select_begin_ns(work->select), end_ns = select_end_ns(work->select);
	struct window *window;
	int code = window_new(&window, work->run, error);

	if (code)
		return code;
	code = work->derived
		       ? state_metrics_add_times(window, work->run, streams, count, begin_ns, end_ns, error)
		       : window_add_times(window, streams, count, begin_ns, end_ns, error);
	if (!code)
		code = fold(work, window, has_rows, error);
	window_free(window);
	return code;
}

static int add_window(struct work *work, struct error *error)
{
	const struct diff_question *question = &work->diff->question;
	bool has_weights;
	uint32_t count, *wanted;
	int code = select_require_sums(work->select, error);

	if (code)
		return code;
	work->derived = select_state_metrics(work->select);
	has_weights = select_has_metric(work->select) && !work->derived;
	if (question->scaling && !has_weights && !work->derived)
		work->derived = 1u << STATE_METRIC_REALTIME;
	if (has_weights && question->by == STATS_OP)
		return error_set(
			error, ERROR_USAGE, "--by op: only time is told by operation; leave out --metric");
	select_streams(work->select, &count);
	wanted = calloc((size_t)count + 1, sizeof *wanted);
	if (!wanted)
		return error_memory(error);
	count = choose_streams(work, wanted);
	code = add_times(work, wanted, count, !question->is_mark && !has_weights, error);
	if (!code && work->repeat->known_ns && has_weights)
		code = add_metric(work, wanted, count, error);
	free(wanted);
	return code;
}

/* ---- marks ---- */

static bool is_whole(const struct work *work, const struct mark *mark)
{
	uint32_t count;
	const uint32_t *streams = select_streams(work->select, &count);

	if (mark->begin_ns < select_begin_ns(work->select) || mark->end_ns > select_end_ns(work->select) ||
		mark->end_ns <= mark->begin_ns)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (streams[i] == mark->stream)
			return true;
	return mark->stream == UINT32_MAX;
}

/* Sums first: of lengths, and of their squares. */
static int add_mark(struct work *work, const struct mark *mark, struct error *error)
{
	double length = (double)(mark->end_ns - mark->begin_ns);
	struct diff_cell *cell;

	work->diff->key.size = 0;
	escape_field(&work->diff->key, mark->name, strlen(mark->name));
	cell = cell_of(work->repeat, row_of(work->diff, false));
	if (!cell)
		return error_memory(error);
	cell->records++;
	cell->exclusive_ns += mark->end_ns - mark->begin_ns;
	cell->exclusive_variance += length * length;
	return 0;
}

/* Then the mean, and the variance of the mean. */
static void mean_of_marks(struct diff_cell *cell)
{
	double n = (double)cell->records, mean;

	if (!cell->records)
		return;
	mean = (double)cell->exclusive_ns / n;
	cell->exclusive_variance =
		cell->records > 1 ? fmax(0, (cell->exclusive_variance - n * mean * mean) / (n - 1) / n) : 0;
	cell->exclusive_ns = (cell->exclusive_ns + cell->records / 2) / cell->records;
	cell->inclusive_ns = cell->exclusive_ns;
	cell->inclusive_variance = cell->exclusive_variance;
}

static int add_marks(struct work *work, struct error *error)
{
	struct arena arena = {0};
	const struct mark *marks;
	size_t count = 0;
	int code = mark_instances(work->run, select_end_ns(work->select), &arena, &marks, &count, error);

	for (size_t i = 0; i < count && !code; i++)
		if (is_whole(work, &marks[i]))
			code = add_mark(work, &marks[i], error);
	for (uint32_t row = 0; row < work->repeat->capacity; row++)
		mean_of_marks(&work->repeat->cells[row]);
	arena_fini(&arena);
	return code;
}

int diff_add(
	struct diff *diff, unsigned side, struct run *run, const struct select *select, struct error *error)
{
	struct work work = {.diff = diff, .run = run, .select = select};
	int code;

	if (!array_resize(&diff->repeats, diff->repeat_count + 1, sizeof *diff->repeats))
		return error_memory(error);
	work.repeat = &diff->repeats[diff->repeat_count++];
	*work.repeat = (struct diff_repeat){.side = side};
	code = add_window(&work, error);
	if (!code && !work.repeat->known_ns)
		code = coverage_empty(run, select, error);
	if (!code && diff->question.is_mark)
		code = add_marks(&work, error);
	free(work.callers.rows);
	free(work.callers.charged);
	return code;
}
