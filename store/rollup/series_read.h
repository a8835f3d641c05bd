/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_read.h - one metric's values of a stream in a window, read from rollups where their series serve the
 * caller, and from the records elsewhere: a window of any length costs its edges.
 */
#ifndef STORE_SERIES_READ_H
#define STORE_SERIES_READ_H

#include "store/read/reader.h"
#include "store/rollup/series.h"

struct store_series_query {
	struct store_reader *reader;
	uint32_t stream, metric;
	uint64_t begin_ns, end_ns; /* begin < end */
	/* Whether values of [begin, last] may come as one sum; NULL: never. */
	bool (*wants)(void *own, uint64_t begin_ns, uint64_t last_ns);
	/* Takes a sum, or the rows [from, to) of decoded values (BEGIN, AMOUNT, WHAT), of other metrics too.
	 * Each comes in the order of buckets: values that arrived late may be behind later ones. Negative
	 * ends. */
	int (*sum)(void *own, const struct store_series *series);
	int (*rows)(void *own, const struct store_batch *batch, size_t from, size_t to);
	void *own;
};

/* 0; negative: damage, no memory, or what a callback returned. */
int store_series_read(const struct store_series_query *query, struct error *error);

/* The series of a stretch: joined from rollups and rows. `into` has count 0 where there are no values. */
int store_series_of(struct store_reader *reader, uint32_t stream, uint32_t metric, uint64_t begin_ns,
	uint64_t end_ns, struct store_series *into, struct error *error);

#endif
