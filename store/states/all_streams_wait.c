/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_wait.c - pieces of lines on their way into the crowd's buckets. They wait until there are many,
 * and then each bucket takes what all streams did in its time at once: a context that most streams are in is
 * looked up in the bucket's table once, not once for each stream, and while the tables of other buckets stay
 * out of the caches.
 *
 *   waiting   | piece | piece | end | piece | end | ...       16 bytes each: begin, context, metric
 *   runs      ^                     ^                         from a piece on, each begins where the last
 * ends
 *
 *   heads[bucket] -> run -> run         runs that go on in that bucket; what is over goes to the next one's
 */
#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/states/all_streams_internal.h"

#define NO_METRIC UINT32_MAX /* of an end */
#define GOES_ON (UINT64_C(1) << 63)
#define NO_RUN UINT32_MAX

static uint64_t begin_of(const struct crowd_piece *piece)
{
	return piece->begin_ns & ~GOES_ON;
}

void crowd_wait_fini(struct crowd_wait *wait)
{
	free(wait->pieces);
	free(wait->runs);
	free(wait->sorter);
	*wait = (struct crowd_wait){0};
}

/* ---- waiting ---- */

static bool reserve(struct crowd_wait *wait, uint32_t more)
{
	const uint64_t wanted = (uint64_t)wait->count + more;
	uint64_t room = wait->room ? wait->room : 64;
	struct crowd_piece *grown;

	if (wanted <= wait->room)
		return true;
	while (room < wanted)
		room *= 2;
	grown = room <= UINT32_MAX ? reallocarray(wait->pieces, room, sizeof *grown) : NULL;
	if (!grown)
		return false;
	wait->pieces = grown;
	wait->room = (uint32_t)room;
	return true;
}

struct crowd_piece *store_crowd_open(struct store_crowd *crowd, uint64_t begin_ns, uint32_t count)
{
	struct crowd_wait *wait = &crowd->wait;
	uint32_t *run;

	if (store_crowd_is_idle(crowd))
		return NULL;
	if (!reserve(wait, count + 1)) {
		store_crowd_give_up(crowd);
		return NULL;
	}
	if (wait->count && begin_of(&wait->pieces[wait->count - 1]) == begin_ns)
		return &wait->pieces[--wait->count];
	run = store_table_add((void **)&wait->runs, &wait->run_count, &wait->run_room, sizeof *run);
	if (!run) {
		store_crowd_give_up(crowd);
		return NULL;
	}
	*run = wait->count;
	return &wait->pieces[wait->count];
}

void store_crowd_close(struct store_crowd *crowd, struct crowd_piece *end, uint64_t end_ns)
{
	struct crowd_wait *wait = &crowd->wait;
	const uint32_t count = (uint32_t)(end - wait->pieces);

	if (count == wait->runs[wait->run_count - 1]) { /* nothing, where nothing is waiting */
		wait->run_count--;
		return;
	}
	crowd->pieces += count - wait->count;
	*end = (struct crowd_piece){.begin_ns = end_ns, .metric = NO_METRIC};
	wait->count = count + 1;
	if (crowd->is_few && crowd->pieces > CROWD_FEW_PIECES) {
		const uint64_t missed = crowd->pieces - CROWD_FEW_PIECES - 1;

		store_crowd_sleep(crowd);
		store_crowd_miss(crowd, missed);
	} else if (wait->count >= CROWD_WAIT_MANY) {
		crowd_wait_empty(crowd);
	}
}

void store_crowd_add(struct store_crowd *crowd, const struct line_piece *piece)
{
	struct crowd_piece *to;

	if (piece->state == EXTENT_ABSENT || piece->begin_ns >= piece->end_ns)
		return;
	to = store_crowd_open(crowd, piece->begin_ns, 1);
	if (!to)
		return;
	store_crowd_piece(to, piece->begin_ns, piece->context,
		store_line_roll_metric(piece->state, piece->op), piece->is_record_begin);
	store_crowd_close(crowd, to + 1, piece->end_ns);
}

/* ---- into buckets ---- */

/* Where each run goes on. */
struct crowd_sorter {
	struct store_tally tally;
	uint32_t heads[STORE_CROWD_BUCKETS]; /* a run, or NO_RUN */
	uint32_t run_count;
	uint32_t nexts[]; /* [run] */
};

static bool sorter_reserve(struct crowd_wait *wait)
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

static void push(struct crowd_sorter *sorter, uint32_t bucket, uint32_t run)
{
	sorter->nexts[run] = sorter->heads[bucket];
	sorter->heads[bucket] = run;
}

/* All runs that are not over, to the buckets as they are now. */
static void sort_runs(struct store_crowd *crowd)
{
	struct crowd_wait *wait = &crowd->wait;

	memset(wait->sorter->heads, 0xff, sizeof wait->sorter->heads);
	for (uint32_t run = 0; run < wait->run_count; run++) {
		const struct crowd_piece *piece = &wait->pieces[wait->runs[run]];

		if (piece->metric != NO_METRIC)
			push(wait->sorter, (uint32_t)((begin_of(piece) >> crowd->shift) - crowd->first), run);
	}
}

/* What of a run lies before `end_ns`; where it goes on. */
static struct crowd_piece *run_take(
	struct crowd_piece *piece, uint64_t end_ns, struct store_tally *tally, struct store_sums *sums)
{
	uint64_t now_ns = begin_of(piece);

	while (piece->metric != NO_METRIC && now_ns < end_ns) {
		const uint64_t next_ns = begin_of(piece + 1), samples = !(piece->begin_ns & GOES_ON);

		if (next_ns > end_ns) {
			store_tally_add(tally, sums, piece->context, piece->metric, samples, end_ns - now_ns);
			piece->begin_ns = end_ns | GOES_ON;
			break;
		}
		store_tally_add(tally, sums, piece->context, piece->metric, samples, next_ns - now_ns);
		now_ns = next_ns;
		piece++;
	}
	return piece;
}

static void bucket_take(struct store_crowd *crowd, uint32_t bucket)
{
	struct crowd_wait *wait = &crowd->wait;
	struct crowd_sorter *sorter = wait->sorter;
	struct store_sums *sums = &crowd->buckets[bucket].sums;
	const uint64_t end_ns = (crowd->first + bucket + 1) << crowd->shift;
	const uint32_t before = sums->count;
	uint32_t run = sorter->heads[bucket], next;

	if (!before && bucket) /* it will be like the one before */
		store_sums_expect(sums, crowd->buckets[bucket - 1].sums.count);
	for (; run != NO_RUN; run = next) {
		struct crowd_piece *piece = &wait->pieces[wait->runs[run]];

		next = sorter->nexts[run];
		piece = run_take(piece, end_ns, &sorter->tally, sums);
		wait->runs[run] = (uint32_t)(piece - wait->pieces);
		if (piece->metric != NO_METRIC)
			push(sorter, bucket + 1, run);
	}
	store_tally_end(&sorter->tally, sums);
	crowd->entries += sums->count - before;
	crowd->is_bad |= sums->failed;
}

/* Buckets for all that waits. */
static bool cover_all(struct store_crowd *crowd)
{
	const struct crowd_wait *wait = &crowd->wait;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t run = 0; run < wait->run_count; run++) {
		const uint32_t behind = run + 1 < wait->run_count ? wait->runs[run + 1] : wait->count;
		const uint64_t first_ns = begin_of(&wait->pieces[wait->runs[run]]),
			       last_ns = begin_of(&wait->pieces[behind - 1]);

		begin_ns = first_ns < begin_ns ? first_ns : begin_ns;
		end_ns = last_ns > end_ns ? last_ns : end_ns;
	}
	return crowd_cover(crowd, begin_ns, end_ns);
}

void crowd_wait_empty(struct store_crowd *crowd)
{
	struct crowd_wait *wait = &crowd->wait;

	if (crowd->is_bad || !wait->count || !cover_all(crowd))
		return;
	if (!sorter_reserve(wait)) {
		store_crowd_give_up(crowd);
		return;
	}
	sort_runs(crowd);
	for (uint32_t bucket = 0; bucket < crowd->count; bucket++) {
		const uint64_t end_ns = (crowd->first + bucket + 1) << crowd->shift;

		if (wait->sorter->heads[bucket] == NO_RUN)
			continue;
		bucket_take(crowd, bucket);
		if (!crowd_bound(crowd))
			continue;
		if (crowd->is_bad)
			return;
		/* Buckets are wider: the one at hand may have more to take. */
		sort_runs(crowd);
		bucket = (uint32_t)((end_ns >> crowd->shift) - crowd->first) - 1;
	}
	wait->count = wait->run_count = 0;
}
