/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.c - adds up pieces of lines in buckets that grow with the run: when there are too many, or they hold
 * too much, each two become one.
 */
#include "store/crowd.h"

#include <stdlib.h>

#include "store/made.h"
#include "store/table.h"

#define ENTRIES_MAX (1u << 19) /* 32 bytes and some slots each, in memory */
#define LIST_MAX 8192u	       /* pieces that wait for buckets */
#define SHIFT_FIRST 20u
#define PIECES_LEAST 4096u /* a bucket of fewer is not worth its entry in the file */

struct crowd_bucket {
	struct store_sums sums;
	bool is_spoiled;
};

void store_crowd_fini(struct store_crowd *crowd)
{
	for (uint32_t i = 0; i < crowd->count; i++)
		store_sums_fini(&crowd->buckets[i].sums);
	free(crowd->buckets);
	free(crowd->list);
	store_bytes_fini(&crowd->made);
	*crowd = (struct store_crowd){.is_bad = crowd->is_bad};
}

void store_crowd_give_up(struct store_crowd *crowd)
{
	crowd->is_bad = true;
	store_crowd_fini(crowd);
}

void store_crowd_sleep(struct store_crowd *crowd)
{
	store_crowd_fini(crowd);
	crowd->is_few = true;
	crowd->is_asleep = true;
}

bool store_crowd_wake(struct store_crowd *crowd)
{
	bool was_asleep = crowd->is_asleep;

	crowd->is_few = crowd->is_asleep = false;
	return was_asleep;
}

/* ---- buckets ---- */

static void join(struct store_crowd *crowd, struct crowd_bucket *to, struct crowd_bucket *from)
{
	uint32_t before = to->sums.count;

	for (uint32_t i = 0; i < from->sums.count; i++)
		store_sums_add(&to->sums, &from->sums.entries[i]);
	crowd->entries -= before + from->sums.count - to->sums.count;
	to->is_spoiled |= from->is_spoiled;
	crowd->is_bad |= to->sums.failed;
	store_sums_fini(&from->sums);
	from->is_spoiled = false; /* its place is the next one's */
}

static void bucket_add(struct store_crowd *crowd, uint64_t index, const struct store_sum *sum)
{
	struct store_sums *sums = &crowd->buckets[index - crowd->first].sums;
	uint32_t before = sums->count;

	store_sums_add(sums, sum);
	crowd->entries += sums->count - before;
	crowd->is_bad |= sums->failed;
}

/* Pieces of one key often follow each other: they are added at once. */
static void flush(struct store_crowd *crowd)
{
	if (crowd->pending.weight)
		bucket_add(crowd, crowd->pending_index, &crowd->pending);
	crowd->pending.weight = 0;
}

/* Each two buckets become one. */
static void widen(struct store_crowd *crowd)
{
	uint64_t first = crowd->first >> 1;
	uint32_t count = 0;

	flush(crowd);
	for (uint32_t i = 0; i < crowd->count; i++) {
		uint32_t to = (uint32_t)(((crowd->first + i) >> 1) - first);

		if (to < count) {
			join(crowd, &crowd->buckets[to], &crowd->buckets[i]);
		} else if (to != i) {
			crowd->buckets[to] = crowd->buckets[i];
			crowd->buckets[i] = (struct crowd_bucket){.is_spoiled = false};
		}
		count = to + 1;
	}
	crowd->first = first;
	crowd->count = count;
	crowd->shift++;
}

/* No more in memory than it may be. */
static void bound(struct store_crowd *crowd)
{
	while (crowd->entries > ENTRIES_MAX && crowd->count > 1)
		widen(crowd);
	if (crowd->is_bad)
		store_crowd_give_up(crowd);
}

static bool begin(struct store_crowd *crowd, uint64_t at_ns)
{
	crowd->buckets = calloc(STORE_CROWD_BUCKETS, sizeof *crowd->buckets);
	if (!crowd->buckets)
		return false;
	crowd->shift = SHIFT_FIRST;
	crowd->first = at_ns >> SHIFT_FIRST;
	crowd->spoiled_ns = UINT64_MAX;
	crowd->has_begun = true;
	return true;
}

static bool is_covered(const struct store_crowd *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >> crowd->shift >= crowd->first &&
	       (end_ns - 1) >> crowd->shift < crowd->first + crowd->count;
}

/* Buckets for all of [begin, end), begin < end. False: the crowd is bad. */
static bool cover(struct store_crowd *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t first, last;

	if (crowd->count && is_covered(crowd, begin_ns, end_ns))
		return true;

	if (crowd->is_bad || (!crowd->has_begun && !begin(crowd, begin_ns))) {
		store_crowd_give_up(crowd);
		return false;
	}
	for (;; widen(crowd)) {
		first = begin_ns >> crowd->shift;
		last = (end_ns - 1) >> crowd->shift;
		first = first < crowd->first ? first : crowd->first;
		if (crowd->count && last < crowd->first + crowd->count - 1)
			last = crowd->first + crowd->count - 1;
		if (last - first < STORE_CROWD_BUCKETS)
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

static void add(struct store_crowd *crowd, uint64_t index, const struct store_sum *sum)
{
	struct store_sum *pending = &crowd->pending;

	if (index != crowd->pending_index || sum->context != pending->context ||
		sum->metric != pending->metric || !pending->weight) {
		flush(crowd);
		crowd->pending_index = index;
		*pending = *sum;
		return;
	}
	pending->samples += sum->samples;
	pending->weight += sum->weight;
}

static void piece_add(struct store_crowd *crowd, const struct line_piece *piece)
{
	struct store_sum sum = {.samples = piece->is_record_begin,
		.context = piece->context,
		.metric = store_line_roll_metric(piece->state, piece->op)};
	uint64_t at_ns = piece->begin_ns;

	if (!cover(crowd, piece->begin_ns, piece->end_ns))
		return;
	crowd->pieces++;
	while (at_ns < piece->end_ns) {
		uint64_t index = at_ns >> crowd->shift, end_ns = (index + 1) << crowd->shift;

		end_ns = end_ns < piece->end_ns ? end_ns : piece->end_ns;
		sum.weight = end_ns - at_ns;
		add(crowd, index, &sum);
		sum.samples = 0;
		at_ns = end_ns;
	}
	bound(crowd);
}

void store_crowd_add_sum(struct store_crowd *crowd, uint64_t at_ns, const struct store_sum *sum)
{
	if (store_crowd_is_idle(crowd))
		return;
	bucket_add(crowd, at_ns >> crowd->shift, sum);
	bound(crowd);
}

/* Buckets as wide as those that would have grown with the list. */
static void begin_wide(struct store_crowd *crowd, const struct line_piece *list, uint32_t count)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		begin_ns = list[i].begin_ns < begin_ns ? list[i].begin_ns : begin_ns;
		end_ns = list[i].end_ns > end_ns ? list[i].end_ns : end_ns;
	}
	if (!count || !begin(crowd, begin_ns))
		return;
	while (((end_ns - 1) >> crowd->shift) - (begin_ns >> crowd->shift) >= STORE_CROWD_BUCKETS)
		crowd->shift++;
	crowd->first = begin_ns >> crowd->shift;
}

/* What waits goes to buckets. */
static void list_empty(struct store_crowd *crowd)
{
	struct line_piece *list = crowd->list;
	uint32_t count = crowd->list_count;

	begin_wide(crowd, list, count);
	crowd->list = NULL;
	crowd->list_count = crowd->list_room = 0;
	for (uint32_t i = 0; i < count; i++)
		piece_add(crowd, &list[i]);
	free(list);
}

static bool list_add(struct store_crowd *crowd, const struct line_piece *piece)
{
	struct line_piece *place;

	if (crowd->has_begun || crowd->is_bad || crowd->list_count == LIST_MAX)
		return false;
	place = store_table_add(
		(void **)&crowd->list, &crowd->list_count, &crowd->list_room, sizeof *crowd->list);
	if (place)
		*place = *piece;
	return place;
}

void store_crowd_add(struct store_crowd *crowd, const struct line_piece *piece)
{
	if (crowd->is_asleep || piece->state == EXTENT_ABSENT || piece->begin_ns >= piece->end_ns ||
		list_add(crowd, piece))
		return;
	if (crowd->is_few) {
		store_crowd_sleep(crowd);
		return;
	}
	list_empty(crowd);
	piece_add(crowd, piece);
}

void store_crowd_spoil(struct store_crowd *crowd, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns || crowd->is_asleep)
		return;
	if (crowd->is_few) {
		store_crowd_sleep(crowd);
		return;
	}
	list_empty(crowd);
	if (!cover(crowd, begin_ns, end_ns == UINT64_MAX ? begin_ns + 1 : end_ns))
		return;
	if (end_ns == UINT64_MAX) {
		crowd->spoiled_ns = begin_ns < crowd->spoiled_ns ? begin_ns : crowd->spoiled_ns;
		return;
	}
	for (uint64_t i = begin_ns >> crowd->shift; i <= (end_ns - 1) >> crowd->shift; i++)
		crowd->buckets[i - crowd->first].is_spoiled = true;
}

/* ---- putting ---- */

static void keep(struct store_crowd *crowd, struct store_bytes *value, uint64_t begin_ns, unsigned shift)
{
	const struct store_key_roll key = {.begin_ns = begin_ns,
		.stream = STORE_ROLL_ALL,
		.kind = STORE_ROLL_CROWD,
		.shift = (uint8_t)shift};

	store_made_add(&crowd->made, &key, value);
}

/* Putting sorts: that would lead the index of the bucket astray. */
static void put_sums(struct store_bytes *out, const struct store_sums *sums)
{
	struct store_sums sorted = {0};

	for (uint32_t i = 0; i < sums->count; i++)
		store_sums_push(&sorted, &sums->entries[i]);
	out->failed |= sorted.failed;
	store_sums_put(&sorted, out);
	store_sums_fini(&sorted);
}

static void make_level(struct store_crowd *crowd)
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
static void melt(struct store_crowd *crowd)
{
	for (uint32_t i = 1; i < crowd->count; i++)
		join(crowd, &crowd->buckets[0], &crowd->buckets[i]);
	crowd->count = crowd->count ? 1 : 0;
}

static void make_head(struct store_crowd *crowd, const struct store_crowd_head *head)
{
	bool is_whole = crowd->spoiled_ns == UINT64_MAX && !crowd->buckets[0].is_spoiled;
	struct store_bytes bytes = {0};
	struct store_sums none = {0};

	store_bytes_begin_sealed(&bytes);
	store_bytes_put_varint(&bytes, head->streams);
	store_bytes_put_varint(&bytes, head->begin_ns);
	store_bytes_put_varint(&bytes, head->end_ns);
	store_bytes_put_varint(&bytes, head->shift);
	store_bytes_put_varint(&bytes, is_whole);
	put_sums(&bytes, is_whole ? &crowd->buckets[0].sums : &none);
	keep(crowd, &bytes, 0, STORE_SHIFT_MAX);
	store_bytes_fini(&bytes);
	store_sums_fini(&none);
}

static void make(struct store_crowd *crowd, const struct store_crowd_head *head)
{
	struct store_crowd_head made = *head;

	flush(crowd);
	while (crowd->count > 1 && crowd->pieces / crowd->count < PIECES_LEAST)
		widen(crowd);
	made.shift = crowd->shift;
	while (crowd->count > 1) {
		make_level(crowd);
		for (unsigned i = 0; i < STORE_CROWD_STEP; i++)
			widen(crowd);
	}
	melt(crowd);
	make_head(crowd, &made);
}

int store_crowd_put(
	struct store_crowd *crowd, const struct store_crowd_head *head, MDB_txn *txn, MDB_dbi rolls)
{
	if (store_crowd_is_idle(crowd) || head->streams < STORE_CROWD_STREAMS)
		return 0;
	list_empty(crowd);
	if (!crowd->has_begun)
		return 0;
	/* A transaction that found the map too small is tried again. */
	if (!crowd->made.size)
		make(crowd, head);
	if (crowd->is_bad || crowd->made.failed) {
		store_crowd_give_up(crowd);
		return 0;
	}
	return store_made_put(&crowd->made, txn, rolls);
}
