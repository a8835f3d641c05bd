/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_walk.c - see trace_walk.h.
 */
#include "formats/base/trace_walk.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/row_order.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/rollup/series.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/coverage.h"
#include "timeline/slice/slice.h"
#include "timeline/sum/figure.h"

struct process_key {
	struct store_hash host;
	uint32_t rank, pid, generation, zero;
};

/* Further lanes beside a stream's own, so that overlapping spans are side by side. */
struct lanes {
	uint64_t *end_ns;
	uint32_t *number;
	size_t count;
};

struct walk {
	struct run *run;
	const struct select *select;
	const struct trace_walk_ops *ops;
	void *own;
	struct key_ids processes;
	uint32_t lane_count; /* handed out */
	struct slice_cut cut;
	bool failed;
	/* The current stream; the next one reuses the memory. */
	uint32_t stream;
	struct trace_place place;
	struct lanes lanes;
	struct stack_changes calls;
	struct counter_before *counters; /* by metric */
};

/* A counter's last value. */
struct counter_before {
	bool is_there;
	uint64_t time_ns, value;
};

/* ---- processes and lanes ---- */

static const char *stream_title(const struct walk *walk)
{
	return walk->place.stream->name[0] ? walk->place.stream->name : walk->place.stream->text;
}

static bool find_process(struct walk *walk)
{
	const struct run_stream *stream = walk->place.stream;
	const struct store_stream *s = &stream->s;
	struct process_key key = {.host = store_hash128(stream->host, strlen(stream->host)),
		.rank = (uint32_t)s->rank,
		.pid = s->pid,
		.generation = s->generation};
	/* Of its streams the first thread comes first, and has the program's name. */
	const char *title = s->kind == STORE_STREAM_CPU ? stream->name : "";
	bool is_new, is_done;
	uint32_t number = key_ids_put(&walk->processes, &key, &is_new);
	char *name;

	if (number == KEY_IDS_NONE)
		return false;
	walk->place.process = number + 1;
	if (!is_new)
		return true;
	if (s->pid == UINT32_MAX) /* figures of the host */
		return walk->ops->process(walk->own, &walk->place, stream->host);
	if (asprintf(&name, s->rank >= 0 ? "%s%s%s pid %u.%u rank %d" : "%s%s%s pid %u.%u", title,
		    title[0] ? " on " : "", stream->host, s->pid, s->generation, (int)s->rank) < 0)
		return false;
	is_done = walk->ops->process(walk->own, &walk->place, name);
	free(name);
	return is_done;
}

/* Another lane for spans of the stream. */
static bool add_lane(struct walk *walk)
{
	struct lanes *lanes = &walk->lanes;
	bool is_gpu = walk->place.stream->s.kind == STORE_STREAM_GPU, is_done;
	size_t i = lanes->count;
	char *name;

	if (!array_resize(&lanes->end_ns, i + 1, sizeof *lanes->end_ns) ||
		!array_resize(&lanes->number, i + 1, sizeof *lanes->number) ||
		asprintf(&name, i == 0 ? "%s%s" : "%s%s %zu", stream_title(walk), is_gpu ? "" : " spans",
			i + 1) < 0)
		return false;
	walk->place.lane = lanes->number[i] = ++walk->lane_count;
	lanes->count++;
	is_done = walk->ops->lane(walk->own, &walk->place, name);
	free(name);
	return is_done;
}

/* The first lane that is free at `begin_ns`, made if needed. */
static bool find_lane(struct walk *walk, uint64_t begin_ns, uint64_t end_ns)
{
	struct lanes *lanes = &walk->lanes;
	size_t i = 0;

	while (i < lanes->count && lanes->end_ns[i] > begin_ns)
		i++;
	if (i == lanes->count && !add_lane(walk))
		return false;
	lanes->end_ns[i] = end_ns;
	walk->place.lane = lanes->number[i];
	return true;
}

/* ---- the state timeline ---- */

static void take_change(void *own, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct walk *walk = own;

	walk->failed = walk->failed || !walk->ops->call(walk->own, &walk->place, frame, time_ns, is_begin);
}

static int put_line(struct walk *walk, struct error *error)
{
	int rc;

	walk->place.lane = ++walk->lane_count;
	walk->place.is_line = true;
	if (!walk->ops->lane(walk->own, &walk->place, stream_title(walk)))
		return error_memory(error);
	walk->calls.change = take_change;
	walk->calls.own = walk;
	rc = stack_changes_stream(&walk->calls, walk->run, walk->select, walk->stream, error);
	walk->place.is_line = false;
	return rc == 0 && walk->failed ? error_memory(error) : rc;
}

const char *trace_frame_name(const struct run *run, uint32_t frame, size_t *size)
{
	const struct run_function *function;
	const char *state;

	if (frame >= STACK_STATE) {
		state = extent_state_name((enum extent_state)(frame - STACK_STATE));
		*size = strlen(state);
		return state;
	}
	function = run_function(run, run_scope(run, frame)->function);
	*size = function->name_bytes;
	return function->name;
}

/* ---- spans ---- */

/* One that is open lasts to the end of what is shown. */
static uint64_t span_end_ns(const struct walk *walk, const struct batch *batch, size_t i)
{
	uint64_t last_ns = select_end_ns(walk->select);
	uint64_t end_ns = batch->end_ns[i] < last_ns ? batch->end_ns[i] : last_ns;

	return end_ns > batch->begin_ns[i] ? end_ns : batch->begin_ns[i];
}

static bool is_chosen(const struct walk *walk, const struct batch *batch, size_t i)
{
	return select_wants_op(walk->select, batch->what[i]) &&
	       select_wants_context(walk->select, batch->context[i]) &&
	       span_end_ns(walk, batch, i) - batch->begin_ns[i] >= walk->cut.min_ns;
}

/* States are in the line; so are calls of a thread without samples, but its launches are needed for their
 * flow. */
static bool is_in_line(const struct walk *walk, const struct batch *batch, size_t i)
{
	const struct store_stream *s = &walk->place.stream->s;
	uint32_t op = batch->what[i];

	if (op == STORE_OP_MARK)
		return false;
	if (store_op_is_state(op))
		return true;
	return s->kind == STORE_STREAM_CPU && s->count[STORE_SAMPLES] == 0 && op != STORE_OP_RANGE &&
	       batch->link[i] == 0;
}

static bool put_span(void *own, const struct batch *batch, size_t i)
{
	struct walk *walk = own;
	uint32_t op = batch->what[i], scope = run_context(walk->run, batch->context[i])->scope;
	struct trace_span span = {.place = &walk->place,
		.op = run_op_name(walk->run, op),
		.begin_ns = batch->begin_ns[i],
		.end_ns = span_end_ns(walk, batch, i),
		.is_mark = op == STORE_OP_MARK,
		.batch = batch,
		.row = i};

	if (is_in_line(walk, batch, i) || !is_chosen(walk, batch, i))
		return true;
	span.name = span.op;
	span.name_size = strlen(span.op);
	if (op == STORE_OP_KERNEL && scope != UINT32_MAX)
		span.name = trace_frame_name(walk->run, scope, &span.name_size);
	return find_lane(walk, span.begin_ns, span.end_ns) && walk->ops->span(walk->own, &span);
}

static int put_spans(struct walk *walk, struct error *error)
{
	struct scan *scan;
	int code =
		scan_open(&scan, walk->run, walk->stream, STORE_SPANS, select_records_begin_ns(walk->select),
			select_records_end_ns(walk->select), STORE_ALL, SCAN_CLIP, error);

	if (code < 0)
		return code;
	walk->lanes.count = 0;
	code = row_order_walk(walk->run, scan, put_span, walk, error);
	scan_close(scan);
	return code;
}

/* ---- values ---- */

/* A counter's rate since the value before, where that stretch begins: others draw a value up to the next one.
 * False: it is the first. */
static bool rate_take(struct walk *walk, struct trace_value *value)
{
	struct counter_before *counter = &walk->counters[value->metric], before = *counter;
	struct store_series series = {.is_real = value->is_real};
	double rate;

	*counter = (struct counter_before){true, value->time_ns, value->amount};
	if (!before.is_there || before.time_ns >= value->time_ns)
		return false;
	rate = store_series_growth(&series, before.value, value->amount) * 1e9 /
	       (double)(value->time_ns - before.time_ns) * figure_unit(walk->run, value->metric).factor;
	memcpy(&value->amount, &rate, sizeof rate);
	value->is_real = true;
	value->time_ns = before.time_ns;
	return true;
}

static bool put_value(void *own, const struct batch *batch, size_t i)
{
	struct walk *walk = own;
	uint32_t metric = batch->what[i];
	bool is_rate = run_metric_kind(walk->run, metric) == STORE_METRIC_COUNTER;
	struct trace_value value = {.metric = metric,
		.time_ns = batch->begin_ns[i],
		.amount = batch->amount[i],
		.is_real = run_metric_is_real(walk->run, metric),
		.unit = is_rate ? figure_unit(walk->run, metric).text : run_metric_unit(walk->run, metric),
		.of = walk->place.stream->s.kind == STORE_STREAM_GAUGES ? "" : stream_title(walk)};

	if (!select_wants_metric(walk->select, metric) || (is_rate && !rate_take(walk, &value)))
		return true;
	return walk->ops->value(walk->own, &walk->place, &value);
}

static int put_values(struct walk *walk, struct error *error)
{
	struct scan *scan;
	int code =
		scan_open(&scan, walk->run, walk->stream, STORE_VALUES, select_records_begin_ns(walk->select),
			select_records_end_ns(walk->select), STORE_ALL, 0, error);

	if (code < 0)
		return code;
	code = row_order_walk(walk->run, scan, put_value, walk, error);
	scan_close(scan);
	return code;
}

/* ---- the whole ---- */

static int put_stream(struct walk *walk, uint32_t stream, struct error *error)
{
	bool has_values = walk->cut.values && walk->ops->value;
	int rc = 0;

	walk->stream = stream;
	walk->place = (struct trace_place){.stream = run_stream(walk->run, stream)};
	memset(walk->counters, 0, run_metric_count(walk->run) * sizeof *walk->counters);
	if (!find_process(walk))
		return error_memory(error);
	if (walk->place.stream->s.kind == STORE_STREAM_GAUGES)
		return has_values ? put_values(walk, error) : 0;
	if (walk->place.stream->s.kind == STORE_STREAM_CPU)
		rc = put_line(walk, error);
	if (rc == 0)
		rc = put_spans(walk, error);
	return rc < 0 || !has_values ? rc : put_values(walk, error);
}

int trace_require(struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	int rc = coverage_require(run, select, error);

	for (uint32_t i = 0; rc == -ERROR_EMPTY && slice_cut_of(select).values && i < count; i++) {
		const struct store_stream *s = &run_stream(run, streams[i])->s;

		if (s->kind == STORE_STREAM_GAUGES && s->count[STORE_VALUES])
			return 0;
	}
	return rc;
}

int trace_walk(struct run *run, const struct select *select, const struct trace_walk_ops *ops, void *own,
	struct error *error)
{
	struct walk walk = {
		.run = run, .select = select, .ops = ops, .own = own, .cut = slice_cut_of(select)};
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	int rc = ops->value ? trace_require(run, select, error) : coverage_require(run, select, error);

	if (rc < 0)
		return rc;
	walk.counters = calloc((size_t)run_metric_count(run) + 1, sizeof *walk.counters);
	if (!walk.counters)
		return error_memory(error);
	key_ids_init(&walk.processes, sizeof(struct process_key));
	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(run, streams[i])->s.kind != STORE_STREAM_PC)
			rc = put_stream(&walk, streams[i], error);
	free(walk.counters);
	key_ids_fini(&walk.processes);
	free(walk.lanes.end_ns);
	free(walk.lanes.number);
	stack_changes_fini(&walk.calls);
	return rc;
}
