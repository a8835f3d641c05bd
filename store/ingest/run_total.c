/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_total.c - adds up samples by metric and context, in an array by context: mostly from the sums that
 * each chunk computes anyway.
 */
#include "store/ingest/run_total.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/id_table.h"

static struct store_run_total_metric *metric_of(struct store_run_total *total, uint32_t metric)
{
	struct store_run_total_metric *to;

	for (uint32_t i = 0; i < total->metric_count; i++)
		if (total->metrics[i].metric == metric)
			return &total->metrics[i];
	to = store_id_table_add(&total->metrics, &total->metric_count, &total->metric_capacity, sizeof *to);
	if (to)
		to->metric = metric;
	return to;
}

/* Where a context is added up; NULL: there is no total. */
static struct store_run_total_sum *sum_of(
	struct store_run_total *total, struct store_run_total_metric *metric, uint32_t context)
{
	const uint32_t contexts = *total->contexts;

	if (metric && context < contexts &&
		array_reserve_zero(&metric->sums, &metric->room, (size_t)context + 1, sizeof *metric->sums))
		return &metric->sums[context];
	total->is_bad = true;
	return NULL;
}

static void add(
	struct store_run_total *total, struct store_run_total_sum *sum, uint64_t samples, uint64_t weight)
{
	total->entries += sum->samples == 0;
	sum->samples += samples;
	sum->weight += weight;
	total->samples += samples;
}

void store_run_total_add(struct store_run_total *total, const struct store_record *records, size_t count)
{
	struct store_run_total_metric *metric = NULL;

	for (size_t i = 0; i < count && !total->is_bad; i++) {
		struct store_run_total_sum *sum;

		if (!metric || metric->metric != records[i].what)
			metric = metric_of(total, records[i].what);
		sum = sum_of(total, metric, records[i].context);
		if (sum)
			add(total, sum, 1, records[i].amount);
	}
}

void store_run_total_add_sums(
	struct store_run_total *total, uint32_t metric_id, const struct store_sum *entries, uint32_t count)
{
	struct store_run_total_metric *metric = total->is_bad ? NULL : metric_of(total, metric_id);

	for (uint32_t i = 0; i < count && !total->is_bad; i++) {
		struct store_run_total_sum *sum = sum_of(total, metric, entries[i].context);

		if (sum)
			add(total, sum, entries[i].samples, entries[i].weight);
	}
}

void store_run_total_committed(struct store_run_total *total)
{
	if (total->is_put)
		total->put_samples = total->samples;
	total->is_put = false;
}

void store_run_total_fini(struct store_run_total *total)
{
	for (uint32_t i = 0; i < total->metric_count; i++)
		free(total->metrics[i].sums);
	free(total->metrics);
	*total = (struct store_run_total){0};
}

static void gather(struct store_context_sums *to, const struct store_run_total *total)
{
	store_context_sums_clear(to);
	for (uint32_t m = 0; m < total->metric_count; m++)
		for (uint32_t context = 0; context < total->metrics[m].room; context++) {
			const struct store_run_total_sum *sum = &total->metrics[m].sums[context];

			if (sum->samples)
				store_context_sums_push(to, &(struct store_sum){.samples = sum->samples,
								    .weight = sum->weight,
								    .context = context,
								    .metric = total->metrics[m].metric});
		}
}

int store_run_total_put(struct store_run_total *total, struct store_rollup_maker *maker, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT], bool is_end)
{
	const struct store_key_rollup key = {
		.stream = STORE_ROLLUP_ALL, .kind = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};
	uint64_t fresh = total->samples - total->put_samples;

	total->is_put = !total->is_bad && fresh && (is_end || fresh >= total->entries);
	if (!total->is_put)
		return 0;
	gather(&maker->made, total);
	return store_rollup_put_made(maker, &key, txn, dbi);
}
