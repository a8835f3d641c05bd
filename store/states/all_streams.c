/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams.c - the buckets of the sums of all streams, which widen as the run grows: if they are too
 * many, or hold too much, pairs are merged. all_streams_wait.c fills them.
 */
#include <stdlib.h>

#include "store/rollup/pending_rollups.h"
#include "store/states/all_streams_internal.h"

#define ENTRIES_MAX (1u << 19) /* 32 bytes and some slots each, in memory */
#define SHIFT_FIRST 20u
#define PIECES_LEAST 4096u /* a bucket of fewer is not worth its entry in the file */

void store_all_streams_fini(struct store_all_streams *all_streams)
{
	for (uint32_t i = 0; i < all_streams->count; i++)
		store_context_sums_fini(&all_streams->buckets[i].sums);
	free(all_streams->buckets);
	all_streams_wait_fini(&all_streams->wait);
	store_bytes_fini(&all_streams->made);
	*all_streams = (struct store_all_streams){.is_bad = all_streams->is_bad};
}

void store_all_streams_give_up(struct store_all_streams *all_streams)
{
	all_streams->is_bad = true;
	store_all_streams_fini(all_streams);
}

void store_all_streams_sleep(struct store_all_streams *all_streams)
{
	store_all_streams_fini(all_streams);
	all_streams->is_few = true;
	all_streams->is_asleep = true;
}

bool store_all_streams_wake(struct store_all_streams *all_streams)
{
	bool was_asleep = all_streams->is_asleep;

	all_streams->is_few = all_streams->is_asleep = false;
	return was_asleep;
}

/* ---- buckets ---- */

static void join(
	struct store_all_streams *all_streams, struct all_streams_bucket *to, struct all_streams_bucket *from)
{
	const uint32_t all = to->sums.count + from->sums.count;

	if (from->sums.count > to->sums.count) {
		const struct store_context_sums more = from->sums;

		from->sums = to->sums;
		to->sums = more;
	}
	for (uint32_t i = 0; i < from->sums.count; i++)
		store_context_sums_add(&to->sums, &from->sums.entries[i]);
	all_streams->entries -= all - to->sums.count;
	to->is_spoiled |= from->is_spoiled;
	all_streams->is_bad |= to->sums.failed;
	store_context_sums_fini(&from->sums);
	from->is_spoiled = false; /* its place is the next one's */
}

/* Each two buckets become one. */
static void widen(struct store_all_streams *all_streams)
{
	uint64_t first = all_streams->first >> 1;
	uint32_t count = 0;

	for (uint32_t i = 0; i < all_streams->count; i++) {
		uint32_t to = (uint32_t)(((all_streams->first + i) >> 1) - first);

		if (to < count) {
			join(all_streams, &all_streams->buckets[to], &all_streams->buckets[i]);
		} else if (to != i) {
			all_streams->buckets[to] = all_streams->buckets[i];
			all_streams->buckets[i] = (struct all_streams_bucket){.is_spoiled = false};
		}
		count = to + 1;
	}
	all_streams->first = first;
	all_streams->count = count;
	all_streams->shift++;
}

bool all_streams_bound(struct store_all_streams *all_streams)
{
	const unsigned shift = all_streams->shift;

	while (all_streams->entries > ENTRIES_MAX && all_streams->count > 1)
		widen(all_streams);
	if (all_streams->is_bad)
		store_all_streams_give_up(all_streams);
	return all_streams->is_bad || all_streams->shift != shift;
}

static bool begin(struct store_all_streams *all_streams, uint64_t at_ns)
{
	all_streams->buckets = calloc(STORE_ALL_STREAMS_BUCKETS, sizeof *all_streams->buckets);
	if (!all_streams->buckets)
		return false;
	all_streams->shift = SHIFT_FIRST;
	all_streams->first = at_ns >> SHIFT_FIRST;
	all_streams->spoiled_ns = UINT64_MAX;
	all_streams->has_begun = true;
	return true;
}

static bool is_covered(const struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >> all_streams->shift >= all_streams->first &&
	       (end_ns - 1) >> all_streams->shift < all_streams->first + all_streams->count;
}

bool all_streams_cover(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t first, last;

	if (all_streams->count && is_covered(all_streams, begin_ns, end_ns))
		return true;

	if (all_streams->is_bad || (!all_streams->has_begun && !begin(all_streams, begin_ns))) {
		store_all_streams_give_up(all_streams);
		return false;
	}
	for (;; widen(all_streams)) {
		first = begin_ns >> all_streams->shift;
		last = (end_ns - 1) >> all_streams->shift;
		first = first < all_streams->first ? first : all_streams->first;
		if (all_streams->count && last < all_streams->first + all_streams->count - 1)
			last = all_streams->first + all_streams->count - 1;
		if (last - first < STORE_ALL_STREAMS_BUCKETS)
			break;
	}
	if (first < all_streams->first) {
		uint32_t more = (uint32_t)(all_streams->first - first);

		memmove(all_streams->buckets + more, all_streams->buckets,
			all_streams->count * sizeof *all_streams->buckets);
		memset(all_streams->buckets, 0, more * sizeof *all_streams->buckets);
		all_streams->first = first;
		all_streams->count += all_streams->count ? more : 0;
	}
	all_streams->count = (uint32_t)(last - first) + 1;
	return true;
}

void store_all_streams_spoil(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns || all_streams->is_asleep)
		return;
	if (all_streams->is_few) {
		store_all_streams_sleep(all_streams);
		return;
	}
	if (all_streams->is_bad ||
		!all_streams_cover(all_streams, begin_ns, end_ns == UINT64_MAX ? begin_ns + 1 : end_ns))
		return;
	if (end_ns == UINT64_MAX) {
		all_streams->spoiled_ns =
			begin_ns < all_streams->spoiled_ns ? begin_ns : all_streams->spoiled_ns;
		return;
	}
	for (uint64_t i = begin_ns >> all_streams->shift; i <= (end_ns - 1) >> all_streams->shift; i++)
		all_streams->buckets[i - all_streams->first].is_spoiled = true;
}

/* ---- putting ---- */

static void keep(
	struct store_all_streams *all_streams, struct store_bytes *value, uint64_t begin_ns, unsigned shift)
{
	const struct store_key_rollup key = {.begin_ns = begin_ns,
		.stream = STORE_ROLLUP_ALL,
		.kind = STORE_ROLLUP_ALL_STREAMS,
		.shift = (uint8_t)shift};

	store_pending_rollups_add(&all_streams->made, &key, value);
}

/* Putting sorts: that would lead the index of the bucket astray. */
static void put_sums(struct store_bytes *out, const struct store_context_sums *sums)
{
	struct store_context_sums sorted = {0};

	for (uint32_t i = 0; i < sums->count; i++)
		store_context_sums_push(&sorted, &sums->entries[i]);
	out->failed |= sorted.failed;
	store_context_sums_put(&sorted, out);
	store_context_sums_fini(&sorted);
}

static void make_level(struct store_all_streams *all_streams)
{
	struct store_bytes bytes = {0};

	for (uint32_t i = 0; i < all_streams->count; i++) {
		uint64_t begin_ns = (all_streams->first + i) << all_streams->shift;

		all_streams->buckets[i].is_spoiled |=
			begin_ns + ((uint64_t)1 << all_streams->shift) > all_streams->spoiled_ns;
		if (all_streams->buckets[i].is_spoiled)
			continue;
		store_bytes_begin_sealed(&bytes);
		put_sums(&bytes, &all_streams->buckets[i].sums);
		keep(all_streams, &bytes, begin_ns, all_streams->shift);
	}
	store_bytes_fini(&bytes);
}

/* All buckets in the first one. */
static void melt(struct store_all_streams *all_streams)
{
	for (uint32_t i = 1; i < all_streams->count; i++)
		join(all_streams, &all_streams->buckets[0], &all_streams->buckets[i]);
	all_streams->count = all_streams->count ? 1 : 0;
}

static void make_head(struct store_all_streams *all_streams, const struct store_all_streams_head *head)
{
	bool is_whole = all_streams->spoiled_ns == UINT64_MAX && !all_streams->buckets[0].is_spoiled;
	struct store_bytes bytes = {0};
	struct store_context_sums none = {0};

	store_bytes_begin_sealed(&bytes);
	store_bytes_put_varint(&bytes, head->streams);
	store_bytes_put_varint(&bytes, head->begin_ns);
	store_bytes_put_varint(&bytes, head->end_ns);
	store_bytes_put_varint(&bytes, head->shift);
	store_bytes_put_varint(&bytes, is_whole);
	put_sums(&bytes, is_whole ? &all_streams->buckets[0].sums : &none);
	keep(all_streams, &bytes, 0, STORE_SHIFT_MAX);
	store_bytes_fini(&bytes);
	store_context_sums_fini(&none);
}

static void make(struct store_all_streams *all_streams, const struct store_all_streams_head *head)
{
	struct store_all_streams_head made = *head;

	while (all_streams->count > 1 && all_streams->pieces / all_streams->count < PIECES_LEAST)
		widen(all_streams);
	made.shift = all_streams->shift;
	while (all_streams->count > 1) {
		make_level(all_streams);
		for (unsigned i = 0; i < STORE_ALL_STREAMS_STEP; i++)
			widen(all_streams);
	}
	melt(all_streams);
	make_head(all_streams, &made);
}

int store_all_streams_put(struct store_all_streams *all_streams, const struct store_all_streams_head *head,
	MDB_txn *txn, MDB_dbi rolls)
{
	if (store_all_streams_is_idle(all_streams) || head->streams < STORE_ALL_STREAMS_STREAMS)
		return 0;
	all_streams_wait_empty(all_streams);
	if (!all_streams->has_begun)
		return 0;
	/* A transaction that found the map too small is tried again. */
	if (!all_streams->made.size)
		make(all_streams, head);
	if (all_streams->is_bad || all_streams->made.failed) {
		store_all_streams_give_up(all_streams);
		return 0;
	}
	return store_pending_rollups_put(&all_streams->made, txn, rolls);
}
