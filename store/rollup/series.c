/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - see series.h. */
#include "store/rollup/series.h"

#include <stdlib.h>

#include "store/base/id_table.h"

#define NS_PER_S 1e9

/* ---- one series ---- */

static double real_of(uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof number);
	return number;
}

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof bits);
	return bits;
}

double store_series_number(const struct store_series *series, uint64_t value)
{
	return series->is_real ? real_of(value) : (double)value;
}

static bool is_less(const struct store_series *series, uint64_t a, uint64_t b)
{
	return series->is_real ? real_of(a) < real_of(b) : a < b;
}

double store_series_mean(const struct store_series *series)
{
	if (!series->count)
		return 0;
	if (series->is_real)
		return real_of(series->sum_low) / (double)series->count;
	return (double)((unsigned __int128)series->sum_high << 64 | series->sum_low) / (double)series->count;
}

double store_series_growth(const struct store_series *series, uint64_t from, uint64_t to)
{
	if (series->is_real)
		return real_of(to) < real_of(from) ? real_of(to) : real_of(to) - real_of(from);
	return (double)(to < from ? to : to - from);
}

static void sum_add(struct store_series *series, uint64_t low, uint64_t high)
{
	if (series->is_real) {
		series->sum_low = bits_of(real_of(series->sum_low) + real_of(low));
		return;
	}
	series->sum_low += low;
	series->sum_high += high + (series->sum_low < low);
}

/* A counter's step to a value later than the last one. */
static void step_add(struct store_series *series, uint64_t time_ns, uint64_t value)
{
	double grown = store_series_growth(series, series->last, value);
	double rate = grown * NS_PER_S / (double)(time_ns - series->last_ns);
	bool is_first = series->first_ns == series->last_ns;

	series->slowest = is_first || rate < series->slowest ? rate : series->slowest;
	series->fastest = is_first || rate > series->fastest ? rate : series->fastest;
	series->grown += grown;
}

void store_series_add(struct store_series *series, uint64_t time_ns, uint64_t value)
{
	if (!series->count) {
		series->first_ns = series->last_ns = time_ns;
		series->first = series->last = series->least = series->most = value;
	}
	if (series->count && time_ns <= series->last_ns)
		series->is_mixed = true;
	else if (series->count && series->kind == STORE_METRIC_COUNTER && !series->is_mixed)
		step_add(series, time_ns, value);
	if (time_ns >= series->last_ns) {
		series->last_ns = time_ns;
		series->last = value;
	} else if (time_ns < series->first_ns) {
		series->first_ns = time_ns;
		series->first = value;
	}
	series->least = is_less(series, value, series->least) ? value : series->least;
	series->most = is_less(series, series->most, value) ? value : series->most;
	sum_add(series, value, 0);
	series->count++;
}

/* What lies behind, and begins later. */
static void join_behind(struct store_series *series, const struct store_series *next)
{
	if (series->kind == STORE_METRIC_COUNTER && !series->is_mixed) {
		step_add(series, next->first_ns, next->first);
		if (next->first_ns != next->last_ns) {
			series->slowest = next->slowest < series->slowest ? next->slowest : series->slowest;
			series->fastest = next->fastest > series->fastest ? next->fastest : series->fastest;
			series->grown += next->grown;
		}
	}
	series->last_ns = next->last_ns;
	series->last = next->last;
}

/* Values of both are mixed: only what has no order is known. */
static void join_mixed(struct store_series *series, const struct store_series *next)
{
	series->is_mixed = true;
	if (next->first_ns < series->first_ns) {
		series->first_ns = next->first_ns;
		series->first = next->first;
	}
	if (next->last_ns >= series->last_ns) {
		series->last_ns = next->last_ns;
		series->last = next->last;
	}
}

void store_series_join(struct store_series *series, const struct store_series *next)
{
	struct store_series before = *series;

	if (!next->count)
		return;
	if (!series->count || (next->last_ns < before.first_ns && !before.is_mixed && !next->is_mixed)) {
		*series = *next;
		next = &before;
	}
	if (!next->count)
		return;
	if (!series->is_mixed && !next->is_mixed && series->last_ns < next->first_ns)
		join_behind(series, next);
	else
		join_mixed(series, next);
	series->least = is_less(series, next->least, series->least) ? next->least : series->least;
	series->most = is_less(series, series->most, next->most) ? next->most : series->most;
	sum_add(series, next->sum_low, next->sum_high);
	series->count += next->count;
}

/* ---- of several metrics ---- */

void store_series_set_fini(struct store_series_set *set)
{
	free(set->of);
	*set = (struct store_series_set){0};
}

void store_series_set_clear(struct store_series_set *set)
{
	set->count = set->recent = 0;
	set->failed = false;
}

/* By metric, which are few. NULL: no memory. */
static struct store_series *find(struct store_series_set *set, uint32_t metric)
{
	struct store_series *to;
	uint32_t at = set->recent < set->count ? set->recent : 0;

	if (at < set->count && set->of[at].metric == metric)
		return &set->of[at];
	/* A tick's metrics come in order: the next one is the likeliest. */
	at = at + 1 < set->count && set->of[at + 1].metric <= metric ? at + 1 : 0;
	while (at < set->count && set->of[at].metric < metric)
		at++;
	set->recent = at;
	if (at < set->count && set->of[at].metric == metric)
		return &set->of[at];
	to = store_id_table_add(&set->of, &set->count, &set->capacity, sizeof *to);
	if (!to) {
		set->failed = true;
		return NULL;
	}
	memmove(set->of + at + 1, set->of + at, (set->count - 1 - at) * sizeof *to);
	set->of[at] = (struct store_series){.metric = metric};
	return &set->of[at];
}

static struct store_series *find_of(
	struct store_series_set *set, const struct store_metrics *metrics, uint32_t metric)
{
	struct store_series *series = find(set, metric);

	if (series && !series->count) {
		series->kind = metrics->metrics[metric].kind;
		series->is_real = metrics->metrics[metric].is_real;
	}
	return series;
}

void store_series_set_add(struct store_series_set *set, const struct store_metrics *metrics,
	const struct store_batch *batch, size_t from, size_t to)
{
	for (size_t i = from; i < to && !set->failed; i++) {
		struct store_series *series =
			batch->what[i] < metrics->count ? find_of(set, metrics, batch->what[i]) : NULL;

		if (series)
			store_series_add(series, batch->begin_ns[i], batch->amount[i]);
	}
}

void store_series_set_join(struct store_series_set *set, const struct store_series_set *next)
{
	for (uint32_t i = 0; i < next->count && !set->failed; i++) {
		struct store_series *series = find(set, next->of[i].metric);

		if (series)
			store_series_join(series, &next->of[i]);
	}
}

/* ---- bytes ---- */

#define MIXED 1u

static void put_double(struct store_bytes *out, double number)
{
	uint64_t bits = bits_of(number);

	store_bytes_put(out, &bits, sizeof bits);
}

static double get_double(struct store_input *input)
{
	const uint8_t *bytes = store_input_take(input, sizeof(uint64_t));

	return bytes ? real_of(store_load64(bytes)) : 0;
}

/* A counter that only grows has its least and most at its ends. */
static bool has_extremes(const struct store_series *series)
{
	return series->least != series->first || series->most != series->last;
}

static void put_one(const struct store_series *series, uint32_t before, struct store_bytes *out)
{
	store_bytes_put_varint(out, series->metric - before);
	store_bytes_put_varint(
		out, (series->count << 1 | has_extremes(series)) << 1 | (series->is_mixed ? MIXED : 0));
	store_bytes_put_varint(out, series->first_ns);
	store_bytes_put_varint(out, series->last_ns - series->first_ns);
	store_bytes_put_varint(out, series->first);
	store_bytes_put_zigzag(out, series->last - series->first);
	if (has_extremes(series)) {
		store_bytes_put_zigzag(out, series->least - series->first);
		store_bytes_put_zigzag(out, series->most - series->first);
	}
	store_bytes_put_varint(out, series->sum_low);
	store_bytes_put_varint(out, series->sum_high);
	if (series->kind != STORE_METRIC_COUNTER || series->is_mixed || series->first_ns == series->last_ns)
		return;
	put_double(out, series->grown);
	put_double(out, series->slowest);
	put_double(out, series->fastest);
}

static void get_one(struct store_series *series, struct store_input *input)
{
	uint64_t word = store_input_varint(input);
	bool has_more = word >> 1 & 1;

	series->count = word >> 2;
	series->is_mixed = word & MIXED;
	series->first_ns = store_input_varint(input);
	series->last_ns = series->first_ns + store_input_varint(input);
	series->first = store_input_varint(input);
	series->last = series->first + store_input_zigzag(input);
	series->least = has_more ? series->first + store_input_zigzag(input) : series->first;
	series->most = has_more ? series->first + store_input_zigzag(input) : series->last;
	series->sum_low = store_input_varint(input);
	series->sum_high = store_input_varint(input);
	input->bad |= !series->count || series->last_ns < series->first_ns;
	if (series->kind != STORE_METRIC_COUNTER || series->is_mixed || series->first_ns == series->last_ns)
		return;
	series->grown = get_double(input);
	series->slowest = get_double(input);
	series->fastest = get_double(input);
}

void store_series_set_put(const struct store_series_set *set, struct store_bytes *out)
{
	uint32_t before = 0;

	store_bytes_put_varint(out, set->count);
	for (uint32_t i = 0; i < set->count; i++) {
		put_one(&set->of[i], before, out);
		before = set->of[i].metric;
	}
	out->failed |= set->failed;
}

bool store_series_take(struct store_input *input, struct store_input *series)
{
	const uint8_t *bytes;
	uint64_t size;

	if (input->bad || input->at == input->end || *input->at != STORE_SERIES_MARK)
		return false;
	input->at++;
	size = store_input_varint(input);
	bytes = store_input_take(input, size);
	*series = (struct store_input){.at = bytes, .end = bytes ? bytes + size : NULL, .bad = !bytes};
	return bytes != NULL;
}

void store_series_set_get(struct store_series_set *set, struct store_input *input,
	const struct store_metrics *metrics, uint32_t metric)
{
	uint32_t count = store_input_u32(input);
	uint64_t id = 0;

	for (uint32_t i = 0; i < count && !input->bad; i++) {
		struct store_series one = {.count = 0}, *to;

		id += store_input_varint(input);
		if (input->bad || id >= metrics->count) {
			input->bad = true;
			return;
		}
		one.metric = (uint32_t)id;
		one.kind = metrics->metrics[id].kind;
		one.is_real = metrics->metrics[id].is_real;
		get_one(&one, input);
		if (input->bad || (metric != UINT32_MAX && metric != id))
			continue;
		to = find(set, one.metric);
		if (to)
			store_series_join(to, &one);
	}
}
