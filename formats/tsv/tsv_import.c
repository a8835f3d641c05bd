/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_import.c - makes a run from rows written by hpct-slice, a script or by hand. `monitored` rows tell
 * which samples own the timeline, and may come after the samples; so the rows are read twice:
 *
 *   pass 1   streams, and the metrics of their time sources
 *   pass 2   records
 *
 * Input that cannot be read twice is copied to a temporary file. One store holds all hosts; origin 0.
 */
#include "formats/tsv/tsv_import.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/base/format.h"
#include "formats/base/stream_text.h"
#include "formats/tsv/tsv_row.h"
#include "store/base/attribute.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/base/run_create.h"
#include "timeline/slice/slice.h"

#define COMMIT_BYTES (64u << 20)
#define TEXT_MAX 4096

struct identity {
	struct store_hash host;
	uint32_t kind, rank, pid, generation, thread, device, context, queue;
};

/* ---- streams ---- */

static int new_stream(
	struct import *import, const char *text, size_t size, uint32_t *stream, struct error *error)
{
	struct import_stream new = {.id = UINT32_MAX};
	const char *host;
	size_t host_size;
	bool is_new;

	if (!stream_text_parse(text, size, &new.s, &host, &host_size))
		return tsv_reader_bad(&import->reader, TSV_STREAM,
			"is no stream; write cpu:HOST/RANK/PID.GENERATION/THREAD or "
			"gpu:HOST/RANK/PID.GENERATION/DEVICE/CONTEXT/QUEUE, - for what it has not",
			error);
	*stream = key_ids_put(&import->identities,
		&(struct identity){store_hash128(host, host_size), new.s.kind, (uint32_t) new.s.rank,
			new.s.pid, new.s.generation, new.s.thread, new.s.device, new.s.context, new.s.queue},
		&is_new);
	if (*stream == KEY_IDS_NONE)
		return error_memory(error);
	if (!is_new)
		return 0;
	if (!tsv_row_reserve(&import->streams, *stream, sizeof *import->streams))
		return error_memory(error);
	new.s.host = store_writer_text(import->writer, host, host_size);
	import->streams[*stream] = new;
	return 0;
}

static int find_stream(struct import *import, uint32_t *stream, struct error *error)
{
	struct store_hash hash;
	uint32_t text;
	bool is_new;
	int rc = tsv_row_text(import, TSV_STREAM, error);

	if (rc < 0)
		return rc;
	hash = store_hash128(import->text.data, import->text.size);
	text = key_ids_put(&import->texts, &hash, &is_new);
	if (text == KEY_IDS_NONE)
		return error_memory(error);
	if (is_new) {
		if (!tsv_row_reserve(&import->text_streams, text, sizeof *import->text_streams))
			return error_memory(error);
		rc = new_stream(import, (const char *)import->text.data, import->text.size,
			&import->text_streams[text], error);
	}
	*stream = rc < 0 ? 0 : import->text_streams[text];
	return rc;
}

/* ---- pass 1 ---- */

static bool is_monitored(const struct import *import)
{
	return tsv_row_is(import, TSV_OP, store_op_name(STORE_OP_MONITORED));
}

/* Of several rows that say something the one counts that begins first, or ends first, or has the least hash:
 * rows may come in any order. */
static bool is_told(struct import_told *told, const struct import_told *row)
{
	if (told->is_known && told->begin_ns != row->begin_ns)
		return row->begin_ns < told->begin_ns;
	if (told->is_known && told->end_ns != row->end_ns)
		return row->end_ns < told->end_ns;
	return !told->is_known || store_hash_compare(row->attributes, told->attributes) < 0;
}

/* An attribute of the row, unless another row tells it. */
static bool take_told(const struct tsv_field *attributes, const char *name, struct import_told *told,
	const struct import_told *row, char value[TEXT_MAX])
{
	if (!is_told(told, row) || !attribute_get(attributes->text, attributes->size, name, value, TEXT_MAX))
		return false;
	*told = *row;
	return true;
}

/* What ran, and what the stream is called. */
static void name_stream(struct import *import, struct import_stream *stream,
	const struct tsv_field *attributes, const struct import_told *row)
{
	char value[TEXT_MAX];

	if (take_told(attributes, "command", &import->command, row, value))
		store_writer_meta(import->writer, "command", value);
	if (take_told(attributes, "name", &stream->name, row, value))
		stream->s.name = store_writer_text(import->writer, value, strlen(value));
	if (take_told(attributes, "device", &stream->device_name, row, value))
		stream->s.device_name = store_writer_text(import->writer, value, strlen(value));
	if (take_told(attributes, "tid", &stream->tid, row, value))
		stream->s.tid = (uint32_t)attribute_number(attributes->text, attributes->size, "tid", 0);
}

/* What a `monitored` row says of its stream. */
static int learn(struct import *import, struct import_stream *stream, uint64_t number, struct error *error)
{
	const struct tsv_field *attributes = &import->reader.fields[TSV_ATTRIBUTES];
	struct source_key key = {.stream = number};
	struct import_told row = {.is_known = true};
	char value[TEXT_MAX];
	int rc = tsv_reader_number(&import->reader, TSV_BEGIN, 0, &row.begin_ns, error);

	rc = rc ? rc : tsv_reader_number(&import->reader, TSV_END, STORE_OPEN_NS, &row.end_ns, error);
	if (rc)
		return rc;
	import->text.size = 0;
	escape_composed_undo(&import->text, attributes->text, attributes->size);
	if (import->text.failed)
		return error_memory(error);
	attributes = &(struct tsv_field){(const char *)import->text.data, import->text.size};
	stream->is_open |= tsv_row_is_empty(import, TSV_END);
	row.attributes = store_hash128(attributes->text, attributes->size);
	name_stream(import, stream, attributes, &row);
	if (attribute_get(attributes->text, attributes->size, "metric", value, sizeof value)) {
		stream->has_source = true;
		key.metric = store_hash128(value, strlen(value));
		if (key_ids_put(&import->sources, &key, NULL) == KEY_IDS_NONE)
			return error_memory(error);
	}
	return 0;
}

static int find_sources(struct import *import, struct error *error)
{
	uint32_t stream = 0;
	int rc;

	while ((rc = tsv_reader_next(&import->reader, error)) > 0) {
		rc = find_stream(import, &stream, error);
		if (rc == 0 && is_monitored(import))
			rc = learn(import, &import->streams[stream], stream, error);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* ---- pass 2 ---- */

static void note(struct import_stream *stream, enum store_track track, const struct store_record *record,
	bool is_partial)
{
	uint64_t end_ns = record->end_ns == STORE_OPEN_NS ? record->begin_ns : record->end_ns;

	if (!stream->is_known || record->begin_ns < stream->s.begin_ns)
		stream->s.begin_ns = record->begin_ns;
	if (!stream->is_known || end_ns > stream->s.end_ns)
		stream->s.end_ns = end_ns;
	stream->is_known = true;
	if (track == STORE_SPANS && record->what == STORE_OP_LOST)
		stream->s.lost += record->amount;
	if (track == STORE_SAMPLES)
		stream->s.partial += is_partial;
}

static int take_row(struct import *import, struct error *error)
{
	struct import_stream *stream;
	struct store_record record;
	struct import_path path = {0};
	enum store_track track = STORE_SAMPLES;
	uint32_t number = 0;
	int rc = find_stream(import, &number, error);

	if (rc == 0)
		rc = tsv_row_track(import, &track, error);
	if (rc < 0)
		return rc;
	stream = &import->streams[number];
	if (stream->id == UINT32_MAX)
		return tsv_reader_bad(
			&import->reader, TSV_STREAM, "was not there a moment ago: the file changed", error);
	rc = tsv_row_record(import, stream, track, &record, error);
	if (rc == 0)
		rc = tsv_row_path(import, &path, error);
	if (rc < 0)
		return rc;
	record.context = path.context;
	note(stream, track, &record, path.is_partial);
	if (record.end_ns == STORE_OPEN_NS)
		store_writer_span_open(import->writer, stream->id, stream->opened++, &record);
	else
		store_writer_append(import->writer, stream->id, track, &record, 1);
	return store_writer_pending_bytes(import->writer) < COMMIT_BYTES
		       ? 0
		       : store_writer_commit(import->writer, error);
}

/* ---- the whole ---- */

static int begin_streams(struct import *import, struct error *error)
{
	for (uint32_t i = 0; i < import->identities.count; i++) {
		import->streams[i].id = store_writer_stream(import->writer, &import->streams[i].s);
		if (import->streams[i].id == UINT32_MAX)
			return error_memory(error);
	}
	return 0;
}

static int end_streams(struct import *import, struct error *error)
{
	for (uint32_t i = 0; i < import->identities.count; i++) {
		const struct import_stream *from = &import->streams[i];
		struct store_stream *to = store_writer_stream_edit(import->writer, from->id);

		if (!to)
			return error_memory(error);
		to->begin_ns = from->s.begin_ns;
		to->end_ns = from->is_open ? STORE_OPEN_NS : from->s.end_ns;
		to->lost = from->s.lost;
		to->partial = from->s.partial;
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			to->complete_ns[track] = from->s.end_ns;
	}
	return 0;
}

static void put_facts(struct import *import)
{
	size_t size;

	store_writer_meta(import->writer, "recorder", "hpct-import " HPCT_VERSION);
	store_writer_meta_number(import->writer, "origin_ns", 0);
	if (import->identities.count > 0)
		store_writer_meta(import->writer, "host",
			store_writer_text_at(import->writer, import->streams[0].s.host, &size));
}

static int pass(struct import *import, FILE *in, const char *name,
	int (*take_all)(struct import *, struct error *), struct error *error)
{
	int rc = tsv_reader_begin(&import->reader, in, name, error);

	if (rc == 0)
		rc = take_all(import, error);
	tsv_reader_fini(&import->reader);
	return rc;
}

static int take_rows(struct import *import, struct error *error)
{
	int rc;

	while ((rc = tsv_reader_next(&import->reader, error)) > 0) {
		rc = take_row(import, error);
		if (rc < 0)
			break;
	}
	return rc;
}

static int fill_store(struct import *import, FILE *in, const char *name, struct error *error)
{
	int rc;

	key_ids_init(&import->texts, sizeof(struct store_hash));
	key_ids_init(&import->identities, sizeof(struct identity));
	key_ids_init(&import->sources, sizeof(struct source_key));
	key_ids_init(&import->paths, sizeof(struct store_hash));
	import->text_module = store_writer_text_module(import->writer);
	rc = pass(import, in, name, find_sources, error);
	if (rc < 0)
		return rc;
	rewind(in);
	put_facts(import);
	rc = begin_streams(import, error);
	if (rc == 0)
		rc = pass(import, in, name, take_rows, error);
	return rc < 0 ? rc : end_streams(import, error);
}

static void import_fini(struct import *import)
{
	key_ids_fini(&import->texts);
	key_ids_fini(&import->identities);
	key_ids_fini(&import->sources);
	key_ids_fini(&import->paths);
	free(import->text_streams);
	free(import->streams);
	free(import->contexts);
	store_bytes_fini(&import->text);
}

static int import_into(struct run_create *new_run, FILE *in, const char *name, struct error *error)
{
	struct import import = {0};
	int rc = run_create_store(new_run, "import", &import.writer, error);

	if (rc < 0)
		return rc;
	rc = fill_store(&import, in, name, error);
	if (rc == 0)
		rc = store_writer_close(import.writer, error);
	else
		store_writer_abort(import.writer);
	import_fini(&import);
	return rc;
}

int tsv_import(FILE *in, const char *name, const char *path, struct error *error)
{
	struct run_create new_run;
	FILE *rows = in;
	int rc = run_create_begin(&new_run, path, error);

	if (rc < 0)
		return rc;
	rc = format_rereadable(&rows, name, error);
	if (rc == 0)
		rc = import_into(&new_run, rows, name, error);
	if (rows != in)
		fclose(rows);
	if (rc == 0)
		return run_create_commit(&new_run, error);
	run_create_abort(&new_run);
	return rc;
}

static int tsv_take(struct format_input *input, const char *path, struct error *error)
{
	return tsv_import(input->in, input->name, path, error);
}

/* A first line of columns, one of which is the stream. */
static bool tsv_is(const uint8_t *head, size_t size)
{
	const uint8_t *end = memchr(head, '\n', size), *at = head, *next;

	if (!end || !memchr(head, '\t', (size_t)(end - head)))
		return false;
	for (; at < end; at = next + 1) {
		next = memchr(at, '\t', (size_t)(end - at));
		next = next ? next : end;
		if (next - at == 6 && memcmp(at, "stream", 6) == 0)
			return true;
	}
	return false;
}

static int tsv_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	return slice_print(run, select, REPORT_TSV, output->out, error);
}

const struct format format_tsv = {
	.name = "tsv", .about = "rows, as hpct-slice", .put = tsv_put, .take = tsv_take, .is = tsv_is};
