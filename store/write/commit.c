/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.c - puts all new data into one LMDB transaction. A failed commit changes nothing in memory, so the
 * next one tries again with more.
 */
#include <errno.h>

#include "store/key.h"
#include "store/write/writer_internal.h"

#define READER_CHECK_COMMITS 16u /* how often stale readers are looked for */

static int put_facts(struct store_writer *writer, MDB_txn *txn)
{
	struct store_input input = {.at = writer->facts.data, .end = writer->facts.data + writer->facts.size};
	int rc = 0;

	while (!rc && input.at < input.end) {
		uint8_t tree = *store_input_take(&input, 1);
		const uint8_t *sizes = store_input_take(&input, 8);
		MDB_val key = {.mv_size = store_load32(sizes)}, value = {.mv_size = store_load32(sizes + 4)};

		key.mv_data = (void *)store_input_take(&input, key.mv_size);
		value.mv_data = (void *)store_input_take(&input, value.mv_size);
		rc = mdb_put(txn, writer->dbi[tree], &key, &value, 0);
	}
	return rc;
}

static int put_pack(struct store_writer *writer, MDB_txn *txn, enum store_tree_id tree, const void *table,
	uint32_t count, store_append_block_put_entry *put_entry)
{
	bool rewrite = tree == STORE_TREE_MODULE && writer->modules_changed;

	return store_append_block_put(&writer->packs[tree], txn, writer->dbi[tree], table, count, rewrite,
		put_entry, &writer->scratch);
}

static int put_tables(struct store_writer *writer, MDB_txn *txn)
{
	int rc;

	rc = put_pack(writer, txn, STORE_TREE_TEXT, &writer->texts, writer->texts.count, store_texts_put);
	rc = rc ? rc
		: put_pack(writer, txn, STORE_TREE_MODULE, &writer->modules, writer->modules.count,
			  store_modules_put);
	rc = rc ? rc
		: put_pack(writer, txn, STORE_TREE_METRIC, &writer->metrics, writer->metrics.count,
			  store_metrics_put);
	return rc ? rc
		  : put_pack(writer, txn, STORE_TREE_CONTEXT, &writer->contexts, writer->contexts.count,
			    store_contexts_put);
}

static int put_value(struct store_writer *writer, MDB_txn *txn, enum store_tree_id tree, uint32_t id)
{
	uint8_t key_bytes[STORE_KEY_ID_BYTES];
	MDB_val key = {sizeof key_bytes, key_bytes}, value;

	store_key_id_put(key_bytes, id);
	store_bytes_seal(&writer->scratch, key_bytes, sizeof key_bytes);
	if (writer->scratch.failed)
		return ENOMEM;
	value = (MDB_val){writer->scratch.size, writer->scratch.data};
	return mdb_put(txn, writer->dbi[tree], &key, &value, 0);
}

static int put_streams(struct store_writer *writer, MDB_txn *txn)
{
	int rc = 0;

	for (uint32_t block = 0; block < writer->dirty_count && !rc; block++) {
		const uint32_t first = block * STORE_STREAM_DENSE;
		uint32_t count;

		if (!writer->dirty_streams[block] || first >= writer->stream_count)
			continue;
		count = writer->stream_count - first;
		store_bytes_begin_sealed(&writer->scratch);
		store_stream_block_put(&writer->scratch, &writer->streams[first],
			count < STORE_STREAM_DENSE ? count : STORE_STREAM_DENSE);
		rc = put_value(writer, txn, STORE_TREE_STREAM, first);
	}
	return rc;
}

static int delete_open(struct store_writer *writer, MDB_txn *txn, uint32_t stream)
{
	uint8_t key_bytes[STORE_KEY_ID_BYTES];
	MDB_val key = {sizeof key_bytes, key_bytes};
	int rc;

	store_key_id_put(key_bytes, stream);
	rc = mdb_del(txn, writer->dbi[STORE_TREE_OPEN], &key, NULL);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int put_open(struct store_writer *writer, MDB_txn *txn)
{
	int rc = 0;

	for (uint32_t i = 0; i < writer->open_count && !rc; i++) {
		struct open_spans *open = &writer->open[i];

		if (!open->is_dirty)
			continue;
		if (!open->count) {
			rc = delete_open(writer, txn, open->stream);
			continue;
		}
		store_bytes_begin_sealed(&writer->scratch);
		for (uint32_t s = 0; s < open->count; s++)
			store_open_span_put(&open->spans[s], &writer->scratch);
		rc = put_value(writer, txn, STORE_TREE_OPEN, open->stream);
	}
	return rc;
}

static int put_thinned(struct store_writer *writer, MDB_txn *txn)
{
	if (!store_retention_is_due(&writer->retention))
		return 0;
	for (uint32_t block = 0; block < writer->dirty_count; block++)
		writer->dirty_streams[block] = 1;
	return store_retention_put(&writer->retention, &writer->ingest, writer->streams, writer->stream_count,
		&writer->metrics, txn);
}

static int put_all(struct store_writer *writer, MDB_txn *txn)
{
	int rc = store_ingest_put(&writer->ingest, txn, writer->is_closing);

	rc = rc ? rc : put_thinned(writer, txn);
	rc = rc ? rc
		: store_run_total_put(
			  &writer->total, &writer->ingest.rolls, txn, writer->dbi, writer->is_closing);
	rc = rc ? rc : store_state_builders_put(&writer->builders, txn, writer->dbi[STORE_TREE_ROLL]);
	rc = rc ? rc : put_tables(writer, txn);
	rc = rc ? rc : put_facts(writer, txn);
	rc = rc ? rc : put_streams(writer, txn);
	return rc ? rc : put_open(writer, txn);
}

/* What was put is in the file: forget that it was new. */
static void committed(struct store_writer *writer)
{
	int dead;

	store_ingest_committed(&writer->ingest);
	store_retention_committed(&writer->retention, &writer->ingest);
	writer->builders.thinned_ns = writer->retention.until_ns;
	store_run_total_committed(&writer->total);
	store_state_builders_committed(&writer->builders);
	for (unsigned tree = 0; tree < STORE_TREE_COUNT; tree++)
		store_append_block_committed(&writer->packs[tree]);
	writer->modules_changed = false;
	writer->facts.size = 0;
	if (writer->dirty_count)
		memset(writer->dirty_streams, 0, writer->dirty_count);
	for (uint32_t i = 0; i < writer->open_count; i++)
		writer->open[i].is_dirty = false;
	if (++writer->commits % READER_CHECK_COMMITS)
		return;
	mdb_reader_check(store_file_env(writer->file), &dead);
	store_file_give_up(writer->file, writer->patience_ns);
}

/* Time before which the stream's timeline is complete. */
static uint64_t complete_until(const struct store_writer *writer, uint32_t stream)
{
	const struct store_stream *properties = &writer->streams[stream];
	const struct open_spans *open = stream < writer->open_of_count && writer->open_of[stream]
						? &writer->open[writer->open_of[stream] - 1]
						: NULL;
	uint64_t until_ns = writer->is_closing ? STORE_OPEN_NS : properties->complete_ns[STORE_SPANS];

	if (!writer->is_closing && properties->kind == STORE_STREAM_CPU &&
		properties->complete_ns[STORE_SAMPLES] < until_ns)
		until_ns = properties->complete_ns[STORE_SAMPLES];
	for (uint32_t i = 0; open && i < open->count; i++)
		if (open->spans[i].record.what != STORE_OP_MONITORED &&
			open->spans[i].record.begin_ns < until_ns)
			until_ns = open->spans[i].record.begin_ns;
	return until_ns;
}

void store_writer_roll(struct store_writer *writer, uint32_t stream)
{
	store_state_builders_advance(
		&writer->builders, stream, &writer->streams[stream], complete_until(writer, stream));
}

static int try_commit(struct store_writer *writer)
{
	MDB_txn *txn;
	int rc = mdb_txn_begin(store_file_env(writer->file), NULL, 0, &txn);

	if (rc)
		return rc;
	rc = put_all(writer, txn);
	if (!rc)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return rc;
}

int store_writer_commit(struct store_writer *writer, struct error *error)
{
	int rc;

	if (writer->failed || writer->ingest.failed)
		return error_set(error, ERROR_IO,
			"memory ran out while '%s' was written; what was committed before is safe",
			store_file_path(writer->file));
	for (uint32_t stream = 0; stream < writer->stream_count; stream++)
		store_writer_roll(writer, stream);
	store_state_builders_unite(&writer->builders, writer->is_closing);
	if (writer->is_closing && writer->retention.shift) /* what was dropped, streams do not know, either */
		store_all_streams_give_up(&writer->builders.all_streams);
	if (writer->is_closing)
		store_state_builders_put_all_streams(
			&writer->builders, writer->streams, writer->stream_count);
	/* A full map poisons the transaction: it is given up, the map grows, and all is put once more. */
	while ((rc = try_commit(writer)) == MDB_MAP_FULL) {
		rc = store_file_grow(writer->file, error);
		if (rc)
			return rc;
	}
	mdb_env_set_flags(store_file_env(writer->file), MDB_NOSYNC, 0); /* but for this one, see writer.h */
	if (rc == EOVERFLOW)
		return error_set(error, ERROR_IO,
			"'%s' cannot take more records of one time: all sequences of a bucket are in use",
			store_file_path(writer->file));
	if (rc)
		return store_file_failed(writer->file, "commit to", rc, error);
	committed(writer);
	return 0;
}

size_t store_writer_pending_bytes(const struct store_writer *writer)
{
	return store_ingest_pending_bytes(&writer->ingest) + writer->facts.size;
}

bool store_writer_is_laden(const struct store_writer *writer, size_t least_bytes)
{
	return store_ingest_is_laden(&writer->ingest, least_bytes);
}
