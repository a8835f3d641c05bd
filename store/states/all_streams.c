/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams.c - the crowd's buckets, which grow with the run: when there are too many, or they hold too
 * much, each two become one. all_streams_wait.c fills them.
 */
#include <stdlib.h>

#include "store/rollup/pending_rollups.h"
#include "store/states/all_streams_internal.h"

#define ENTRIES_MAX (1u << 19) /* 32 bytes and some slots each, in memory */
#define SHIFT_FIRST 20u
#define PIECES_LEAST 4096u /* a bucket of fewer is not worth its entry in the file */

void store_all_streams_fini(struct store_all_streams *crowd)
{
	for (uint32_t i = 0; i < crowd->count; i++)
		store_context_sums_fini(&crowd->buckets[i].sums);
	free(crowd->buckets);
	all_streams_wait_fini(&crowd->wait);
	store_bytes_fini(&crowd->made);
	*crowd = (struct store_all_streams){.is_bad = crowd->is_bad};
}

void store_all_streams_give_up(struct store_all_streams *crowd)
{
	crowd->is_bad = true;
	store_all_streams_fini(crowd);
}

void store_all_streams_sleep(struct store_all_streams *crowd)
{
	store_all_streams_fini(crowd);
	crowd->is_few = true;
	crowd->is_asleep = true;
}

bool store_all_streams_wake(struct store_all_streams *crowd)
{
	bool was_asleep = crowd->is_asleep;

	crowd->is_few = crowd->is_asleep = false;
	return was_asleep;
}

/* ---- buckets ---- */

static void join(
	struct store_all_streams *crowd, struct all_streams_bucket *to, struct all_streams_bucket *from)
{
	const uint32_t all = to->sums.count + from->sums.count;

	if (from->sums.count > to->sums.count) {
		const struct store_context_sums more = from->sums;

		from->sums = to->sums;
		to->sums = more;
	}
	for (uint32_t i = 0; i < from->sums.count; i++)
		store_context_sums_add(&to->sums, &from->sums.entries[i]);
	crowd->entries -= all - to->sums.count;
	to->is_spoiled |= from->is_spoiled;
	crowd->is_bad |= to->sums.failed;
	store_context_sums_fini(&from->sums);
	from->is_spoiled = false; /* its place is the next one's */
}

/* Each two buckets become one. */
static void widen(struct store_all_streams *crowd)
{
	uint64_t first = crowd->first >> 1;
	uint32_t count = 0;

	for (uint32_t i = 0; i < crowd->count; i++) {
		uint32_t to = (uint32_t)(((crowd->first + i) >> 1) - first);

		if (to < count) {
			join(crowd, &crowd->buckets[to], &crowd->buckets[i]);
		} else if (to != i) {
			crowd->buckets[to] = crowd->buckets[i];
			crowd->buckets[i] = (struct all_streams_bucket){.is_spoiled = false};
		}
		count = to + 1;
	}
	crowd->first = first;
	crowd->count = count;
	crowd->shift++;
}

bool all_streams_bound(struct store_all_streams *crowd)
{
	const unsigned shift = crowd->shift;

	while (crowd->entries > ENTRIES_MAX && crowd->count > 1)
		widen(crowd);
	if (crowd->is_bad)
		store_all_streams_give_up(crowd);
	return crowd->is_bad || crowd->shift != shift;
}

static bool begin(struct store_all_streams *crowd, uint64_t at_ns)
{
	crowd->buckets = calloc(STORE_ALL_STREAMS_BUCKETS, sizeof *crowd->buckets);
	if (!crowd->buckets)
		return false;
	crowd->shift = SHIFT_FIRST;
	crowd->first = at_ns >> SHIFT_FIRST;
	crowd->spoiled_ns = UINT64_MAX;
	crowd->has_begun = true;
	return true;
}

static bool is_covered(const struct store_all_streams *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >> crowd->shift >= crowd->first &&
	       (end_ns - 1) >> crowd->shift < crowd->first + crowd->count;
}

bool all_streams_cover(struct store_all_streams *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t first, last;

	if (crowd->count && is_covered(crowd, begin_ns, end_ns))
		return true;

	if (crowd->is_bad || (!crowd->has_begun && !begin(crowd, begin_ns))) {
		store_all_streams_give_up(crowd);
		return false;
	}
	for (;; widen(crowd)) {
		first = begin_ns >> crowd->shift;
		last = (end_ns - 1) >> crowd->shift;
		first = first < crowd->first ? first : crowd->first;
		if (crowd->count && last < crowd->first + crowd->count - 1)
			last = crowd->first + crowd->count - 1;
		if (last - first < STORE_ALL_STREAMS_BUCKETS)
			break;
	}
	if (first < crowd->first) {
		uint32_t more = (uint32_t)(crowd->first - first);

		memmove(crowd->buckets + more, crowd->buckets, crowd->count * sizeof *crowd->buckets);
		memset(crowd->buckets, 0, more * sizeof *crowd->buckets);
		crowd->first = first;
		crowd->count += crowd->count ? more : 0;
	}
	crowd->count = (uint32_t)(last - first) + 1;
	return true;
}

void store_all_streams_spoil(struct store_all_streams *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns || crowd->is_asleep)
		return;
	if (crowd->is_few) {
		store_all_streams_sleep(crowd);
		return;
	}
	if (crowd->is_bad ||
		!all_streams_cover(crowd, begin_ns, end_ns == UINT64_MAX ? begin_ns + 1 : end_ns))
		return;
	if (end_ns == UINT64_MAX) {
		crowd->spoiled_ns = begin_ns < crowd->spoiled_ns ? begin_ns : crowd->spoiled_ns;
		return;
	}
	for (uint64_t i = begin_ns >> crowd->shift; i <= (end_ns - 1) >> crowd->shift; i++)
		crowd->buckets[i - crowd->first].is_spoiled = true;
}

/* ---- putting ---- */

static void keep(
	struct store_all_streams *crowd, struct store_bytes *value, uint64_t begin_ns, unsigned shift)
{
	const struct store_key_rollup key = {.begin_ns = begin_ns,
		.stream = STORE_ROLLUP_ALL,
		.kind = STORE_ROLLUP_ALL_STREAMS,
		.shift = (uint8_t)shift};

	store_pending_rollups_add(&crowd->made, &key, value);
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

static void make_level(struct store_all_streams *crowd)
{
	struct store_bytes bytes = {0};

	for (uint32_t i = 0; i < crowd->count; i++) {
		uint64_t begin_ns = (crowd->first + i) << crowd->shift;

		crowd->buckets[i].is_spoiled |= begin_ns + ((uint64_t)1 << crowd->shift) > crowd->spoiled_ns;
		if (crowd->buckets[i].is_spoiled)
			continue;
		store_bytes_begin_sealed(&bytes);
		put_sums(&bytes, &crowd->buckets[i].sums);
		keep(crowd, &bytes, begin_ns, crowd->shift);
	}
	store_bytes_fini(&bytes);
}

/* All buckets in the first one. */
static void melt(struct store_all_streams *crowd)
{
	for (uint32_t i = 1; i < crowd->count; i++)
		join(crowd, &crowd->buckets[0], &crowd->buckets[i]);
	crowd->count = crowd->count ? 1 : 0;
}

static void make_head(struct store_all_streams *crowd, const struct store_all_streams_head *head)
{
	bool is_whole = crowd->spoiled_ns == UINT64_MAX && !crowd->buckets[0].is_spoiled;
	struct store_bytes bytes = {0};
	struct store_context_sums none = {0};

	store_bytes_begin_sealed(&bytes);
	store_bytes_put_varint(&bytes, head->streams);
	store_bytes_put_varint(&bytes, head->begin_ns);
	store_bytes_put_varint(&bytes, head->end_ns);
	store_bytes_put_varint(&bytes, head->shift);
	store_bytes_put_varint(&bytes, is_whole);
	put_sums(&bytes, is_whole ? &crowd->buckets[0].sums : &none);
	keep(crowd, &bytes, 0, STORE_SHIFT_MAX);
	store_bytes_fini(&bytes);
	store_context_sums_fini(&none);
}

static void make(struct store_all_streams *crowd, const struct store_all_streams_head *head)
{
	struct store_all_streams_head made = *head;

	while (crowd->count > 1 && crowd->pieces / crowd->count < PIECES_LEAST)
		widen(crowd);
	made.shift = crowd->shift;
	while (crowd->count > 1) {
		make_level(crowd);
		for (unsigned i = 0; i < STORE_ALL_STREAMS_STEP; i++)
			widen(crowd);
	}
	melt(crowd);
	make_head(crowd, &made);
}

int store_all_streams_put(struct store_all_streams *crowd, const struct store_all_streams_head *head,
	MDB_txn *txn, MDB_dbi rolls)
{
	if (store_all_streams_is_idle(crowd) || head->streams < STORE_ALL_STREAMS_STREAMS)
		return 0;
	all_streams_wait_empty(crowd);
	if (!crowd->has_begun)
		return 0;
	/* A transaction that found the map too small is tried again. */
	if (!crowd->made.size)
		make(crowd, head);
	if (crowd->is_bad || crowd->made.failed) {
		store_all_streams_give_up(crowd);
		return 0;
	}
	return store_pending_rollups_put(&crowd->made, txn, rolls);
}
