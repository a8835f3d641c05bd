/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - the writer of a store: tables in memory, records in builders (ingest.c). Nothing here touches
 * the file between creating and closing it; commit.c does.
 */
#include "store/write/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/filesystem.h"
#include "store/base/id_table.h"
#include "store/write/compact.h"
#include "store/write/writer_internal.h"

static struct open_spans *open_spans_of(struct store_writer *writer, uint32_t stream)
{
	struct open_spans *open;

	while (writer->open_of_count <= stream)
		if (!store_id_table_add(&writer->open_of, &writer->open_of_count, &writer->open_of_capacity,
			    sizeof *writer->open_of))
			return NULL;
	if (writer->open_of[stream])
		return &writer->open[writer->open_of[stream] - 1];
	open = store_id_table_add(&writer->open, &writer->open_count, &writer->open_capacity, sizeof *open);
	if (!open)
		return NULL;
	open->stream = stream;
	writer->open_of[stream] = writer->open_count;
	return open;
}

/* Searches the newest first: they are the likeliest. */
static struct store_open_span *span_find(const struct open_spans *open, uint64_t handle)
{
	for (uint32_t i = open->count; i-- > 0;)
		if (open->spans[i].handle == handle)
			return &open->spans[i];
	return NULL;
}

void store_writer_span_open(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *record)
{
	struct open_spans *open;
	struct store_open_span *span;

	if (stream >= writer->stream_count)
		return;
	open = open_spans_of(writer, stream);
	span = open ? span_find(open, handle) : NULL;
	if (open && !span)
		span = store_id_table_add(&open->spans, &open->count, &open->capacity, sizeof *span);
	if (!span) {
		writer->failed = true;
		return;
	}
	span->handle = handle;
	span->record = *record;
	span->record.end_ns = STORE_OPEN_NS;
	open->is_dirty = true;
	store_state_builders_open(
		&writer->builders, stream, &writer->streams[stream], record, &writer->texts);
}

void store_writer_span_close(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *finished)
{
	struct open_spans *open = stream < writer->open_of_count && writer->open_of[stream]
					  ? &writer->open[writer->open_of[stream] - 1]
					  : NULL;
	struct store_open_span *span = open ? span_find(open, handle) : NULL;

	if (span) {
		*span = open->spans[--open->count];
		open->is_dirty = true;
	}
	if (finished)
		store_writer_append(writer, stream, STORE_SPANS, finished, 1);
}

#define PATIENCE_NS UINT64_C(20000000000)
#define META_KEY_BYTES_MAX 511u /* LMDB's longest key */

/* ---- creating and ending ---- */

static void writer_free(struct store_writer *writer)
{
	if (writer->file)
		store_file_close(writer->file);
	store_texts_fini(&writer->texts);
	store_modules_fini(&writer->modules);
	store_metrics_fini(&writer->metrics);
	store_contexts_fini(&writer->contexts);
	for (uint32_t i = 0; i < writer->open_count; i++)
		free(writer->open[i].spans);
	free(writer->open);
	free(writer->open_of);
	free(writer->streams);
	free(writer->dirty_streams);
	store_ingest_fini(&writer->ingest);
	store_run_total_fini(&writer->total);
	store_state_builders_fini(&writer->builders);
	store_retention_fini(&writer->retention);
	store_bytes_fini(&writer->facts);
	store_bytes_fini(&writer->scratch);
	free(writer);
}

static int open_databases(struct store_writer *writer, MDB_txn *txn)
{
	int rc = 0;

	for (unsigned tree = 0; tree < STORE_TREE_COUNT && !rc; tree++)
		rc = mdb_dbi_open(txn, store_tree_name(tree), MDB_CREATE, &writer->dbi[tree]);
	return rc;
}

static int create_databases(struct store_writer *writer, struct error *error)
{
	MDB_txn *txn;
	int rc = mdb_txn_begin(store_file_env(writer->file), NULL, 0, &txn);

	if (rc)
		return store_file_failed(writer->file, "create", rc, error);
	rc = open_databases(writer, txn);
	if (rc)
		mdb_txn_abort(txn);
	else
		rc = mdb_txn_commit(txn);
	return rc ? store_file_failed(writer->file, "create", rc, error) : 0;
}

static int init_tables(struct store_writer *writer, struct error *error)
{
	if (store_texts_init(&writer->texts) || store_modules_init(&writer->modules, &writer->texts) ||
		store_contexts_init(&writer->contexts, &writer->modules, &writer->texts))
		return error_memory(error);
	writer->ingest.env = store_file_env(writer->file);
	writer->ingest.total = &writer->total;
	writer->total.contexts = &writer->contexts.count;
	writer->ingest.rolls.metrics = &writer->metrics;
	writer->builders.ingest = &writer->ingest;
	store_state_builders_tell_names(&writer->builders, &writer->contexts);
	writer->builders.all_streams.is_few = true;
	memcpy(writer->ingest.dbi, writer->dbi, sizeof writer->dbi);
	return 0;
}

int store_writer_create(struct store_writer **writer_out, const char *path, struct error *error)
{
	return store_writer_create_telling(writer_out, path, NULL, NULL, error);
}

int store_writer_create_telling(struct store_writer **writer_out, const char *path,
	void (*tell)(struct store_writer *writer, void *own), void *own, struct error *error)
{
	struct store_writer *writer = calloc(1, sizeof *writer);
	char version[32];
	int rc;

	if (!writer)
		return error_memory(error);
	writer->patience_ns = PATIENCE_NS;
	rc = store_file_create(&writer->file, path, error);
	if (rc) {
		writer_free(writer);
		return rc;
	}
	/* An empty store is not worth waiting for the disk: the first commit of records syncs it, too. */
	mdb_env_set_flags(store_file_env(writer->file), MDB_NOSYNC, 1);
	rc = create_databases(writer, error);
	rc = rc ? rc : init_tables(writer, error);
	snprintf(version, sizeof version, "%u.%u", STORE_FORMAT_MAJOR, STORE_FORMAT_MINOR);
	if (!rc) {
		store_writer_meta(writer, STORE_FORMAT_KEY, version);
		store_writer_meta(writer, "state", "recording");
		if (tell)
			tell(writer, own);
		rc = store_writer_commit(writer, error);
	}
	if (rc) {
		remove(path);
		writer_free(writer);
		return rc;
	}
	*writer_out = writer;
	return 0;
}

void store_writer_hurry(struct store_writer *writer)
{
	bool is_remote = true;
	int fd;

	if (!mdb_env_get_fd(store_file_env(writer->file), &fd) && store_filesystem_of(fd, &is_remote) &&
		!is_remote)
		mdb_env_set_flags(store_file_env(writer->file), MDB_NOSYNC, 1);
}

static void put_list(struct store_writer *writer)
{
	struct store_stream_list list;
	char text[STORE_STREAM_LIST_BYTES];

	if (!store_stream_list_of(&list, writer->streams, writer->stream_count, &writer->texts))
		return;
	store_stream_list_put(&list, text);
	store_writer_meta(writer, STORE_META_LIST, text);
}

int store_writer_close(struct store_writer *writer, struct error *error)
{
	int rc;

	put_list(writer);
	store_writer_meta(writer, "state", "complete");
	writer->is_closing = true;
	rc = store_writer_commit(writer, error);
	if (!rc && !store_compact_in_place(writer->file, !writer->retention.shift) &&
		mdb_env_sync(store_file_env(writer->file), 1) != 0)
		rc = store_file_failed(writer->file, "write", errno, error);
	writer_free(writer);
	return rc;
}

void store_writer_abort(struct store_writer *writer)
{
	writer_free(writer);
}

/* ---- facts: meta and symbols wait as the bytes they will be ---- */

void store_writer_fact(struct store_writer *writer, enum store_tree_id tree, const void *key, size_t key_size)
{
	uint32_t sizes[2] = {(uint32_t)key_size, (uint32_t)writer->scratch.size};
	uint8_t which = (uint8_t)tree;

	store_bytes_seal(&writer->scratch, key, key_size);
	writer->facts.failed |= writer->scratch.failed;
	store_bytes_put(&writer->facts, &which, sizeof which);
	store_bytes_put(&writer->facts, sizes, sizeof sizes);
	store_bytes_put(&writer->facts, key, key_size);
	store_bytes_put(&writer->facts, writer->scratch.data, writer->scratch.size);
	writer->failed |= writer->facts.failed;
}

void store_writer_meta(struct store_writer *writer, const char *key, const char *value)
{
	size_t key_size = strlen(key);

	if (!key_size || key_size > META_KEY_BYTES_MAX)
		return;
	store_bytes_begin_sealed(&writer->scratch);
	store_bytes_put(&writer->scratch, value, strlen(value));
	store_writer_fact(writer, STORE_TREE_META, key, key_size);
}

void store_writer_meta_number(struct store_writer *writer, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	store_writer_meta(writer, key, text);
}

void store_writer_symbol(struct store_writer *writer, uint32_t module, uint64_t offset,
	const struct store_scope *scopes, size_t count)
{
	uint8_t key[STORE_KEY_SYMBOL_BYTES];

	store_key_symbol_put(key, module, offset);
	store_bytes_begin_sealed(&writer->scratch);
	store_symbol_put(&writer->scratch, scopes, count < STORE_SCOPE_MAX ? count : STORE_SCOPE_MAX);
	store_writer_fact(writer, STORE_TREE_SYMBOL, key, sizeof key);
}

/* ---- tables ---- */

/* The id, or 0 and a writer gone bad. */
static uint32_t id_or_failed(struct store_writer *writer, uint32_t id)
{
	if (id != STORE_ID_FAILED)
		return id;
	writer->failed = true;
	return 0;
}

uint32_t store_writer_text(struct store_writer *writer, const char *bytes, size_t size_bytes)
{
	return id_or_failed(writer, store_texts_intern(&writer->texts, bytes, size_bytes));
}

uint32_t store_writer_metric(struct store_writer *writer, const char *name, const char *unit, bool is_real)
{
	struct store_metric metric = {.name = store_writer_text(writer, name, strlen(name)),
		.unit = store_writer_text(writer, unit, strlen(unit)),
		.is_real = is_real};

	return id_or_failed(writer, store_metrics_intern(&writer->metrics, &metric));
}

uint32_t store_writer_figure(struct store_writer *writer, const char *name, const char *unit, bool is_real,
	enum store_metric_kind kind)
{
	struct store_metric metric = {.name = store_writer_text(writer, name, strlen(name)),
		.unit = store_writer_text(writer, unit, strlen(unit)),
		.is_real = is_real,
		.kind = (uint8_t)kind};

	return id_or_failed(writer, store_metrics_intern(&writer->metrics, &metric));
}

uint32_t store_writer_module(struct store_writer *writer, const struct store_module *module)
{
	uint32_t known = writer->modules.count;
	uint32_t id = id_or_failed(writer, store_modules_intern(&writer->modules, module));

	/* Loaded again: it is there once more. */
	if (id && id < known && writer->modules.modules[id].unload_ns && !module->unload_ns) {
		writer->modules.modules[id].unload_ns = 0;
		writer->modules_changed = true;
	}
	return id;
}

void store_writer_module_unloaded(struct store_writer *writer, uint32_t module, uint64_t unload_ns)
{
	if (module == STORE_MODULE_RESERVED || module >= writer->modules.count)
		return;
	writer->modules.modules[module].unload_ns = unload_ns;
	writer->modules_changed = true;
}

uint32_t store_writer_context(struct store_writer *writer, uint32_t parent, uint32_t module, uint64_t offset)
{
	if (parent >= writer->contexts.count || module >= writer->modules.count)
		return STORE_CONTEXT_NONE;
	return id_or_failed(writer, store_contexts_intern(&writer->contexts, parent, module, offset));
}

uint32_t store_writer_text_module(struct store_writer *writer)
{
	return store_writer_module(writer, &(struct store_module){.kind = STORE_MODULE_TEXT});
}

uint32_t store_writer_op(struct store_writer *writer, const char *name, size_t size_bytes)
{
	uint32_t op = store_op_find(name, size_bytes);

	return op < STORE_OP_COUNT ? op : STORE_OP_TEXT + store_writer_text(writer, name, size_bytes);
}

uint32_t store_writer_context_count(const struct store_writer *writer)
{
	return writer->contexts.count;
}

struct store_context store_writer_context_at(const struct store_writer *writer, uint32_t id)
{
	return writer->contexts.nodes[id < writer->contexts.count ? id : 0];
}

struct store_module store_writer_module_at(const struct store_writer *writer, uint32_t id)
{
	return writer->modules.modules[id < writer->modules.count ? id : 0];
}

const char *store_writer_text_at(const struct store_writer *writer, uint32_t id, size_t *size_bytes)
{
	struct store_slice text = store_texts_at(&writer->texts, id);

	if (size_bytes)
		*size_bytes = text.size;
	return (const char *)text.bytes;
}

/* ---- streams ---- */

static bool mark_stream(struct store_writer *writer, uint32_t stream)
{
	while (writer->dirty_count <= stream / STORE_STREAM_DENSE) {
		if (!store_id_table_add(
			    &writer->dirty_streams, &writer->dirty_count, &writer->dirty_capacity, 1)) {
			writer->failed = true;
			return false;
		}
	}
	writer->dirty_streams[stream / STORE_STREAM_DENSE] = 1;
	return true;
}

uint32_t store_writer_stream(struct store_writer *writer, const struct store_stream *stream)
{
	struct store_stream *to;

	if (!mark_stream(writer, writer->stream_count))
		return UINT32_MAX;
	to = store_id_table_add(
		&writer->streams, &writer->stream_count, &writer->stream_capacity, sizeof *to);
	if (!to) {
		writer->failed = true;
		return UINT32_MAX;
	}
	*to = *stream;
	if (stream->kind == STORE_STREAM_GAUGES)
		store_writer_meta_number(writer, STORE_META_GAUGES, ++writer->gauge_streams);
	memset(to->count, 0, sizeof to->count);
	memset(to->shifts, 0, sizeof to->shifts);
	memset(to->dropped, 0, sizeof to->dropped);
	to->thinned_ns = 0;
	if (writer->stream_count == STORE_ALL_STREAMS_STREAMS)
		store_state_builders_wake(&writer->builders);
	return writer->stream_count - 1;
}

struct store_stream *store_writer_stream_edit(struct store_writer *writer, uint32_t stream)
{
	if (stream >= writer->stream_count)
		return NULL;
	mark_stream(writer, stream);
	return &writer->streams[stream];
}

/* ---- records ---- */

static void append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count)
{
	struct store_stream *to = &writer->streams[stream];

	if (!count)
		return;
	if (track != STORE_SPANS && to->kind != STORE_STREAM_GAUGES)
		store_writer_overflow_check(writer, records, count);
	store_state_builders_append(&writer->builders, stream, to, track, records, count, &writer->texts);
	if (store_ingest_append(&writer->ingest, stream, track, records, count, &to->shifts[track]))
		to->count[track] += count;
	else
		writer->failed = true;
	if (store_state_builders_is_full(&writer->builders, stream))
		store_writer_roll(writer, stream);
}

void store_writer_append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count)
{
	struct store_stream *to = store_writer_stream_edit(writer, stream);
	size_t first = 0;

	if (!to || track >= STORE_TRACK_COUNT)
		return;
	for (size_t i = 0; i < count && writer->retention.until_ns; i++)
		if (store_retention_is_late(&writer->retention, track, &records[i])) {
			append(writer, stream, track, records + first, i - first);
			first = i + 1;
			to->lost++;
		}
	append(writer, stream, track, records + first, count - first);
}

void store_writer_keep(struct store_writer *writer, uint64_t now_ns, uint64_t keep_ns)
{
	store_retention_ask(&writer->retention, now_ns, keep_ns);
	writer->ingest.shift_most = writer->retention.shift;
	writer->builders.is_thinned = writer->retention.shift;
}

void store_writer_patience(struct store_writer *writer, uint64_t patience_ns)
{
	writer->patience_ns = patience_ns;
}
