/* SPDX-License-Identifier: Apache-2.0 */
/*
 * total.c - adds up samples by metric and context, in an array by context: one addition for each sample that
 * is recorded.
 */
#include "store/total.h"

#include <stdlib.h>

#include "store/table.h"

static struct store_total_metric *metric_of(struct store_total *total, uint32_t metric)
{
	struct store_total_metric *to;

	for (uint32_t i = 0; i < total->metric_count; i++)
		if (total->metrics[i].metric == metric)
			return &total->metrics[i];
	to = store_table_add(
		(void **)&total->metrics, &total->metric_count, &total->metric_capacity, sizeof *to);
	if (to)
		to->metric = metric;
	return to;
}

static bool widen(struct store_total_metric *metric, uint32_t contexts)
{
	uint32_t room = contexts < UINT32_MAX / 2 ? contexts + contexts / 2 + 64 : contexts;
	struct store_total_sum *sums = reallocarray(metric->sums, room, sizeof *sums);

	if (!sums)
		return false;
	memset(sums + metric->room, 0, (room - metric->room) * sizeof *sums);
	metric->sums = sums;
	metric->room = room;
	return true;
}

void store_total_add(
	struct store_total *total, const struct store_record *records, size_t count, uint32_t contexts)
{
	struct store_total_metric *metric = NULL;

	for (size_t i = 0, next; i < count && !total->is_bad; i = next) {
		const struct store_record *record = &records[i];
		uint64_t weight = record->amount;
		struct store_total_sum *sum;

		for (next = i + 1; next < count && records[next].context == record->context &&
				   records[next].what == record->what;
			next++)
			weight += records[next].amount;

		if (!metric || metric->metric != record->what)
			metric = metric_of(total, record->what);
		if (!metric || record->context >= contexts ||
			(record->context >= metric->room && !widen(metric, contexts))) {
			total->is_bad = true;
			break;
		}
		sum = &metric->sums[record->context];
		total->entries += sum->samples == 0;
		sum->samples += next - i;
		sum->weight += weight;
	}
	total->samples += count;
}

void store_total_committed(struct store_total *total)
{
	if (total->is_put)
		total->put_samples = total->samples;
	total->is_put = false;
}

void store_total_fini(struct store_total *total)
{
	for (uint32_t i = 0; i < total->metric_count; i++)
		free(total->metrics[i].sums);
	free(total->metrics);
	*total = (struct store_total){0};
}

static void gather(struct store_sums *to, const struct store_total *total)
{
	store_sums_clear(to);
	for (uint32_t m = 0; m < total->metric_count; m++)
		for (uint32_t context = 0; context < total->metrics[m].room; context++) {
			const struct store_total_sum *sum = &total->metrics[m].sums[context];

			if (sum->samples)
				store_sums_push(to, &(struct store_sum){.samples = sum->samples,
							    .weight = sum->weight,
							    .context = context,
							    .metric = total->metrics[m].metric});
		}
}

int store_total_put(struct store_total *total, struct store_roll_maker *maker, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT], bool is_end)
{
	const struct store_key_roll key = {
		.stream = STORE_ROLL_ALL, .kind = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};
	uint64_t fresh = total->samples - total->put_samples;

	total->is_put = !total->is_bad && fresh && (is_end || fresh >= total->entries);
	if (!total->is_put)
		return 0;
	gather(&maker->made, total);
	return store_roll_put_made(maker, &key, txn, dbi);
}
