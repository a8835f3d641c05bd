/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_copy.c - copies the selected records to a smaller run: store by store, chunk by chunk, with only
 * what they name (slice_ids.h).
 */
#include "timeline/slice/slice.h"

#include <stdlib.h>

#include "store/base/arena.h"
#include "store/write/writer.h"
#include "timeline/base/run_create.h"
#include "timeline/report/coverage.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"
#include "timeline/select/bookmark.h"
#include "timeline/slice/slice_ids.h"

#define COMMIT_BYTES (64u << 20)

/* Facts about the recording that stay true of a part of it. */
static const char *const copied_meta[] = {"command", "host", "boot", "launch", "events", "recorder",
	"origin_ns", "wall_ns", "wall_error_ns", "wall_drift_ns", "uid", "exit", "signal"};

/* Copying from one store. */
struct copy {
	struct run *run;
	const struct select *select;
	unsigned store;
	struct store_reader *reader;
	struct store_writer *writer;
	struct slice_ids ids;
	struct store_batch batch;
};

/* One stream of it. */
struct copy_stream {
	uint32_t run_stream, from, to; /* ids: run, old store, new store */
	struct slice_cut cut;	       /* in the store's own time */
	uint64_t run_begin_ns;	       /* of the window, in the run's */
	uint64_t lost, partial;
};

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

		if (!slice_files_want_binary(&copy->ids.files, attributes, size))
			return error_memory(error);
	}
	record->what = track == STORE_SPANS ? slice_ids_op(&copy->ids, record->what)
					    : slice_ids_metric(&copy->ids, record->what);
	record->attributes = slice_ids_text(&copy->ids, record->attributes);
	return slice_ids_context(&copy->ids, record->context, &record->context, error);
}

static int commit_some(struct copy *copy, struct error *error)
{
	return store_writer_pending_bytes(copy->writer) < run_mem_bytes(copy->run, 4, COMMIT_BYTES)
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

/* Spans that are still open stay so, unless the window ends where they are known to be. */
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
	uint64_t begin_ns = stream->cut.begin_ns;
	bool is_in_force;
	int rc;

	if (begin_ns == 0 || !stream->cut.samples)
		return 0;
	rc = extent_in_force(copy->run, stream->run_stream, stream->run_begin_ns, &is_in_force, error);
	if (rc < 0 || !is_in_force)
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

/* See slice_cut_monitored(). */
static int copy_monitored(struct copy *copy, struct copy_stream *stream, struct error *error)
{
	const struct run_part *part = &copy->run->parts[copy->store];
	struct slice_cut cut = slice_cut_of(copy->select); /* of the run's clock */
	struct store_record record;
	int rc = cut.spans ? slice_cut_monitored(&cut, copy->run, stream->run_stream, &record, error) : 0;

	if (rc <= 0 || !is_wanted(copy, STORE_SPANS, &record))
		return rc < 0 ? rc : 0;
	record.begin_ns = run_part_store_time(part, record.begin_ns);
	record.end_ns = run_part_store_time(part, record.end_ns);
	rc = translate(copy, stream, STORE_SPANS, &record, error);
	if (rc == 0)
		store_writer_append(copy->writer, stream->to, STORE_SPANS, &record, 1);
	return rc;
}

/* ---- streams ---- */

static uint32_t new_stream(
	struct copy *copy, const struct copy_stream *stream, const struct store_stream *from)
{
	struct store_stream to = *from;

	to.host = slice_ids_text(&copy->ids, from->host);
	to.name = slice_ids_text(&copy->ids, from->name);
	to.device_name = slice_ids_text(&copy->ids, from->device_name);
	to.lost = to.partial = 0;
	if (to.begin_ns < stream->cut.begin_ns)
		to.begin_ns = stream->cut.begin_ns;
	if (to.begin_ns > stream->cut.end_ns)
		to.begin_ns = stream->cut.end_ns;
	if (to.end_ns > stream->cut.end_ns &&
		(to.end_ns != STORE_OPEN_NS || stream->cut.end_ns <= stream->cut.known_ns))
		to.end_ns = stream->cut.end_ns;
	if (to.end_ns < to.begin_ns)
		to.end_ns = to.begin_ns;
	return store_writer_stream(copy->writer, &to);
}

/* 0 stays: no begin. Times before the store's clock began are 0 too. */
static uint64_t store_time(const struct copy *copy, uint64_t run_ns)
{
	return run_ns ? run_part_store_time(&copy->run->parts[copy->store], run_ns) : 0;
}

static int copy_stream(struct copy *copy, uint32_t run_stream_id, struct error *error)
{
	const struct run_stream *of = run_stream(copy->run, run_stream_id);
	const struct store_stream *from = store_reader_stream(copy->reader, of->id_in_store);
	struct copy_stream stream = {
		.run_stream = run_stream_id, .from = of->id_in_store, .cut = slice_cut_of(copy->select)};
	struct store_stream *edited;
	int rc = slice_cut_stream(&stream.cut, copy->run, run_stream_id, error);

	if (rc < 0)
		return rc;
	stream.run_begin_ns = stream.cut.begin_ns;
	stream.cut.begin_ns = store_time(copy, stream.cut.begin_ns);
	stream.cut.end_ns = store_time(copy, stream.cut.end_ns);
	stream.cut.known_ns = store_time(copy, stream.cut.known_ns);
	stream.to = new_stream(copy, &stream, from);
	if (stream.to == UINT32_MAX)
		return error_memory(error);
	rc = copy_carry(copy, &stream, error);
	for (int track = 0; track < STORE_TRACK_COUNT && rc == 0; track++)
		rc = copy_track(copy, &stream, (enum store_track)track, error);
	if (rc == 0)
		rc = copy_open_spans(copy, &stream, error);
	if (rc == 0)
		rc = copy_monitored(copy, &stream, error);
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
	store_batch_init(&copy->batch);
	for (size_t i = 0; i < sizeof copied_meta / sizeof *copied_meta; i++) {
		const char *value = store_reader_meta(copy->reader, copied_meta[i]);

		if (value)
			store_writer_meta(copy->writer, copied_meta[i], value);
	}
	return slice_ids_init(&copy->ids, copy->reader, copy->writer, error);
}

static void copy_fini(struct copy *copy)
{
	slice_ids_fini(&copy->ids);
	store_batch_fini(&copy->batch);
}

static int copy_streams(struct copy *copy, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(copy->select, &count);
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(copy->run, streams[i])->store == copy->store)
			rc = copy_stream(copy, streams[i], error);
	return rc;
}

static int copy_store(struct run *run, const struct select *select, unsigned store,
	const struct run_create *new_run, bool is_archive, struct error *error)
{
	struct copy copy = {.run = run, .select = select, .store = store};
	char name[32];
	int rc;

	snprintf(name, sizeof name, "part-%04u", store);
	rc = run_create_store(new_run, name, &copy.writer, error);
	if (rc < 0)
		return rc;
	rc = copy_init(&copy, error);
	if (rc == 0)
		rc = copy_streams(&copy, error);
	if (rc == 0)
		rc = slice_files_copy(&copy.ids.files, copy.reader, copy.writer, error);
	if (rc == 0)
		rc = store_writer_close(copy.writer, error);
	else
		store_writer_abort(copy.writer);
	copy_fini(&copy);
	return rc == 0 && is_archive ? run_create_archive(new_run, name, error) : rc;
}

static int copy_stores(struct run *run, const struct select *select, const struct run_create *new_run,
	bool is_archive, struct error *error)
{
	int rc = 0;

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = copy_store(run, select, store, new_run, is_archive, error);
	return rc;
}

static int end_run(struct run_create *new_run, int rc, struct error *error)
{
	if (rc == 0)
		return run_create_commit(new_run, error);
	run_create_abort(new_run);
	return rc;
}

static int begin_run(struct run_create *new_run, struct run *run, const struct select *select,
	const char *path, struct error *error)
{
	int rc = select_has_time(select) ? coverage_require(run, select, error) : 0;

	return rc == 0 ? run_create_begin(new_run, path, error) : rc;
}

int slice_copy(struct run *run, const struct select *select, const char *path, struct error *error)
{
	struct run_create new_run;
	int rc = begin_run(&new_run, run, select, path, error);

	if (rc < 0)
		return rc;
	return end_run(&new_run, copy_stores(run, select, &new_run, false, error), error);
}

bool slice_is_everything(const struct run *run, const struct select *select)
{
	uint32_t count;

	select_all_streams(select, &count);
	return !select_has_time(select) && !select_has_record_filter(select) &&
	       count == run_stream_count(run);
}

/* Stores as they are, bookmarks besides. */
static int archive_stores(struct run *run, const struct run_create *new_run, struct error *error)
{
	int rc = run_create_keep_file(new_run, run_path(run), BOOKMARK_FILE, error);

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = run_create_archive_of(new_run, run_store_path(run, store), error);
	return rc;
}

int slice_archive(struct run *run, const struct select *select, const char *path, struct error *error)
{
	struct run_create new_run;
	int rc = begin_run(&new_run, run, select, path, error);

	if (rc < 0)
		return rc;
	rc = slice_is_everything(run, select) ? archive_stores(run, &new_run, error)
					      : copy_stores(run, select, &new_run, true, error);
	return end_run(&new_run, rc, error);
}
