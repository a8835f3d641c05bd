/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_work.c - what made a party late: of each call path, how much longer it took than on the first
 * of those who waited, each since its own call before. What both do for as long held nobody up.
 *
 *   early   call|==assemble==|~~Barrier~~~~~~~~~~|
 *   late    call|==assemble==|==refine======|~~~~|        refine
 */
#include <stdlib.h>

#include "blame/wait/last_arrival_calls.h"
#include "store/base/array.h"
#include "timeline/sum/window.h"

struct work_sum {
	int64_t excess_ns;
	uint64_t most_ns, late_ns;
	uint32_t context; /* the one of the path with most of it */
};

struct work_sums {
	struct key_ids scopes;
	struct work_sum *list;
	size_t capacity;
};

static bool is_work(const struct call_search *search, const struct window_time *cell)
{
	return cell->context && extent_state_is_busy(cell->state) &&
	       !wait_functions_match(search->question->waits, cell->context);
}

static bool add(struct work_sums *sums, const struct call_search *search, const struct window_time *cell,
	bool is_late)
{
	uint32_t scope = run_context(search->run, cell->context)->scope;
	bool is_new;
	uint32_t at = key_ids_put(&sums->scopes, &scope, &is_new);
	struct work_sum *sum;

	if (at == KEY_IDS_NONE || !array_widen(&sums->list, &sums->capacity, at, sizeof(*sums->list)))
		return false;
	sum = &sums->list[at];
	if (is_new)
		*sum = (struct work_sum){0};
	sum->excess_ns += is_late ? (int64_t)cell->time_ns : -(int64_t)cell->time_ns;
	sum->late_ns += is_late ? cell->time_ns : 0;
	if (is_late && cell->time_ns >= sum->most_ns) {
		sum->most_ns = cell->time_ns;
		sum->context = cell->context;
	}
	return true;
}

static int add_all(struct work_sums *sums, const struct call_search *search, const struct call_work *work,
	bool is_late, struct error *error)
{
	struct window *window;
	const struct window_time *cells;
	size_t count;
	int result;

	if (work->since_ns >= work->until_ns)
		return 0;
	result = window_new(&window, search->run, error);
	if (!result)
		result = window_add_time(window, work->stream, work->since_ns, work->until_ns, error);
	if (!result) {
		cells = window_times(window, &count);
		for (size_t i = 0; i < count && !result; i++)
			if (is_work(search, &cells[i]) && !add(sums, search, &cells[i], is_late))
				result = error_memory(error);
	}
	window_free(window);
	return result;
}

/* Where nothing took longer, it came late because it left the call before late: then what it did longest. */
static uint32_t choose(const struct work_sums *sums, uint32_t otherwise)
{
	const struct work_sum *best = NULL;

	for (uint32_t i = 0; i < sums->scopes.count; i++) {
		const struct work_sum *sum = &sums->list[i];

		if (sum->context && (!best || sum->excess_ns > best->excess_ns))
			best = sum;
	}
	if (best && best->excess_ns > 0)
		return best->context;
	for (uint32_t i = 0; i < sums->scopes.count; i++)
		if (sums->list[i].context && sums->list[i].late_ns > best->late_ns)
			best = &sums->list[i];
	return best ? best->context : otherwise;
}

int last_arrival_work(const struct call_search *search, const struct call_most *most, uint32_t *context,
	struct error *error)
{
	struct work_sums sums = {0};
	int result;

	key_ids_init(&sums.scopes, sizeof(uint32_t));
	result = add_all(&sums, search, &most->late, true, error);
	if (!result)
		result = add_all(&sums, search, &most->early, false, error);
	if (!result)
		*context = choose(&sums, *context);
	key_ids_fini(&sums.scopes);
	free(sums.list);
	return result;
}

int last_arrival_polled(const struct call_search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	uint64_t *polled_ns, struct error *error)
{
	struct window *window;
	const struct window_time *cells;
	size_t count;
	int result;

	*polled_ns = 0;
	if (begin_ns < search->question->begin_ns)
		begin_ns = search->question->begin_ns;
	if (end_ns > search->question->end_ns)
		end_ns = search->question->end_ns;
	if (begin_ns >= end_ns)
		return 0;
	result = window_new(&window, search->run, error);
	if (!result)
		result = window_add_time(window, stream, begin_ns, end_ns, error);
	if (!result) {
		cells = window_times(window, &count);
		for (size_t i = 0; i < count; i++)
			if (cells[i].context && extent_state_is_busy(cells[i].state) &&
				wait_functions_match(search->question->waits, cells[i].context))
				*polled_ns += cells[i].time_ns;
	}
	window_free(window);
	return result;
}
