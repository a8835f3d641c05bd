/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_sleep.c - pauses builders that only feed the sums of all streams (all_streams.h)
 * while there are few streams, when nobody reads those sums. A small start of a run stays queued until there
 * are more streams; larger ones are skipped: on waking, the buckets of the skipped time are invalid, and
 * readers sum the streams there.
 */
#include "store/states/state_rollup_builder_internal.h"

#define DOZE_SAMPLES (1u << 15) /* of one stream that wait, while there are few */
#define WAIT_ALL (1u << 20)	/* of all; then there is no sums of all streams */

/* Nothing is known of its line that its place and its track's samples do not tell the next one. */
static bool is_simple(const struct store_state_builder *builder)
{
	for (uint32_t i = builder->spans.head; i < builder->spans.count; i++)
		if (builder->spans.list[i].op != STORE_OP_MONITORED)
			return false;
	return builder->line.rules.has_samples && !(builder->line.held & ~(1u << SPAN_KIND_MONITORED));
}

void state_builder_pass_until(struct state_builder_place *place, uint64_t end_ns)
{
	place->is_passed = true;
	if (end_ns > place->passed_ns)
		place->passed_ns = end_ns;
}

/* The last `monitored` span is remembered. */
static void pass_monitored(struct state_builder_place *place, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns != place->monitored.begin_ns || end_ns != place->monitored.end_ns)
		state_builder_pass_until(place, end_ns);
}

static void pass_all(struct state_builder_place *place, const struct store_state_builder *builder)
{
	const struct span_stack *stack = &builder->line.stacks[SPAN_KIND_MONITORED];

	for (uint32_t i = builder->spans.head; i < builder->spans.count; i++)
		pass_monitored(place, builder->spans.list[i].begin_ns, builder->spans.list[i].end_ns);
	for (size_t i = 0; i < stack->count; i++)
		pass_monitored(place, stack->spans[i].begin_ns, stack->spans[i].end_ns);
	place->is_passed = true;
}

void state_builder_retire(const struct store_state_builders *builders, struct state_builder_place *place)
{
	struct store_state_builder *builder = place->builder;

	if (!builder || !store_all_streams_is_idle(&builders->all_streams) || builder->sizes ||
		builder->is_over || !is_simple(builder))
		return;
	pass_all(place, builder);
	state_builder_free(builder);
	place->builder = NULL;
}

void state_builder_pass(
	struct state_builder_place *place, enum store_track track, const struct store_record *record)
{
	state_builder_pass_until(place, track == STORE_SPANS ? record->end_ns : 0);
}

size_t state_builder_pass_alike(
	struct state_builder_place *place, const struct store_record *records, size_t count)
{
	const enum span_kind kind = span_kind_of(records->what, false, true);
	size_t i = 0;

	if (kind != SPAN_KIND_COUNT && kind != SPAN_KIND_WORK)
		return 0;
	for (; i < count && records[i].what == records->what; i++)
		state_builder_pass(place, STORE_SPANS, &records[i]);
	return i;
}

void state_builder_doze(struct store_state_builders *builders, const struct store_state_builder *builder)
{
	if (builders->all_streams.is_few && !builder->sizes &&
		state_builder_samples_waiting(builder) > DOZE_SAMPLES)
		store_all_streams_sleep(&builders->all_streams);
}

void state_builder_count(struct store_state_builders *builders)
{
	uint64_t waiting = 0;

	builders->live = 0;
	for (uint32_t i = 0; i < builders->count; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		builders->live += builder && !builder->is_over;
		waiting += builder && !builder->sizes ? state_builder_samples_waiting(builder) : 0;
	}
	if (waiting > WAIT_ALL && !store_all_streams_is_idle(&builders->all_streams))
		store_all_streams_give_up(&builders->all_streams);
}

void store_state_builders_wake(struct store_state_builders *builders)
{
	if (!store_all_streams_wake(&builders->all_streams))
		return;
	for (uint32_t i = 0; i < builders->count; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		if (builder && builder->has_begun)
			store_all_streams_spoil(
				&builders->all_streams, builder->line.rules.begin_ns, builder->line.now_ns);
	}
}
