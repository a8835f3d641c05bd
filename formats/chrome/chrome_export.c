/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_export.c - exports a run for Perfetto and chrome://tracing: lanes of trace_walk.h are threads; a
 * flow leads from a launch to its operation.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/format.h"
#include "formats/base/trace_walk.h"
#include "formats/chrome/chrome_file.h"
#include "formats/chrome/chrome_import.h"
#include "store/base/arena.h"
#include "timeline/slice/slice.h"

struct chrome {
	struct run *run;
	const struct select *select;
	struct chrome_file file;
};

static bool put_process(void *own, const struct trace_place *place, const char *name)
{
	struct chrome *chrome = own;

	chrome_file_process(&chrome->file, place->process, name);
	return true;
}

static bool put_lane(void *own, const struct trace_place *place, const char *name)
{
	struct chrome *chrome = own;

	chrome_file_thread(&chrome->file, place->process, place->lane, name);
	return true;
}

/* Pairs, whose ends are the same text where they are the same time: viewers that add durations up in binary
 * find calls that end after their callers. */
static bool put_call(
	void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct chrome *chrome = own;
	struct chrome_place at = {place->process, place->lane, time_ns};
	const char *category = frame >= STACK_STATE ? "state" : "call";
	size_t size;
	const char *name = trace_frame_name(chrome->run, frame, &size);

	chrome_event_begin(&chrome->file, is_begin ? 'B' : 'E', &at, name, size);
	if (is_begin)
		chrome_event_text(&chrome->file, "cat", category, strlen(category));
	chrome_event_end(&chrome->file);
	return true;
}

/* ---- spans ---- */

static void put_flow(struct chrome *chrome, const struct trace_span *span, const struct chrome_place *place)
{
	bool is_gpu = span->place->stream->s.kind == STORE_STREAM_GPU;
	char id[48];

	snprintf(id, sizeof id, "%u-%" PRIu64, place->pid, span->batch->link[span->row]);
	chrome_event_begin(&chrome->file, is_gpu ? 'f' : 's', place, "launch", 6);
	chrome_event_text(&chrome->file, "cat", "link", 4);
	chrome_event_text(&chrome->file, "id", id, strlen(id));
	if (is_gpu)
		chrome_event_text(&chrome->file, "bp", "e", 1);
	chrome_event_end(&chrome->file);
}

static void put_span_args(struct chrome *chrome, const struct trace_span *span, const char *path)
{
	struct chrome_file *file = &chrome->file;
	struct store_bytes attributes = {0};
	uint64_t bytes = span->batch->bytes[span->row];
	char number[32];
	size_t size;
	const char *text = batch_attributes(chrome->run, span->batch, span->row, &size);

	chrome_event_args(file);
	chrome_event_text(file, "path", path, strlen(path));
	if (bytes != 0) {
		snprintf(number, sizeof number, "%" PRIu64, bytes);
		chrome_event_raw(file, "bytes", number);
	}
	slice_put_attributes(&attributes, text, size, span->batch->link[span->row]);
	if (attributes.size > 0)
		chrome_event_text(file, "attributes", (const char *)attributes.data, attributes.size);
	file->failed |= attributes.failed;
	store_bytes_fini(&attributes);
}

static void begin_span(
	struct chrome *chrome, char phase, const struct chrome_place *place, const struct trace_span *span)
{
	chrome_event_begin(&chrome->file, phase, place, span->name, span->name_size);
	chrome_event_text(&chrome->file, "cat", span->op, strlen(span->op));
}

static bool put_span(void *own, const struct trace_span *span)
{
	struct chrome *chrome = own;
	struct chrome_place place = {span->place->process, span->place->lane, span->begin_ns};
	struct arena arena = {0};
	const char *path = run_context_path(
		chrome->run, span->batch->context[span->row], select_depth(chrome->select), &arena);
	bool is_moment = span->end_ns == span->begin_ns;

	if (!path) {
		arena_fini(&arena);
		return false;
	}
	begin_span(chrome, span->is_mark ? 'i' : is_moment ? 'X' : 'B', &place, span);
	if (span->is_mark)
		chrome_event_text(&chrome->file, "s", "t", 1);
	else if (is_moment)
		chrome_event_duration(&chrome->file, 0);
	put_span_args(chrome, span, path);
	chrome_event_end(&chrome->file);
	if (span->batch->link[span->row] != 0)
		put_flow(chrome, span, &place);
	if (!span->is_mark && !is_moment) {
		place.time_ns = span->end_ns;
		begin_span(chrome, 'E', &place, span);
		chrome_event_end(&chrome->file);
	}
	arena_fini(&arena);
	return true;
}

/* ---- values ---- */

static bool put_value(void *own, const struct trace_place *at, const struct trace_value *value)
{
	struct chrome *chrome = own;
	struct chrome_place place = {.pid = at->process, .time_ns = value->time_ns};
	const char *title = *value->of ? value->of : value->unit;
	char number[SLICE_VALUE_MAX], *name;

	slice_value_text(number, value->amount, value->is_real);
	if (number[strspn(number, "0123456789+-.e")] != '\0')
		return true; /* not a number: JSON has no word for it */
	if (asprintf(&name, *title ? "%s %s" : "%s", run_metric_name(chrome->run, value->metric), title) < 0)
		return false;
	chrome_event_begin(&chrome->file, 'C', &place, name, strlen(name));
	chrome_event_args(&chrome->file);
	chrome_event_raw(&chrome->file, "value", number);
	chrome_event_end(&chrome->file);
	free(name);
	return true;
}

/* ---- the whole ---- */

static int chrome_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	static const struct trace_walk_ops ops = {.process = put_process,
		.lane = put_lane,
		.call = put_call,
		.span = put_span,
		.value = put_value};
	struct chrome chrome = {.run = run, .select = select};
	int rc = trace_require(run, select, error), ended;

	if (rc < 0)
		return rc;
	chrome_file_begin(&chrome.file, output->out, run_origin_ns(run));
	rc = trace_walk(run, select, &ops, &chrome, error);
	ended = chrome_file_end(&chrome.file, rc == 0 ? error : NULL);
	return rc < 0 || ended < 0 ? (rc < 0 ? rc : ended) : !chrome.file.has_record;
}

const struct format format_chrome = {.name = "chrome",
	.about = "Perfetto, PyTorch",
	.put = chrome_put,
	.lacks = FORMAT_LACKS_PC,
#ifdef HPCT_HAS_YAJL
	.take = chrome_import,
	.is = chrome_is
#endif
};
