/* SPDX-License-Identifier: Apache-2.0 */
/* all_streams_sum.c - see all_streams_sum.h. First splits the window into buckets and gaps, then returns
 * them. */
#include "timeline/sum/all_streams_sum.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/states/all_streams.h"

#define RECORDS_WORTH 512u /* of a stream: fewer are walked sooner than two edges */

struct bucket_place {
	uint64_t begin_ns, end_ns; /* what of it the window shows, in the store's time */
	uint64_t bucket_ns;
	unsigned shift;
	bool is_gap;
};

/* The window of one store. */
struct layout {
	struct run *run;
	unsigned part;
	struct store_all_streams_head head;
	uint64_t begin_ns, end_ns; /* in the store's time, within the life of its streams */
	struct bucket_place *places;
	uint32_t count, capacity;
	uint64_t gaps_ns;
};

/* ---- laying out ---- */

static bool add_place(struct layout *layout, const struct bucket_place *place)
{
	struct bucket_place *last = layout->count ? &layout->places[layout->count - 1] : NULL;

	layout->gaps_ns += place->is_gap ? place->end_ns - place->begin_ns : 0;
	if (last && last->is_gap && place->is_gap) {
		last->end_ns = place->end_ns;
		return true;
	}
	last = store_id_table_add(&layout->places, &layout->count, &layout->capacity, sizeof *last);
	if (last)
		*last = *place;
	return last != NULL;
}

/* True when the bucket, cut at the streams' life, begins here and is in the window. */
static bool fits(const struct layout *layout, struct bucket_place *place, uint64_t at_ns, unsigned shift)
{
	uint64_t life_ns = layout->head.begin_ns, end_ns;

	place->shift = shift;
	place->bucket_ns = store_bucket_of(at_ns, shift);
	place->begin_ns = place->bucket_ns > life_ns ? place->bucket_ns : life_ns;
	end_ns = place->bucket_ns + ((uint64_t)1 << shift);
	place->end_ns = end_ns < layout->head.end_ns ? end_ns : layout->head.end_ns;
	return place->begin_ns == at_ns && place->end_ns <= layout->end_ns;
}

/* The largest bucket that begins there, or the gap to the next one. */
static int find_place(struct layout *layout, uint64_t at_ns, struct bucket_place *place, struct error *error)
{
	struct store_reader *reader = layout->run->parts[layout->part].reader;
	unsigned least = layout->head.shift, shift = least;
	const struct store_context_sums *sums;

	while (shift + STORE_ALL_STREAMS_STEP <= 62)
		shift += STORE_ALL_STREAMS_STEP;
	*place = (struct bucket_place){.is_gap = false};
	if (fits(layout, place, at_ns, 62) && layout->head.is_whole && at_ns == layout->head.begin_ns &&
		layout->end_ns == layout->head.end_ns) {
		place->bucket_ns = 0;
		place->shift = STORE_SHIFT_MAX;
		return 0;
	}
	for (; shift >= least; shift -= STORE_ALL_STREAMS_STEP) {
		int code = fits(layout, place, at_ns, shift)
				   ? store_all_streams_read(reader, place->bucket_ns, shift, &sums, error)
				   : 0;

		if (code)
			return code < 0 ? code : 0;
	}
	place->is_gap = true;
	place->begin_ns = at_ns;
	place->end_ns = store_bucket_of(at_ns, least) + ((uint64_t)1 << least);
	if (place->end_ns > layout->end_ns)
		place->end_ns = layout->end_ns;
	return 0;
}

static int lay_out(struct layout *layout, struct error *error)
{
	struct bucket_place place;
	int code = 0;

	for (uint64_t at_ns = layout->begin_ns; at_ns < layout->end_ns && !code; at_ns = place.end_ns) {
		code = find_place(layout, at_ns, &place, error);
		if (!code && !add_place(layout, &place))
			code = error_memory(error);
	}
	return code;
}

/* Do buckets spare more records than gaps ask for? */
static bool is_worth(const struct layout *layout)
{
	const struct store_reader *reader = layout->run->parts[layout->part].reader;
	uint64_t window_ns = layout->end_ns - layout->begin_ns, records;
	long double spared =
		(long double)(window_ns - layout->gaps_ns) / (layout->head.end_ns - layout->head.begin_ns);

	if (!layout->gaps_ns)
		return true;
	records = store_reader_records(reader, STORE_SAMPLES) + store_reader_records(reader, STORE_SPANS);
	return layout->gaps_ns <= window_ns / 2 &&
	       spared * records >= (uint64_t)RECORDS_WORTH * store_reader_stream_count(reader);
}

/* 1: buckets cover most of the window; 0; negative. */
static int layout_init(struct layout *layout, struct run *run, unsigned p, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	const struct run_part *part = &run->parts[p];
	int code;

	*layout = (struct layout){.run = run, .part = p};
	code = store_all_streams_head(part->reader, &layout->head, error);
	if (code != 1 || run_part_is_bent(part, layout->head.begin_ns, layout->head.end_ns))
		return code < 0 ? code : 0;
	layout->begin_ns = run_part_store_time(part, begin_ns);
	layout->end_ns = run_part_store_time(part, end_ns);
	if (layout->begin_ns < layout->head.begin_ns)
		layout->begin_ns = layout->head.begin_ns;
	if (layout->end_ns > layout->head.end_ns)
		layout->end_ns = layout->head.end_ns;
	if (layout->begin_ns >= layout->end_ns)
		return 1;
	code = lay_out(layout, error);
	return code ? code : is_worth(layout);
}

/* ---- giving ---- */

struct giving {
	struct run *run;
	const struct state_sum_sink *sink;
	const uint32_t *streams;
	uint32_t count;
	uint64_t begin_ns, end_ns;
};

static int give_bucket(const struct layout *layout, const struct bucket_place *place,
	const struct giving *giving, uint64_t *given_ns, struct error *error)
{
	const struct run_part *part = &layout->run->parts[layout->part];
	const struct store_context_sums *sums;
	int code = store_all_streams_read(part->reader, place->bucket_ns, place->shift, &sums, error);

	if (code != 1)
		return code;
	code = 0;
	for (uint32_t i = 0; i < sums->count && !code; i++) {
		struct extent key = state_sum_rollup_extent(layout->run, part, &sums->entries[i]);

		*given_ns += sums->entries[i].weight;
		code = giving->sink->sum(
			giving->sink->own, &key, sums->entries[i].weight, sums->entries[i].samples, error);
	}
	return code;
}

/* Reads both edges of a stream, one after the other: the second reuses data of the first. */
static int ask_each(void *own, const struct all_streams_gap *gaps, uint32_t count, struct error *error)
{
	const struct giving *giving = own;
	int code = 0;

	for (uint32_t i = 0; i < giving->count && !code; i++) {
		const unsigned store = run_stream(giving->run, giving->streams[i])->store;

		for (uint32_t gap = 0; gap < count && !code; gap++)
			if (gaps[gap].store == store)
				code = state_sum(giving->run, giving->streams[i], gaps[gap].begin_ns,
					gaps[gap].end_ns, 63, giving->sink, error);
	}
	return code;
}

static int ask_gaps(const struct layout *layouts, unsigned parts, struct giving *giving,
	const struct all_streams_asker *asker, struct error *error)
{
	struct all_streams_gap *gaps = NULL, *gap;
	uint32_t count = 0, capacity = 0;
	int code = 0;

	for (unsigned p = 0; p < parts; p++)
		for (uint32_t i = 0; i < layouts[p].count && !code; i++) {
			const struct run_part *part = &giving->run->parts[p];
			const struct bucket_place *place = &layouts[p].places[i];

			if (!place->is_gap)
				continue;
			gap = store_id_table_add(&gaps, &count, &capacity, sizeof *gap);
			if (gap)
				*gap = (struct all_streams_gap){p, run_part_time(part, place->begin_ns),
					run_part_time(part, place->end_ns)};
			else
				code = error_memory(error);
		}
	if (!code && count)
		code = asker ? asker->ask(asker->own, gaps, count, error)
			     : ask_each(giving, gaps, count, error);
	free(gaps);
	return code;
}

/* Where there is neither a bucket nor a gap, all streams are absent. */
static int give(const struct layout *layout, const struct giving *giving, struct error *error)
{
	const struct extent absent = {.op = STORE_OP_NONE, .state = EXTENT_ABSENT};
	uint64_t all_ns = (giving->end_ns - giving->begin_ns - layout->gaps_ns) * layout->head.streams;
	uint64_t given_ns = 0;
	int code = 0;

	for (uint32_t i = 0; i < layout->count && !code; i++)
		if (!layout->places[i].is_gap)
			code = give_bucket(layout, &layout->places[i], giving, &given_ns, error);
	if (!code && all_ns != given_ns)
		code = giving->sink->sum(giving->sink->own, &absent, all_ns - given_ns, 0, error);
	return code;
}

int all_streams_sum(struct run *run, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, const struct state_sum_sink *sink, const struct all_streams_asker *asker,
	struct error *error)
{
	struct giving giving = {run, sink, streams, count, begin_ns, end_ns};
	struct layout *layouts;
	int code = 1;

	if (run->options.no_rollups || count != run_timed_count(run) || begin_ns >= end_ns)
		return 0;
	layouts = calloc(run->part_count, sizeof *layouts);
	if (!layouts)
		return error_memory(error);
	for (unsigned p = 0; p < run->part_count && code == 1; p++)
		code = layout_init(&layouts[p], run, p, begin_ns, end_ns, error);
	if (code == 1) {
		code = ask_gaps(layouts, run->part_count, &giving, asker, error);
		code = code ? code : 1;
	}
	for (unsigned p = 0; p < run->part_count && code == 1; p++) {
		code = give(&layouts[p], &giving, error);
		code = code ? code : 1;
	}
	for (unsigned p = 0; p < run->part_count; p++)
		free(layouts[p].places);
	free(layouts);
	return code;
}
