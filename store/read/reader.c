/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - a store at one snapshot: its tables, loaded once and extended by renew. cursor.c walks chunks
 * and chunk_read.c decodes them. Spans that were open at the last commit are read on first use.
 */
#include "store/read/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/catalog/append_block.h"
#include "store/catalog/lazy_text.h"
#include "store/file/readahead.h"
#include "store/read/reader_internal.h"

int store_reader_damaged(const struct store_reader *reader, const char *what, struct error *error)
{
	if (store_pages_are_lost(&reader->snapshot.pages))
		return store_pages_lost(&reader->snapshot.pages, error);
	return error_set(error, ERROR_RUN, "'%s' is damaged (%s); restore it from a copy",
		store_file_path(reader->snapshot.file), what);
}

/* ---- loading the tables ---- */

static int load_facts(struct store_reader *reader, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc;

	reader->fact_count = 0;
	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_META]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		struct store_input input =
			store_input_sealed(cursor.value, cursor.key.bytes, cursor.key.size);
		struct store_fact *fact;

		if (input.bad)
			return store_reader_damaged(reader, "a fact about the run", error);
		fact = store_id_table_add(
			&reader->facts, &reader->fact_count, &reader->fact_capacity, sizeof *fact);
		if (!fact)
			return error_memory(error);
		fact->key = arena_copy(&reader->arena, (const char *)cursor.key.bytes, cursor.key.size);
		fact->value =
			arena_copy(&reader->arena, (const char *)input.at, (size_t)(input.end - input.at));
		if (!fact->key || !fact->value)
			return error_memory(error);
	}
	return rc;
}

static int load_pack(struct store_reader *reader, enum store_tree_id tree, void *table,
	store_append_block_get_entry *get_entry, struct error *error)
{
	return store_append_block_get(&reader->snapshot, tree, &reader->tails[tree], &reader->stored[tree],
		table, get_entry, error);
}

/* In a finished store texts are decoded on use. */
static int load_texts(struct store_reader *reader, struct error *error)
{
	int rc;

	if (!reader->list.count || reader->texts.count > 1 || reader->texts.late)
		return load_pack(reader, STORE_TREE_TEXT, &reader->texts, store_texts_get, error);
	rc = store_lazy_text_load(&reader->texts, &reader->snapshot, &reader->tails[STORE_TREE_TEXT],
		&reader->stored[STORE_TREE_TEXT], error);
	return rc == -ERROR_RUN ? store_reader_damaged(reader, "its table 'text'", error) : rc;
}

static int load_tables(struct store_reader *reader, struct error *error)
{
	int rc = load_texts(reader, error);

	/* An unload time may have come to any module, so they are read from the first. */
	reader->tails[STORE_TREE_MODULE] = 0;
	reader->stored[STORE_TREE_MODULE] = 0;
	rc = rc ? rc : load_pack(reader, STORE_TREE_MODULE, &reader->modules, store_modules_get, error);
	rc = rc ? rc : load_pack(reader, STORE_TREE_METRIC, &reader->metrics, store_metrics_get, error);
	rc = rc ? rc : load_pack(reader, STORE_TREE_CONTEXT, &reader->contexts, store_contexts_get, error);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < reader->metrics.count; i++)
		if (reader->metrics.metrics[i].name >= reader->texts.count ||
			reader->metrics.metrics[i].unit >= reader->texts.count)
			return store_reader_damaged(reader, "a metric's name", error);
	return 0;
}

/* Does the store say what its streams are, and so many? Nobody changes them any more. */
static void find_list(struct store_reader *reader)
{
	const char *state = store_reader_meta(reader, "state");
	const char *list = store_reader_meta(reader, STORE_META_LIST);

	if (!list || !state || strcmp(state, "complete") != 0 || !store_stream_list_get(&reader->list, list))
		reader->list = (struct store_stream_list){0};
}

static int load_streams(struct store_reader *reader, struct error *error)
{
	bool is_damaged;
	int rc;

	reader->stream_count = 0;
	if (!reader->table)
		reader->table = calloc(1, sizeof *reader->table);
	if (!reader->table)
		return error_memory(error);
	rc = store_stream_table_load(reader->table, &reader->snapshot, reader->texts.count,
		reader->list.count != 0, &is_damaged, error);
	if (is_damaged)
		return store_reader_damaged(reader, "its table of streams", error);
	reader->stream_count = rc ? 0 : reader->table->count;
	if (reader->list.count != reader->stream_count)
		reader->list = (struct store_stream_list){0};
	return rc;
}

static int load(struct store_reader *reader, struct error *error)
{
	int rc;

	arena_fini(&reader->arena);
	store_symbols_fini(&reader->symbols);
	free(reader->spans);
	reader->spans = NULL;
	rc = load_facts(reader, error);
	if (rc)
		return rc;
	find_list(reader);
	rc = load_tables(reader, error);
	return rc ? rc : load_streams(reader, error);
}

/* ---- opening ---- */

/* What load() goes through. */
static void ask_for_tables(const struct store_reader *reader)
{
	const struct store_tree *trees = reader->snapshot.trees;
	const struct store_tree *const loaded[] = {&trees[STORE_TREE_META], &trees[STORE_TREE_TEXT],
		&trees[STORE_TREE_MODULE], &trees[STORE_TREE_METRIC], &trees[STORE_TREE_CONTEXT],
		&trees[STORE_TREE_STREAM]};

	store_readahead_trees(&reader->snapshot.pages, loaded, sizeof loaded / sizeof *loaded);
}

int store_reader_open(struct store_reader **reader_out, const char *path, struct error *error)
{
	struct store_reader *reader = calloc(1, sizeof *reader);
	int rc;

	if (!reader)
		return error_memory(error);
	store_batch_init(&reader->batch);
	if (store_texts_init(&reader->texts) || store_modules_init(&reader->modules, &reader->texts) ||
		store_contexts_init(&reader->contexts, &reader->modules, &reader->texts))
		rc = error_memory(error);
	else
		rc = store_file_open(&reader->snapshot.file, path, error);
	store_snapshot_expect_scattered(&reader->snapshot, true);
	rc = rc ? rc : store_snapshot_renew(&reader->snapshot, error);
	if (!rc) {
		ask_for_tables(reader);
		rc = load(reader, error);
	}
	if (rc) {
		store_reader_close(reader);
		return rc;
	}
	store_snapshot_expect_scattered(&reader->snapshot, false);
	*reader_out = reader;
	return 0;
}

void store_reader_close(struct store_reader *reader)
{
	struct store_file *file = reader->snapshot.file;

	store_snapshot_end(&reader->snapshot);
	if (file)
		store_file_close(file);
	store_texts_fini(&reader->texts);
	store_modules_fini(&reader->modules);
	store_metrics_fini(&reader->metrics);
	store_contexts_fini(&reader->contexts);
	store_batch_fini(&reader->batch);
	store_context_sums_fini(&reader->sums);
	store_sum_columns_fini(&reader->works);
	store_symbols_fini(&reader->symbols);
	arena_fini(&reader->arena);
	if (reader->table)
		store_stream_table_fini(reader->table);
	free(reader->table);
	free(reader->facts);
	free(reader->spans);
	free(reader);
}

/* Is it the same recording as the reader's? Then its ids are, too. */
static bool is_same_recording(const struct store_reader *reader, const struct store_snapshot *other)
{
	static const char key[] = "origin_ns";
	const char *origin = store_reader_meta(reader, key);
	struct store_slice value;
	struct store_input input;

	if (!origin || store_tree_get(&other->pages, &other->trees[STORE_TREE_META], key, strlen(key), &value,
			       NULL) != 1)
		return false;
	input = store_input_sealed(value, key, strlen(key));
	return !input.bad && (size_t)(input.end - input.at) == strlen(origin) &&
	       memcmp(input.at, origin, strlen(origin)) == 0;
}

/* A copy of a store elsewhere is replaced now and then: opens the newest copy. True: it did. */
static bool follow_copy(struct store_reader *reader)
{
	struct store_file *old = reader->snapshot.file;
	struct store_snapshot newer = {0};

	if (!store_reader_meta(reader, STORE_META_COPIED) || !store_file_is_replaced(old) ||
		store_file_open(&newer.file, store_file_path(old), NULL))
		return false;
	if (store_snapshot_renew(&newer, NULL) || !is_same_recording(reader, &newer)) {
		struct store_file *file = newer.file;

		store_snapshot_end(&newer);
		store_file_close(file);
		return false;
	}
	store_snapshot_end(&reader->snapshot);
	store_file_close(old);
	reader->snapshot = newer;
	return true;
}

int store_reader_renew(struct store_reader *reader, bool *changed, struct error *error)
{
	const void *map = reader->snapshot.map;
	uint64_t before = reader->snapshot.pages.transaction;
	bool is_followed;
	int rc;

	store_lazy_text_settle(&reader->texts);
	is_followed = follow_copy(reader);
	rc = store_snapshot_renew(&reader->snapshot, error);
	*changed = reader->is_left || is_followed || reader->snapshot.map != map ||
		   reader->snapshot.pages.transaction != before;
	if (rc || *changed) {
		store_stream_table_leave(reader->table);
		reader->is_left = true;
	}
	if (!rc && *changed)
		rc = load(reader, error);
	if (!rc)
		reader->is_left = false;
	return rc;
}

/* ---- what is in the tables ---- */

const char *store_reader_meta(const struct store_reader *reader, const char *key)
{
	for (uint32_t i = 0; i < reader->fact_count; i++)
		if (strcmp(reader->facts[i].key, key) == 0)
			return reader->facts[i].value;
	return NULL;
}

uint64_t store_reader_meta_number(const struct store_reader *reader, const char *key, uint64_t otherwise)
{
	const char *value = store_reader_meta(reader, key);
	char *end;
	uint64_t number;

	if (!value || *value < '0' || *value > '9')
		return otherwise;
	number = strtoull(value, &end, 10);
	return *end ? otherwise : number;
}

uint32_t store_reader_timed_count(const struct store_reader *reader)
{
	uint64_t gauges = store_reader_meta_number(reader, STORE_META_GAUGES, 0);

	return reader->stream_count -
	       (uint32_t)(gauges < reader->stream_count ? gauges : reader->stream_count);
}

bool store_reader_is_archive(const struct store_reader *reader)
{
	return store_file_packed(reader->snapshot.file) != NULL;
}

uint64_t store_reader_bytes(const struct store_reader *reader)
{
	if (store_reader_is_archive(reader))
		return store_file_bytes(reader->snapshot.file);
	return reader->snapshot.pages.page_count * reader->snapshot.pages.page_bytes;
}

const struct store_context *store_reader_contexts(const struct store_reader *reader, uint32_t *count)
{
	*count = reader->contexts.count;
	return reader->contexts.nodes;
}

const struct store_module *store_reader_modules(const struct store_reader *reader, uint32_t *count)
{
	*count = reader->modules.count;
	return reader->modules.modules;
}

const struct store_metric *store_reader_metrics(const struct store_reader *reader, uint32_t *count)
{
	*count = reader->metrics.count;
	return reader->metrics.metrics;
}

uint32_t store_reader_stream_count(const struct store_reader *reader)
{
	return reader->stream_count;
}

const struct store_stream *store_reader_stream(const struct store_reader *reader, uint32_t stream)
{
	return store_reader_at(reader, stream);
}

const struct store_stream *store_reader_stream_peek(const struct store_reader *reader, uint32_t stream)
{
	return store_stream_table_peek(reader->table, stream);
}

const struct store_stream *store_reader_streams(const struct store_reader *reader, uint32_t *count)
{
	store_stream_table_all(reader->table);
	*count = reader->stream_count;
	return reader->table->streams;
}

const struct store_stream_list *store_reader_stream_list(const struct store_reader *reader)
{
	return reader->list.count ? &reader->list : NULL;
}

uint64_t store_reader_records(const struct store_reader *reader, enum store_track track)
{
	uint64_t records = 0;

	if (reader->list.count)
		return reader->list.records[track];
	for (uint32_t stream = 0; stream < reader->stream_count; stream++)
		records += store_reader_at(reader, stream)->count[track];
	return records;
}

void store_reader_expect_scattered(struct store_reader *reader, bool is_scattered)
{
	store_snapshot_expect_scattered(&reader->snapshot, is_scattered);
}

const char *store_reader_text(const struct store_reader *reader, uint32_t id, size_t *size_bytes)
{
	struct store_slice text = store_texts_at(&reader->texts, id);

	if (size_bytes)
		*size_bytes = text.size;
	return (const char *)text.bytes;
}

uint32_t store_reader_text_count(const struct store_reader *reader)
{
	return reader->texts.count;
}

const char *store_reader_text_peek(const struct store_reader *reader, uint32_t id)
{
	return (const char *)store_texts_peek(&reader->texts, id).bytes;
}

const char *store_reader_op(const struct store_reader *reader, uint32_t op, size_t *size_bytes)
{
	const char *name = store_op_name(op);

	if (!name)
		return store_reader_text(reader, op >= STORE_OP_TEXT ? op - STORE_OP_TEXT : 0, size_bytes);
	if (size_bytes)
		*size_bytes = strlen(name);
	return name;
}

static bool span_is_sound(const struct store_reader *reader, const struct store_record *record)
{
	return record->context < reader->contexts.count && record->attributes < reader->texts.count &&
	       (record->what < STORE_OP_TEXT || record->what - STORE_OP_TEXT < reader->texts.count);
}

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static struct store_record thinned_span(const struct store_stream *stream)
{
	struct store_record span = {
		.begin_ns = stream->begin_ns, .end_ns = stream->thinned_ns, .what = STORE_OP_THINNED};

	if (stream->end_ns > stream->begin_ns && stream->end_ns < span.end_ns)
		span.end_ns = stream->end_ns;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		span.amount += stream->dropped[track];
	return span;
}

/* At least nine bytes make a span, so the value's size bounds their number. */
static int load_spans(struct store_reader *reader, const struct store_stream *stream,
	struct store_spans *spans, struct store_input input, struct error *error)
{
	struct store_record *records =
		arena_calloc(&reader->arena, (size_t)(input.end - input.at) / 9 + 2, sizeof *records);
	struct store_open_span span;

	if (!records)
		return error_memory(error);
	spans->count = 0;
	while (input.at < input.end && !input.bad) {
		store_open_span_get(&span, &input);
		if (!input.bad && span_is_sound(reader, &span.record))
			records[spans->count++] = span.record;
		else
			input.bad = true;
	}
	if (input.bad)
		return store_reader_damaged(reader, "open spans", error);
	if (stream->thinned_ns > stream->begin_ns)
		records[spans->count++] = thinned_span(stream);
	qsort(records, spans->count, sizeof *records, compare_records);
	spans->records = records;
	spans->is_loaded = true;
	return 0;
}

static int find_spans(
	struct store_reader *reader, uint32_t stream, struct store_spans *spans, struct error *error)
{
	uint8_t key[STORE_KEY_ID_BYTES];
	struct store_slice value;
	int rc;

	store_key_id_put(key, stream);
	rc = store_tree_get_sealed(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_OPEN], key,
		sizeof key, &value, error);
	if (rc < 0)
		return rc;
	return load_spans(reader, store_reader_at(reader, stream), spans,
		rc ? store_input_sealed(value, key, sizeof key) : (struct store_input){0}, error);
}

int store_reader_open_spans(struct store_reader *reader, uint32_t stream, const struct store_record **records,
	size_t *count, struct error *error)
{
	int rc = 0;

	*records = NULL;
	*count = 0;
	if (stream >= reader->stream_count)
		return 0;
	if (!reader->spans)
		reader->spans = calloc(reader->stream_count, sizeof *reader->spans);
	if (!reader->spans)
		return error_memory(error);
	if (!reader->spans[stream].is_loaded)
		rc = find_spans(reader, stream, &reader->spans[stream], error);
	if (rc)
		return rc;
	*records = reader->spans[stream].records;
	*count = reader->spans[stream].count;
	return 0;
}
