/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations_sum.c - see operations_internal.h: sorts all operations of the window, on disk if memory is
 * bounded (external_sort.h): launches and operations by link, then durations and changes.
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/stats/operations_internal.h"

#define UNKNOWN_NS UINT64_MAX

/* ---- lists ---- */

/* Of the memory that a question may take, each list's; 0: any. Four are there at once, and what sorts one. */
static uint64_t spill_share(const struct run *run)
{
	uint64_t share = run_mem_bytes(run, 6, UINT64_MAX);

	return share == UINT64_MAX ? 0 : share;
}

static int launch_compare(const void *left, const void *right)
{
	const struct operations_launch *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static int operation_compare(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static int took_compare(const void *left, const void *right)
{
	const struct took *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int change_compare(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step;
}

int operations_lists_new(struct operations_work *work, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = external_sort_new(
		&work->launches, sizeof(struct operations_launch), launch_compare, mem_bytes, error);

	if (!result)
		result = external_sort_new(
			&work->operations, sizeof(struct operation), operation_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->durations, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->at_work, sizeof(struct change), change_compare, mem_bytes, error);
	return result;
}

void operations_lists_free(struct operations_work *work)
{
	external_sort_free(work->launches);
	external_sort_free(work->operations);
	external_sort_free(work->durations);
	external_sort_free(work->at_work);
	external_sort_free(work->delays);
	external_sort_free(work->queued);
}

/* ---- the answers ---- */

/* The number of the least of which at least this part of all is not above it. */
static size_t quantile(uint64_t count, unsigned percent)
{
	return (count * percent + 99) / 100 - 1;
}

/* Of all durations, or delays, each row's quantiles. */
static int rows_fill(
	struct operations_work *work, struct external_sort *times, bool are_delays, struct error *error)
{
	const struct took *took;
	uint32_t row = UINT32_MAX;
	uint64_t at = 0;
	int code = 0, result = external_sort_rewind(times, error);

	while (!result && (took = external_sort_next(times, &code, error))) {
		struct operations_row *of = &work->rows[took->row];
		uint64_t count = are_delays ? of->launched : of->count;

		at = took->row == row ? at + 1 : 0;
		row = took->row;
		if (at == quantile(count, 50))
			*(are_delays ? &of->delay_p50_ns : &of->p50_ns) = took->time_ns;
		if (at == quantile(count, 99))
			*(are_delays ? &of->delay_p99_ns : &of->p99_ns) = took->time_ns;
		if (!are_delays)
			of->max_ns = took->time_ns;
	}
	return result ? result : code;
}

static int at_work_sum(struct operations_work *work, struct operations *operations, struct error *error)
{
	uint64_t now_ns = select_begin_ns(work->select);
	const struct change *change;
	uint32_t busy = 0;
	int code = 0, result = external_sort_rewind(work->at_work, error);

	while (!result && (change = external_sort_next(work->at_work, &code, error))) {
		operations->at_work_ns[busy] += change->time_ns - now_ns;
		now_ns = change->time_ns;
		busy += (uint32_t)change->step;
	}
	if (select_end_ns(work->select) > now_ns)
		operations->at_work_ns[busy] += select_end_ns(work->select) - now_ns;
	return result ? result : code;
}

static int queued_count(struct operations_work *work, struct operations *operations, struct error *error)
{
	const struct change *change;
	uint64_t queued = 0;
	int code = 0, result = external_sort_rewind(work->queued, error);

	while (!result && (change = external_sort_next(work->queued, &code, error))) {
		queued += (uint64_t)change->step;
		/* Of one moment the ends come first: what takes no time at all goes below none. */
		if ((int64_t)queued > (int64_t)operations->queued_max)
			operations->queued_max = queued;
	}
	return result ? result : code;
}

/* Some begin while the launching call still runs. UNKNOWN_NS: it has none. */
static int put_queued(struct operations_work *work, const struct operation *operation, uint64_t launched_ns,
	struct error *error)
{
	const struct took delay = {
		operation->begin_ns > launched_ns ? operation->begin_ns - launched_ns : 0, operation->row};
	const struct change begin = {launched_ns < operation->begin_ns ? launched_ns : operation->begin_ns,
				    1},
			    end = {operation->end_ns, -1};
	int result = external_sort_put(work->queued, &begin, error);

	if (!result)
		result = external_sort_put(work->queued, &end, error);
	if (result || launched_ns == UNKNOWN_NS)
		return result;
	work->rows[operation->row].launched++;
	return external_sort_put(work->delays, &delay, error);
}

/* Operations and launches side by side, both by link. */
static int join(struct operations_work *work, struct error *error)
{
	const struct operation *next;
	const struct operations_launch *launch = NULL;
	struct operations_launch at = {0};
	int code = 0, result = external_sort_rewind(work->launches, error);

	if (!result)
		result = external_sort_rewind(work->operations, error);
	if (!result)
		launch = external_sort_next(work->launches, &result, error);
	while (!result && (next = external_sort_next(work->operations, &code, error))) {
		const struct operation operation = *next;

		while (launch && !result &&
			(launch->process < operation.process ||
				(launch->process == operation.process && launch->link < operation.link)))
			launch = external_sort_next(work->launches, &result, error);
		if (launch)
			at = *launch;
		if (!result)
			result = put_queued(work, &operation,
				launch && at.process == operation.process && at.link == operation.link
					? at.end_ns
					: UNKNOWN_NS,
				error);
	}
	return result ? result : code;
}

static void forget(struct external_sort **spill)
{
	external_sort_free(*spill);
	*spill = NULL;
}

/* Each list goes when it has answered. */
static int sum_up(struct operations_work *work, struct operations *operations, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = rows_fill(work, work->durations, false, error);

	forget(&work->durations);
	if (!result)
		result = at_work_sum(work, operations, error);
	forget(&work->at_work);
	if (!result)
		result =
			external_sort_new(&work->delays, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->queued, sizeof(struct change), change_compare, mem_bytes, error);
	if (!result)
		result = join(work, error);
	forget(&work->operations);
	forget(&work->launches);
	if (!result)
		result = rows_fill(work, work->delays, true, error);
	forget(&work->delays);
	return result ? result : queued_count(work, operations, error);
}

static int row_compare(const void *left, const void *right)
{
	const struct operations_row *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->op != b->op ? (a->op < b->op ? -1 : 1) : strcmp(a->key, b->key);
}

int operations_sum(struct operations_work *work, struct operations *operations, struct error *error)
{
	int result;

	operations->count = work->keys.count;
	operations->rows = arena_calloc(work->arena, operations->count + 1, sizeof(*operations->rows));
	operations->at_work_ns =
		arena_calloc(work->arena, operations->queues + 1, sizeof(*operations->at_work_ns));
	if (!operations->rows || !operations->at_work_ns)
		return error_memory(error);
	result = sum_up(work, operations, error);
	if (!result && operations->count) {
		memcpy(operations->rows, work->rows, operations->count * sizeof(*work->rows));
		qsort(operations->rows, operations->count, sizeof(*operations->rows), row_compare);
	}
	return result;
}
