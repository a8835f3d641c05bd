/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_rollup.c - what rollups answer against what a scan of the records sums up (doubles but for
 * rounding): random streams with bursts, pauses, changing rates, late and very late records, several metrics
 * (one of doubles), many commits, before and after the store is closed.
 */
#include "tests/unit/timeline_twin.h"

#include "store/read/reader_internal.h"

#define ROUNDS 12
#define STREAMS 3u
#define CONTEXTS 300u
#define WINDOWS 24

struct made {
	struct small_run small;
	uint32_t contexts[CONTEXTS];
	uint64_t now_ns[STREAMS], begin_ns, end_ns;
	unsigned metrics;
	uint64_t period_ns; /* 0: not told */
	unsigned span_chance;
};

/* ---- random samples ---- */

static void draw_contexts(struct made *made)
{
	uint32_t module = store_writer_text_module(made->small.writer);

	for (uint32_t i = 0; i < CONTEXTS; i++)
		made->contexts[i] = store_writer_context(made->small.writer,
			i ? made->contexts[small_below(i)] : STORE_CONTEXT_PROGRAM_ROOT, module,
			store_writer_text(made->small.writer, (char[]){(char)('a' + i % 26)}, 1));
}

/* Of the greatest amounts: with none shifted out, sums of many are more than 64 bits hold. */
static unsigned amount_shift = 24;

static uint64_t draw_amount(uint32_t metric)
{
	double real = 1.0 / (double)(1 + small_below(1000));
	uint64_t bits;

	if (metric == 2) {
		memcpy(&bits, &real, sizeof bits);
		return bits;
	}
	return small_below(20) ? 1000 : small_below(50) ? small_below(5000) : small_draw() >> amount_shift;
}

/* Now and then something that takes the line, or says that somebody looked. */
static void append_span(struct made *made, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	static const uint32_t ops[] = {STORE_OP_BLOCKED, STORE_OP_RUNNABLE, STORE_OP_LOST, STORE_OP_SYNC,
		STORE_OP_UNMONITORED, STORE_OP_MARK, STORE_OP_RANGE};
	uint64_t length_ns = end_ns - begin_ns + 1;
	uint64_t at = begin_ns + small_below(length_ns);

	small_span(made->small.writer, stream, at, at + small_below(length_ns) / (1 + small_below(100)),
		ops[small_below(made->period_ns & 1 ? 7 : 5)], made->contexts[small_below(CONTEXTS)], "");
}

/* What counters have come by at some of the samples, and gauges, which have no context. */
static void append_values(
	struct made *made, uint32_t stream, const struct store_record *samples, size_t count)
{
	static struct store_record records[6000];
	size_t from = small_below(count), length = small_below(count - from + 1);

	for (size_t i = 0; i < length; i++) {
		records[i] = samples[from + i];
		records[i].flags = 0;
		records[i].context = small_below(4) ? records[i].context : 0;
	}
	if (length)
		store_writer_append(made->small.writer, stream, STORE_VALUES, records, length);
}

/* Some samples in a row, at a rate of their own; now and then far in the past. */
static void append_burst(struct made *made, uint32_t stream)
{
	static struct store_record records[6000];
	size_t count = 1 + small_below(small_below(3) ? 300 : 6000);
	uint64_t step_ns = 1 + small_below((uint64_t)1 << (4 + small_below(22)));
	uint64_t at = made->now_ns[stream],
		 back_ns = small_below(12) ? 0 : small_below(at - made->begin_ns + 1);
	uint32_t hot = (uint32_t)small_below(CONTEXTS);

	at -= back_ns;
	for (size_t i = 0; i < count; i++) {
		uint32_t metric =
			made->metrics > 1 && !small_below(3) ? (uint32_t)small_below(made->metrics) : 0;
		uint32_t context = small_below(10) ? hot + (uint32_t)small_below(8) : (uint32_t)small_draw();

		at += small_below(2 * step_ns) + (small_below(200) || made->metrics > 1);
		records[i] = (struct store_record){.begin_ns = at,
			.end_ns = at,
			.amount = draw_amount(metric),
			.context = made->contexts[context % CONTEXTS],
			.what = metric,
			.flags = STORE_RECORD_EXTENT};
	}
	store_writer_append(made->small.writer, stream, STORE_SAMPLES, records, count);
	append_values(made, stream, records, count);
	if (made->span_chance && !small_below(made->span_chance))
		append_span(made, stream, records[0].begin_ns, at);
	if (!back_ns)
		made->now_ns[stream] = at + (small_below(20) ? 0 : small_below((uint64_t)1 << 40));
	made->end_ns = at + 1 > made->end_ns ? at + 1 : made->end_ns;
}

static void begin_made(struct made *made)
{
	char attributes[80];

	memset(made, 0, sizeof *made);
	small_begin(&made->small);
	made->metrics = small_below(3) ? 1 : 3;
	store_writer_metric(made->small.writer, "CPUTIME", "ns", false);
	store_writer_metric(made->small.writer, "CYCLES", "", false);
	store_writer_metric(made->small.writer, "WATTS", "W", true);
	draw_contexts(made);
	made->begin_ns = made->end_ns = small_below((uint64_t)1 << small_below(60)) + 1;
	made->period_ns = small_below(2) << small_below(26);
	made->span_chance = (unsigned)small_below(40);
	snprintf(attributes, sizeof attributes, "metric=CPUTIME,period_ns=%" PRIu64, made->period_ns);
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		small_cpu(made->small.writer, stream, made->begin_ns, STORE_OPEN_NS);
		made->now_ns[stream] = made->begin_ns;
		if (made->period_ns)
			small_span(made->small.writer, stream, made->begin_ns, STORE_OPEN_NS,
				STORE_OP_MONITORED, 0, attributes);
	}
}

/* ---- the comparison ---- */

static int compare_weights(const void *x, const void *y)
{
	const struct window_weight *a = x, *b = y;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

static struct window_weight *sorted_weights(const struct window *window, size_t *count)
{
	const struct window_weight *weights = window_weights(window, count);
	struct window_weight *copy = calloc(*count + 1, sizeof *copy);

	assert_non_null(copy);
	if (*count)
		memcpy(copy, weights, *count * sizeof *copy);
	qsort(copy, *count, sizeof *copy, compare_weights);
	return copy;
}

static void check_same(const struct window *rolled, const struct window *scanned)
{
	size_t count, wanted;
	struct window_weight *a = sorted_weights(rolled, &count), *b = sorted_weights(scanned, &wanted);

	assert_int_equal(count, wanted);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(a[i].context, b[i].context);
		assert_int_equal(a[i].metric, b[i].metric);
		assert_true(a[i].samples == b[i].samples);
		assert_true(a[i].weight == b[i].weight);
		assert_true(a[i].real <= b[i].real * (1 + 1e-12) && b[i].real <= a[i].real * (1 + 1e-12));
	}
	free(a);
	free(b);
}

typedef int window_add(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

static unsigned answered, refused;

/* NULL: it is more than 64 bits hold. */
static struct window *sum(window_add *add, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns)
{
	struct window *window;
	struct error error = {0};
	int code;

	if (window_new(&window, run, &error))
		fail_msg("%s", error.text);
	code = add(window, streams, count, begin_ns, end_ns, &error);
	if (code && code != -ERROR_USAGE)
		fail_msg("%s", error.text);
	if (!code)
		return window;
	window_free(window);
	return NULL;
}

static void check_window(struct run *rolled, struct run *naive, const uint32_t *streams, uint32_t count,
	uint64_t begin, uint64_t end)
{
	window_add *const adds[] = {window_add_weights, window_add_values};

	for (int i = 0; i < 2; i++) {
		struct window *a = sum(adds[i], rolled, streams, count, begin, end);
		struct window *b = sum(adds[i], naive, streams, count, begin, end);

		assert_int_equal(!a, !b);
		if (a)
			check_same(a, b);
		answered += a != NULL;
		refused += !a;
		window_free(a);
		window_free(b);
	}
}

/* A row of tiles of one size. */
static void check_tiles(struct run *rolled, struct run *naive, uint32_t stream, uint64_t begin, uint64_t end)
{
	unsigned shift = 0;

	while (shift < 63 && (uint64_t)16 << shift <= end - begin)
		shift++;
	twin_check_tiles(rolled, naive, stream, shift, begin >> shift, 40);
	if (shift > 2)
		twin_check_cells(rolled, naive, stream, shift - 2, begin >> (shift - 2), 40);
}

/* Windows that begin and end anywhere, at buckets' edges, and that hold everything. */
static uint64_t draw_edge(const struct made *made)
{
	uint64_t at = made->begin_ns + small_below(made->end_ns - made->begin_ns + 1);

	return small_below(3) ? at : at >> 20 << 20;
}

static unsigned count_rollups(struct store_reader *reader, uint8_t kind)
{
	struct store_tree_cursor cursor;
	struct store_key_rollup key;
	struct error error = {0};
	unsigned count = 0;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	for (rc = store_tree_seek(&cursor, "", 0, &error); rc == 1; rc = store_tree_next(&cursor, &error))
		count += store_key_rollup_get(&key, cursor.key.bytes, cursor.key.size) && key.kind == kind &&
			 key.stream != STORE_ROLLUP_ALL;
	assert_int_equal(rc, 0);
	return count;
}

/* How many rollups of values there are. */
static unsigned check_run(const struct made *made)
{
	static const uint32_t streams[STREAMS] = {0, 1, 2};
	struct run *rolled, *naive;
	struct error error = {0};
	unsigned rollups;

	if (run_open(&rolled, made->small.path, NULL, &error) ||
		run_open(&naive, made->small.path, &(struct run_options){.no_rollups = true}, &error))
		fail_msg("%s", error.text);
	check_window(rolled, naive, streams, STREAMS, 0, STORE_OPEN_NS);
	for (int i = 0; i < WINDOWS; i++) {
		uint32_t stream = (uint32_t)small_below(STREAMS);
		uint64_t begin = draw_edge(made), end = draw_edge(made);

		if (end < begin) {
			uint64_t other = begin;

			begin = end;
			end = other;
		}
		check_window(rolled, naive, &streams[stream], 1, begin, end);
		if (i % 4 == 0 && begin < end) {
			twin_check_times(rolled, naive, &stream, 1, begin, end);
			check_tiles(rolled, naive, stream, begin, end);
		}
	}
	check_window(rolled, naive, streams, 1, 0, STORE_OPEN_NS);
	if (store_reader_check(run_store(rolled, 0), &error))
		fail_msg("%s", error.text);
	rollups = count_rollups(run_store(rolled, 0), STORE_VALUES);
	run_close(rolled);
	run_close(naive);
	return rollups;
}

static void test_twin(void **unused)
{
	unsigned rollups = 0;

	(void)unused;
	small_seed("rollup.twin");
	for (int round = 0; round < ROUNDS; round++) {
		struct made made;

		amount_shift = round % 4 == 1 ? 0 : 24;
		begin_made(&made);
		for (int i = 0; i < 60; i++) {
			append_burst(&made, (uint32_t)small_below(STREAMS));
			if (!small_below(4))
				small_commit(&made.small);
			if (!small_below(20)) {
				small_commit(&made.small);
				check_run(&made);
			}
		}
		store_rollup_prune_none = round % 4 != 0;
		small_close_writer(made.small.writer);
		made.small.writer = NULL;
		rollups += check_run(&made);
		small_remove(made.small.path);
	}
	amount_shift = 24;
	assert_true(rollups > 0 && answered > refused && refused > 0);
}

/* The edges of time itself. */
static void test_extreme_times(void **unused)
{
	static const uint64_t times[] = {
		0, 1, UINT64_MAX / 2, UINT64_MAX / 2 + 1, UINT64_MAX - 2, UINT64_MAX - 1};
	struct made made;

	(void)unused;
	small_seed("rollup.extreme");
	begin_made(&made);
	for (int i = 0; i < 20000; i++)
		small_sample(made.small.writer, (uint32_t)small_below(STREAMS),
			small_below(3) ? small_draw() >> small_below(64)
				       : times[small_below(sizeof times / sizeof *times)],
			made.contexts[small_below(CONTEXTS)], 0, draw_amount(0));
	made.begin_ns = 0;
	made.end_ns = UINT64_MAX - 1;
	small_close_writer(made.small.writer);
	made.small.writer = NULL;
	check_run(&made);
	small_remove(made.small.path);
}

/* One gap in thousands, between two periods and three: an extent ends in it. */
static void test_limit(void **unused)
{
	struct made made;
	uint64_t at = 1000;

	(void)unused;
	small_seed("rollup.limit");
	memset(&made, 0, sizeof made);
	small_begin(&made.small);
	store_writer_metric(made.small.writer, "CPUTIME", "ns", false);
	draw_contexts(&made);
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		small_cpu(made.small.writer, stream, 1000, 30000000);
		small_span(made.small.writer, stream, 1000, 30000000, STORE_OP_MONITORED, 0,
			"metric=CPUTIME,period_ns=100");
	}
	for (int i = 0; i < 200000; i++) {
		small_sample(made.small.writer, (uint32_t)(i / 20000 % 3), at,
			made.contexts[small_below(CONTEXTS)], 0, 100);
		at += i % 20000 == 7000 + 1000 * (i / 20000 % 3) ? 250 : 100;
	}
	made.begin_ns = 0;
	made.end_ns = at;
	small_close_writer(made.small.writer);
	made.small.writer = NULL;
	check_run(&made);
	small_remove(made.small.path);
}

/* Rollups that are not what their chunks hold are found, and so is a flipped byte. */
static void flip(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int byte;

	assert_non_null(file);
	fseek(file, at, SEEK_SET);
	byte = fgetc(file);
	fseek(file, at, SEEK_SET);
	fputc(byte ^ 0x10, file);
	fclose(file);
}

/* Where in the file the bytes stand that begin a value; -1: nowhere. */
static long find_bytes(const char *path, const struct store_slice *value)
{
	FILE *file = fopen(path, "r");
	static uint8_t bytes[1 << 24];
	size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	const uint8_t *found = memmem(bytes, size, value->bytes, value->size);

	assert_non_null(file);
	fclose(file);
	return found ? (long)(found - bytes) : -1;
}

static void test_damage(void **unused)
{
	struct made made;
	struct run *run;
	struct error error = {0};
	struct store_tree_cursor cursor;
	struct store_slice value;
	struct window *window;
	char path[128];
	long at;

	(void)unused;
	small_seed("rollup.damage");
	begin_made(&made);
	for (int i = 0; i < 200000; i++) {
		small_sample(made.small.writer, 0, made.begin_ns + (uint64_t)i * 1000,
			made.contexts[small_below(CONTEXTS)], 0, 1000);
	}
	small_close_writer(made.small.writer);
	made.small.writer = NULL;
	if (run_open(&run, made.small.path, NULL, &error))
		fail_msg("%s", error.text);
	store_tree_cursor_init(&cursor, &run_store(run, 0)->snapshot.pages,
		&run_store(run, 0)->snapshot.trees[STORE_TREE_ROLL]);
	assert_int_equal(store_tree_seek(&cursor, "", 0, &error), 1);
	value = cursor.value;
	snprintf(path, sizeof path, "%s/node-1.mdb", made.small.path);
	at = find_bytes(path, &value);
	assert_true(at > 0 && value.size > 100);
	run_close(run);
	flip(path, at + 50);
	if (run_open(&run, made.small.path, NULL, &error))
		fail_msg("%s", error.text);
	assert_int_equal(store_reader_check(run_store(run, 0), &error), -ERROR_RUN);
	assert_non_null(strstr(error.text, "rollup"));
	assert_int_equal(window_new(&window, run, &error), 0);
	assert_int_equal(window_add_weight(window, 0, 0, STORE_OPEN_NS, &error), -ERROR_RUN);
	window_free(window);
	run_close(run);
	small_remove(made.small.path);
}

/* Samples that count nothing there is are damage, not a look beyond the metrics. */
static void test_no_metric(void **unused)
{
	struct error error = {0};
	struct window *window;
	struct small_run small;

	(void)unused;
	small_begin(&small);
	small_cpu(small.writer, 0, 0, 1000);
	for (unsigned i = 0; i < 500; i++)
		small_sample(small.writer, 0, 2 * i, STORE_CONTEXT_PROGRAM_ROOT, 0, 1);
	small_ready(&small);
	assert_int_equal(window_new(&window, small.run, &error), 0);
	assert_int_equal(window_add_weight(window, 0, 0, 1000, &error), -ERROR_RUN);
	assert_non_null(strstr(error.text, "no metric"));
	window_free(window);
	small_end(&small);
}

/* What is read by column is what is read by entry; where one finds damage the other does. */
static void check_works(struct store_sum_columns *works, const struct store_context_sums *sums,
	struct store_input input, bool is_bad)
{
	store_sum_columns_get(works, &input, 1000, 3);
	assert_false(works->failed);
	assert_true(works->line.is_plain || works->count == 0);
	if (is_bad && sums->line.is_plain) /* its weights may be what is bad: they are not read */
		return;
	if (is_bad || input.bad || !sums->line.is_plain) {
		assert_int_equal(works->count, 0);
		return;
	}
	assert_int_equal(works->count, sums->count);
	for (uint32_t i = 0; i < works->count; i++) {
		assert_int_equal(works->contexts[i], sums->entries[i].context);
		assert_true(works->samples[i] == sums->entries[i].samples);
		assert_true(works->times_ns[i] == sums->entries[i].time_ns);
	}
}

/* So are weights, of one metric; those of several are left alone. */
static unsigned check_weights(struct store_sum_columns *works, const struct store_context_sums *sums,
	struct store_input input, bool is_bad)
{
	const uint8_t *begin = input.at;

	if (!store_sum_columns_get_weights(works, &input, 1000, 3)) {
		assert_true(works->count == 0 && !input.bad && input.at == begin);
		for (uint32_t i = 1; i < sums->count && !is_bad; i++)
			if (sums->entries[i].metric != sums->entries[0].metric)
				return 0;
		assert_true(is_bad || !sums->count);
		return 0;
	}
	assert_false(works->failed);
	for (uint32_t i = 0; i < works->count; i++)
		assert_true(works->contexts[i] < 1000 && works->metric < 3);
	if (is_bad && sums->line.is_plain) /* its times may be what is bad: they are not read */
		return 0;
	assert_int_equal(input.bad, is_bad);
	assert_int_equal(works->count, is_bad ? 0 : sums->count);
	for (uint32_t i = 0; i < works->count; i++) {
		assert_int_equal(works->metric, sums->entries[i].metric);
		assert_int_equal(works->contexts[i], sums->entries[i].context);
		assert_true(works->samples[i] == sums->entries[i].samples);
		assert_true(works->weights[i] == sums->entries[i].weight);
	}
	return works->count > 0;
}

/* Whatever the bytes are, what comes out names contexts and metrics that exist. */
static void test_hostile(void **unused)
{
	struct store_sum_columns works = {0};
	struct store_context_sums sums = {0};
	struct store_bytes bytes = {0};
	unsigned plain = 0, weighed = 0;

	(void)unused;
	small_seed("rollup.hostile");
	for (int round = 0; round < 3000; round++) {
		uint8_t copy[8192];
		struct store_input input = {.at = copy}, again;
		bool is_plain = small_below(2); /* those of one metric are */

		store_context_sums_clear(&sums);
		for (uint64_t i = small_below(600); i-- > 0;)
			store_context_sums_add(
				&sums, &(struct store_sum){.samples = 1 + small_below(50),
					       .weight = draw_amount(0),
					       .time_ns = small_below(5000),
					       .context = (uint32_t)small_below(1000),
					       .metric = is_plain ? 1 : (uint32_t)small_below(3)});
		sums.line.is_plain = is_plain && sums.count;
		bytes.size = 0;
		store_context_sums_put(&sums, &bytes);
		assert_true(bytes.size <= sizeof copy);
		memcpy(copy, bytes.data, bytes.size);
		for (uint64_t i = small_below(4); i-- > 0;)
			copy[small_below(bytes.size)] = (uint8_t)small_draw();
		input.end = copy + (small_below(4) ? bytes.size : small_below(bytes.size));
		again = input;
		store_context_sums_clear(&sums);
		store_context_sums_get(&sums, &input, 1000, 3,
			1u << STORE_CONTEXT_SUMS_WEIGHT | 1u << STORE_CONTEXT_SUMS_TIME);
		for (uint32_t i = 0; i < sums.count && !input.bad; i++)
			assert_true(sums.entries[i].context < 1000 && sums.entries[i].metric < 3);
		check_works(&works, &sums, again, input.bad);
		for (uint32_t i = 0; i < works.count; i++)
			assert_true(works.contexts[i] < 1000);
		plain += works.count > 0;
		weighed += check_weights(&works, &sums, again, input.bad);
	}
	assert_true(plain > 500 && weighed > 500);
	store_sum_columns_fini(&works);
	assert_false(sums.failed);
	store_context_sums_fini(&sums);
	store_bytes_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_extreme_times),
		cmocka_unit_test(test_limit), cmocka_unit_test(test_damage), cmocka_unit_test(test_no_metric),
		cmocka_unit_test(test_hostile)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
