/* SPDX-License-Identifier: Apache-2.0 */
/* state_rollup.c - see state_rollup.h. */
#include "store/states/state_rollup.h"

#include "store/read/reader_internal.h"
#include "store/rollup/rollup_walk.h"

#define RULES 6

/* Where `time_ns` cuts the bucket, from its begin. */
static uint64_t edge_of(const struct store_key_rollup *key, uint64_t time_ns)
{
	uint64_t size = (uint64_t)1 << key->shift;

	if (time_ns <= key->begin_ns)
		return 0;
	return time_ns - key->begin_ns < size ? time_ns - key->begin_ns : size;
}

/* What of the rules can show in this bucket. */
static void rules_list(
	const struct store_key_rollup *key, const struct state_rules *rules, uint64_t list[RULES])
{
	list[0] = (uint64_t)(rules->is_gpu | rules->has_samples << 1 | rules->has_monitored << 2 |
			     rules->has_switches << 3);
	list[1] = rules->has_switches || rules->is_gpu ? 0 : rules->period_ns;
	list[2] = edge_of(key, rules->begin_ns);
	list[3] = edge_of(key, rules->end_ns);
	list[4] = rules->has_monitored ? 0 : edge_of(key, rules->first_ns);
	list[5] = rules->has_monitored ? 0 : edge_of(key, rules->last_ns);
}

void store_state_rollup_put(struct store_bytes *out, const struct store_key_rollup *key,
	const struct state_rules *rules, struct store_context_sums *sums)
{
	uint64_t list[RULES];

	rules_list(key, rules, list);
	for (int i = 0; i < RULES; i++)
		store_bytes_put_varint(out, list[i]);
	store_context_sums_put(sums, out);
}

int store_state_rollup_find(struct store_reader *reader, uint32_t stream, uint64_t from_ns, unsigned shift,
	struct store_state_rollup *found, struct error *error)
{
	struct store_key_rollup from = {
		.begin_ns = from_ns, .stream = stream, .kind = STORE_ROLLUP_STATES, .shift = (uint8_t)shift};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	struct store_tree_cursor cursor;
	int rc;

	store_key_rollup_put(bytes, &from);
	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	cursor.fits = store_reader_roll_fits(reader, bytes);
	rc = store_tree_seek(&cursor, bytes, sizeof bytes, error);
	if (rc <= 0)
		return rc;
	if (!store_key_rollup_get(&found->key, cursor.key.bytes, cursor.key.size))
		return store_reader_damaged(reader, "a rollup's key", error);
	found->value = cursor.value;
	return found->key.stream == stream && found->key.kind == STORE_ROLLUP_STATES &&
	       found->key.shift <= STORE_STATE_ROLLUP_STEP * (STORE_STATE_ROLLUP_SIZES - 1);
}

/* All of a bucket's time, and states that there are. */
static bool is_sound(const struct store_context_sums *sums, const struct store_key_rollup *key)
{
	uint64_t time_ns = 0;

	for (uint32_t i = 0; i < sums->count; i++) {
		if ((sums->entries[i].metric & 15) >= EXTENT_STATE_COUNT)
			return false;
		time_ns += sums->entries[i].weight;
	}
	return time_ns == (uint64_t)1 << key->shift;
}

int store_state_rollup_read(struct store_reader *reader, const struct store_state_rollup *roll,
	const struct state_rules *rules, const struct store_context_sums **sums, struct error *error)
{
	uint64_t list[RULES];
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input;

	store_key_rollup_put(key, &roll->key);
	input = store_input_sealed(roll->value, key, sizeof key);
	rules_list(&roll->key, rules, list);
	for (int i = 0; i < RULES; i++)
		if (store_input_varint(&input) != list[i] && !input.bad)
			return 0;
	store_context_sums_clear(&reader->sums);
	store_context_sums_get(
		&reader->sums, &input, reader->contexts.count, UINT32_MAX, 1u << STORE_CONTEXT_SUMS_WEIGHT);
	if (reader->sums.failed)
		return error_memory(error);
	if (input.bad || !is_sound(&reader->sums, &roll->key))
		return store_reader_damaged(reader, "a rollup of a line", error);
	*sums = &reader->sums;
	return 1;
}
