/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_walk.c - the walk over a track's rollups and chunks, both in key order: by begin, the larger first.
 * So a rollup comes before all that it sums, and the walk skips those by seeking to its end.
 */
#include "store/rollup/rollup_walk.h"

/* ---- looking up ---- */

static int bad_key(struct error *error)
{
	return error_set(error, ERROR_RUN,
		"the store is damaged (a key of a chunk or a rollup); restore it from a copy");
}

static int look_for_chunk(struct store_rollup_walk *walk, struct head *head, struct error *error)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	struct store_slice found;
	int rc;

	store_key_chunk_put(bytes, &(struct store_key_chunk){.stream = walk->stream,
					   .track = walk->track,
					   .bucket_ns = head->from_ns,
					   .shift = head->from_shift,
					   .sequence = head->from_sequence});
	rc = walk->source->seek(walk->source->own, false, bytes, sizeof bytes, &found, &head->value, error);
	if (rc == 1 && !store_key_chunk_get(&head->chunk, found.bytes, found.size))
		return bad_key(error);
	head->is_known = true;
	head->is_there = rc == 1 && head->chunk.stream == walk->stream && head->chunk.track == walk->track;
	return rc < 0 ? rc : 0;
}

static int look_for_roll(struct store_rollup_walk *walk, struct head *head, struct error *error)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	struct store_slice found;
	int rc;

	store_key_rollup_put(bytes, &(struct store_key_rollup){.stream = walk->stream,
					    .kind = walk->track,
					    .begin_ns = head->from_ns,
					    .shift = head->from_shift});
	rc = walk->source->seek(walk->source->own, true, bytes, sizeof bytes, &found, &head->value, error);
	if (rc == 1 && !store_key_rollup_get(&head->roll, found.bytes, found.size))
		return bad_key(error);
	head->is_known = true;
	head->is_there = rc == 1 && head->roll.stream == walk->stream && head->roll.kind == walk->track;
	return rc < 0 ? rc : 0;
}

/* ---- stepping on ---- */

/* To what stands behind this bucket and sequence. */
static void step_chunk(struct head *head, const struct store_key_chunk *key)
{
	*head = (struct head){.from_ns = key->bucket_ns, .from_shift = key->shift};
	if (key->sequence < UINT16_MAX) {
		head->from_sequence = (uint16_t)(key->sequence + 1);
	} else if (key->shift) {
		head->from_shift--;
	} else {
		head->is_known = key->bucket_ns == UINT64_MAX;
		head->from_ns = key->bucket_ns + 1;
		head->from_shift = STORE_SHIFT_MAX;
	}
}

/* To what begins behind a time. */
static void step_behind(struct head *head, uint64_t last_ns)
{
	*head = (struct head){
		.is_known = last_ns == UINT64_MAX, .from_ns = last_ns + 1, .from_shift = STORE_SHIFT_MAX};
}

/* To what the rollup consists of. */
static void step_into(struct head *head, const struct store_key_rollup *key)
{
	if (key->shift)
		*head = (struct head){.from_ns = key->begin_ns, .from_shift = (uint8_t)(key->shift - 1)};
	else
		step_behind(head, key->begin_ns);
}

/* ---- buckets that begin before the window ---- */

static bool give_chunk(
	struct store_rollup_walk *walk, const struct head *head, struct store_rollup_walk_part *part)
{
	struct store_chunk chunk;

	*part = (struct store_rollup_walk_part){.key = head->chunk, .bytes = head->value, .is_cut = true};
	/* What cannot be read is given as it is: its reader says what is wrong. */
	if (!store_chunk_peek(&chunk, head->value))
		return true;
	if (chunk.last_ns < walk->begin_ns && chunk.last_ns >= walk->clear_ns)
		walk->clear_ns = chunk.last_ns + 1;
	if (chunk.last_ns < walk->begin_ns || chunk.first_ns >= walk->end_ns)
		return false;
	part->is_cut = chunk.first_ns < walk->begin_ns || chunk.last_ns >= walk->end_ns;
	return true;
}

/* The next size whose bucket holds the window's begin but starts before it. */
static bool next_lead(struct store_rollup_walk *walk)
{
	while (walk->shifts) {
		unsigned shift = 63 - (unsigned)__builtin_clzll(walk->shifts);
		uint64_t bucket = store_bucket_of(walk->begin_ns, shift);

		walk->shifts &= ~((uint64_t)1 << shift);
		if (bucket == walk->begin_ns)
			continue;
		walk->lead = (struct head){.from_ns = bucket, .from_shift = (uint8_t)shift};
		return true;
	}
	return false;
}

static int lead_next(struct store_rollup_walk *walk, struct store_rollup_walk_part *part, struct error *error)
{
	struct head *head = &walk->lead;

	while (!head->is_known || next_lead(walk)) {
		const uint64_t bucket_ns = head->from_ns;
		const uint8_t shift = head->from_shift;
		int rc = look_for_chunk(walk, head, error);

		if (rc)
			return rc;
		if (!head->is_there || head->chunk.bucket_ns != bucket_ns || head->chunk.shift != shift)
			continue;
		rc = give_chunk(walk, head, part);
		step_chunk(head, &part->key);
		/* Behind the last sequence another bucket stands. */
		head->is_known |= head->from_ns != bucket_ns || head->from_shift != shift;
		if (rc)
			return 1;
	}
	return 0;
}

/* ---- the walk ---- */

/* Rollups come before the chunks that they sum up: which is the next one? */
static bool is_roll_next(const struct store_rollup_walk *walk)
{
	const struct head *chunk = &walk->chunk, *roll = &walk->roll;

	if (!roll->is_there || !chunk->is_there)
		return roll->is_there;
	if (roll->roll.begin_ns != chunk->chunk.bucket_ns)
		return roll->roll.begin_ns < chunk->chunk.bucket_ns;
	return roll->roll.shift >= chunk->chunk.shift;
}

static bool is_inside(const struct store_rollup_walk *walk, const struct store_key_rollup *key)
{
	uint64_t last_ns = store_rollup_last(key->begin_ns, key->shift);

	/* No record begins at UINT64_MAX. */
	return last_ns < walk->end_ns || walk->end_ns == UINT64_MAX;
}

/* True when the next chunk, not looked up yet, is inside the next rollup: nothing else can begin there. */
static bool holds_next(const struct store_rollup_walk *walk)
{
	const struct head *chunk = &walk->chunk, *roll = &walk->roll;

	return roll->is_there && chunk->from_ns == roll->roll.begin_ns &&
	       chunk->from_shift >= roll->roll.shift && !chunk->from_sequence &&
	       !(walk->sizes >> roll->roll.shift >> 1) && roll->roll.begin_ns < walk->end_ns &&
	       is_inside(walk, &roll->roll);
}

int store_rollup_walk_next(
	struct store_rollup_walk *walk, struct store_rollup_walk_part *part, struct error *error)
{
	int rc = lead_next(walk, part, error);

	while (!rc) {
		struct store_key_rollup key;

		if (!walk->roll.is_known)
			rc = look_for_roll(walk, &walk->roll, error);
		if (!rc && !walk->chunk.is_known && !holds_next(walk))
			rc = look_for_chunk(walk, &walk->chunk, error);
		if (rc || (!walk->chunk.is_there && !walk->roll.is_there))
			return rc;
		key = walk->roll.roll;
		if (walk->chunk.is_known && !is_roll_next(walk)) {
			if (walk->chunk.chunk.bucket_ns >= walk->end_ns)
				return 0;
			rc = give_chunk(walk, &walk->chunk, part);
			step_chunk(&walk->chunk, &part->key);
		} else if (key.begin_ns >= walk->end_ns) {
			return 0;
		} else if (is_inside(walk, &key)) {
			*part = (struct store_rollup_walk_part){
				.is_roll = true, .roll = key, .value = walk->roll.value};
			step_behind(&walk->roll, store_rollup_last(key.begin_ns, key.shift));
			walk->chunk = walk->roll;
			rc = 1;
		} else {
			step_into(&walk->roll, &key);
		}
	}
	return rc;
}

void store_rollup_walk_refuse(struct store_rollup_walk *walk, const struct store_key_rollup *key)
{
	step_into(&walk->roll, key);
	walk->chunk = (struct head){.from_ns = key->begin_ns, .from_shift = key->shift};
}

void store_rollup_walk_init(struct store_rollup_walk *walk, const struct store_rollup_source *source,
	uint32_t stream, enum store_track track, uint64_t begin_ns, uint64_t end_ns, uint64_t shifts)
{
	*walk = (struct store_rollup_walk){.source = source,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.stream = stream,
		.track = (uint8_t)track,
		.shifts = shifts,
		.sizes = shifts};
	walk->lead.is_known = true;
	walk->chunk = walk->roll = (struct head){.from_ns = begin_ns, .from_shift = STORE_SHIFT_MAX};
}

void store_rollup_walk_init_inner(struct store_rollup_walk *walk, const struct store_rollup_source *source,
	const struct store_key_rollup *rollup)
{
	uint64_t last_ns = store_rollup_last(rollup->begin_ns, rollup->shift);

	store_rollup_walk_init(walk, source, rollup->stream, rollup->kind, rollup->begin_ns,
		last_ns == UINT64_MAX ? last_ns : last_ns + 1, 0);
	walk->sizes = UINT64_MAX;
	store_rollup_walk_refuse(walk, rollup);
}
