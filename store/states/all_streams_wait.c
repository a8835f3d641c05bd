/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_wait.c - queues pieces of timelines for the buckets of the sums of all streams. When many are
 * queued, each bucket takes the pieces of all streams in its time at once: a context common to most streams
 * is looked up in the bucket's table once, not once for each stream, while other buckets' tables are out of
 * the caches.
 *
 *   waiting   | piece | piece | end | piece | end | ...       16 bytes each: begin, context, metric
 *   runs      ^                     ^                         from there each piece begins at the last's end
 *
 *   heads[bucket] -> run -> run         runs that continue in that bucket; finished ones go to the next one's
 */
#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/id_table.h"
#include "store/states/all_streams_internal.h"

#define NO_METRIC UINT32_MAX /* of an end */
#define GOES_ON (UINT64_C(1) << 63)
#define NO_RUN UINT32_MAX

static uint64_t begin_of(const struct all_streams_piece *piece)
{
	return piece->begin_ns & ~GOES_ON;
}

void all_streams_wait_fini(struct all_streams_wait *wait)
{
	free(wait->pieces);
	free(wait->runs);
	free(wait->sorter);
	*wait = (struct all_streams_wait){0};
}

/* ---- waiting ---- */

static bool reserve(struct all_streams_wait *wait, uint32_t more)
{
	const size_t wanted = (size_t)wait->count + more;

	return wanted <= UINT32_MAX / 2 &&
	       array_reserve(&wait->pieces, &wait->room, wanted, sizeof *wait->pieces);
}

struct all_streams_piece *store_all_streams_open(
	struct store_all_streams *all_streams, uint64_t begin_ns, uint32_t count)
{
	struct all_streams_wait *wait = &all_streams->wait;
	uint32_t *run;

	if (store_all_streams_is_idle(all_streams))
		return NULL;
	if (!reserve(wait, count + 1)) {
		store_all_streams_give_up(all_streams);
		return NULL;
	}
	if (wait->count && begin_of(&wait->pieces[wait->count - 1]) == begin_ns)
		return &wait->pieces[--wait->count];
	run = store_id_table_add(&wait->runs, &wait->run_count, &wait->run_room, sizeof *run);
	if (!run) {
		store_all_streams_give_up(all_streams);
		return NULL;
	}
	*run = wait->count;
	return &wait->pieces[wait->count];
}

void store_all_streams_close(
	struct store_all_streams *all_streams, struct all_streams_piece *end, uint64_t end_ns)
{
	struct all_streams_wait *wait = &all_streams->wait;
	const uint32_t count = (uint32_t)(end - wait->pieces);

	if (count == wait->runs[wait->run_count - 1]) { /* nothing, where nothing is waiting */
		wait->run_count--;
		return;
	}
	all_streams->pieces += count - wait->count;
	*end = (struct all_streams_piece){.begin_ns = end_ns, .metric = NO_METRIC};
	wait->count = count + 1;
	if (all_streams->is_few && all_streams->pieces > CROWD_FEW_PIECES) {
		const uint64_t missed = all_streams->pieces - CROWD_FEW_PIECES - 1;

		store_all_streams_sleep(all_streams);
		store_all_streams_miss(all_streams, missed);
	} else if (wait->count >= CROWD_WAIT_MANY) {
		all_streams_wait_empty(all_streams);
	}
}

void store_all_streams_add(struct store_all_streams *all_streams, const struct state_piece *piece)
{
	struct all_streams_piece *to;

	if (piece->state == EXTENT_ABSENT || piece->begin_ns >= piece->end_ns)
		return;
	to = store_all_streams_open(all_streams, piece->begin_ns, 1);
	if (!to)
		return;
	store_all_streams_piece(to, piece->begin_ns, piece->context,
		store_state_rollup_metric(piece->state, piece->op), piece->is_record_begin);
	store_all_streams_close(all_streams, to + 1, piece->end_ns);
}

/* ---- into buckets ---- */

/* Where each run continues. */
struct all_streams_sorter {
	struct store_sum_cache tally;
	uint32_t heads[STORE_ALL_STREAMS_BUCKETS]; /* a run, or NO_RUN */
	uint32_t run_count;
	uint32_t nexts[]; /* [run] */
};

static bool sorter_reserve(struct all_streams_wait *wait)
{
	const size_t runs = wait->run_room;

	if (wait->sorter && wait->sorter->run_count >= runs)
		return true;
	free(wait->sorter);
	wait->sorter = calloc(1, sizeof *wait->sorter + runs * sizeof *wait->sorter->nexts);
	if (wait->sorter)
		wait->sorter->run_count = (uint32_t)runs;
	return wait->sorter;
}

static void push(struct all_streams_sorter *sorter, uint32_t bucket, uint32_t run)
{
	sorter->nexts[run] = sorter->heads[bucket];
	sorter->heads[bucket] = run;
}

/* All runs that are not over, to the buckets as they are now. */
static void sort_runs(struct store_all_streams *all_streams)
{
	struct all_streams_wait *wait = &all_streams->wait;

	memset(wait->sorter->heads, 0xff, sizeof wait->sorter->heads);
	for (uint32_t run = 0; run < wait->run_count; run++) {
		const struct all_streams_piece *piece = &wait->pieces[wait->runs[run]];

		if (piece->metric != NO_METRIC)
			push(wait->sorter,
				(uint32_t)((begin_of(piece) >> all_streams->shift) - all_streams->first),
				run);
	}
}

/* The part of a run before `end_ns`, and where it continues. */
static struct all_streams_piece *run_take(struct all_streams_piece *piece, uint64_t end_ns,
	struct store_sum_cache *tally, struct store_context_sums *sums)
{
	uint64_t now_ns = begin_of(piece);

	while (piece->metric != NO_METRIC && now_ns < end_ns) {
		const uint64_t next_ns = begin_of(piece + 1), samples = !(piece->begin_ns & GOES_ON);

		if (next_ns > end_ns) {
			store_sum_cache_add(
				tally, sums, piece->context, piece->metric, samples, end_ns - now_ns);
			piece->begin_ns = end_ns | GOES_ON;
			break;
		}
		store_sum_cache_add(tally, sums, piece->context, piece->metric, samples, next_ns - now_ns);
		now_ns = next_ns;
		piece++;
	}
	return piece;
}

static void bucket_take(struct store_all_streams *all_streams, uint32_t bucket)
{
	struct all_streams_wait *wait = &all_streams->wait;
	struct all_streams_sorter *sorter = wait->sorter;
	struct store_context_sums *sums = &all_streams->buckets[bucket].sums;
	const uint64_t end_ns = (all_streams->first + bucket + 1) << all_streams->shift;
	const uint32_t before = sums->count;
	uint32_t run = sorter->heads[bucket], next;

	if (!before && bucket) /* it will be like the one before */
		store_context_sums_expect(sums, all_streams->buckets[bucket - 1].sums.count);
	for (; run != NO_RUN; run = next) {
		struct all_streams_piece *piece = &wait->pieces[wait->runs[run]];

		next = sorter->nexts[run];
		piece = run_take(piece, end_ns, &sorter->tally, sums);
		wait->runs[run] = (uint32_t)(piece - wait->pieces);
		if (piece->metric != NO_METRIC)
			push(sorter, bucket + 1, run);
	}
	store_sum_cache_end(&sorter->tally, sums);
	all_streams->entries += sums->count - before;
	all_streams->is_bad |= sums->failed;
}

/* Buckets for all that waits. */
static bool cover_all(struct store_all_streams *all_streams)
{
	const struct all_streams_wait *wait = &all_streams->wait;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t run = 0; run < wait->run_count; run++) {
		const uint32_t behind = run + 1 < wait->run_count ? wait->runs[run + 1] : wait->count;
		const uint64_t first_ns = begin_of(&wait->pieces[wait->runs[run]]),
			       last_ns = begin_of(&wait->pieces[behind - 1]);

		begin_ns = first_ns < begin_ns ? first_ns : begin_ns;
		end_ns = last_ns > end_ns ? last_ns : end_ns;
	}
	return all_streams_cover(all_streams, begin_ns, end_ns);
}

void all_streams_wait_empty(struct store_all_streams *all_streams)
{
	struct all_streams_wait *wait = &all_streams->wait;

	if (all_streams->is_bad || !wait->count || !cover_all(all_streams))
		return;
	if (!sorter_reserve(wait)) {
		store_all_streams_give_up(all_streams);
		return;
	}
	sort_runs(all_streams);
	for (uint32_t bucket = 0; bucket < all_streams->count; bucket++) {
		const uint64_t end_ns = (all_streams->first + bucket + 1) << all_streams->shift;

		if (wait->sorter->heads[bucket] == NO_RUN)
			continue;
		bucket_take(all_streams, bucket);
		if (!all_streams_bound(all_streams))
			continue;
		if (all_streams->is_bad)
			return;
		/* Buckets are wider: the current one may take more. */
		sort_runs(all_streams);
		bucket = (uint32_t)((end_ns >> all_streams->shift) - all_streams->first) - 1;
	}
	wait->count = wait->run_count = 0;
}
