/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_stream.h - one stream of figures while it is recorded: the values of a pass, collected and appended
 * together, and the store's ids of their metrics.
 */
#ifndef RECORD_GAUGE_STREAM_H
#define RECORD_GAUGE_STREAM_H

#include "record/gauges/gauge_list.h"
#include "store/write/writer.h"

#define GAUGE_IDS (GAUGE_COUNT + GAUGE_CORES)

/* Ids of metrics, shared by all streams of a store; all-zero is ready. */
struct gauge_metrics {
	uint32_t id[GAUGE_IDS]; /* plus 1; 0: not asked for yet */
	uint64_t wanted;
};

/* The values of one pass of one stream; all-zero is empty. */
struct gauge_values {
	struct store_record records[GAUGE_IDS];
	unsigned count;
	uint64_t time_ns;
	bool is_slow; /* the pass reads the rarer ones, too */
};

/* True when it is wanted in this pass. */
bool gauge_is_due(const struct gauge_metrics *metrics, const struct gauge_values *values, unsigned gauge);
/* Adds a value; `gauge`: enum gauge_id, or GAUGE_COUNT + the core. */
void gauge_put(struct gauge_metrics *metrics, struct gauge_values *values, struct store_writer *writer,
	unsigned gauge, uint64_t value);
/* Appends them and sets the watermark. */
void gauge_values_flush(struct gauge_values *values, struct store_writer *writer, uint32_t stream);

#endif
