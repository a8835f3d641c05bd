/* SPDX-License-Identifier: Apache-2.0 */
/* last_arrival_regions.c - who came last at the barriers and ends of OpenMP's regions, see last_arrival.h:
 * the runtime's own order, counted while it ran. */
#include "blame/wait/last_arrival_internal.h"
#include "blame/wait/regions.h"

/* Where the thread held up longest. */
static int work_find(struct last_arrival_party *party, struct run *run, const struct idle_question *question,
	const struct regions *regions, struct error *error)
{
	const struct region *most = NULL;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < regions->part_count; i++) {
		const struct region_part *part = &regions->parts[i];

		if (part->stream != party->stream || part->sums[REGION_HELD] <= most_ns)
			continue;
		most_ns = part->sums[REGION_HELD];
		most = &regions->regions[part->region];
	}
	return most ? regions_work(&party->context, run, question, party->stream, most, error) : 0;
}

static void party_fill(
	struct last_arrival_party *party, const struct regions *regions, uint32_t stream, uint64_t occasions)
{
	*party = (struct last_arrival_party){
		.stream = stream, .role = LAST_ARRIVAL_THREAD, .occasions = occasions};
	for (size_t i = 0; i < regions->part_count; i++) {
		const struct region_part *part = &regions->parts[i];

		if (part->stream != stream)
			continue;
		party->last += part->sums[REGION_LAST];
		party->held_ns += part->sums[REGION_HELD];
		party->waited_ns += part->sums[REGION_WAITED];
	}
}

int last_arrival_regions(struct last_arrival *late, bool *is_known, struct run *run,
	const struct idle_question *question, const struct process *process, struct arena *arena,
	struct error *error)
{
	struct regions regions;
	int result = regions_sum(&regions, run, process->streams, process->stream_count, question->begin_ns,
		question->end_ns, arena, error);

	*is_known = !result && regions.sums[REGION_LAST];
	for (uint32_t i = 0; i < process->stream_count && *is_known && !result; i++) {
		struct last_arrival_party party;

		party_fill(&party, &regions, process->streams[i], regions.sums[REGION_LAST]);
		if (!party.last && !party.waited_ns)
			continue;
		result = work_find(&party, run, question, &regions, error);
		late->thread_held_ns += party.held_ns;
		late->threads[late->thread_count++] = party;
	}
	return result;
}
