/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_copy.c - the selected records as a smaller run: store by store, chunk by chunk, with the
 * contexts, modules, symbols and kept files that they name, and nothing else.
 */
#include "timeline/slice.h"

#include <stdlib.h>

#include "store/arena.h"
#include "store/writer.h"
#include "timeline/coverage.h"
#include "timeline/extent.h"
#include "timeline/mark.h"
#include "timeline/new_run.h"
#include "timeline/numbering.h"
#include "timeline/slice_files.h"

#define COMMIT_BYTES (64u << 20)

/* Facts about the recording that stay true of a part of it. */
static const char *const copied_meta[] = {"command", "host", "boot", "launch", "events", "recorder",
	"origin_ns", "wall_ns", "wall_error_ns", "wall_drift_ns", "uid", "exit", "signal"};

struct frame_key {
	uint64_t offset;
	uint32_t module, zero;
};

/* Copying from one store. */
struct copy {
	struct run *run;
	const struct select *select;
	unsigned store;
	struct store_reader *reader;
	struct store_writer *writer;
	const struct store_context *from_contexts;
	const struct store_module *from_modules;
	const struct store_metric *from_metrics;
	uint32_t context_count, module_count, metric_count;
	uint32_t *contexts, *modules, *metrics; /* id there -> id here + 1 */
	struct numbering frames;		/* whose symbols were copied */
	struct slice_files files;
	struct store_scope *scopes;
	struct store_batch batch;
};

/* One stream of it. */
struct copy_stream {
	uint32_t run_stream, from, to; /* ids: run, old store, new store */
	struct slice_cut cut;	       /* in the store's own time */
	uint64_t shift_ns;	       /* run time - store time */
	uint64_t lost, partial;
};

/* ---- ids ---- */

static uint32_t copy_text(struct copy *copy, uint32_t text)
{
	size_t size;
	const char *bytes = store_reader_text(copy->reader, text, &size);

	return store_writer_text(copy->writer, bytes, size);
}

static uint32_t copy_module(struct copy *copy, uint32_t module)
{
	if (module == STORE_MODULE_RESERVED || module >= copy->module_count)
		return STORE_MODULE_RESERVED;
	if (copy->modules[module] == 0) {
		struct store_module to = copy->from_modules[module];

		to.path = copy_text(copy, to.path);
		if (to.kind == STORE_MODULE_GPU)
			slice_files_want(&copy->files, store_gpu_module_key(to.build_id, to.build_id_bytes));
		copy->modules[module] = store_writer_module(copy->writer, &to) + 1;
	}
	return copy->modules[module] - 1;
}

static int copy_symbol(struct copy *copy, const struct store_context *from, uint32_t module, uint64_t offset,
	struct error *error)
{
	struct frame_key key = {.offset = offset, .module = module};
	bool is_new;
	int count;

	if (numbering_put(&copy->frames, &key, &is_new) == NUMBERING_NONE)
		return error_memory(error);
	if (!is_new)
		return 0;
	count = store_reader_symbol(copy->reader, from->module, from->offset, copy->scopes, error);
	for (int i = 0; i < count; i++) {
		struct store_scope *scope = &copy->scopes[i];

		if (!slice_files_want_source(
			    &copy->files, store_reader_text(copy->reader, scope->file, NULL)) ||
			!slice_files_want_source(
				&copy->files, store_reader_text(copy->reader, scope->decl_file, NULL)))
			return error_memory(error);
		scope->name = copy_text(copy, scope->name);
		scope->file = copy_text(copy, scope->file);
		scope->decl_file = copy_text(copy, scope->decl_file);
	}
	if (count > 0)
		store_writer_symbol(copy->writer, module, offset, copy->scopes, (size_t)count);
	return count < 0 ? count : 0;
}

/* The parent is copied already. */
static int copy_one_context(struct copy *copy, uint32_t context, struct error *error)
{
	const struct store_context *from = &copy->from_contexts[context];
	uint32_t module = copy_module(copy, from->module);
	bool is_text =
		module != STORE_MODULE_RESERVED && copy->from_modules[from->module].kind == STORE_MODULE_TEXT;
	uint64_t offset = is_text ? copy_text(copy, (uint32_t)from->offset) : from->offset;
	uint32_t to = store_writer_context(copy->writer, copy->contexts[from->parent] - 1, module, offset);

	copy->contexts[context] = to + 1;
	return is_text || module == STORE_MODULE_RESERVED ? 0
							  : copy_symbol(copy, from, module, offset, error);
}

/* Ids of the store's own contexts are the same everywhere; a parent's id is below its child's. */
static int copy_context(struct copy *copy, uint32_t context, uint32_t *to, struct error *error)
{
	uint32_t *path, count = 0, room = 0;
	int rc = 0;

	if (context >= copy->context_count) {
		*to = STORE_CONTEXT_NONE;
		return 0;
	}
	for (uint32_t at = context; copy->contexts[at] == 0; at = copy->from_contexts[at].parent)
		room++;
	path = malloc((size_t)(room + 1) * sizeof *path);
	if (!path)
		return error_memory(error);
	for (uint32_t at = context; copy->contexts[at] == 0; at = copy->from_contexts[at].parent)
		path[count++] = at;
	while (count > 0 && rc == 0)
		rc = copy_one_context(copy, path[--count], error);
	free(path);
	*to = rc < 0 ? STORE_CONTEXT_NONE : copy->contexts[context] - 1;
	return rc;
}

static uint32_t copy_metric(struct copy *copy, uint32_t metric)
{
	const struct store_metric *from = &copy->from_metrics[metric];

	if (metric >= copy->metric_count)
		return 0;
	if (copy->metrics[metric] == 0) {
		size_t size;
		char name[512], unit[64];

		snprintf(name, sizeof name, "%s", store_reader_text(copy->reader, from->name, &size));
		snprintf(unit, sizeof unit, "%s", store_reader_text(copy->reader, from->unit, &size));
		copy->metrics[metric] = store_writer_metric(copy->writer, name, unit, from->is_real) + 1;
	}
	return copy->metrics[metric] - 1;
}

static uint32_t copy_op(struct copy *copy, uint32_t op)
{
	size_t size;
	const char *name;

	if (op < STORE_OP_TEXT)
		return op;
	name = store_reader_op(copy->reader, op, &size);
	return store_writer_op(copy->writer, name, size);
}

/* ---- records ---- */

static bool is_wanted(const struct copy *copy, enum store_track track, const struct store_record *record)
{
	if (!select_wants_context(copy->select, run_context_of(copy->run, copy->store, record->context)))
		return false;
	if (track == STORE_SPANS)
		return select_wants_op(copy->select, run_op_of(copy->run, copy->store, record->what));
	return select_wants_metric(copy->select, run_metric_of(copy->run, copy->store, record->what));
}

/* Ids of `record` become those of the copy. */
static int translate(struct copy *copy, struct copy_stream *stream, enum store_track track,
	struct store_record *record, struct error *error)
{
	uint32_t run_context_id = run_context_of(copy->run, copy->store, record->context);

	if (track == STORE_SAMPLES)
		stream->partial += run_context(copy->run, run_context_id)->is_partial;
	if (track == STORE_SPANS && record->what == STORE_OP_LOST)
		stream->lost += record->amount;
	if (record->attributes) {
		size_t size;
		const char *attributes = store_reader_text(copy->reader, record->attributes, &size);

		if (!slice_files_want_binary(&copy->files, attributes, size))
			return error_memory(error);
	}
	record->what = track == STORE_SPANS ? copy_op(copy, record->what) : copy_metric(copy, record->what);
	record->attributes = copy_text(copy, record->attributes);
	return copy_context(copy, record->context, &record->context, error);
}

static int commit_some(struct copy *copy, struct error *error)
{
	return store_writer_pending_bytes(copy->writer) < COMMIT_BYTES
		       ? 0
		       : store_writer_commit(copy->writer, error);
}

static int copy_chunk(struct copy *copy, struct copy_stream *stream, enum store_track track,
	const struct store_chunk *chunk, struct error *error)
{
	int rc = store_chunk_decode(chunk, STORE_ALL, &copy->batch, error);

	for (size_t i = 0; i < copy->batch.count && rc == 0; i++) {
		struct store_record record = store_batch_record(&copy->batch, i);

		if (!slice_cut_record(&stream->cut, track, &record) || !is_wanted(copy, track, &record))
			continue;
		rc = translate(copy, stream, track, &record, error);
		if (rc == 0)
			store_writer_append(copy->writer, stream->to, track, &record, 1);
	}
	return rc < 0 ? rc : commit_some(copy, error);
}

static int copy_track(
	struct copy *copy, struct copy_stream *stream, enum store_track track, struct error *error)
{
	struct store_cursor *cursor;
	struct store_chunk chunk;
	int found = 0, rc = store_cursor_open(&cursor, copy->reader, stream->from, track,
			       stream->cut.begin_ns, stream->cut.end_ns, error);

	if (rc < 0)
		return rc;
	while (rc == 0 && (found = store_cursor_next(cursor, &chunk, error)) > 0)
		rc = copy_chunk(copy, stream, track, &chunk, error);
	store_cursor_close(cursor);
	return found < 0 ? found : rc;
}

/* Spans that are still open stay so, unless the window ends. */
static int copy_open_spans(struct copy *copy, struct copy_stream *stream, struct error *error)
{
	const struct store_record *open;
	size_t count;
	int rc = store_reader_open_spans(copy->reader, stream->from, &open, &count, error);

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct store_record record = open[i];

		if (record.what != STORE_OP_THINNED)
			record.end_ns = STORE_OPEN_NS;
		if (!slice_cut_record(&stream->cut, STORE_SPANS, &record) ||
			!is_wanted(copy, STORE_SPANS, &record))
			continue;
		rc = translate(copy, stream, STORE_SPANS, &record, error);
		if (rc == 0 && record.end_ns == STORE_OPEN_NS)
			store_writer_span_open(copy->writer, stream->to, i, &record);
		else if (rc == 0)
			store_writer_append(copy->writer, stream->to, STORE_SPANS, &record, 1);
	}
	return rc;
}

/* As slice.c: the context in force at the window's begin, by a sample of weight 0. */
static int copy_carry(struct copy *copy, struct copy_stream *stream, struct error *error)
{
	struct store_record record;
	struct extent extent;
	uint64_t begin_ns = stream->cut.begin_ns;
	int rc;

	if (begin_ns == 0 || !stream->cut.samples)
		return 0;
	rc = extent_at(copy->run, stream->run_stream, begin_ns + stream->shift_ns, &extent, error);
	if (rc < 0 || extent.state != EXTENT_WORK || extent.op != STORE_OP_NONE)
		return rc;
	rc = store_reader_sample_before(copy->reader, stream->from, begin_ns + 1, &record, error);
	if (rc <= 0 || record.begin_ns == begin_ns || !is_wanted(copy, STORE_SAMPLES, &record))
		return rc < 0 ? rc : 0;
	record.begin_ns = record.end_ns = begin_ns;
	record.amount = 0;
	rc = translate(copy, stream, STORE_SAMPLES, &record, error);
	if (rc == 0)
		store_writer_append(copy->writer, stream->to, STORE_SAMPLES, &record, 1);
	return rc;
}

/* ---- streams ---- */

static uint32_t new_stream(
	struct copy *copy, const struct copy_stream *stream, const struct store_stream *from)
{
	struct store_stream to = *from;

	to.host = copy_text(copy, from->host);
	to.name = copy_text(copy, from->name);
	to.device_name = copy_text(copy, from->device_name);
	to.lost = to.partial = 0;
	if (to.begin_ns < stream->cut.begin_ns)
		to.begin_ns = stream->cut.begin_ns;
	if (to.begin_ns > stream->cut.end_ns)
		to.begin_ns = stream->cut.end_ns;
	if (to.end_ns > stream->cut.end_ns)
		to.end_ns = stream->cut.end_ns;
	if (to.end_ns < to.begin_ns)
		to.end_ns = to.begin_ns;
	return store_writer_stream(copy->writer, &to);
}

static uint64_t store_time(uint64_t run_ns, uint64_t shift_ns)
{
	return run_ns == 0 || run_ns == STORE_OPEN_NS ? run_ns : run_ns - shift_ns;
}

static int copy_stream(struct copy *copy, uint32_t run_stream_id, struct error *error)
{
	const struct run_stream *of = run_stream(copy->run, run_stream_id);
	const struct store_stream *from = store_reader_stream(copy->reader, of->id_in_store);
	struct copy_stream stream = {.run_stream = run_stream_id,
		.from = of->id_in_store,
		.shift_ns = of->s.begin_ns - from->begin_ns,
		.cut = slice_cut_of(copy->select)};
	struct store_stream *edited;
	int rc = 0;

	stream.cut.begin_ns = store_time(stream.cut.begin_ns, stream.shift_ns);
	stream.cut.end_ns = store_time(stream.cut.end_ns, stream.shift_ns);
	stream.to = new_stream(copy, &stream, from);
	if (stream.to == UINT32_MAX)
		return error_memory(error);
	rc = copy_carry(copy, &stream, error);
	for (int track = 0; track < STORE_TRACK_COUNT && rc == 0; track++)
		rc = copy_track(copy, &stream, (enum store_track)track, error);
	if (rc == 0)
		rc = copy_open_spans(copy, &stream, error);
	edited = store_writer_stream_edit(copy->writer, stream.to);
	if (!edited)
		return error_memory(error);
	edited->lost = stream.lost;
	edited->partial = stream.partial;
	return rc;
}

/* ---- stores ---- */

static int copy_init(struct copy *copy, struct error *error)
{
	copy->reader = run_store(copy->run, copy->store);
	copy->from_contexts = store_reader_contexts(copy->reader, &copy->context_count);
	copy->from_modules = store_reader_modules(copy->reader, &copy->module_count);
	copy->from_metrics = store_reader_metrics(copy->reader, &copy->metric_count);
	numbering_init(&copy->frames, sizeof(struct frame_key));
	slice_files_init(&copy->files);
	store_batch_init(&copy->batch);
	copy->contexts = calloc((size_t)copy->context_count + 1, sizeof *copy->contexts);
	copy->modules = calloc((size_t)copy->module_count + 1, sizeof *copy->modules);
	copy->metrics = calloc((size_t)copy->metric_count + 1, sizeof *copy->metrics);
	copy->scopes = calloc(STORE_SCOPE_MAX, sizeof *copy->scopes);
	if (!copy->contexts || !copy->modules || !copy->metrics || !copy->scopes)
		return error_memory(error);
	for (uint32_t i = 0; i < STORE_CONTEXT_FIRST && i < copy->context_count; i++)
		copy->contexts[i] = i + 1;
	for (size_t i = 0; i < sizeof copied_meta / sizeof *copied_meta; i++) {
		const char *value = store_reader_meta(copy->reader, copied_meta[i]);

		if (value)
			store_writer_meta(copy->writer, copied_meta[i], value);
	}
	return 0;
}

static void copy_fini(struct copy *copy)
{
	numbering_fini(&copy->frames);
	slice_files_fini(&copy->files);
	store_batch_fini(&copy->batch);
	free(copy->contexts);
	free(copy->modules);
	free(copy->metrics);
	free(copy->scopes);
}

static int copy_streams(struct copy *copy, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(copy->select, &count);
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(copy->run, streams[i])->store == copy->store)
			rc = copy_stream(copy, streams[i], error);
	return rc;
}

static int copy_store(struct run *run, const struct select *select, unsigned store,
	const struct new_run *new_run, bool is_archive, struct error *error)
{
	struct copy copy = {.run = run, .select = select, .store = store};
	char name[32];
	int rc;

	snprintf(name, sizeof name, "part-%04u", store);
	rc = new_run_store(new_run, name, &copy.writer, error);
	if (rc < 0)
		return rc;
	rc = copy_init(&copy, error);
	if (rc == 0)
		rc = copy_streams(&copy, error);
	if (rc == 0)
		rc = slice_files_copy(&copy.files, copy.reader, copy.writer, error);
	if (rc == 0)
		rc = store_writer_close(copy.writer, error);
	else
		store_writer_abort(copy.writer);
	copy_fini(&copy);
	return rc == 0 && is_archive ? new_run_archive(new_run, name, error) : rc;
}

static int copy_stores(struct run *run, const struct select *select, const struct new_run *new_run,
	bool is_archive, struct error *error)
{
	int rc = 0;

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = copy_store(run, select, store, new_run, is_archive, error);
	return rc;
}

static int end_run(struct new_run *new_run, int rc, struct error *error)
{
	if (rc == 0)
		return new_run_commit(new_run, error);
	new_run_abort(new_run);
	return rc;
}

static int begin_run(struct new_run *new_run, struct run *run, const struct select *select, const char *path,
	struct error *error)
{
	int rc = select_has_time(select) ? coverage_require(run, select, error) : 0;

	return rc == 0 ? new_run_begin(new_run, path, error) : rc;
}

int slice_copy(struct run *run, const struct select *select, const char *path, struct error *error)
{
	struct new_run new_run;
	int rc = begin_run(&new_run, run, select, path, error);

	if (rc < 0)
		return rc;
	return end_run(&new_run, copy_stores(run, select, &new_run, false, error), error);
}

bool slice_is_everything(const struct run *run, const struct select *select)
{
	uint32_t count;

	select_streams(select, &count);
	return !select_has_time(select) && !select_has_record_filter(select) &&
	       count == run_stream_count(run);
}

/* Stores as they are, bookmarks besides. */
static int archive_stores(struct run *run, const struct new_run *new_run, struct error *error)
{
	int rc = new_run_keep_file(new_run, run_path(run), MARK_FILE, error);

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = new_run_archive_of(new_run, run_store_path(run, store), error);
	return rc;
}

int slice_archive(struct run *run, const struct select *select, const char *path, struct error *error)
{
	struct new_run new_run;
	int rc = begin_run(&new_run, run, select, path, error);

	if (rc < 0)
		return rc;
	rc = slice_is_everything(run, select) ? archive_stores(run, &new_run, error)
					      : copy_stores(run, select, &new_run, true, error);
	return end_run(&new_run, rc, error);
}
