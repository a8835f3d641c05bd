/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_names.c - what a run is made of: its streams, contexts, modules, metrics and marks.
 */
#include "formats/library/question.h"
#include "timeline/run/row_key.h"
#include "timeline/select/bookmark.h"
#include "timeline/stats/info.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void limit(const struct question *question, uint32_t count, uint32_t *first, uint32_t *last)
{
	*first = question->first < count ? question->first : count;
	*last = question->last && question->last < count ? question->last : count;
}

/* ---- streams: the columns of hpct-info --streams ---- */

enum {
	STREAM_STREAM,
	STREAM_KIND,
	STREAM_HOST,
	STREAM_RANK,
	STREAM_PID,
	STREAM_TID,
	STREAM_DEVICE,
	STREAM_QUEUE,
	STREAM_NAME,
	STREAM_BEGIN,
	STREAM_END,
	STREAM_SAMPLES,
	STREAM_SPANS,
	STREAM_VALUES,
	STREAM_LOST,
	STREAM_DEVICE_NAME
};

static const struct column_spec stream_specs[] = {{"stream", HPCT_TEXT}, {"kind", HPCT_TEXT},
	{"host", HPCT_TEXT}, {"rank", HPCT_UINT32}, {"pid", HPCT_UINT32}, {"tid", HPCT_UINT32},
	{"device", HPCT_UINT32}, {"queue", HPCT_UINT32}, {"name", HPCT_TEXT}, {"begin_ns", HPCT_INT64},
	{"end_ns", HPCT_INT64}, {"samples", HPCT_UINT64}, {"spans", HPCT_UINT64}, {"values", HPCT_UINT64},
	{"lost", HPCT_UINT64}, {"device_name", HPCT_TEXT}};

static void put_stream(struct column *c, const struct run *run, uint32_t number)
{
	const struct run_stream *stream = run_stream(run, number);
	const struct store_stream *s = &stream->s;
	bool is_gpu = s->kind != STORE_STREAM_CPU;

	column_put_string(&c[STREAM_STREAM], stream->text);
	column_put_word(&c[STREAM_KIND], info_stream_kind(s->kind));
	column_put_string(&c[STREAM_HOST], stream->host);
	column_put_optional(&c[STREAM_RANK], (uint32_t)s->rank, s->rank >= 0);
	column_put_optional(&c[STREAM_PID], s->pid, s->pid != UINT32_MAX);
	column_put_optional(&c[STREAM_TID], s->tid, !is_gpu && s->tid != 0);
	column_put_optional(&c[STREAM_DEVICE], s->device, is_gpu && s->device != UINT32_MAX);
	column_put_optional(&c[STREAM_QUEUE], s->queue,
		is_gpu && s->kind != STORE_STREAM_GAUGES && s->queue != UINT32_MAX);
	column_put_string(&c[STREAM_NAME], stream->name);
	column_put_time(&c[STREAM_BEGIN], run, s->begin_ns);
	if (s->end_ns != STORE_OPEN_NS)
		column_put_time(&c[STREAM_END], run, s->end_ns);
	else
		column_put_none(&c[STREAM_END]);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		column_put_number(&c[STREAM_SAMPLES + track], s->count[STORE_SAMPLES + track]);
	column_put_number(&c[STREAM_LOST], s->lost);
	column_put_string(&c[STREAM_DEVICE_NAME], stream->device_name);
}

static int ask_streams(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct run *run = question->call->run;
	const struct select *select = question->call->select;
	struct hpct_batch *batch;
	const uint32_t *streams = NULL;
	uint32_t first, last = run_stream_count(run);
	int rc = question_batch_new(&batch, question, &question_streams, error);

	if (rc < 0)
		return rc;
	limit(question, last, &first, &last);
	if (select) {
		first = 0;
		streams = select_all_streams(select, &last);
	}
	for (uint32_t i = first; i < last; i++)
		put_stream(batch->columns, run, streams ? streams[i] : i);
	return question_batch_end(given, question, batch, 0, error);
}

const struct question_kind question_streams = {
	.name = "streams", .specs = stream_specs, .count = COUNT(stream_specs), .ask = ask_streams};

/* ---- contexts ---- */

enum {
	CONTEXT_CONTEXT,
	CONTEXT_PARENT,
	CONTEXT_DEPTH,
	CONTEXT_FUNCTION,
	CONTEXT_MODULE,
	CONTEXT_FILE,
	CONTEXT_LINE,
	CONTEXT_PATH,
	CONTEXT_LOOP
};

static const struct column_spec context_specs[] = {{"context", HPCT_UINT32}, {"parent", HPCT_UINT32},
	{"depth", HPCT_UINT32}, {"function", HPCT_TEXT}, {"module", HPCT_TEXT}, {"file", HPCT_TEXT},
	{"line", HPCT_UINT32}, {"path", HPCT_TEXT}, {"loop", HPCT_TEXT}};

/* The same text that it is as a key of statistics. */
static void put_key(struct column *column, const struct run *run, uint32_t context, enum row_key_by by)
{
	struct store_bytes key = {0};

	if (!column->is_wanted)
		return;
	column->data.failed |= !row_key_put(&key, run, context, by, UINT32_MAX);
	if (key.size)
		column_put_composed(column, (const char *)key.data, key.size);
	else
		column_put_none(column);
	store_bytes_fini(&key);
}

static void put_context(struct column *c, const struct run *run, uint32_t context)
{
	const struct run_context *at = run_context(run, context);
	uint32_t parent = run_context_parent(run, context);
	bool has_scope = at->scope != UINT32_MAX;

	column_put_number(&c[CONTEXT_CONTEXT], context);
	column_put_optional(&c[CONTEXT_PARENT], parent, parent != 0);
	column_put_optional(&c[CONTEXT_DEPTH], has_scope ? run_scope(run, at->scope)->depth : 0, has_scope);
	put_key(&c[CONTEXT_FUNCTION], run, context, ROW_KEY_FUNCTION);
	put_key(&c[CONTEXT_MODULE], run, context, ROW_KEY_MODULE);
	column_put_string(&c[CONTEXT_FILE], at->file);
	column_put_optional(&c[CONTEXT_LINE], at->line, at->line != 0);
	column_put_path(&c[CONTEXT_PATH], run, context);
	column_put_string(&c[CONTEXT_LOOP], at->loop != RUN_LOOP_NONE ? run_loop(run, at->loop)->name : NULL);
}

/* Context 0 is "no context", which is none. With --context: those that its pattern selects. */
static int ask_contexts(struct hpct_batch **given, const struct question *question, struct error *error)
{
	const struct select *select = question->call->select;
	struct hpct_batch *batch;
	uint32_t first, last;
	int rc = question_batch_new(&batch, question, &question_contexts, error);

	if (rc < 0)
		return rc;
	limit(question, run_context_count(question->call->run), &first, &last);
	for (uint32_t context = first ? first : 1; context < last; context++)
		if (!select || select_wants_context(select, context))
			put_context(batch->columns, question->call->run, context);
	return question_batch_end(given, question, batch, 0, error);
}

const struct question_kind question_contexts = {
	.name = "contexts", .specs = context_specs, .count = COUNT(context_specs), .ask = ask_contexts};

/* ---- modules: the columns of hpct-info --modules ---- */

static const struct column_spec module_specs[] = {{"kind", HPCT_TEXT}, {"path", HPCT_TEXT},
	{"build_id", HPCT_TEXT}, {"load_ns", HPCT_INT64}, {"unload_ns", HPCT_INT64}, {"frames", HPCT_UINT64},
	{"named", HPCT_UINT64}, {"lines", HPCT_UINT64}, {"in_loops", HPCT_UINT64}, {"lacks", HPCT_TEXT},
	{"partial", HPCT_UINT64}};

struct module_rows {
	struct column *columns;
	const struct run *run;
};

static void put_moment(struct column *column, const struct run *run, uint64_t time_ns)
{
	if (time_ns)
		column_put_time(column, run, time_ns);
	else
		column_put_none(column);
}

static bool put_module(void *own, struct store_reader *reader, const struct store_module *module,
	const struct info_frames *frames)
{
	const struct module_rows *rows = own;
	struct column *c = rows->columns;
	char build_id[INFO_BUILD_ID_MAX];
	size_t size;
	const char *path = store_reader_text(reader, module->path, &size);

	info_build_id(build_id, module);
	column_put_word(&c[0], info_module_kind(module->kind));
	column_put_field(&c[1], path, size);
	column_put_word(&c[2], build_id);
	put_moment(&c[3], rows->run, module->load_ns);
	put_moment(&c[4], rows->run, module->unload_ns);
	column_put_number(&c[5], frames->frames);
	column_put_number(&c[6], frames->named);
	column_put_number(&c[7], frames->lines);
	column_put_number(&c[8], frames->loops);
	column_put_word(&c[9], info_module_lacks(module, frames));
	column_put_number(&c[10], frames->partial);
	return true;
}

static int ask_modules(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct hpct_batch *batch;
	int rc = question_batch_new(&batch, question, &question_modules, error);

	if (rc < 0)
		return rc;
	rc = info_modules_each(question->call->run, put_module,
		&(struct module_rows){batch->columns, question->call->run}, error);
	return question_batch_end(given, question, batch, rc, error);
}

const struct question_kind question_modules = {
	.name = "modules", .specs = module_specs, .count = COUNT(module_specs), .ask = ask_modules};

/* ---- metrics: the columns of hpct-info --metrics ---- */

static const struct column_spec metric_specs[] = {
	{"metric", HPCT_TEXT}, {"unit", HPCT_TEXT}, {"source", HPCT_TEXT}};

static bool put_metric(void *own, const struct info_metric *metric)
{
	struct column *c = own;

	column_put_string(&c[0], metric->name);
	column_put_string(&c[1], metric->unit);
	column_put_string(&c[2], metric->source);
	return true;
}

static int ask_metrics(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct hpct_batch *batch;
	int rc = question_batch_new(&batch, question, &question_metrics, error);

	if (rc < 0)
		return rc;
	rc = info_metrics_each(
		question->call->run, question->call->select, put_metric, batch->columns, error);
	return question_batch_end(given, question, batch, rc, error);
}

const struct question_kind question_metrics = {.name = "metrics",
	.specs = metric_specs,
	.count = COUNT(metric_specs),
	.is_selected = true,
	.ask = ask_metrics};

/* ---- marks ---- */

static const struct column_spec mark_specs[] = {{"name", HPCT_TEXT}, {"begin_ns", HPCT_INT64},
	{"end_ns", HPCT_INT64}, {"stream", HPCT_TEXT}, {"until_ns", HPCT_INT64}};

static void put_mark(struct column *c, struct run *run, const struct mark *mark, uint64_t until_ns)
{
	column_put_string(&c[0], mark->name);
	column_put_time(&c[1], run, mark->begin_ns);
	column_put_time(&c[2], run, mark->end_ns);
	column_put_string(&c[3], mark->stream != UINT32_MAX ? run_stream(run, mark->stream)->text : NULL);
	column_put_time(&c[4], run, until_ns);
}

/* Both lists have the same order. */
static int ask_marks(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	const struct mark *marks, *instances;
	struct hpct_batch *batch;
	size_t count;
	int rc = question_batch_new(&batch, question, &question_marks, error);

	if (rc < 0)
		return rc;
	rc = mark_list(call->run, &call->arena, &marks, &count, error);
	if (rc == 0)
		rc = mark_instances(
			call->run, run_end_ns(call->run), &call->arena, &instances, &count, error);
	for (size_t i = 0; rc == 0 && i < count; i++)
		put_mark(batch->columns, call->run, &marks[i], instances[i].end_ns);
	return question_batch_end(given, question, batch, rc, error);
}

const struct question_kind question_marks = {
	.name = "marks", .specs = mark_specs, .count = COUNT(mark_specs), .ask = ask_marks};
