/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_put.c - puts new rollups into a transaction, deletes those that late records made
 * wrong, and, at the end, writes the sums of all streams.
 */
#include "store/rollup/pending_rollups.h"
#include "store/states/state_rollup_builder_internal.h"

#define TIME_MAX (UINT64_C(1) << 62) /* a all_streams's buckets end before it */

/* ---- names ---- */

static struct store_hash path_of(const void *own, uint32_t context)
{
	const struct store_contexts *contexts = own;

	return context < contexts->count ? contexts->nodes[context].hash : (struct store_hash){0};
}

static struct store_slice operation_of(const void *own, uint32_t op)
{
	return store_texts_at(((const struct store_contexts *)own)->texts, op - STORE_OP_TEXT);
}

void store_state_builders_tell_names(
	struct store_state_builders *builders, const struct store_contexts *contexts)
{
	builders->names = (struct tie_names){path_of, operation_of, contexts};
}

/* ---- the sums of all streams ---- */

/* Does the sums of all streams know all of the stream's life? What it does not know is spoiled. */
static void account(struct store_all_streams *all_streams, const struct state_builder_place *place,
	const struct store_stream *properties, struct store_all_streams_head *head)
{
	const struct store_state_builder *builder = place ? place->builder : NULL;
	bool has_life = properties->end_ns > properties->begin_ns, has_records = false;

	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		has_records |= properties->count[track] > 0;
	if (!has_life && !has_records)
		return;
	head->begin_ns = properties->begin_ns < head->begin_ns ? properties->begin_ns : head->begin_ns;
	head->end_ns = properties->end_ns > head->end_ns ? properties->end_ns : head->end_ns;
	if (!has_life || properties->end_ns > TIME_MAX ||
		(!builder && has_records && !(place && place->is_passed))) {
		store_all_streams_give_up(all_streams);
	} else if (!builder && has_records) {
		store_all_streams_spoil(all_streams, properties->begin_ns, properties->end_ns);
	} else if (!builder) {
		store_all_streams_add(all_streams, &(struct state_piece){.begin_ns = properties->begin_ns,
							   .end_ns = properties->end_ns,
							   .state = EXTENT_UNMONITORED});
	} else if (!builder->has_begun || builder->line.rules.begin_ns != properties->begin_ns ||
		   builder->line.rules.end_ns != properties->end_ns ||
		   (!builder->line.rules.is_gpu &&
			   builder->line.rules.has_samples != (properties->count[STORE_SAMPLES] > 0))) {
		store_all_streams_give_up(all_streams);
	} else if (builder->line.now_ns < builder->line.rules.end_ns) {
		store_all_streams_spoil(all_streams, builder->line.now_ns, builder->line.rules.end_ns);
	}
}

void store_state_builders_put_all_streams(
	struct store_state_builders *builders, const struct store_stream *streams, uint32_t count)
{
	struct store_all_streams_head *head = &builders->head;

	if (head->streams) /* accounted for already: the commit is tried again */
		return;
	*head = (struct store_all_streams_head){.streams = count, .begin_ns = UINT64_MAX};
	for (uint32_t i = 0; i < count && !builders->all_streams.is_bad; i++)
		account(&builders->all_streams, i < builders->count ? &builders->places[i] : NULL,
			&streams[i], head);
	if (builders->failed || builders->thinned_ns || head->begin_ns > head->end_ns ||
		(count && head->end_ns - head->begin_ns > UINT64_MAX / count)) /* sums are 64 bits wide */
		store_all_streams_give_up(&builders->all_streams);
}

/* ---- into a transaction ---- */

static int delete_roll(MDB_txn *txn, MDB_dbi rolls, const struct store_key_rollup *key)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes};
	int rc;

	store_key_rollup_put(bytes, key);
	rc = mdb_del(txn, rolls, &mdb_key, NULL);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Those that hold the time, of each size, and all that begin behind it. */
static int delete_torn(MDB_txn *txn, MDB_dbi rolls, uint32_t stream, uint8_t kind, uint64_t torn_ns)
{
	struct store_key_rollup key = {.stream = stream, .kind = kind};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	int rc = 0;

	if (torn_ns == UINT64_MAX)
		return 0;
	for (unsigned size = 1; size <= ROLLER_TOP && !rc; size++) {
		key.shift = (uint8_t)state_builder_shift(size);
		key.begin_ns = store_bucket_of(torn_ns, key.shift);
		rc = delete_roll(txn, rolls, &key);
	}
	while (!rc) {
		MDB_cursor *cursor;
		MDB_val found = {sizeof bytes, bytes}, value;

		store_key_rollup_put(bytes, &(struct store_key_rollup){.stream = stream,
						    .kind = kind,
						    .begin_ns = torn_ns,
						    .shift = STORE_SHIFT_MAX});
		rc = mdb_cursor_open(txn, rolls, &cursor);
		if (rc)
			return rc;
		rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
		if (!rc && (!store_key_rollup_get(&key, found.mv_data, found.mv_size) ||
				   key.stream != stream || key.kind != kind))
			rc = MDB_NOTFOUND;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
		mdb_cursor_close(cursor);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Dropped records cannot be rolled up again. */
static int put_lines(const struct store_state_builders *builders, const struct store_state_builder *builder,
	MDB_txn *txn, MDB_dbi rolls)
{
	uint64_t torn_ns = builder->torn_ns > builders->thinned_ns ? builder->torn_ns : builders->thinned_ns;
	int rc = 0;

	if (builder->torn_ns != UINT64_MAX)
		rc = delete_torn(txn, rolls, builder->stream, STORE_ROLLUP_STATES, torn_ns);
	return rc ? rc : store_pending_rollups_put(&builder->made, txn, rolls);
}

static int put_united(const struct store_device_busy *united, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = delete_torn(txn, rolls, united->stream, STORE_ROLLUP_DEVICE_BUSY, united->torn_ns);

	return rc ? rc : store_pending_rollups_put(&united->made, txn, rolls);
}

int store_state_builders_put(struct store_state_builders *builders, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = 0;

	for (uint32_t i = 0; i < builders->count && !rc; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		rc = builder ? put_lines(builders, builder, txn, rolls) : 0;
	}
	for (uint32_t i = 0; i < builders->devices.count && !rc; i++)
		rc = put_united(builders->devices.devices[i], txn, rolls);
	if (!rc && builders->head.streams)
		rc = store_all_streams_put(&builders->all_streams, &builders->head, txn, rolls);
	return rc;
}

void store_state_builders_committed(struct store_state_builders *builders)
{
	for (uint32_t i = 0; i < builders->count; i++) {
		struct store_state_builder *builder = builders->places[i].builder;

		if (!builder)
			continue;
		builder->made.size = 0;
		builder->torn_ns = UINT64_MAX;
	}
	for (uint32_t i = 0; i < builders->devices.count; i++) {
		builders->devices.devices[i]->made.size = 0;
		builders->devices.devices[i]->torn_ns = UINT64_MAX;
	}
}
