/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.c - see gaps.h: sums each gap's time by cause, and each cause's by context; keeps the largest gaps as
 * a heap, or all of them, in memory or on disk. */
#include "blame/idle/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/idle/idle_group.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/heap.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"

/* What a part of a gap's time is charged to. */
struct charge_key {
	uint32_t cause, context;
};

/* One of these charges. */
struct party {
	uint32_t function, context;
	exact_share_fixed amount;
};

#define GAPS_FUNCTIONS 1024u

struct gaps {
	const struct run *run; /* since the first moment of a gap */
	uint64_t min_ns;
	size_t limit;
	struct gap *list; /* with a limit, once full: a heap, the last of the order first */
	size_t count, capacity, given;
	struct external_sort *spill;
	struct error failure; /* of the external sort */
	bool is_open, is_sorted;
	uint64_t begin_ns, end_ns; /* of the open gap */
	uint64_t cause_ns[GAP_CAUSE_COUNT];
	struct key_ids keys;	    /* of the open gap: charge_key */
	exact_share_fixed *charges; /* by number */
	size_t charge_capacity;
	struct party *parties;
	size_t party_capacity;
	struct {
		uint32_t context, function;
	} functions[GAPS_FUNCTIONS]; /* cache of earlier results, by context */
	struct gap_class classes[GAP_CLASSES];
};

static int gap_compare(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;
	uint64_t size_a = a->end_ns - a->begin_ns, size_b = b->end_ns - b->begin_ns;

	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* The least of the kept gaps is the first to go. */
static bool is_smaller(const void *a, const void *b)
{
	return gap_compare(a, b) > 0;
}

/* Sorted backwards a list is a heap. */
static void heap_make(struct gaps *gaps)
{
	qsort(gaps->list, gaps->count, sizeof(*gaps->list), gap_compare);
	for (size_t i = 0; i < gaps->count / 2; i++) {
		struct gap swapped = gaps->list[i];

		gaps->list[i] = gaps->list[gaps->count - 1 - i];
		gaps->list[gaps->count - 1 - i] = swapped;
	}
}

/* Keeps a gap, unless the list is full of larger ones. False: no memory. */
static bool gaps_keep(struct gaps *gaps, const struct gap *gap)
{
	if (gaps->spill) {
		if (!gaps->failure.code)
			external_sort_put(gaps->spill, gap, &gaps->failure);
		return true;
	}
	if (gaps->count == gaps->limit) {
		if (gaps->limit && gap_compare(gap, &gaps->list[0]) < 0) {
			gaps->list[0] = *gap;
			heap_sink(gaps->list, gaps->count, 0, sizeof(*gaps->list), is_smaller);
		}
		return true;
	}
	if (!array_widen(&gaps->list, &gaps->capacity, gaps->count, sizeof *gaps->list))
		return false;
	gaps->list[gaps->count++] = *gap;
	if (gaps->count == gaps->limit)
		heap_make(gaps);
	return true;
}

uint64_t gaps_least_ns(const struct gaps *gaps)
{
	uint64_t least_ns = 0;

	if (gaps->count == gaps->limit)
		least_ns = gaps->limit ? gaps->list[0].end_ns - gaps->list[0].begin_ns : UINT64_MAX;
	return least_ns > gaps->min_ns ? least_ns : gaps->min_ns;
}

const struct gap *gaps_list(struct gaps *gaps, size_t *count)
{
	if (!gaps->is_sorted && gaps->count)
		qsort(gaps->list, gaps->count, sizeof(*gaps->list), gap_compare);
	gaps->is_sorted = true;
	*count = gaps->count;
	return gaps->list;
}

int gaps_spill(struct gaps *gaps, uint64_t mem_bytes, struct error *error)
{
	return external_sort_new(&gaps->spill, sizeof(struct gap), gap_compare, mem_bytes, error);
}

bool gaps_are_spilled(const struct gaps *gaps)
{
	return gaps->spill;
}

bool gaps_add(
	struct gaps *gaps, const struct gap *list, size_t count, const struct gap_class classes[GAP_CLASSES])
{
	for (int i = 0; i < GAP_CLASSES; i++) {
		gaps->classes[i].count += classes[i].count;
		gaps->classes[i].time_ns += classes[i].time_ns;
	}
	for (size_t i = 0; i < count; i++)
		if (!gaps_keep(gaps, &list[i]))
			return false;
	return true;
}

int gaps_rewind(struct gaps *gaps, struct error *error)
{
	size_t count;

	gaps->given = 0;
	if (!gaps->spill) {
		gaps_list(gaps, &count);
		return 0;
	}
	if (gaps->failure.code) {
		*error = gaps->failure;
		return -gaps->failure.code;
	}
	return external_sort_rewind(gaps->spill, error);
}

const struct gap *gaps_next(struct gaps *gaps, int *code, struct error *error)
{
	*code = 0;
	if (gaps->spill)
		return external_sort_next(gaps->spill, code, error);
	return gaps->given < gaps->count ? &gaps->list[gaps->given++] : NULL;
}

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

	if (number == KEY_IDS_NONE ||
		!array_widen(&gaps->charges, &gaps->charge_capacity, number, sizeof(*gaps->charges)))
		return false;
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

/* Lists the functions that a cause is charged to; returns their number, or UINT32_MAX: no memory. */
static uint32_t find_parties(struct gaps *gaps, enum gap_cause cause)
{
	uint32_t count = 0;

	if (!array_reserve(&gaps->parties, &gaps->party_capacity, gaps->keys.count, sizeof(*gaps->parties)))
		return UINT32_MAX;
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

/* The context with the largest share in the function with the largest share. False: no memory. */
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

/* The queue that works now, or else the first one. */
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
