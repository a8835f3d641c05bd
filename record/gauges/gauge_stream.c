/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_stream.c - see gauge_stream.h. */
#include "record/gauges/gauge_stream.h"

#include <stdio.h>

static unsigned bit_of(unsigned gauge)
{
	return gauge < GAUGE_COUNT ? gauge : GAUGE_CORE_BIT;
}

bool gauge_is_due(const struct gauge_metrics *metrics, const struct gauge_values *values, unsigned gauge)
{
	bool is_slow = gauge < GAUGE_COUNT ? gauge_names[gauge].is_slow : true;

	return metrics->wanted >> bit_of(gauge) & 1 && (values->is_slow || !is_slow);
}

static uint32_t metric_make(struct store_writer *writer, unsigned gauge)
{
	char name[32];

	if (gauge < GAUGE_COUNT)
		return store_writer_figure(writer, gauge_names[gauge].name, gauge_names[gauge].unit,
			gauge_names[gauge].is_real, gauge_names[gauge].kind);
	snprintf(name, sizeof name, "core%u_busy", gauge - GAUGE_COUNT);
	return store_writer_figure(writer, name, "ns", false, STORE_METRIC_COUNTER);
}

void gauge_put(struct gauge_metrics *metrics, struct gauge_values *values, struct store_writer *writer,
	unsigned gauge, uint64_t value)
{
	if (!gauge_is_due(metrics, values, gauge) || values->count == GAUGE_IDS)
		return;
	if (!metrics->id[gauge])
		metrics->id[gauge] = metric_make(writer, gauge) + 1;
	values->records[values->count++] = (struct store_record){.begin_ns = values->time_ns,
		.end_ns = values->time_ns,
		.amount = value,
		.what = metrics->id[gauge] - 1};
}

void gauge_values_flush(struct gauge_values *values, struct store_writer *writer, uint32_t stream)
{
	struct store_stream *of;

	if (stream == UINT32_MAX || !values->count)
		return;
	store_writer_append(writer, stream, STORE_VALUES, values->records, values->count);
	of = store_writer_stream_edit(writer, stream);
	if (of)
		of->end_ns = STORE_OPEN_NS;
	if (of)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			of->complete_ns[track] = values->time_ns + 1;
	values->count = 0;
}
