/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_shift.c - see ingest_shift.h. */
#include "store/ingest/ingest_shift.h"

#define SHIFT_MIN 10u
#define TARGET_RECORDS 9216u /* at most, as the rate foretells: so half of it at least */
#define RATE_RECORDS 64u     /* fewer say little about the rate */
#define STEP_BLIND 3	     /* how far the shift may go on so little */
#define PUSHED_OUT_FEW 512u  /* pushed out with fewer, a bucket was too small */

unsigned ingest_shift_most(const struct store_ingest *ingest, unsigned shift)
{
	unsigned most = ingest->shift_most ? ingest->shift_most : INGEST_SHIFT_MAX;

	return shift < most ? shift : most;
}

/* The largest shift whose bucket holds no more than the target at `count` records in `covered_ns`. */
static unsigned shift_for_rate(uint32_t count, uint64_t covered_ns)
{
	long double bucket_ns = (long double)(covered_ns ? covered_ns : 1) * TARGET_RECORDS / count;
	unsigned shift = SHIFT_MIN;

	while (shift < INGEST_SHIFT_MAX && (long double)((uint64_t)2 << shift) <= bucket_ns)
		shift++;
	return shift;
}

static unsigned clamp_step(unsigned shift, unsigned from, int most)
{
	if ((int)shift > (int)from + most)
		return from + (unsigned)most;
	if ((int)shift < (int)from - most)
		return (int)from - most < (int)SHIFT_MIN ? SHIFT_MIN : from - (unsigned)most;
	return shift;
}

void ingest_shift_next(
	const struct store_ingest *ingest, struct store_track_state *track, const struct store_record *record)
{
	const struct store_builder *last = NULL;
	uint64_t covered;
	unsigned shift;

	for (unsigned i = 0; i < track->count; i++)
		if (track->builders[i].key.shift == track->base_shift &&
			(!last || track->builders[i].order > last->order))
			last = &track->builders[i];
	if (!last || !last->count || (record->begin_ns <= last->max_ns && last->count >= PUSHED_OUT_FEW))
		return;
	covered = record->begin_ns > last->min_ns ? record->begin_ns - last->min_ns
						  : last->max_ns - record->begin_ns;
	shift = shift_for_rate(last->count, covered);
	if (last->count < RATE_RECORDS)
		shift = clamp_step(shift, track->base_shift, STEP_BLIND);
	track->base_shift = (uint8_t)ingest_shift_most(ingest, shift);
}

void ingest_shift_full(struct store_track_state *track, const struct store_builder *full)
{
	unsigned shift = shift_for_rate(full->count, full->max_ns - full->min_ns);

	if (full->key.shift != track->base_shift || shift >= track->base_shift)
		return;
	track->base_shift = (uint8_t)shift;
}
