/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_wait.c - queues records for a stream's sweep, and handles those that come behind it.
 */
#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/id_table.h"
#include "store/rollup/pending_rollups.h"
#include "store/states/state_rollup_builder_internal.h"

#define SPANS_GROWTH 4u
#define WAIT_MANY (1u << 12)	 /* of one stream: in the nearer caches still when they are swept, ... */
#define WAIT_TOGETHER (1u << 15) /* ... as those of all should be, if that leaves each ... */
#define WAIT_FEW (1u << 8)	 /* ... so many */
#define WAIT_OVER (1u << 15)	 /* above STATE_BUILDER_WAIT_MAX, until they are counted again */

/* ---- late records ---- */

/* The line is not known now, but again from `again_ns`. */
static void doubt(struct store_state_builder *builder, uint64_t again_ns)
{
	for (unsigned size = 0; builder->sizes && size <= STATE_BUILDER_TOP; size++)
		builder->sizes[size].is_whole = false;
	if (again_ns < builder->line.now_ns)
		again_ns = builder->line.now_ns;
	if (again_ns > builder->valid_ns)
		builder->valid_ns = again_ns;
	builder->awaits_sample = !builder->line.rules.is_gpu && builder->line.rules.has_samples;
}

/* The stream turns out to be read by other rules than those it was swept by. */
static void doubt_all(struct store_state_builder *builder)
{
	state_builder_spoil(builder, builder->line.rules.begin_ns, builder->line.now_ns);
	doubt(builder, 0);
}

/* What was rolled from this time on is wrong. */
void state_builder_tear(struct store_state_builder *builder, uint64_t from_ns, uint64_t again_ns)
{
	uint64_t life_ns = builder->line.rules.begin_ns;

	state_builder_spoil(builder, from_ns > life_ns ? from_ns : life_ns, builder->line.now_ns);
	if (from_ns < builder->torn_ns)
		builder->torn_ns = from_ns;
	doubt(builder, again_ns);
	store_pending_rollups_tear(&builder->made, from_ns);
}

void state_builder_monitored_end(struct store_state_builder *builder, const struct store_record *ended)
{
	struct span_stack *stack = &builder->line.stacks[SPAN_KIND_MONITORED];

	for (uint32_t i = builder->spans.head; i < builder->spans.count; i++)
		if (builder->spans.list[i].op == STORE_OP_MONITORED &&
			builder->spans.list[i].end_ns == STORE_OPEN_NS) {
			builder->spans.list[i].end_ns = ended->end_ns;
			builder->spans.is_unsorted = true;
		}
	for (size_t i = 0; i < stack->count; i++)
		if (stack->spans[i].end_ns == STORE_OPEN_NS)
			stack->spans[i].end_ns = ended->end_ns;
	builder->line.steady_ns = 0;
	builder->monitored_ns = UINT64_MAX;
	if (builder->has_begun && ended->end_ns < builder->line.now_ns)
		state_builder_tear(builder, ended->end_ns, 0);
}

/* ---- waiting ---- */

bool state_builder_is_late(const struct store_state_builder *builder, const struct store_record *record)
{
	return builder->has_begun && record->begin_ns < builder->line.now_ns;
}

/* Until then only its spans made the timeline. */
void state_builder_note_samples(struct store_state_builder *builder)
{
	if (builder->has_begun)
		doubt_all(builder);
	builder->line.rules.has_samples = true;
}

static bool samples_reserve(struct state_builder_samples *samples, size_t more)
{
	size_t wanted = samples->count + more;

	return wanted <= UINT32_MAX / 2 &&
	       array_reserve(&samples->list, &samples->capacity, wanted, sizeof *samples->list);
}

/* There is room. */
static void samples_add(struct state_builder_samples *samples, const struct store_record *record)
{
	struct state_builder_sample *to = &samples->list[samples->count++];

	*to = (struct state_builder_sample){record->begin_ns, record->context};
	if (samples->count - samples->head > 1 && state_builder_sample_compare(to - 1, to) > 0)
		samples->is_unsorted = true;
}

bool state_builder_wait_sample(struct store_state_builder *builder, const struct store_record *record)
{
	if (builder->line.rules.is_gpu) /* a queue is what its spans say */
		return true;
	if (!builder->line.rules.has_samples)
		state_builder_note_samples(builder);
	if (!(record->flags & STORE_RECORD_EXTENT))
		return true;
	if (state_builder_is_late(builder, record))
		state_builder_tear(builder, record->begin_ns, 0);
	if (!samples_reserve(&builder->samples, 1))
		return false;
	samples_add(&builder->samples, record);
	return true;
}

/* Those that come in order, from the first on; there is room for all. How many they are. */
static size_t take_ordered(
	struct store_state_builder *builder, const struct store_record *records, size_t count)
{
	struct state_builder_samples *samples = &builder->samples;
	struct state_builder_sample *to = samples->list + samples->count;
	uint64_t least_ns = builder->has_begun ? builder->line.now_ns : 0;
	size_t taken = 0;

	if (samples->count && to[-1].begin_ns == UINT64_MAX)
		return 0;
	if (samples->count && to[-1].begin_ns >= least_ns)
		least_ns = to[-1].begin_ns + 1;
	for (; taken < count; taken++) {
		const struct store_record *record = &records[taken];

		if (!(record->flags & STORE_RECORD_EXTENT) || record->begin_ns < least_ns ||
			record->begin_ns == UINT64_MAX)
			break;
		to[taken] = (struct state_builder_sample){record->begin_ns, record->context};
		least_ns = record->begin_ns + 1;
	}
	samples->count += (uint32_t)taken;
	return taken;
}

/* Many at once, of a CPU stream. False: no memory. */
bool state_builder_wait_samples(
	struct store_state_builder *builder, const struct store_record *records, size_t count)
{
	if (!samples_reserve(&builder->samples, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (builder->line.rules.has_samples)
			i += take_ordered(builder, records + i, count - i);
		if (i < count && !state_builder_wait_sample(builder, &records[i]))
			return false;
	}
	return true;
}

/* Rollups made by other rules stay in the file, and readers pass over them. */
void state_builder_note_switches(struct store_state_builder *builder)
{
	if (!builder->line.rules.has_switches && builder->has_begun)
		doubt_all(builder);
	builder->line.rules.has_switches = true;
}

/* The direction of a copy, which its attributes tell; most are one of a few. */
static enum extent_state copy_state(
	struct store_state_builder *builder, uint32_t attributes, const struct store_texts *texts)
{
	struct state_builder_copy *known = &builder->copies[attributes % STATE_BUILDER_COPIES];
	struct store_slice text;

	if (known->attributes == attributes)
		return known->state;
	text = store_texts_at(texts, attributes);
	*known =
		(struct state_builder_copy){attributes, span_copy_state((const char *)text.bytes, text.size)};
	return known->state;
}

static bool spans_reserve(struct state_builder_spans *spans, size_t more)
{
	size_t wanted = spans->count + more;

	if (wanted <= spans->capacity)
		return true;
	/* What is not touched costs nothing, what is moved is touched twice. */
	if (wanted < SPANS_GROWTH * (size_t)spans->capacity)
		wanted = SPANS_GROWTH * (size_t)spans->capacity;
	return wanted <= UINT32_MAX &&
	       store_id_table_reserve(&spans->list, &spans->capacity, (uint32_t)wanted, sizeof *spans->list);
}

/* What is the same for all spans of an operation. */
struct meaning {
	uint32_t op;
	enum span_kind kind;
	enum extent_state state; /* unless its attributes tell */
	bool tells_state, tells_switches;
};

static struct meaning meaning_of(const struct store_state_builder *builder, uint32_t op)
{
	const bool is_gpu = builder->line.rules.is_gpu;

	return (struct meaning){.op = op,
		.kind = span_kind_of(op, is_gpu, builder->line.rules.has_samples),
		.state = span_state_of(op, is_gpu),
		.tells_state = is_gpu && op == STORE_OP_COPY,
		.tells_switches =
			(op == STORE_OP_BLOCKED || op == STORE_OP_RUNNABLE) && !builder->is_switches_said};
}

/* Those at the front of one operation, behind what waits already; how many they are. There is room. */
static size_t wait_alike(struct store_state_builder *builder, const struct meaning *meaning,
	const struct store_record *records, size_t count, const struct store_texts *texts)
{
	struct state_builder_spans *spans = &builder->spans;
	struct state_builder_span *to = spans->list + spans->count, *const first = spans->list + spans->head;
	const uint32_t op = meaning->op;
	const uint64_t late_ns = builder->has_begun ? builder->line.now_ns : 0;
	bool falls = false;
	size_t i = 0;

	for (; i < count && records[i].what == op; i++) {
		const struct store_record *record = &records[i];

		if (record->end_ns <= record->begin_ns)
			continue;
		if (record->begin_ns < late_ns)
			state_builder_tear(builder, record->begin_ns, record->end_ns);
		to->begin_ns = record->begin_ns;
		to->end_ns = record->end_ns;
		to->context = record->context;
		to->metric =
			store_state_rollup_metric(meaning->tells_state && record->attributes
							  ? copy_state(builder, record->attributes, texts)
							  : meaning->state,
				op);
		to->op = op;
		if (to > first && to[-1].begin_ns >= to->begin_ns)
			falls |= state_builder_span_compare(to - 1, to) > 0;
		to++;
	}
	if (meaning->tells_switches && to > spans->list + spans->count)
		state_builder_note_switches(builder);
	spans->count = (uint32_t)(to - spans->list);
	spans->is_unsorted |= falls;
	return i;
}

bool state_builder_wait_span(struct store_state_builder *builder, const struct store_record *record,
	const struct store_texts *texts)
{
	return state_builder_wait_spans(builder, record, 1, texts, true) == 1;
}

/* What tables know of them: spans of a stream that has rollups, in order, not late, of
 * operations of which no more is to be asked. How many they are, from the first on. There is room. */
static size_t wait_quick(struct store_state_builder *builder, const struct store_record *records,
	size_t count, const struct store_texts *texts)
{
	struct state_builder_spans *spans = &builder->spans;
	const bool is_gpu = builder->line.rules.is_gpu;
	const uint32_t *metrics = state_builder_metrics(builder);
	struct state_builder_span *to = spans->list + spans->count;
	const struct store_record *record = records, *const end = records + count;
	uint64_t least_ns = builder->has_begun ? builder->line.now_ns : 0;

	if (!builder->sizes)
		return 0;
	if (spans->count > spans->head && to[-1].begin_ns >= least_ns)
		least_ns = to[-1].begin_ns + 1;
	for (; record < end; record++, to++) {
		const uint64_t begin_ns = record->begin_ns;
		const uint32_t op = record->what;

		if (op >= STORE_OP_COUNT || !metrics[op] || begin_ns < least_ns || record->end_ns <= begin_ns)
			break;
		to->begin_ns = begin_ns;
		to->end_ns = record->end_ns;
		to->context = record->context;
		to->metric = metrics[op];
		to->op = op;
		least_ns = begin_ns + 1;
		if (op == STORE_OP_COPY && is_gpu && record->attributes)
			to->metric =
				store_state_rollup_metric(copy_state(builder, record->attributes, texts), op);
	}
	spans->count = (uint32_t)(to - spans->list);
	return (size_t)(record - records);
}

/* Does a span of that operation tell more than that it is there? */
static bool tells_more(const struct store_state_builder *builder, uint32_t what)
{
	if (what == STORE_OP_MONITORED)
		return true;
	return !builder->sizes && (builder->line.rules.is_gpu || what == STORE_OP_SYNC ||
					  what == STORE_OP_BLOCKED || what == STORE_OP_RUNNABLE);
}

size_t state_builder_wait_spans(struct store_state_builder *builder, const struct store_record *records,
	size_t count, const struct store_texts *texts, bool is_told)
{
	size_t i = 0;

	if (!spans_reserve(&builder->spans, count))
		return SIZE_MAX;
	while ((i += wait_quick(builder, records + i, count - i, texts)) < count) {
		const uint32_t op = records[i].what;
		struct meaning meaning;

		if (!is_told && tells_more(builder, op))
			break;
		meaning = meaning_of(builder, op);
		if (meaning.kind != SPAN_KIND_COUNT)
			i += wait_alike(builder, &meaning, records + i, 1, texts);
		else /* nothing to a line: launches are, of threads with samples */
			while (i < count && records[i].what == op)
				i++;
	}
	return i;
}

/* ---- how many ---- */

/* Of how many of one stream it is worth a sweep. */
static uint32_t wait_many(const struct store_state_builders *builders)
{
	const uint32_t each = WAIT_TOGETHER / (builders->live ? builders->live : 1);

	if (each > WAIT_MANY)
		return WAIT_MANY;
	return each > WAIT_FEW ? each : WAIT_FEW;
}

bool store_state_builders_is_full(const struct store_state_builders *builders, uint32_t stream)
{
	const struct store_state_builder *builder =
		stream < builders->count ? builders->places[stream].builder : NULL;
	uint32_t waiting =
		builder ? state_builder_samples_waiting(builder) + state_builder_spans_waiting(builder) : 0;

	/* Those that had to stay last time may have to stay: they are sorted again when there are twice as
	 * many. */
	return (waiting > wait_many(builders) && waiting / 2 >= builder->asked) ||
	       (waiting > STATE_BUILDER_WAIT_MAX + WAIT_OVER && builder->asked <= STATE_BUILDER_WAIT_MAX);
}
