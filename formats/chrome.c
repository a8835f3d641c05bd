/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.c - exports a run for Perfetto and chrome://tracing:
 *
 *   process           a process of the run
 *   thread            a CPU thread: its line as nested calls, an event where one begins or ends, waits as
 * leaves thread "... spans"    operations the thread logged; where they overlap, one lane more thread (queue)
 * operations of a GPU queue flow              from a launch to its operation counter           values
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/chrome_calls.h"
#include "formats/chrome_file.h"
#include "formats/format.h"
#include "formats/row_order.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/rollup/series.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/coverage.h"
#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"
#include "timeline/slice/slice.h"
#include "timeline/sum/figure.h"

#define BATCH 512

struct chrome_process_key {
	struct store_hash host;
	uint32_t rank, pid, generation, zero;
};

/* Further lanes beside a stream's own, so that overlapping spans are side by side. */
struct lanes {
	uint64_t *end_ns;
	uint32_t *tid;
	size_t count;
};

/* The current stream; the next one reuses the memory. */
struct chrome_at {
	const struct run_stream *stream;
	uint32_t id, pid, tid; /* of the run; of the file; of its line */
	struct lanes lanes;
	struct chrome_calls calls;
};

/* The file, over all streams. */
struct chrome {
	struct run *run;
	const struct select *select;
	struct chrome_file file;
	struct key_ids processes;
	uint32_t threads; /* handed out */
	uint64_t begin_ns, end_ns;
	struct slice_cut cut;
	struct chrome_at at;
	struct chrome_counter *counters; /* of the current stream, by metric: the value before */
};

struct chrome_counter {
	bool is_there;
	uint64_t time_ns, value;
};

/* ---- processes and threads ---- */

static const char *stream_title(const struct chrome *chrome)
{
	return chrome->at.stream->name[0] ? chrome->at.stream->name : chrome->at.stream->text;
}

static bool find_process(struct chrome *chrome)
{
	const struct store_stream *s = &chrome->at.stream->s;
	struct chrome_process_key key = {
		.host = store_hash128(chrome->at.stream->host, strlen(chrome->at.stream->host)),
		.rank = (uint32_t)s->rank,
		.pid = s->pid,
		.generation = s->generation};
	bool is_new;
	uint32_t number = key_ids_put(&chrome->processes, &key, &is_new);
	const char *title = chrome->at.stream->name;
	char *name;

	if (number == KEY_IDS_NONE)
		return false;
	chrome->at.pid = number + 1;
	if (!is_new)
		return true;
	/* Of its streams the first thread comes first, and has the program's name. */
	if (s->kind != STORE_STREAM_CPU)
		title = "";
	if (s->pid == UINT32_MAX) {
		chrome_file_process(&chrome->file, chrome->at.pid, chrome->at.stream->host);
		return true;
	}
	if (asprintf(&name, s->rank >= 0 ? "%s%s%s pid %u.%u rank %d" : "%s%s%s pid %u.%u", title,
		    title[0] ? " on " : "", chrome->at.stream->host, s->pid, s->generation, (int)s->rank) < 0)
		return false;
	chrome_file_process(&chrome->file, chrome->at.pid, name);
	free(name);
	return true;
}

/* A lane that is free at `begin_ns`, made if needed; returns its tid, 0: no memory. */
static uint32_t find_lane(struct chrome *chrome, uint64_t begin_ns, uint64_t end_ns)
{
	struct lanes *lanes = &chrome->at.lanes;
	bool is_gpu = chrome->at.stream->s.kind == STORE_STREAM_GPU;
	size_t i = 0;
	char *name;

	while (i < lanes->count && lanes->end_ns[i] > begin_ns)
		i++;
	if (i == lanes->count) {
		if (!array_resize(&lanes->end_ns, i + 1, sizeof *lanes->end_ns) ||
			!array_resize(&lanes->tid, i + 1, sizeof *lanes->tid))
			return 0;
		if (asprintf(&name, i == 0 ? "%s%s" : "%s%s %zu", stream_title(chrome),
			    is_gpu ? "" : " spans", i + 1) < 0)
			return 0;
		lanes->tid[i] = ++chrome->threads;
		lanes->count++;
		chrome_file_thread(&chrome->file, chrome->at.pid, lanes->tid[i], name);
		free(name);
	}
	lanes->end_ns[i] = end_ns;
	return lanes->tid[i];
}

/* ---- what was chosen, as hpct-slice takes it ---- */

static bool is_chosen(const struct chrome *chrome, uint32_t op, uint32_t context, uint64_t length_ns)
{
	return select_wants_op(chrome->select, op) && select_wants_context(chrome->select, context) &&
	       length_ns >= chrome->cut.min_ns;
}

/* A sample has no length that --min could speak of. */
static bool is_piece_chosen(const struct chrome *chrome, const struct extent *extent)
{
	return (extent->op != STORE_OP_NONE || chrome->cut.samples) &&
	       is_chosen(chrome, extent->op, extent->context, extent->end_ns - extent->begin_ns);
}

/* ---- the state timeline ---- */

/* Pairs, whose ends are the same text where they are the same time: viewers that add durations up in binary
 * find calls that end after their callers. */
static void write_call(void *own, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct chrome *chrome = own;
	struct chrome_place place = {chrome->at.pid, chrome->at.tid, time_ns};
	const struct run_function *function;
	const char *state;

	if (frame >= CHROME_STATE) {
		state = extent_state_name((enum extent_state)(frame - CHROME_STATE));
		chrome_event_begin(&chrome->file, is_begin ? 'B' : 'E', &place, state, strlen(state));
	} else {
		function = run_function(chrome->run, run_scope(chrome->run, frame)->function);
		chrome_event_begin(
			&chrome->file, is_begin ? 'B' : 'E', &place, function->name, function->name_bytes);
	}
	if (is_begin)
		chrome_event_text(&chrome->file, "cat", frame >= CHROME_STATE ? "state" : "call",
			frame >= CHROME_STATE ? 5 : 4);
	chrome_event_end(&chrome->file);
}

static int put_line(struct chrome *chrome, struct error *error)
{
	struct chrome_calls *calls = &chrome->at.calls;
	struct extent extents[BATCH];
	struct extent_walk *walk;
	bool is_done = true;
	long count = extent_open(&walk, chrome->run, chrome->at.id, chrome->begin_ns, chrome->end_ns, error);

	if (count < 0)
		return (int)count;
	chrome->at.tid = ++chrome->threads;
	chrome_file_thread(&chrome->file, chrome->at.pid, chrome->at.tid, stream_title(chrome));
	chrome_calls_begin(calls, chrome->run, select_depth(chrome->select));
	calls->change = write_call;
	calls->own = chrome;
	while (is_done && (count = extent_next(walk, extents, BATCH, error)) > 0)
		for (long i = 0; i < count && is_done; i++)
			if (is_piece_chosen(chrome, &extents[i]))
				is_done = chrome_calls_add(calls, &extents[i]);
	extent_close(walk);
	if (!is_done)
		return error_memory(error);
	chrome_calls_end(calls);
	return count < 0 ? (int)count : 0;
}

/* ---- spans ---- */

static void put_flow(struct chrome *chrome, const struct chrome_place *place, uint64_t link)
{
	bool is_gpu = chrome->at.stream->s.kind == STORE_STREAM_GPU;
	char id[48];

	snprintf(id, sizeof id, "%u-%" PRIu64, place->pid, link);
	chrome_event_begin(&chrome->file, is_gpu ? 'f' : 's', place, "launch", 6);
	chrome_event_text(&chrome->file, "cat", "link", 4);
	chrome_event_text(&chrome->file, "id", id, strlen(id));
	if (is_gpu)
		chrome_event_text(&chrome->file, "bp", "e", 1);
	chrome_event_end(&chrome->file);
}

static void put_span_args(struct chrome *chrome, const struct batch *batch, size_t i, const char *path)
{
	struct chrome_file *file = &chrome->file;
	struct store_bytes attributes = {0};
	char number[32];
	size_t size;
	const char *text = batch_attributes(chrome->run, batch, i, &size);

	chrome_event_args(file);
	chrome_event_text(file, "path", path, strlen(path));
	if (batch->bytes[i] != 0) {
		snprintf(number, sizeof number, "%" PRIu64, batch->bytes[i]);
		chrome_event_raw(file, "bytes", number);
	}
	slice_put_attributes(&attributes, text, size, batch->link[i]);
	if (attributes.size > 0)
		chrome_event_text(file, "attributes", (const char *)attributes.data, attributes.size);
	file->failed |= attributes.failed;
	store_bytes_fini(&attributes);
}

/* A kernel is called by its name, anything else by its operation. */
static void begin_span(
	struct chrome *chrome, char phase, const struct chrome_place *place, uint32_t op, uint32_t context)
{
	uint32_t scope = run_context(chrome->run, context)->scope;
	const char *name = run_op_name(chrome->run, op);

	if (op == STORE_OP_KERNEL && scope != UINT32_MAX) {
		const struct run_function *function =
			run_function(chrome->run, run_scope(chrome->run, scope)->function);

		chrome_event_begin(&chrome->file, phase, place, function->name, function->name_bytes);
	} else {
		chrome_event_begin(&chrome->file, phase, place, name, strlen(name));
	}
	chrome_event_text(&chrome->file, "cat", name, strlen(name));
}

/* One that is open lasts to the end of what is shown. */
static uint64_t span_end_ns(const struct chrome *chrome, const struct batch *batch, size_t i)
{
	uint64_t end_ns = batch->end_ns[i] < chrome->end_ns ? batch->end_ns[i] : chrome->end_ns;

	return end_ns > batch->begin_ns[i] ? end_ns : batch->begin_ns[i];
}

static bool put_span(struct chrome *chrome, const struct batch *batch, size_t i)
{
	uint32_t op = batch->what[i], context = batch->context[i];
	struct chrome_place place = {.pid = chrome->at.pid, .time_ns = batch->begin_ns[i]};
	struct arena arena = {0};
	const char *path = run_context_path(chrome->run, context, select_depth(chrome->select), &arena);
	uint64_t end_ns = span_end_ns(chrome, batch, i);
	bool is_mark = op == STORE_OP_MARK, is_moment = end_ns == batch->begin_ns[i];

	place.tid = find_lane(chrome, batch->begin_ns[i], end_ns);
	if (!path || place.tid == 0) {
		arena_fini(&arena);
		return false;
	}
	begin_span(chrome, is_mark ? 'i' : is_moment ? 'X' : 'B', &place, op, context);
	if (is_mark)
		chrome_event_text(&chrome->file, "s", "t", 1);
	else if (is_moment)
		chrome_event_duration(&chrome->file, 0);
	put_span_args(chrome, batch, i, path);
	chrome_event_end(&chrome->file);
	if (batch->link[i] != 0)
		put_flow(chrome, &place, batch->link[i]);
	if (!is_mark && !is_moment) {
		place.time_ns = end_ns;
		begin_span(chrome, 'E', &place, op, context);
		chrome_event_end(&chrome->file);
	}
	arena_fini(&arena);
	return true;
}

static bool put_span_row(void *own, const struct batch *batch, size_t i)
{
	struct chrome *chrome = own;
	uint32_t op = batch->what[i];

	if (op != STORE_OP_MARK && store_op_is_state(op))
		return true; /* it is in the line */
	return !is_chosen(
		       chrome, op, batch->context[i], span_end_ns(chrome, batch, i) - batch->begin_ns[i]) ||
	       put_span(chrome, batch, i);
}

static int put_spans(struct chrome *chrome, struct error *error)
{
	struct scan *scan;
	int code = scan_open(&scan, chrome->run, chrome->at.id, STORE_SPANS,
		select_records_begin_ns(chrome->select), select_records_end_ns(chrome->select), STORE_ALL,
		SCAN_CLIP, error);

	if (code < 0)
		return code;
	chrome->at.lanes.count = 0;
	code = row_order_walk(chrome->run, scan, put_span_row, chrome, error);
	scan_close(scan);
	return code;
}

/* ---- values ---- */

/* A counter's rate from the value before, where its step begins: Perfetto draws a value up to the next one. False: it is
 * the first. */
static bool rate_take(struct chrome *chrome, const struct batch *batch, size_t i, struct chrome_place *place,
	char number[SLICE_VALUE_MAX])
{
	uint32_t metric = batch->what[i];
	struct chrome_counter *counter = &chrome->counters[metric], before = *counter;
	struct store_series series = {.is_real = run_metric_is_real(chrome->run, metric)};

	*counter = (struct chrome_counter){true, batch->begin_ns[i], batch->amount[i]};
	if (!before.is_there || before.time_ns >= batch->begin_ns[i])
		return false;
	place->time_ns = before.time_ns;
	snprintf(number, SLICE_VALUE_MAX, "%.6g",
		store_series_growth(&series, before.value, batch->amount[i]) * 1e9 /
			(double)(batch->begin_ns[i] - before.time_ns) *
			figure_unit(chrome->run, metric).factor);
	return true;
}

static bool put_value(struct chrome *chrome, const struct batch *batch, size_t i)
{
	uint32_t metric = batch->what[i];
	struct chrome_place place = {.pid = chrome->at.pid, .time_ns = batch->begin_ns[i]};
	bool is_figure = chrome->at.stream->s.kind == STORE_STREAM_GAUGES;
	char number[SLICE_VALUE_MAX], *name;
	const char *title;

	if (run_metric_kind(chrome->run, metric) == STORE_METRIC_COUNTER) {
		if (!rate_take(chrome, batch, i, &place, number))
			return true;
	} else {
		slice_value_text(number, batch->amount[i], run_metric_is_real(chrome->run, metric));
	}
	if (number[strspn(number, "0123456789+-.e")] != '\0')
		return true; /* not a number: JSON has no word for it */
	title = is_figure ? figure_unit(chrome->run, metric).text : stream_title(chrome);
	if (asprintf(&name, *title ? "%s %s" : "%s", run_metric_name(chrome->run, metric), title) < 0)
		return false;
	chrome_event_begin(&chrome->file, 'C', &place, name, strlen(name));
	chrome_event_args(&chrome->file);
	chrome_event_raw(&chrome->file, "value", number);
	chrome_event_end(&chrome->file);
	free(name);
	return true;
}

static bool put_value_row(void *own, const struct batch *batch, size_t i)
{
	struct chrome *chrome = own;

	return !select_wants_metric(chrome->select, batch->what[i]) || put_value(chrome, batch, i);
}

static int put_values(struct chrome *chrome, struct error *error)
{
	struct scan *scan;
	int code = scan_open(&scan, chrome->run, chrome->at.id, STORE_VALUES,
		select_records_begin_ns(chrome->select), select_records_end_ns(chrome->select), STORE_ALL, 0,
		error);

	if (code < 0)
		return code;
	code = row_order_walk(chrome->run, scan, put_value_row, chrome, error);
	scan_close(scan);
	return code;
}

/* ---- the whole ---- */

static int put_stream(struct chrome *chrome, uint32_t stream, struct error *error)
{
	int rc = 0;

	memset(chrome->counters, 0, run_metric_count(chrome->run) * sizeof *chrome->counters);
	chrome->at.id = stream;
	chrome->at.stream = run_stream(chrome->run, stream);
	if (!find_process(chrome))
		return error_memory(error);
	if (chrome->at.stream->s.kind == STORE_STREAM_GAUGES)
		return put_values(chrome, error);
	if (chrome->at.stream->s.kind == STORE_STREAM_CPU)
		rc = put_line(chrome, error);
	if (rc == 0)
		rc = put_spans(chrome, error);
	return rc < 0 || !chrome->cut.values ? rc : put_values(chrome, error);
}

static void chrome_fini(struct chrome *chrome)
{
	key_ids_fini(&chrome->processes);
	free(chrome->counters);
	free(chrome->at.lanes.end_ns);
	free(chrome->at.lanes.tid);
	chrome_calls_fini(&chrome->at.calls);
}

static int chrome_put(struct run *run, const struct select *select, FILE *out, struct error *error)
{
	struct chrome chrome = {.run = run,
		.select = select,
		.begin_ns = select_begin_ns(select),
		.end_ns = select_end_ns(select),
		.cut = slice_cut_of(select)};
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	int rc = coverage_require(run, select, error), ended;

	if (rc < 0)
		return rc;
	key_ids_init(&chrome.processes, sizeof(struct chrome_process_key));
	chrome.counters = calloc((size_t)run_metric_count(run) + 1, sizeof *chrome.counters);
	if (!chrome.counters)
		rc = error_memory(error);
	chrome_file_begin(&chrome.file, out, run_origin_ns(run));
	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(run, streams[i])->s.kind != STORE_STREAM_PC)
			rc = put_stream(&chrome, streams[i], error);
	ended = chrome_file_end(&chrome.file, rc == 0 ? error : NULL);
	chrome_fini(&chrome);
	return rc < 0 || ended < 0 ? (rc < 0 ? rc : ended) : !chrome.file.has_record;
}

const struct format format_chrome = {.name = "chrome", .about = "Perfetto", .put = chrome_put};
