/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_stats.c - see chunk_stats.h. */
#include "store/chunk/chunk_stats.h"

#include <string.h>

#include "store/base/avx2.h"

#define GROUP 16u /* records processed before checking whether they fit, since most do */

/* By pointers: vectors in calls differ between processors, warns clang before it has seen them inlined. */
static inline void add_words(struct store_chunk_stats *survey, const store_words *low,
	const store_words *high, const store_words *first_low, const store_words *first_high)
{
	survey->low |= *low ^ *first_low;
	survey->high |= *high ^ *first_high;
	survey->any_high |= *high;
}

static inline void load(store_words *low, store_words *high, const struct store_record *record)
{
	memcpy(low, record, sizeof *low);
	memcpy(high, (const uint8_t *)record + STORE_CHUNK_STATS_HIGH, sizeof *high);
}

static inline void survey_add(struct store_chunk_stats *survey, const struct store_record *first,
	const struct store_record *records, unsigned count)
{
	const uint64_t duration = first->end_ns - first->begin_ns;
	struct store_chunk_stats all = *survey;
	store_words low, high, first_low, first_high;

	load(&first_low, &first_high, first);
	for (unsigned i = 0; i < count; i++) {
		load(&low, &high, &records[i]);
		add_words(&all, &low, &high, &first_low, &first_high);
		all.duration_differs |= (records[i].end_ns - records[i].begin_ns) ^ duration;
		all.end_ns = records[i].end_ns > all.end_ns ? records[i].end_ns : all.end_ns;
	}
	*survey = all;
}

/* Copies and adds a group behind a record that begins at `last_ns`. False: one of them is out of bounds, and
 * nothing was added. Whose begin and duration differ from those of the first record, which is in bounds, in
 * low bits alone is in bounds, too. */
static inline bool take_group(struct store_chunk_stats *survey, const struct store_chunk_stats_bounds *bounds,
	const struct store_record *first, const struct store_record *records, unsigned count,
	struct store_record *to, uint64_t last_ns, bool *rises)
{
	const uint64_t duration = first->end_ns - first->begin_ns;
	struct store_chunk_stats all = *survey;
	store_words low, high, first_low, first_high;
	uint64_t falls = 0;

	load(&first_low, &first_high, first);
#pragma GCC unroll 4
	for (unsigned i = 0; i < count; i++) {
		const uint64_t begin_ns = records[i].begin_ns, end_ns = records[i].end_ns;

		load(&low, &high, &records[i]);
		memcpy(&to[i], &low, sizeof low);
		memcpy((uint8_t *)&to[i] + STORE_CHUNK_STATS_HIGH, &high, sizeof high);
		add_words(&all, &low, &high, &first_low, &first_high);
		all.duration_differs |= (end_ns - begin_ns) ^ duration;
		all.end_ns = end_ns > all.end_ns ? end_ns : all.end_ns;
		/* Has the highest bit where it does not rise: within a bucket nothing is as far apart. */
		falls |= begin_ns - last_ns - 1;
		last_ns = begin_ns;
	}
	if (all.low[0] >= bounds->width_ns || all.duration_differs >= bounds->longest_ns)
		return false;
	*survey = all;
	*rises &= !(falls >> 63);
	return true;
}

static inline unsigned survey_take(struct store_chunk_stats *survey,
	const struct store_chunk_stats_bounds *bounds, const struct store_record *first,
	const struct store_record *records, unsigned count, struct store_record *to, bool *rises)
{
	unsigned taken = 0;

	if (first->end_ns - first->begin_ns >= bounds->longest_ns)
		return 0;
	for (uint64_t last_ns = 0; taken < count; last_ns = records[taken - 1].begin_ns) {
		bool fits;

		if (count - taken >= GROUP) /* a number that is known: its loop is unrolled */
			fits = take_group(
				survey, bounds, first, records + taken, GROUP, to + taken, last_ns, rises);
		else
			fits = take_group(survey, bounds, first, records + taken, count - taken, to + taken,
				last_ns, rises);
		if (!fits)
			break;
		taken += count - taken < GROUP ? count - taken : GROUP;
	}
	return taken;
}

struct store_record store_chunk_stats_differs(const struct store_chunk_stats *survey)
{
	struct store_record differs;

	memcpy(&differs, &survey->low, sizeof survey->low);
	memcpy((uint8_t *)&differs + STORE_CHUNK_STATS_HIGH, &survey->high, sizeof survey->high);
	return differs;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void survey_add_wide(struct store_chunk_stats *survey, const struct store_record *first,
	const struct store_record *records, unsigned count)
{
	survey_add(survey, first, records, count);
}

STORE_AVX2 static unsigned survey_take_wide(struct store_chunk_stats *survey,
	const struct store_chunk_stats_bounds *bounds, const struct store_record *first,
	const struct store_record *records, unsigned count, struct store_record *to, bool *rises)
{
	return survey_take(survey, bounds, first, records, count, to, rises);
}
#endif

void store_chunk_stats_add(struct store_chunk_stats *survey, const struct store_record *first,
	const struct store_record *records, unsigned count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		survey_add_wide(survey, first, records, count);
		return;
	}
#endif
	survey_add(survey, first, records, count);
}

unsigned store_chunk_stats_take(struct store_chunk_stats *survey,
	const struct store_chunk_stats_bounds *bounds, const struct store_record *first,
	const struct store_record *records, unsigned count, struct store_record *to, bool *rises)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return survey_take_wide(survey, bounds, first, records, count, to, rises);
#endif
	return survey_take(survey, bounds, first, records, count, to, rises);
}
