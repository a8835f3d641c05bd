/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - values of one metric over a stretch of time, summed up: number, first, last, least, most, sum;
 * of a counter also how much it grew, and its slowest and fastest rate. Stretches that follow each other join
 * to that of both, so rollups hold them (FORMAT.md) and any window costs its edges.
 *
 *   values    3   5   4 | 9   7            first 3  last 7  least 3  most 9  sum 28
 *   counter  10  12  17 | 3   8            grown 2 + 5 + 3 + 5: one that falls has begun anew at 0
 *
 * A rate belongs to the time of its later value; that of a stretch's first value is its predecessor's to
 * tell, when they are joined.
 */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include "store/base/bytes.h"
#include "store/catalog/module.h"
#include "store/chunk/chunk_decode.h"

struct store_series {
	uint32_t metric;
	uint8_t kind;  /* enum store_metric_kind */
	bool is_real;  /* values are doubles, by their bits */
	bool is_mixed; /* values came out of order: growth and rates are unset (least, most, sum hold) */
	uint64_t count;
	uint64_t first_ns, last_ns;
	uint64_t first, last, least, most; /* values */
	uint64_t sum_low, sum_high;	   /* of whole values, 128 bits; of doubles low has a double's bits */
	/* Counters, from the second value on: */
	double grown;		 /* exact below 2^53 */
	double slowest, fastest; /* rates, per second */
};

/* Adds a value of the series' metric; `series` with count 0 has metric, kind and is_real only. */
void store_series_add(struct store_series *series, uint64_t time_ns, uint64_t value);
/* Adds all values of `next`, which may lie before or behind. */
void store_series_join(struct store_series *series, const struct store_series *next);
/* A value as a number. */
double store_series_number(const struct store_series *series, uint64_t value);
/* The mean of the values. */
double store_series_mean(const struct store_series *series);
/* Growth from one value of a counter to the next. */
double store_series_growth(const struct store_series *series, uint64_t from, uint64_t to);

/* Series of several metrics, by metric. All-zero is empty; after `failed` (no memory) adding does nothing. */
struct store_series_set {
	struct store_series *of;
	uint32_t count, capacity;
	uint32_t recent; /* index of the last one found */
	bool failed;
};
void store_series_set_fini(struct store_series_set *set);
void store_series_set_clear(struct store_series_set *set);
/* Adds the rows [from, to) of decoded values (BEGIN, AMOUNT, WHAT). Metrics beyond the table are left out. */
void store_series_set_add(struct store_series_set *set, const struct store_metrics *metrics,
	const struct store_batch *batch, size_t from, size_t to);
void store_series_set_join(struct store_series_set *set, const struct store_series_set *next);
/* Appends the bytes. */
void store_series_set_put(const struct store_series_set *set, struct store_bytes *out);
/* Before the sums of a rollup of values, from 7.0 on: | 2 | size of the series | series | sums |. Takes it
 * off the input, and sets `series` to its bytes; false: there is none. */
#define STORE_SERIES_MARK 2u
bool store_series_take(struct store_input *input, struct store_input *series);
/* Joins the decoded series of one metric, or of all (UINT32_MAX), to the set; input->bad on damage. */
void store_series_set_get(struct store_series_set *set, struct store_input *input,
	const struct store_metrics *metrics, uint32_t metric);

#endif
