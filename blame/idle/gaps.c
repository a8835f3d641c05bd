/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.c - see gaps.h: sums per gap what its moments are, and who had most of each. */
#include "blame/idle/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/idle/gaps_internal.h"
#include "blame/idle/idle_group.h"
#include "store/base/hash.h"

static const struct {
	const char *name, *text;
} causes[] = {
#define X(name, word, text) {word, text},
	GAP_CAUSES(X)
#undef X
};

const char *gap_cause_name(enum gap_cause cause)
{
	return causes[cause].name;
}

const char *gap_cause_text(enum gap_cause cause)
{
	return causes[cause].text;
}

int gaps_new(struct gaps **gaps, uint64_t min_ns, size_t limit, struct error *error)
{
	*gaps = calloc(1, sizeof(**gaps));
	if (!*gaps)
		return error_memory(error);
	(*gaps)->min_ns = min_ns;
	(*gaps)->limit = limit;
	key_ids_init(&(*gaps)->keys, sizeof(struct charge_key));
	return 0;
}

void gaps_free(struct gaps *gaps)
{
	if (!gaps)
		return;
	key_ids_fini(&gaps->keys);
	free(gaps->charges);
	free(gaps->parties);
	free(gaps->list);
	external_sort_free(gaps->spill);
	free(gaps);
}

/* ---- moments ---- */

static bool charge(struct gaps *gaps, enum gap_cause cause, uint32_t context, exact_share_fixed amount)
{
	struct charge_key key = {cause, context};
	bool is_new;
	uint32_t number = key_ids_put(&gaps->keys, &key, &is_new);

	if (number == KEY_IDS_NONE)
		return false;
	if (number >= gaps->charge_capacity) {
		uint32_t capacity = gaps->charge_capacity ? 2 * gaps->charge_capacity : 64;
		exact_share_fixed *charges = realloc(gaps->charges, capacity * sizeof(*charges));

		if (!charges)
			return false;
		gaps->charges = charges;
		gaps->charge_capacity = capacity;
	}
	gaps->charges[number] = amount + (is_new ? 0 : gaps->charges[number]);
	return true;
}

static bool has_queued(const struct group *group)
{
	for (uint32_t i = 0; i < group->owner_count; i++)
		if (group->owners[i].is_working)
			return true;
	return false;
}

static bool is_active(const struct group *group, const struct group_line *line)
{
	return line->kind == LINE_THREAD &&
	       (line->role == ROLE_ACTIVE ||
		       (line->role == ROLE_SYNC && !group->owners[line->owner].is_working));
}

static enum gap_cause waiting_cause(const struct group *group, const struct group_line *line)
{
	if (line->state == EXTENT_RUNNABLE)
		return GAP_CORE;
	return wait_functions_target(group->question->waits, line->context) >= WAITS_FOR_RANK ? GAP_RANK
											      : GAP_THREAD;
}

static enum gap_cause cause_now(const struct group *group)
{
	enum gap_cause cause = GAP_NOBODY;

	if (group->working[WORK_COPY])
		return GAP_COPY;
	if (has_queued(group))
		return GAP_LAUNCH;
	if (group->active)
		return GAP_CPU;
	if (group->runnable)
		return GAP_CORE;
	for (uint32_t i = 0; i < group->line_count; i++) {
		const struct group_line *line = &group->lines[i];

		if (line->kind != LINE_THREAD || line->role != ROLE_WAITING)
			continue;
		cause = waiting_cause(group, line);
		if (cause == GAP_RANK)
			break;
	}
	return cause;
}

static bool is_party(const struct group *group, const struct group_line *line, enum gap_cause cause)
{
	switch (cause) {
	case GAP_COPY:
		return line->kind == LINE_QUEUE && extent_state_is_busy(line->state);
	case GAP_CPU:
		return is_active(group, line);
	case GAP_CORE:
	case GAP_RANK:
	case GAP_THREAD:
		return line->kind == LINE_THREAD && line->role == ROLE_WAITING &&
		       waiting_cause(group, line) == cause;
	default:
		return false;
	}
}

bool gaps_pass(struct gaps *gaps, const struct group *group, uint64_t begin_ns, uint64_t end_ns)
{
	enum gap_cause cause = cause_now(group);
	uint32_t parties = 0;

	if (!gaps->is_open) {
		gaps->is_open = true;
		gaps->begin_ns = begin_ns;
		gaps->run = group->run;
	}
	gaps->end_ns = end_ns;
	gaps->cause_ns[cause] += end_ns - begin_ns;
	for (uint32_t i = 0; i < group->line_count; i++)
		parties += is_party(group, &group->lines[i], cause);
	for (uint32_t i = 0; i < group->line_count && parties; i++)
		if (is_party(group, &group->lines[i], cause) &&
			!charge(gaps, cause, group->lines[i].context,
				exact_share_of(end_ns - begin_ns, parties)))
			return false;
	return true;
}

/* ---- whole gaps ---- */

static enum gap_cause largest_cause(const struct gaps *gaps)
{
	int largest = 0;

	for (int cause = 1; cause < GAP_CAUSE_COUNT; cause++)
		if (gaps->cause_ns[cause] > gaps->cause_ns[largest])
			largest = cause;
	return (enum gap_cause)largest;
}

static uint32_t function_of(struct gaps *gaps, uint32_t context)
{
	uint32_t at = context % GAPS_FUNCTIONS, scope;

	if (!context || gaps->functions[at].context == context)
		return context ? gaps->functions[at].function : UINT32_MAX;
	scope = run_context(gaps->run, runtime_calls_context(gaps->run, context))->scope;
	gaps->functions[at].context = context;
	gaps->functions[at].function =
		scope == UINT32_MAX ? UINT32_MAX : run_scope(gaps->run, scope)->function;
	return gaps->functions[at].function;
}

static int party_compare(const void *left, const void *right)
{
	const struct party *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->context < b->context ? -1 : a->context > b->context;
}

/* Those that a cause is charged to, by function: their number, or UINT32_MAX when memory is out. */
static uint32_t find_parties(struct gaps *gaps, enum gap_cause cause)
{
	uint32_t count = 0;

	if (gaps->party_capacity < gaps->keys.count) {
		uint32_t capacity = 2 * gaps->keys.count;
		struct party *parties = realloc(gaps->parties, capacity * sizeof(*parties));

		if (!parties)
			return UINT32_MAX;
		gaps->parties = parties;
		gaps->party_capacity = capacity;
	}
	for (uint32_t i = 0; i < gaps->keys.count; i++) {
		const struct charge_key *key = key_ids_key(&gaps->keys, i);

		if (key->cause == (uint32_t)cause)
			gaps->parties[count++] = (struct party){0, key->context, gaps->charges[i]};
	}
	/* One needs no name. */
	for (uint32_t i = 0; i < count && count > 1; i++)
		gaps->parties[i].function = function_of(gaps, gaps->parties[i].context);
	if (count > 1)
		qsort(gaps->parties, count, sizeof(*gaps->parties), party_compare);
	return count;
}

/* Of the function with the largest share the context with the largest. False when memory is out. */
static bool largest_context(struct gaps *gaps, enum gap_cause cause, uint32_t *context)
{
	uint32_t count = find_parties(gaps, cause), i = 0;
	exact_share_fixed most = 0;

	*context = 0;
	if (count == UINT32_MAX)
		return false;
	while (i < count) {
		const struct party *first = &gaps->parties[i], *largest = first;
		exact_share_fixed sum = 0;

		for (; i < count && gaps->parties[i].function == first->function; i++) {
			sum += gaps->parties[i].amount;
			if (exact_share_is_larger(gaps->run, exact_share_rank(gaps->parties[i].amount),
				    gaps->parties[i].context, exact_share_rank(largest->amount),
				    largest->context))
				largest = &gaps->parties[i];
		}
		sum = exact_share_rank(sum);
		if (!exact_share_is_larger(gaps->run, sum, largest->context, most, *context))
			continue;
		most = sum;
		*context = largest->context;
	}
	return true;
}

/* ---- whole gaps, closed ---- */

void gaps_count(struct gaps *gaps, uint64_t size_ns)
{
	struct gap_class *class = &gaps->classes[63 - __builtin_clzll(size_ns)];

	class->count++;
	class->time_ns += size_ns;
}

bool gaps_are_open(const struct gaps *gaps)
{
	return gaps->is_open;
}

bool gaps_close_at(struct gaps *gaps, uint32_t stream, uint32_t context)
{
	uint64_t size_ns = gaps->end_ns - gaps->begin_ns;
	bool is_kept = true;

	if (!gaps->is_open)
		return true;
	gaps_count(gaps, size_ns);
	if (size_ns >= gaps->min_ns) {
		struct gap gap = {gaps->begin_ns, gaps->end_ns, stream, largest_cause(gaps), context};

		is_kept = gap.cause == GAP_LAUNCH || largest_context(gaps, gap.cause, &gap.context);
		is_kept = is_kept && gaps_keep(gaps, &gap);
	}
	gaps->is_open = false;
	key_ids_clear(&gaps->keys);
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
		gaps->cause_ns[cause] = 0;
	return is_kept;
}

/* The line that works now, or else the first queue. */
static const struct group_line *next_queue(const struct group *group)
{
	const unsigned kernels = 1u << WORK_KERNEL | 1u << WORK_COMM;
	const struct group_line *first = NULL;

	for (uint32_t i = 0; i < group->line_count; i++) {
		const struct group_line *line = &group->lines[i];

		if (line->kind != LINE_QUEUE)
			continue;
		if (line->classes & (group->question->busy == IDLE_BUSY_ANY ? ~0u : kernels))
			return line;
		first = first ? first : line;
	}
	return first;
}

bool gaps_close(struct gaps *gaps, const struct group *group)
{
	const struct group_line *queue;
	uint32_t context;

	if (!gaps->is_open)
		return true;
	queue = next_queue(group);
	context = group->question->busy == IDLE_BUSY_ANY ? queue->context : queue->class_context;
	return gaps_close_at(gaps, queue->stream, extent_state_is_busy(queue->state) ? context : 0);
}

/* ---- on trial ---- */

int gaps_fork(struct gaps **trial, const struct gaps *gaps, struct error *error)
{
	int result = gaps_new(trial, gaps->min_ns, gaps->limit, error);
	struct gaps *copy = *trial;

	if (!copy)
		return result;
	copy->run = gaps->run;
	copy->is_open = gaps->is_open;
	copy->begin_ns = gaps->begin_ns;
	copy->end_ns = gaps->end_ns;
	memcpy(copy->cause_ns, gaps->cause_ns, sizeof(copy->cause_ns));
	for (uint32_t i = 0; i < gaps->keys.count; i++) {
		const struct charge_key *key = key_ids_key(&gaps->keys, i);

		if (!charge(copy, (enum gap_cause)key->cause, key->context, gaps->charges[i])) {
			gaps_free(copy);
			*trial = NULL;
			return error_memory(error);
		}
	}
	return 0;
}

bool gaps_join(struct gaps *gaps, const struct gaps *trial)
{
	key_ids_clear(&gaps->keys);
	gaps->run = trial->run;
	gaps->is_open = trial->is_open;
	gaps->begin_ns = trial->begin_ns;
	gaps->end_ns = trial->end_ns;
	memcpy(gaps->cause_ns, trial->cause_ns, sizeof(gaps->cause_ns));
	for (uint32_t i = 0; i < trial->keys.count; i++) {
		const struct charge_key *key = key_ids_key(&trial->keys, i);

		if (!charge(gaps, (enum gap_cause)key->cause, key->context, trial->charges[i]))
			return false;
	}
	return gaps_add(gaps, trial->list, trial->count, trial->classes);
}

const struct gap_class *gaps_classes(const struct gaps *gaps)
{
	return gaps->classes;
}
