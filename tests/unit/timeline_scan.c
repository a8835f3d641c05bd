/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_scan.c - scans against a plain sorted array: late records in chunks of their own, buckets of
 * many sizes, open spans, windows, clipping, the carried-in sample, and two hosts with clocks of their own.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/run/run_internal.h"
#include "timeline/scan/scan.h"

#define ROUNDS 60
#define RECORDS 12000

static struct store_record records[RECORDS];
static size_t record_count, open_count;
static uint64_t longest_ns; /* times are below */

static int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static struct store_record draw(enum store_track track, uint64_t about_ns, const uint32_t *contexts)
{
	struct store_record r = {.begin_ns = about_ns, .context = contexts[small_below(4)]};

	/* Mostly in order, sometimes far back. */
	if (!small_below(20))
		r.begin_ns = small_below(longest_ns);
	r.end_ns = r.begin_ns;
	r.amount = small_below(1000);
	if (track != STORE_SPANS) {
		r.flags = track == STORE_SAMPLES && small_below(3) ? STORE_RECORD_EXTENT : 0;
		return r;
	}
	r.what = STORE_OP_KERNEL + (uint32_t)small_below(4);
	r.bytes = small_below(3) ? 0 : small_below(1u << 20);
	r.link = small_below(1000);
	r.end_ns += small_below(50) ? small_below(300) : small_below(longest_ns);
	return r;
}

static void write_random(struct small_run *small, enum store_track track)
{
	uint32_t contexts[4] = {0, small_path(small->writer, "main"), small_path(small->writer, "main;a"),
		small_path(small->writer, "main;b")};
	uint32_t stream = small_cpu(small->writer, 0, 0, STORE_OPEN_NS);
	uint64_t step = 1 + small_below(2000), at = small_below(100000);

	store_writer_metric(small->writer, "CPUTIME", "ns", false);
	record_count = small_below(small_below(4) ? 300 : RECORDS);
	open_count = 0;
	longest_ns = at + step * (record_count + 1);
	for (size_t i = 0; i < record_count; i++) {
		struct store_record *r = &records[i];

		*r = draw(track, at += small_below(step), contexts);
		if (track == STORE_SPANS && !small_below(200)) {
			r->end_ns = STORE_OPEN_NS;
			store_writer_span_open(small->writer, stream, i, r);
			open_count++;
		} else {
			store_writer_append(small->writer, stream, track, r, 1);
		}
		if (!small_below(500))
			small_commit(small);
	}
	small_commit(small);
	qsort(records, record_count, sizeof *records, compare);
}

static bool overlaps(const struct store_record *r, enum store_track track, uint64_t begin, uint64_t end)
{
	if (begin >= end || r->begin_ns >= end)
		return false;
	return r->begin_ns >= begin || (track == STORE_SPANS && r->end_ns > begin);
}

/* The last extent sample before the window; NULL when one lies at its begin. */
static const struct store_record *carried(uint64_t begin)
{
	const struct store_record *last = NULL;

	for (size_t i = 0; i < record_count; i++) {
		if (!(records[i].flags & STORE_RECORD_EXTENT) || records[i].begin_ns > begin)
			continue;
		last = &records[i];
	}
	return last && last->begin_ns < begin ? last : NULL;
}

static uint64_t run_ends_ns; /* what is open is so no longer */

static void expect_row(const struct batch *b, size_t row, struct store_record r, uint64_t begin, uint64_t end,
	unsigned flags)
{
	if (flags & SCAN_CLIP) {
		r.begin_ns = r.begin_ns < begin ? begin : r.begin_ns;
		if (r.end_ns == STORE_OPEN_NS)
			r.end_ns = r.begin_ns > run_ends_ns ? r.begin_ns : run_ends_ns;
		r.end_ns = r.end_ns > end ? end : r.end_ns;
	}
	assert_int_equal(b->begin_ns[row], r.begin_ns);
	assert_int_equal(b->end_ns[row], r.end_ns);
	assert_int_equal(b->amount[row], r.amount);
	assert_int_equal(b->context[row], r.context);
	assert_int_equal(b->what[row], r.what);
	assert_int_equal(b->bytes[row], r.bytes);
	assert_int_equal(b->link[row], r.link);
	assert_int_equal(b->flags[row], r.flags);
}

static void check_window(
	struct run *run, enum store_track track, uint64_t begin, uint64_t end, unsigned flags)
{
	const struct store_record *carry =
		flags & SCAN_CARRY && track == STORE_SAMPLES && begin < end ? carried(begin) : NULL;
	const struct batch *batch;
	struct error error = {0};
	struct scan *scan;
	size_t next = 0;
	long count;

	if (scan_open(&scan, run, 0, track, begin, end, STORE_ALL, flags, &error))
		fail_msg("%s", error.text);
	while ((count = scan_next(scan, &batch, &error)) > 0)
		for (size_t row = 0; row < batch->count; row++) {
			struct store_record r = carry ? *carry : (struct store_record){0};

			if (carry) {
				if (flags & SCAN_CLIP) {
					r.begin_ns = r.end_ns = begin;
					r.amount = 0;
				}
				expect_row(batch, row, r, 0, STORE_OPEN_NS, 0);
				carry = NULL;
				continue;
			}
			while (next < record_count && !overlaps(&records[next], track, begin, end))
				next++;
			assert_true(next < record_count);
			expect_row(batch, row, records[next++], begin, end, flags);
		}
	assert_int_equal(count, 0);
	assert_null(carry);
	while (next < record_count)
		assert_false(overlaps(&records[next++], track, begin, end));
	scan_close(scan);
}

static void test_twin(void **unused)
{
	(void)unused;
	small_seed("scan.twin");
	for (int round = 0; round < ROUNDS; round++) {
		enum store_track track = (enum store_track)(round % STORE_TRACK_COUNT);
		struct small_run small;

		small_begin(&small);
		write_random(&small, track);
		small_open(&small);
		run_ends_ns = run_end_ns(small.run);
		check_window(small.run, track, 0, STORE_OPEN_NS, 0);
		for (int i = 0; i < 10; i++) {
			uint64_t begin = small_below(longest_ns), end = begin + small_below(longest_ns);

			if (record_count && small_below(2))
				begin = records[small_below(record_count)].begin_ns;
			check_window(small.run, track, begin, end, (unsigned)small_below(4));
		}
		small_end(&small);
	}
}

/* Columns that were not asked for must not be needed for the order of what was. */
static void test_few_columns(void **unused)
{
	const struct batch *batch;
	struct small_run small;
	struct error error = {0};
	struct scan *scan;
	uint64_t last = 0, rows = 0;
	long count;

	(void)unused;
	small_seed("scan.few_columns");
	small_begin(&small);
	write_random(&small, STORE_SPANS);
	small_open(&small);
	assert_int_equal(
		scan_open(&scan, small.run, 0, STORE_SPANS, 0, STORE_OPEN_NS, STORE_CONTEXT, 0, &error), 0);
	while ((count = scan_next(scan, &batch, &error)) > 0) {
		assert_null(batch->end_ns);
		for (size_t i = 0; i < batch->count; i++, rows++) {
			assert_true(batch->begin_ns[i] >= last);
			last = batch->begin_ns[i];
		}
	}
	assert_int_equal(rows, record_count);
	scan_close(scan);
	small_end(&small);
}

/* Two hosts: what happened at one moment of the wall clock is at one time of the run. */
static void test_hosts_share_a_clock(void **unused)
{
	const struct batch *batch;
	struct store_writer *other;
	struct small_run small;
	struct error error = {0};
	struct scan *scan;
	uint32_t first, context;

	(void)unused;
	small_begin(&small);
	other = small_store(&small, "node-2");
	store_writer_meta_number(small.writer, "origin_ns", 1000);
	store_writer_meta_number(small.writer, "wall_ns", 1700000000000000000);
	store_writer_meta(small.writer, "boot", "b1");
	store_writer_meta_number(other, "origin_ns", 5000000);
	store_writer_meta_number(other, "wall_ns", 1700000000000000500);
	store_writer_meta(other, "boot", "b2");
	small_cpu(small.writer, 0, 1000, 9000);
	small_path(small.writer, "other;x");
	first = small_path(small.writer, "main;solve");
	context = small_path(other, "main;solve");
	store_writer_metric(other, "CPUTIME", "ns", false);
	small_cpu(other, 1, 5000000, 5008000);
	small_sample(other, 0, 5000700, context, 0, 7);
	small_close_writer(other);
	small_ready(&small);
	assert_int_equal(run_stream_count(small.run), 2);
	assert_int_equal(run_origin_ns(small.run), 1000);
	assert_int_equal(run_stream(small.run, 1)->s.begin_ns, 1500);
	/* 700 ns behind the other's origin, which lies 500 ns behind the first's. */
	assert_int_equal(scan_open(&scan, small.run, 1, STORE_SAMPLES, 2200, 2201, STORE_ALL, 0, &error), 0);
	assert_int_equal(scan_next(scan, &batch, &error), 1);
	assert_int_equal(batch->begin_ns[0], 2200);
	assert_int_equal(batch->end_ns[0], 2200);
	/* The same path is the same context, whoever numbered it. */
	assert_int_equal(batch->context[0], run_context_of(small.run, 0, first));
	assert_int_not_equal(first, context);
	scan_close(scan);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_few_columns),
		cmocka_unit_test(test_hosts_share_a_clock)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
