/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overflow_check.c - checks whether the sum of all weights and values of a store fits 64 bits. Its sums are
 * modulo 2^64, and readers cannot see that one has wrapped: the writer stores a fact when one may have.
 */
#include "store/write/writer_internal.h"

#define HIGH_FEW (1u << 20) /* no double but the least has a high half below it */

static void add(struct store_writer *writer, uint64_t amount)
{
	writer->amount += amount;
	writer->is_wide |= writer->amount < amount;
}

/* Doubles left out. */
static void add_each(struct store_writer *writer, const struct store_record *records, size_t count)
{
	const struct store_metrics *metrics = &writer->metrics;

	for (size_t i = 0; i < count; i++)
		if (records[i].what >= metrics->count || !metrics->metrics[records[i].what].is_real)
			add(writer, records[i].amount);
}

void store_writer_overflow_check(
	struct store_writer *writer, const struct store_record *records, size_t count)
{
	uint64_t low = 0, high = 0;

	if (writer->is_wide)
		return;
	/* Sums of halves cannot wrap, and tell that of nearly all at once. */
	for (size_t i = 0; i < count; i++) {
		low += (uint32_t)records[i].amount;
		high += records[i].amount >> 32;
	}
	if (high < HIGH_FEW && count < UINT32_MAX)
		add(writer, low + (high << 32));
	else
		add_each(writer, records, count);
	if (writer->is_wide)
		store_writer_meta(writer, STORE_META_WIDE, "1");
}
