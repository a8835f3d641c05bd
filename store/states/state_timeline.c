/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_timeline.c - at every moment the first of these that applies owns the timeline:
 *
 *   CPU thread   absent  lost  unmonitored  thinned  sync  blocked  runnable  current sample   unknown
 *   GPU queue    absent  lost  unmonitored  thinned  work  sync     blocked   runnable         idle
 *
 * Of spans of one kind the last to begin is visible, then the last to end; tie_break.h breaks ties.
 *
 * The current sample is the last timeline sample. Lost, unmonitored and thinned time ends it. A blocked or
 * runnable span only hides it: the span's context is the waiting call, and between waits samples know better
 * what the thread does. Where such spans do not cover all waiting, the sample ends after two periods. A CPU
 * stream without samples (an import of spans) works where its spans say so.
 */
#include "store/states/state_timeline.h"

void state_timeline_fini(struct line_walk *line)
{
	for (int kind = 0; kind < SPAN_KIND_COUNT; kind++)
		span_stack_fini(&line->stacks[kind]);
}

bool state_timeline_hides_sample(const struct line_walk *line, uint64_t time_ns, uint32_t context)
{
	const struct state_span sample = {.context = context}, held = {.context = line->force.context};

	return line->force.holds && line->force.begin_ns == time_ns && context != line->force.context &&
	       tie_break(&line->names, &sample, &held) < 0;
}

void state_timeline_take_sample(struct line_walk *line, uint64_t time_ns, uint32_t context)
{
	uint64_t reach_ns = line->rules.period_ns;

	if (state_timeline_hides_sample(line, time_ns, context))
		return;
	line->force.begin_ns = time_ns;
	line->force.end_ns = UINT64_MAX;
	line->force.context = context;
	line->force.serial = ++line->serial;
	line->force.holds = true;
	if (reach_ns && !line->rules.has_switches && reach_ns < (UINT64_MAX - time_ns) / STATE_PERIODS)
		line->force.end_ns = time_ns + STATE_PERIODS * reach_ns;
}

bool state_timeline_take_span(struct line_walk *line, struct state_span span)
{
	enum span_kind kind = span_kind_of(span.op, line->rules.is_gpu, line->rules.has_samples);

	span.serial = ++line->serial;
	if (kind == SPAN_KIND_COUNT || span.end_ns <= line->now_ns || span.end_ns <= span.begin_ns)
		return true;
	line->steady_ns = 0;
	line->held |= 1u << kind;
	return span_stack_push(&line->stacks[kind], &span, &line->names);
}

static const struct state_span *top_held(struct line_walk *line, enum span_kind kind)
{
	const struct state_span *span;

	span = span_stack_top(&line->stacks[kind], line->now_ns);
	if (!span)
		line->held &= ~(1u << kind);
	return span;
}

/* The span of a kind that is visible now, NULL: none. Most kinds never have one. */
static inline const struct state_span *top(struct line_walk *line, enum span_kind kind)
{
	return line->held >> kind & 1 ? top_held(line, kind) : NULL;
}

static bool is_monitored(struct line_walk *line)
{
	const struct state_rules *rules = &line->rules;

	if (rules->has_monitored)
		return top(line, SPAN_KIND_MONITORED) != NULL;
	return line->now_ns >= rules->first_ns && line->now_ns < rules->last_ns;
}

/* The span that owns the timeline now, NULL: none. */
static const struct state_span *owner_span(struct line_walk *line)
{
	const struct state_span *span = line->rules.is_gpu ? top(line, SPAN_KIND_WORK) : NULL;

	if (!span)
		span = top(line, SPAN_KIND_SYNC);
	if (!span)
		span = top(line, SPAN_KIND_BLOCKED);
	if (!span)
		span = top(line, SPAN_KIND_RUNNABLE);
	if (!span && !line->rules.is_gpu)
		span = top(line, SPAN_KIND_WORK);
	return span;
}

/* The present state without samples. */
static void find_base(struct line_walk *line)
{
	const struct state_rules *rules = &line->rules;
	struct state_piece *base = &line->base;
	const struct state_span *span = NULL;

	*base = (struct state_piece){.begin_ns = line->now_ns, .state = EXTENT_ABSENT};
	line->is_base_open = false;
	if (line->now_ns < rules->begin_ns || line->now_ns >= rules->end_ns)
		return;
	span = top(line, SPAN_KIND_LOST);
	if (!span)
		span = top(line, SPAN_KIND_UNMONITORED);
	if (!span && !is_monitored(line)) {
		base->state = EXTENT_UNMONITORED;
		return;
	}
	if (!span)
		span = top(line, SPAN_KIND_THINNED);
	if (!span)
		span = owner_span(line);
	if (!span) {
		base->state = rules->is_gpu ? EXTENT_IDLE : EXTENT_UNKNOWN;
		line->is_base_open = true;
		return;
	}
	base->state = span->state;
	base->context = span->context;
	base->op = span->op;
	base->is_record_begin = span->begin_ns == line->now_ns;
	base->owner = span->serial;
}

/* The nearer of two moments that are still to come. */
static uint64_t nearer(const struct line_walk *line, uint64_t a_ns, uint64_t b_ns)
{
	return b_ns > line->now_ns && b_ns < a_ns ? b_ns : a_ns;
}

/* Until when only samples change the timeline. */
static uint64_t steady_until(struct line_walk *line, uint64_t until)
{
	const struct state_rules *rules = &line->rules;

	until = nearer(line, until, rules->begin_ns);
	until = nearer(line, until, rules->end_ns);
	if (!rules->has_monitored) {
		until = nearer(line, until, rules->first_ns);
		until = nearer(line, until, rules->last_ns);
	}
	for (unsigned held = line->held; held; held &= held - 1) {
		const struct state_span *span = top(line, (enum span_kind)__builtin_ctz(held));

		if (span)
			until = nearer(line, until, span->end_ns);
	}
	return until;
}

static bool is_dead(enum extent_state state)
{
	return state == EXTENT_ABSENT || state == EXTENT_LOST || state == EXTENT_UNMONITORED;
}

void state_timeline_step(struct line_walk *line, uint64_t next_sample_ns, uint64_t next_span_ns,
	uint64_t end_ns, struct state_piece *piece)
{
	if (line->now_ns >= line->steady_ns) {
		find_base(line);
		line->steady_ns = steady_until(line, nearer(line, end_ns, next_span_ns));
	}
	*piece = line->base;
	piece->begin_ns = line->now_ns;
	piece->end_ns = nearer(line, line->steady_ns, next_sample_ns);
	line->base.is_record_begin = false;
	if (line->is_base_open && line->force.holds && line->now_ns < line->force.end_ns) {
		piece->state = EXTENT_WORK;
		piece->context = line->force.context;
		piece->is_record_begin = line->force.begin_ns == line->now_ns;
		piece->end_ns = nearer(line, piece->end_ns, line->force.end_ns);
		piece->owner = line->force.serial;
	}
	if (is_dead(piece->state) || piece->op == STORE_OP_THINNED)
		line->force.holds = false;
	line->now_ns = piece->end_ns;
}
