/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_sleep.c - rollers that only feed the crowd (all_streams.h), and when it is not worth
 * feeding: nobody reads that of few streams. What of a run's begin is little waits until there are more of
 * them; what is not, the crowd has missed when it wakes: those of its buckets are spoiled, readers ask the
 * streams there.
 */
#include "store/states/state_rollup_builder_internal.h"

#define DOZE_SAMPLES (1u << 15) /* of one stream that wait, while there are few */
#define WAIT_ALL (1u << 20)	/* of all; then there is no crowd */

/* Nothing is known of its line that its place and its track's samples do not tell the next one. */
static bool is_simple(const struct store_roller *roller)
{
	for (uint32_t i = roller->spans.head; i < roller->spans.count; i++)
		if (roller->spans.list[i].op != STORE_OP_MONITORED)
			return false;
	return roller->line.rules.has_samples && !(roller->line.held & ~(1u << LINE_KIND_MONITORED));
}

void roller_pass_until(struct roller_place *place, uint64_t end_ns)
{
	place->is_passed = true;
	if (end_ns > place->passed_ns)
		place->passed_ns = end_ns;
}

/* The last `monitored` span is remembered. */
static void pass_monitored(struct roller_place *place, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns != place->monitored.begin_ns || end_ns != place->monitored.end_ns)
		roller_pass_until(place, end_ns);
}

static void pass_all(struct roller_place *place, const struct store_roller *roller)
{
	const struct line_stack *stack = &roller->line.stacks[LINE_KIND_MONITORED];

	for (uint32_t i = roller->spans.head; i < roller->spans.count; i++)
		pass_monitored(place, roller->spans.list[i].begin_ns, roller->spans.list[i].end_ns);
	for (size_t i = 0; i < stack->count; i++)
		pass_monitored(place, stack->spans[i].begin_ns, stack->spans[i].end_ns);
	place->is_passed = true;
}

void roller_retire(const struct store_rollers *rollers, struct roller_place *place)
{
	struct store_roller *roller = place->roller;

	if (!roller || !store_crowd_is_idle(&rollers->crowd) || roller->sizes || roller->is_over ||
		!is_simple(roller))
		return;
	pass_all(place, roller);
	roller_free(roller);
	place->roller = NULL;
}

void roller_pass(struct roller_place *place, enum store_track track, const struct store_record *record)
{
	roller_pass_until(place, track == STORE_SPANS ? record->end_ns : 0);
}

size_t roller_pass_alike(struct roller_place *place, const struct store_record *records, size_t count)
{
	const enum line_kind kind = line_kind_of(records->what, false, true);
	size_t i = 0;

	if (kind != LINE_KIND_COUNT && kind != LINE_KIND_WORK)
		return 0;
	for (; i < count && records[i].what == records->what; i++)
		roller_pass(place, STORE_SPANS, &records[i]);
	return i;
}

void roller_doze(struct store_rollers *rollers, const struct store_roller *roller)
{
	if (rollers->crowd.is_few && !roller->sizes && roller_samples_waiting(roller) > DOZE_SAMPLES)
		store_crowd_sleep(&rollers->crowd);
}

void roller_count(struct store_rollers *rollers)
{
	uint64_t waiting = 0;

	rollers->live = 0;
	for (uint32_t i = 0; i < rollers->count; i++) {
		const struct store_roller *roller = rollers->places[i].roller;

		rollers->live += roller && !roller->is_over;
		waiting += roller && !roller->sizes ? roller_samples_waiting(roller) : 0;
	}
	if (waiting > WAIT_ALL && !store_crowd_is_idle(&rollers->crowd))
		store_crowd_give_up(&rollers->crowd);
}

void store_rollers_wake(struct store_rollers *rollers)
{
	if (!store_crowd_wake(&rollers->crowd))
		return;
	for (uint32_t i = 0; i < rollers->count; i++) {
		const struct store_roller *roller = rollers->places[i].roller;

		if (roller && roller->has_begun)
			store_crowd_spoil(&rollers->crowd, roller->line.rules.begin_ns, roller->line.now_ns);
	}
}
