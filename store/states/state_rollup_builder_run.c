/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_run.c - the fast path: sweeps long stretches of a timeline at once where only samples
 * make it, or only consecutive GPU spans. It sums each context's time in the stretch before adding it to the
 * stream's bucket, which contains the whole stretch; the sums of all streams get the pieces.
 * state_rollup_builder_sweep.c takes everything else piece by piece, with the same sums.
 */
#include <stdlib.h>

#include "store/chunk/sum_cache.h"
#include "store/states/state_rollup_builder_internal.h"

#define PERIODS_MAX (UINT64_C(1) << 60) /* no time reaches as far */

#define IDLE_METRIC store_state_rollup_metric(EXTENT_IDLE, STORE_OP_NONE)
#define RUN_MOST 4096u /* records of a stretch: what is made of them stays in the nearer caches */

/* All builders' own. */
struct state_builder_tally {
	struct store_sum_cache sums; /* of the current stretch */
	/* [switch records are announced][GPU, CPU, CPU with samples][operation]: metric of a span, 0: none,
	 * or the span's attributes decide */
	uint32_t metrics[2][3][STORE_OP_COUNT];
};
_Static_assert(EXTENT_ABSENT == 0, "a free slot's state");

/* Where a stretch goes. */
struct stretch {
	struct store_sum_cache *tally;
	struct store_context_sums *sums; /* of the stream's bucket; NULL: it has none, or it is not whole */
	struct all_streams_piece
		*all_streams; /* the next one's place; NULL: the sums of all streams takes nothing */
	uint64_t pieces;
};

/* From the timeline's `now_ns` on, at most so many pieces. */
static struct stretch stretch_begin(struct store_state_builder *builder, uint32_t most)
{
	struct state_builder_bucket *bucket = builder->sizes ? &builder->sizes[builder->base] : NULL;

	return (struct stretch){.tally = &builder->tally->sums,
		.sums = bucket && bucket->is_whole ? &bucket->sums : NULL,
		.all_streams = store_all_streams_open(builder->all_streams, builder->line.now_ns, most)};
}

static inline void stretch_sum(
	struct stretch *stretch, uint32_t context, uint32_t metric, uint64_t samples, uint64_t time_ns)
{
	if (stretch->sums)
		store_sum_cache_add(stretch->tally, stretch->sums, context, metric, samples, time_ns);
}

static inline void stretch_piece(
	struct stretch *stretch, uint64_t begin_ns, uint32_t context, uint32_t metric, bool is_record_begin)
{
	stretch->pieces++;
	if (stretch->all_streams)
		store_all_streams_piece(stretch->all_streams++, begin_ns, context, metric, is_record_begin);
}

static void stretch_end(struct store_state_builder *builder, struct stretch *stretch, uint64_t now_ns)
{
	if (stretch->sums)
		store_sum_cache_end(stretch->tally, stretch->sums);
	if (stretch->all_streams)
		store_all_streams_close(builder->all_streams, stretch->all_streams, now_ns);
	else
		store_all_streams_miss(builder->all_streams, stretch->pieces);
	if (builder->sizes) {
		builder->sizes[builder->base].next_ns = now_ns;
		builder->pieces += (unsigned)stretch->pieces;
	}
	builder->line.now_ns = now_ns;
}

static bool is_closed(enum span_kind kind, bool knows_switches)
{
	if (kind == SPAN_KIND_COUNT || kind == SPAN_KIND_MONITORED)
		return true;
	return !knows_switches && (kind == SPAN_KIND_BLOCKED || kind == SPAN_KIND_RUNNABLE);
}

static void learn_metrics(struct state_builder_tally *tally, unsigned rules, bool is_gpu, bool has_samples)
{
	for (uint32_t op = 0; op < STORE_OP_COUNT; op++) {
		enum span_kind kind = span_kind_of(op, is_gpu, has_samples);
		uint32_t metric = store_state_rollup_metric(span_state_of(op, is_gpu), op);

		tally->metrics[false][rules][op] = is_closed(kind, false) ? 0 : metric;
		tally->metrics[true][rules][op] = is_closed(kind, true) ? 0 : metric;
	}
}

struct state_builder_tally *state_builder_tally_new(void)
{
	struct state_builder_tally *tally = calloc(1, sizeof *tally);

	if (!tally)
		return NULL;
	learn_metrics(tally, 0, true, false);
	learn_metrics(tally, 1, false, false);
	learn_metrics(tally, 2, false, true);
	return tally;
}

const uint32_t *state_builder_metrics(const struct store_state_builder *builder)
{
	const struct state_rules *rules = &builder->line.rules;

	return builder->tally->metrics[builder->is_switches_said || rules->has_switches]
				      [rules->is_gpu ? 0 : 1 + rules->has_samples];
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- samples ---- */

/* How long a sample stays in force, as state_timeline_take_sample() has it. */
static uint64_t reach_of(const struct state_rules *rules)
{
	if (!rules->period_ns || rules->has_switches || rules->period_ns > PERIODS_MAX)
		return UINT64_MAX / 2;
	return STATE_PERIODS * rules->period_ns;
}

/* Of two samples of one moment. */
static bool gives_way(const struct line_walk *line, uint32_t context, uint32_t held)
{
	const struct state_span sample = {.context = context}, other = {.context = held};

	return context != held && tie_break(&line->names, &sample, &other) < 0;
}

/* The waiting samples from the first on, of which one at least is taken. */
static bool run_samples(struct store_state_builder *builder, uint64_t limit_ns)
{
	const uint32_t metric = store_state_rollup_metric(EXTENT_WORK, STORE_OP_NONE);
	const uint64_t reach_ns = reach_of(&builder->line.rules);
	struct line_walk *line = &builder->line;
	const struct state_builder_sample *first = builder->samples.list + builder->samples.head, *at = first,
					  *end = builder->samples.list + builder->samples.count;
	uint64_t now_ns = line->now_ns, until_ns = line->force.end_ns;
	bool begins = line->force.begin_ns == now_ns; /* the current piece is a sample's first */
	uint32_t context = line->force.context;
	struct stretch stretch;

	limit_ns = earlier(limit_ns, line->steady_ns);
	if (!line->is_base_open || !line->force.holds || at->begin_ns >= limit_ns || at->begin_ns > until_ns)
		return false;
	if (end - at > RUN_MOST)
		end = at + RUN_MOST;
	stretch = stretch_begin(builder, (uint32_t)(end - at));
	for (; at < end && at->begin_ns < limit_ns && at->begin_ns <= until_ns; at++) {
		if (at->begin_ns > now_ns) {
			stretch_sum(&stretch, context, metric, begins, at->begin_ns - now_ns);
			stretch_piece(&stretch, now_ns, context, metric, begins);
		} else if (begins && gives_way(line, at->context, context)) {
			continue;
		}
		now_ns = at->begin_ns;
		begins = true;
		until_ns = now_ns + reach_ns;
		context = at->context;
	}
	stretch_end(builder, &stretch, now_ns);
	line->serial += (uint64_t)(at - first) - 1;
	state_timeline_take_sample(line, now_ns, context);
	builder->samples.head += (uint32_t)(at - first);
	return true;
}

/* ---- spans ---- */

/* Until when a GPU's line is idle but for what begins from here on; 0: it is not. */
static uint64_t idle_until(struct line_walk *line)
{
	const unsigned unseen = 1u << SPAN_KIND_MONITORED | 1u << SPAN_KIND_WORK;
	const struct state_span *monitored;

	if (!line->rules.has_monitored || line->held & ~unseen || line->now_ns < line->rules.begin_ns ||
		span_stack_top(&line->stacks[SPAN_KIND_WORK], line->now_ns))
		return 0;
	monitored = span_stack_top(&line->stacks[SPAN_KIND_MONITORED], line->now_ns);
	return monitored ? earlier(monitored->end_ns, line->rules.end_ns) : 0;
}

/* A GPU's. */
static bool works(const struct state_builder_span *span)
{
	return span_state_is_busy(state_builder_span_state(span)) && span->op != STORE_OP_MONITORED;
}

/* The end of those at the front that work one behind the other and end before `limit_ns`; how many pieces
 * they and the time between them are, from `now_ns` on. */
static const struct state_builder_span *alone_until(const struct state_builder_span *first,
	const struct state_builder_span *end, uint64_t now_ns, uint64_t limit_ns, uint64_t *pieces)
{
	const struct state_builder_span *stop = end - first > RUN_MOST ? first + RUN_MOST : end, *at = first;
	uint64_t gaps = 0;

	while (at < stop && at->end_ns < limit_ns && works(at) &&
		(at + 1 == end || at[1].begin_ns >= at->end_ns)) {
		gaps += at->begin_ns > now_ns;
		now_ns = at->end_ns;
		at++;
	}
	*pieces = gaps + (uint64_t)(at - first);
	return at;
}

/* By context, and what is idle between them. */
static void sum_spans(const struct stretch *stretch, const struct state_builder_span *first,
	const struct state_builder_span *end, uint64_t now_ns)
{
	uint64_t idle_ns = end[-1].end_ns - now_ns;

	for (const struct state_builder_span *at = first; at < end; at++) {
		const uint64_t time_ns = at->end_ns - at->begin_ns;

		store_sum_cache_add(stretch->tally, stretch->sums, at->context, at->metric, 1, time_ns);
		idle_ns -= time_ns;
	}
	if (idle_ns)
		store_sum_cache_add(stretch->tally, stretch->sums, 0, IDLE_METRIC, 0, idle_ns);
}

static void cut_spans(struct stretch *stretch, const struct state_builder_span *first,
	const struct state_builder_span *end, uint64_t now_ns)
{
	struct all_streams_piece *to = stretch->all_streams;

	for (const struct state_builder_span *at = first; at < end; now_ns = at->end_ns, at++) {
		if (at->begin_ns > now_ns)
			store_all_streams_piece(to++, now_ns, 0, IDLE_METRIC, false);
		store_all_streams_piece(to++, at->begin_ns, at->context, at->metric, true);
	}
	stretch->all_streams = to;
}

static void unite_spans(struct store_state_builder *builder, const struct state_builder_span *first,
	const struct state_builder_span *end)
{
	for (const struct state_builder_span *at = first; at < end; at++)
		store_device_busy_add(builder->busy, builder->device_busy_queue, at->begin_ns, at->end_ns);
}

/* The waiting spans from the first on, of which one at least is taken. They stay in the nearer caches from
 * loop to loop, of which each has one thing to do. */
static bool run_spans(struct store_state_builder *builder, uint64_t limit_ns)
{
	struct line_walk *line = &builder->line;
	const struct state_builder_span *first = builder->spans.list + builder->spans.head, *end;
	struct stretch stretch;
	uint64_t pieces;

	end = alone_until(first, builder->spans.list + builder->spans.count, line->now_ns,
		earlier(limit_ns, idle_until(line)), &pieces);
	if (first == end)
		return false;
	stretch = stretch_begin(builder, (uint32_t)pieces);
	stretch.pieces = pieces;
	if (stretch.sums)
		sum_spans(&stretch, first, end, line->now_ns);
	if (stretch.all_streams)
		cut_spans(&stretch, first, end, line->now_ns);
	if (builder->busy && store_device_busy_is_fed(builder->busy))
		unite_spans(builder, first, end);
	stretch_end(builder, &stretch, end[-1].end_ns);
	line->serial += (uint64_t)(end - first);
	line->steady_ns = 0;
	builder->spans.head += (uint32_t)(end - first);
	return true;
}

bool state_builder_run(struct store_state_builder *builder, uint64_t limit_ns)
{
	const struct line_walk *line = &builder->line;
	bool has_samples = builder->samples.head < builder->samples.count;
	bool has_spans = builder->spans.head < builder->spans.count;

	if (builder->awaits_sample || line->now_ns < builder->valid_ns)
		return false;
	if (line->rules.is_gpu)
		return has_spans && run_spans(builder, limit_ns);
	if (has_spans)
		limit_ns = earlier(limit_ns, builder->spans.list[builder->spans.head].begin_ns);
	return has_samples && run_samples(builder, limit_ns);
}
