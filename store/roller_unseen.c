/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roller_unseen.c - until when a roller that comes into being in the middle of its stream cannot know the
 * line: records that were appended while there was none are not read again, and may reach far beyond the one
 * that it was made for.
 */
#include "store/roller_state.h"

void roller_unseen_until(struct roller_place *place, uint64_t until_ns)
{
	if (until_ns > place->unseen_ns)
		place->unseen_ns = until_ns;
}

/* A later sample than this one is needed to know the line. */
static void unseen_sample(struct roller_place *place, uint64_t begin_ns)
{
	roller_unseen_until(place, begin_ns < UINT64_MAX ? begin_ns + 1 : begin_ns);
}

static void unseen_span(struct roller_place *place, const struct line_span *span)
{
	if (span->op != STORE_OP_MONITORED || span->begin_ns != place->monitored.begin_ns ||
		span->end_ns != place->monitored.end_ns)
		roller_unseen_until(place, span->end_ns);
}

void roller_unseen(struct roller_place *place, enum store_track track, const struct store_record *record)
{
	if (track == STORE_SAMPLES)
		unseen_sample(place, record->begin_ns);
	else if (line_kind_of(record->what, false, false) != LINE_KIND_COUNT)
		roller_unseen_until(place, record->end_ns);
}

/* What a roller knew that is to go. */
void roller_unseen_all(struct roller_place *place)
{
	const struct store_roller *roller = place->roller;

	if (roller->has_begun)
		unseen_sample(place, roller->line.now_ns);
	for (uint32_t i = roller->samples.head; i < roller->samples.count; i++)
		unseen_sample(place, roller->samples.list[i].begin_ns);
	for (uint32_t i = roller->spans.head; i < roller->spans.count; i++) {
		const struct store_record *record = &roller->spans.records[i];

		unseen_span(place,
			&(struct line_span){
				.begin_ns = record->begin_ns, .end_ns = record->end_ns, .op = record->what});
	}
	for (int kind = 0; kind < LINE_KIND_COUNT; kind++)
		for (size_t i = 0; i < roller->line.stacks[kind].count; i++)
			unseen_span(place, &roller->line.stacks[kind].spans[i]);
}
