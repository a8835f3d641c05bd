/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_put.c - what the rollers have made into a transaction, what late records have torn out
 * of the file, and, at the end, the crowd.
 */
#include "store/rollup/pending_rollups.h"
#include "store/states/state_rollup_builder_internal.h"

#define TIME_MAX (UINT64_C(1) << 62) /* a crowd's buckets end before it */

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

void store_rollers_tell_names(struct store_rollers *rollers, const struct store_contexts *contexts)
{
	rollers->names = (struct line_names){path_of, operation_of, contexts};
}

/* ---- the crowd ---- */

/* Does the crowd know all of the stream's life? What it does not know is spoiled. */
static void account(struct store_crowd *crowd, const struct roller_place *place,
	const struct store_stream *properties, struct store_crowd_head *head)
{
	const struct store_roller *roller = place ? place->roller : NULL;
	bool has_life = properties->end_ns > properties->begin_ns, has_records = false;

	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		has_records |= properties->count[track] > 0;
	if (!has_life && !has_records)
		return;
	head->begin_ns = properties->begin_ns < head->begin_ns ? properties->begin_ns : head->begin_ns;
	head->end_ns = properties->end_ns > head->end_ns ? properties->end_ns : head->end_ns;
	if (!has_life || properties->end_ns > TIME_MAX ||
		(!roller && has_records && !(place && place->is_passed))) {
		store_crowd_give_up(crowd);
	} else if (!roller && has_records) {
		store_crowd_spoil(crowd, properties->begin_ns, properties->end_ns);
	} else if (!roller) {
		store_crowd_add(crowd, &(struct line_piece){.begin_ns = properties->begin_ns,
					       .end_ns = properties->end_ns,
					       .state = EXTENT_UNMONITORED});
	} else if (!roller->has_begun || roller->line.rules.begin_ns != properties->begin_ns ||
		   roller->line.rules.end_ns != properties->end_ns ||
		   (!roller->line.rules.is_gpu &&
			   roller->line.rules.has_samples != (properties->count[STORE_SAMPLES] > 0))) {
		store_crowd_give_up(crowd);
	} else if (roller->line.now_ns < roller->line.rules.end_ns) {
		store_crowd_spoil(crowd, roller->line.now_ns, roller->line.rules.end_ns);
	}
}

void store_rollers_crowd(struct store_rollers *rollers, const struct store_stream *streams, uint32_t count)
{
	struct store_crowd_head *head = &rollers->head;

	if (head->streams) /* accounted for already: the commit is tried again */
		return;
	*head = (struct store_crowd_head){.streams = count, .begin_ns = UINT64_MAX};
	for (uint32_t i = 0; i < count && !rollers->crowd.is_bad; i++)
		account(&rollers->crowd, i < rollers->count ? &rollers->places[i] : NULL, &streams[i], head);
	if (rollers->failed || rollers->thinned_ns || head->begin_ns > head->end_ns ||
		(count && head->end_ns - head->begin_ns > UINT64_MAX / count)) /* sums are 64 bits wide */
		store_crowd_give_up(&rollers->crowd);
}

/* ---- into a transaction ---- */

static int delete_roll(MDB_txn *txn, MDB_dbi rolls, const struct store_key_roll *key)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes};
	int rc;

	store_key_roll_put(bytes, key);
	rc = mdb_del(txn, rolls, &mdb_key, NULL);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Those that hold the time, of each size, and all that begin behind it. */
static int delete_torn(MDB_txn *txn, MDB_dbi rolls, uint32_t stream, uint8_t kind, uint64_t torn_ns)
{
	struct store_key_roll key = {.stream = stream, .kind = kind};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	int rc = 0;

	if (torn_ns == UINT64_MAX)
		return 0;
	for (unsigned size = 1; size <= ROLLER_TOP && !rc; size++) {
		key.shift = (uint8_t)roller_shift(size);
		key.begin_ns = store_bucket_of(torn_ns, key.shift);
		rc = delete_roll(txn, rolls, &key);
	}
	while (!rc) {
		MDB_cursor *cursor;
		MDB_val found = {sizeof bytes, bytes}, value;

		store_key_roll_put(bytes, &(struct store_key_roll){.stream = stream,
						  .kind = kind,
						  .begin_ns = torn_ns,
						  .shift = STORE_SHIFT_MAX});
		rc = mdb_cursor_open(txn, rolls, &cursor);
		if (rc)
			return rc;
		rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
		if (!rc && (!store_key_roll_get(&key, found.mv_data, found.mv_size) || key.stream != stream ||
				   key.kind != kind))
			rc = MDB_NOTFOUND;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
		mdb_cursor_close(cursor);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* What was dropped nobody can roll again. */
static int put_lines(
	const struct store_rollers *rollers, const struct store_roller *roller, MDB_txn *txn, MDB_dbi rolls)
{
	uint64_t torn_ns = roller->torn_ns > rollers->thinned_ns ? roller->torn_ns : rollers->thinned_ns;
	int rc = 0;

	if (roller->torn_ns != UINT64_MAX)
		rc = delete_torn(txn, rolls, roller->stream, STORE_ROLL_LINE, torn_ns);
	return rc ? rc : store_made_put(&roller->made, txn, rolls);
}

static int put_united(const struct store_united *united, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = delete_torn(txn, rolls, united->stream, STORE_ROLL_UNITED, united->torn_ns);

	return rc ? rc : store_made_put(&united->made, txn, rolls);
}

int store_rollers_put(struct store_rollers *rollers, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = 0;

	for (uint32_t i = 0; i < rollers->count && !rc; i++) {
		const struct store_roller *roller = rollers->places[i].roller;

		rc = roller ? put_lines(rollers, roller, txn, rolls) : 0;
	}
	for (uint32_t i = 0; i < rollers->uniteds.count && !rc; i++)
		rc = put_united(rollers->uniteds.devices[i], txn, rolls);
	if (!rc && rollers->head.streams)
		rc = store_crowd_put(&rollers->crowd, &rollers->head, txn, rolls);
	return rc;
}

void store_rollers_committed(struct store_rollers *rollers)
{
	for (uint32_t i = 0; i < rollers->count; i++) {
		struct store_roller *roller = rollers->places[i].roller;

		if (!roller)
			continue;
		roller->made.size = 0;
		roller->torn_ns = UINT64_MAX;
	}
	for (uint32_t i = 0; i < rollers->uniteds.count; i++) {
		rollers->uniteds.devices[i]->made.size = 0;
		rollers->uniteds.devices[i]->torn_ns = UINT64_MAX;
	}
}
