/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roller_run.c - long stretches of a line at once: where samples alone make it, or a GPU's spans one behind
 * the other. What each context has of a stretch is added up here before it goes to the stream's bucket and to
 * the crowd's; all of the stretch lies in one of each. Whatever else there is, roller_sweep.c takes piece by
 * piece, to the same sums.
 */
#include <stdlib.h>

#include "store/roller_state.h"

#define PERIODS_MAX (UINT64_C(1) << 60) /* no time reaches as far */

#define TALLY_BITS 9u /* more slots than a phase of a program has contexts: most never meet in one */
#define TALLY_SLOTS (1u << TALLY_BITS)

/* What waits to be added: a cache of sums, a newer one takes the place of an older one in its slot. Between
 * two stretches all slots are free. */
struct roller_tally {
	uint64_t keys[TALLY_SLOTS]; /* metric << 32 | context, 0: free; no state that is added up is 0 */
	struct tally_sum {
		uint64_t samples, time_ns;
	} sums[TALLY_SLOTS];
	uint64_t used[TALLY_SLOTS / 64]; /* a bit for each slot that is not free */
	/* [its switches are known to be told][GPU, CPU, CPU with samples][operation]: metric of a span, 0:
	 * none, or such a one tells more */
	uint32_t metrics[2][3][STORE_OP_COUNT];
};
_Static_assert(EXTENT_ABSENT == 0, "a free slot's state");

static void tally_put(struct store_roller *roller, unsigned slot)
{
	const struct roller_tally *tally = roller->tally;
	const struct store_sum sum = {.samples = tally->sums[slot].samples,
		.weight = tally->sums[slot].time_ns,
		.context = (uint32_t)tally->keys[slot],
		.metric = (uint32_t)(tally->keys[slot] >> 32)};

	if (roller->sizes && roller->sizes[roller->base].is_whole)
		store_sums_add(&roller->sizes[roller->base].sums, &sum);
	store_crowd_add_sum(roller->crowd, roller->line.now_ns, &sum);
}

static __attribute__((noinline)) void tally_take_slot(
	struct store_roller *roller, unsigned slot, uint64_t key, const struct tally_sum *sum)
{
	struct roller_tally *tally = roller->tally;

	if (tally->keys[slot])
		tally_put(roller, slot);
	tally->keys[slot] = key;
	tally->sums[slot] = *sum;
	tally->used[slot / 64] |= (uint64_t)1 << slot % 64;
}

static inline void tally_add(struct store_roller *roller, struct roller_tally *tally, uint32_t context,
	uint32_t metric, uint64_t samples, uint64_t time_ns)
{
	const uint64_t key = (uint64_t)metric << 32 | context;
	const unsigned slot = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TALLY_BITS));

	if (tally->keys[slot] != key) {
		tally_take_slot(roller, slot, key, &(struct tally_sum){samples, time_ns});
		return;
	}
	tally->sums[slot].samples += samples;
	tally->sums[slot].time_ns += time_ns;
}

/* The stretch from the line's `now_ns` to here, of so many pieces, is over. */
static void tally_end(struct store_roller *roller, uint64_t now_ns, uint64_t pieces)
{
	struct roller_tally *tally = roller->tally;

	for (unsigned w = 0; w < TALLY_SLOTS / 64; w++) {
		for (uint64_t used = tally->used[w]; used; used &= used - 1) {
			unsigned slot = 64 * w + (unsigned)__builtin_ctzll(used);

			tally_put(roller, slot);
			tally->keys[slot] = 0;
		}
		tally->used[w] = 0;
	}
	store_crowd_count(roller->crowd, pieces);
	if (roller->sizes) {
		roller->sizes[roller->base].next_ns = now_ns;
		roller->pieces += (unsigned)pieces;
	}
	roller->line.now_ns = now_ns;
}

static bool is_closed(enum line_kind kind, bool knows_switches)
{
	if (kind == LINE_KIND_COUNT || kind == LINE_KIND_MONITORED)
		return true;
	return !knows_switches && (kind == LINE_KIND_BLOCKED || kind == LINE_KIND_RUNNABLE);
}

static void learn_metrics(struct roller_tally *tally, unsigned rules, bool is_gpu, bool has_samples)
{
	for (uint32_t op = 0; op < STORE_OP_COUNT; op++) {
		enum line_kind kind = line_kind_of(op, is_gpu, has_samples);
		uint32_t metric = store_line_roll_metric(line_state_of(op, is_gpu), op);

		tally->metrics[false][rules][op] = is_closed(kind, false) ? 0 : metric;
		tally->metrics[true][rules][op] = is_closed(kind, true) ? 0 : metric;
	}
}

struct roller_tally *roller_tally_new(void)
{
	struct roller_tally *tally = calloc(1, sizeof *tally);

	if (!tally)
		return NULL;
	learn_metrics(tally, 0, true, false);
	learn_metrics(tally, 1, false, false);
	learn_metrics(tally, 2, false, true);
	return tally;
}

const uint32_t *roller_metrics(const struct store_roller *roller)
{
	const struct line_rules *rules = &roller->line.rules;

	return roller->tally->metrics[roller->is_switches_said || rules->has_switches]
				     [rules->is_gpu ? 0 : 1 + rules->has_samples];
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- samples ---- */

/* How long a sample stays in force, as line_take_sample() has it. */
static uint64_t reach_of(const struct line_rules *rules)
{
	if (!rules->period_ns || rules->has_switches || rules->period_ns > PERIODS_MAX)
		return UINT64_MAX / 2;
	return LINE_PERIODS * rules->period_ns;
}

/* Of two samples of one moment. */
static bool gives_way(const struct line_walk *line, uint32_t context, uint32_t held)
{
	const struct line_span sample = {.context = context}, other = {.context = held};

	return context != held && line_order(&line->names, &sample, &other) < 0;
}

static bool run_samples(struct store_roller *roller, uint64_t limit_ns)
{
	const uint32_t metric = store_line_roll_metric(EXTENT_WORK, STORE_OP_NONE);
	const uint64_t reach_ns = reach_of(&roller->line.rules);
	struct line_walk *line = &roller->line;
	const struct roller_sample *first = roller->samples.list + roller->samples.head, *at = first,
				   *end = roller->samples.list + roller->samples.count;
	uint64_t now_ns = line->now_ns, until_ns = line->force.end_ns;
	uint64_t begins = line->force.begin_ns == now_ns; /* the piece at hand is a sample's first */
	uint32_t context = line->force.context;
	struct roller_tally *const tally = roller->tally;
	uint64_t pieces = 0;

	limit_ns = earlier(limit_ns, line->steady_ns);
	if (!line->is_base_open || !line->force.holds || at->begin_ns >= limit_ns)
		return false;
	for (; at < end && at->begin_ns < limit_ns && at->begin_ns <= until_ns; at++) {
		if (at->begin_ns > now_ns) {
			pieces++;
			tally_add(roller, tally, context, metric, begins, at->begin_ns - now_ns);
		} else if (begins && gives_way(line, at->context, context)) {
			continue;
		}
		now_ns = at->begin_ns;
		begins = 1;
		until_ns = now_ns + reach_ns;
		context = at->context;
	}
	if (at == first)
		return false;
	tally_end(roller, now_ns, pieces);
	line->serial += (uint64_t)(at - first) - 1;
	line_take_sample(line, now_ns, context);
	roller->samples.head += (uint32_t)(at - first);
	return true;
}

/* ---- spans ---- */

/* Until when a GPU's line is idle but for what begins from here on; 0: it is not. */
static uint64_t idle_until(struct line_walk *line)
{
	const unsigned unseen = 1u << LINE_KIND_MONITORED | 1u << LINE_KIND_WORK;
	const struct line_span *monitored;

	if (!line->rules.has_monitored || line->held & ~unseen || line->now_ns < line->rules.begin_ns ||
		line_stack_top(&line->stacks[LINE_KIND_WORK], line->now_ns))
		return 0;
	monitored = line_stack_top(&line->stacks[LINE_KIND_MONITORED], line->now_ns);
	return monitored ? earlier(monitored->end_ns, line->rules.end_ns) : 0;
}

static bool run_spans(struct store_roller *roller, uint64_t limit_ns)
{
	const uint32_t idle = store_line_roll_metric(EXTENT_IDLE, STORE_OP_NONE);
	struct line_walk *line = &roller->line;
	const struct roller_span *first = roller->spans.list + roller->spans.head, *at = first,
				 *end = roller->spans.list + roller->spans.count;
	const bool unites = roller->united && store_united_is_fed(roller->united);
	uint64_t now_ns = line->now_ns, idle_ns = 0;
	uint32_t work = STORE_OP_KERNEL; /* an operation that is */
	struct roller_tally *const tally = roller->tally;
	uint64_t pieces = 0;

	limit_ns = earlier(limit_ns, idle_until(line));
	if (at->end_ns >= limit_ns)
		return false;
	for (; at < end && at->end_ns < limit_ns; at++) {
		if (at + 1 < end && at[1].begin_ns < at->end_ns)
			break;
		if (at->op != work && line_kind_of(at->op, true, false) != LINE_KIND_WORK)
			break;
		work = at->op;
		idle_ns += at->begin_ns - now_ns;
		pieces += 1 + (at->begin_ns > now_ns);
		tally_add(roller, tally, at->context, at->metric, 1, at->end_ns - at->begin_ns);
		if (unites && line_state_is_busy(roller_span_state(at)))
			store_united_add(roller->united, roller->united_queue, at->begin_ns, at->end_ns);
		now_ns = at->end_ns;
	}
	if (at == first)
		return false;
	if (idle_ns)
		tally_add(roller, tally, 0, idle, 0, idle_ns);
	tally_end(roller, now_ns, pieces);
	line->serial += (uint64_t)(at - first);
	line->steady_ns = 0;
	roller->spans.head += (uint32_t)(at - first);
	return true;
}

bool roller_run(struct store_roller *roller, uint64_t limit_ns)
{
	const struct line_walk *line = &roller->line;
	bool has_samples = roller->samples.head < roller->samples.count;
	bool has_spans = roller->spans.head < roller->spans.count;

	if (roller->awaits_sample || line->now_ns < roller->valid_ns)
		return false;
	limit_ns = earlier(limit_ns, store_crowd_edge(roller->crowd, line->now_ns));
	if (line->rules.is_gpu)
		return has_spans && run_spans(roller, limit_ns);
	if (has_spans)
		limit_ns = earlier(limit_ns, roller->spans.list[roller->spans.head].begin_ns);
	return has_samples && run_samples(roller, limit_ns);
}
