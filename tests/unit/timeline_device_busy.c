/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_device_busy.c - the busy time of a device from its buckets against the union of its queues' spans:
 * queues that overlap, begin late, end early, stand still, get records late, asked while they are recorded
 * (behind a watermark for each) and after. And that there are buckets: a writer that made none would pass the
 * rest.
 */
#include "tests/unit/timeline_small_run.h"

#include "store/read/reader_internal.h"
#include "timeline/sum/device_busy.h"
#include "timeline/sum/device_busy_check.h"

#define ROUNDS 12
#define STEPS 50
#define QUEUES 9u
#define WINDOWS 30
#define SPANS_MAX 200000u
#define STEP_NS 30000u

struct span {
	uint64_t begin_ns, end_ns;
};

struct made {
	struct small_run small;
	uint64_t begin_ns, now_ns[QUEUES];
	uint32_t queues, attributes;
	unsigned late_chance;
	struct span *spans; /* all that were busy */
	size_t count;
};

/* ---- recording ---- */

static void begin_queue(struct made *made)
{
	uint32_t queue = made->queues++;
	uint64_t at_ns = queue ? made->now_ns[queue - 1] : made->begin_ns;

	/* Some begin before what was swept of the others. */
	at_ns -= small_below(at_ns - made->begin_ns + 1) / (small_below(3) ? UINT64_MAX : 1);
	made->now_ns[queue] = at_ns;
	small_gpu(made->small.writer, queue, at_ns, STORE_OPEN_NS);
	small_span(made->small.writer, queue, at_ns, STORE_OPEN_NS, STORE_OP_MONITORED, 0, "since=first-use");
}

static void begin_made(struct made *made)
{
	*made = (struct made){.late_chance = (unsigned)small_below(3) * 3000};
	made->spans = calloc(SPANS_MAX, sizeof *made->spans);
	assert_non_null(made->spans);
	small_begin(&made->small);
	made->attributes = small_text(made->small.writer, "since=first-use");
	made->begin_ns = small_below((uint64_t)1 << (30 + small_below(20)));
	for (uint64_t queues = 1 + small_below(QUEUES); queues-- > 0;)
		begin_queue(made);
}

static void add_span(struct made *made, uint32_t queue, uint64_t begin_ns, uint64_t length_ns)
{
	static const uint32_t ops[] = {STORE_OP_KERNEL, STORE_OP_COPY, STORE_OP_SET, STORE_OP_SYNC};
	uint32_t op = ops[small_below(4)];

	small_span(made->small.writer, queue, begin_ns, begin_ns + length_ns, op, 0, "");
	if (op != STORE_OP_SYNC && length_ns)
		made->spans[made->count++] = (struct span){begin_ns, begin_ns + length_ns};
	assert_true(made->count < SPANS_MAX);
}

/* Some time goes by in the queue; the watermark follows. */
static void go_on(struct made *made, uint32_t queue)
{
	uint64_t spans = small_below(4) ? small_below(1500) : 0, at_ns = made->now_ns[queue];
	uint64_t length_ns = 1 + small_below(small_below(20) ? 2 * STEP_NS : (uint64_t)1 << 33);
	struct store_stream *properties;

	for (uint64_t i = 0; i < spans; i++) {
		at_ns += small_below(2 * STEP_NS);
		add_span(made, queue, at_ns, small_below(small_below(100) ? STEP_NS : 100 * STEP_NS));
		if (made->late_chance && !small_below(made->late_chance)) {
			uint64_t first_ns = store_writer_stream_edit(made->small.writer, queue)->begin_ns;
			uint64_t back_ns = small_below(at_ns - first_ns + 1) / (1 + small_below(100));

			add_span(made, queue, at_ns - back_ns, small_below(back_ns + STEP_NS));
		}
	}
	at_ns += length_ns;
	properties = store_writer_stream_edit(made->small.writer, queue);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		properties->complete_ns[track] = made->now_ns[queue];
	made->now_ns[queue] = at_ns;
}

static void close_queue(struct made *made, uint32_t queue)
{
	uint64_t begin_ns = store_writer_stream_edit(made->small.writer, queue)->begin_ns;
	struct store_record span = {.begin_ns = begin_ns,
		.end_ns = made->now_ns[queue] + 200 * STEP_NS + ((uint64_t)1 << 34),
		.what = STORE_OP_MONITORED,
		.attributes = made->attributes};

	store_writer_stream_edit(made->small.writer, queue)->end_ns = span.end_ns;
	store_writer_span_close(made->small.writer, queue, begin_ns << 8 | STORE_OP_MONITORED, &span);
}

/* ---- asking ---- */

static void add_stretch(void *own, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t *busy_ns = own;

	assert_true(begin_ns < end_ns);
	*busy_ns += end_ns - begin_ns;
}

static uint64_t sweep(struct run *run, uint32_t count, uint64_t begin_ns, uint64_t end_ns)
{
	static const uint32_t queues[QUEUES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	uint64_t busy_ns = 0;
	struct error error = {0};

	if (device_busy_sweep(run, queues, count, begin_ns, end_ns, add_stretch, &busy_ns, &error))
		fail_msg("%s", error.text);
	return busy_ns;
}

/* By buckets and, where there are none, by sweeping; *swept_ns more were swept. */
static uint64_t ask(struct run *run, uint32_t count, uint64_t begin_ns, uint64_t end_ns, uint64_t *swept_ns)
{
	static const uint32_t queues[QUEUES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct device_busy_gaps gaps = {0};
	uint64_t busy_ns = 0, last_ns = begin_ns;
	struct error error = {0};
	struct device_busy device_busy;

	if (device_busy_open(&device_busy, run, queues, count, &error) ||
		device_busy_add(&device_busy, begin_ns, end_ns, &busy_ns, &gaps, &error))
		fail_msg("%s", error.text);
	for (uint32_t i = 0; i < gaps.count; i++) {
		assert_true(
			last_ns <= gaps.items[i].begin_ns && gaps.items[i].begin_ns < gaps.items[i].end_ns);
		last_ns = gaps.items[i].end_ns;
		busy_ns += sweep(run, count, gaps.items[i].begin_ns, gaps.items[i].end_ns);
		*swept_ns += gaps.items[i].end_ns - gaps.items[i].begin_ns;
	}
	assert_true(last_ns <= end_ns);
	free(gaps.items);
	return busy_ns;
}

static int compare_spans(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static uint64_t truth(const struct made *made, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t busy_ns = 0, at_ns = begin_ns;

	for (size_t i = 0; i < made->count; i++) {
		uint64_t from = made->spans[i].begin_ns > at_ns ? made->spans[i].begin_ns : at_ns;
		uint64_t to = made->spans[i].end_ns < end_ns ? made->spans[i].end_ns : end_ns;

		if (from < to) {
			busy_ns += to - from;
			at_ns = to;
		}
	}
	return busy_ns;
}

static uint64_t latest(const struct made *made)
{
	uint64_t end_ns = 0;

	for (uint32_t q = 0; q < made->queues; q++)
		end_ns = made->now_ns[q] > end_ns ? made->now_ns[q] : end_ns;
	return end_ns;
}

/* Windows anywhere, and such as pictures ask for. Gives how much of them needed no sweep. */
static uint64_t check_windows(const struct made *made, bool is_closed)
{
	uint64_t length_ns = latest(made) - made->begin_ns + 1, told_ns = 0;
	struct run *run = made->small.run;

	for (int i = 0; i < WINDOWS; i++) {
		uint64_t from = made->begin_ns + small_below(length_ns), swept_ns = 0;
		uint64_t to = from + 1 + small_below(made->begin_ns + length_ns - from);
		unsigned shift = (unsigned)small_below(40);

		if (small_below(2) && from >> shift << shift < to >> shift << shift) {
			from = from >> shift << shift;
			to = to >> shift << shift;
		}
		assert_true(
			ask(run, made->queues, from, to, &swept_ns) == sweep(run, made->queues, from, to));
		if (is_closed)
			assert_true(truth(made, from, to) == sweep(run, made->queues, from, to));
		told_ns += to - from - swept_ns;
	}
	return told_ns;
}

static uint64_t check_run(struct made *made, bool is_closed)
{
	struct error error = {0};
	uint64_t buckets = 0, told_ns;

	told_ns = check_windows(made, is_closed);
	if (device_busy_check(made->small.run, &buckets, &error))
		fail_msg("%s", error.text);
	assert_true(buckets || !told_ns);
	return told_ns;
}

static void test_twin(void **unused)
{
	uint64_t live_ns = 0, told_ns = 0;

	(void)unused;
	small_seed("device_busy.twin");
	/* Some seeds have no device that is known while its run lasts in so few rounds. */
	for (int round = 0; round < ROUNDS || (!live_ns && round < 20 * ROUNDS); round++) {
		struct made made;

		begin_made(&made);
		for (int step = 0; step < STEPS; step++) {
			go_on(&made, (uint32_t)small_below(made.queues));
			if (made.queues < QUEUES && !small_below(20))
				begin_queue(&made);
			if (!small_below(3))
				small_commit(&made.small);
			if (small_below(16))
				continue;
			small_commit(&made.small);
			small_open(&made.small);
			live_ns += check_run(&made, false);
			run_close(made.small.run);
			made.small.run = NULL;
		}
		for (uint32_t queue = 0; queue < made.queues; queue++)
			close_queue(&made, queue);
		small_ready(&made.small);
		qsort(made.spans, made.count, sizeof *made.spans, compare_spans);
		told_ns += check_run(&made, true);
		small_end(&made.small);
		free(made.spans);
	}
	assert_true(live_ns > 0 && told_ns > 0);
}

/* As long as the run, and of no length; one stretch fills buckets of many sizes. */
static void test_long(void **unused)
{
	struct made made;
	uint64_t swept_ns = 0;

	(void)unused;
	small_seed("device_busy.long");
	begin_made(&made);
	while (made.queues < 2)
		begin_queue(&made);
	for (uint32_t queue = 0; queue < 2; queue++)
		for (uint64_t i = 0; i < 3000; i++)
			add_span(&made, queue, made.now_ns[queue] + i * STEP_NS + small_below(STEP_NS),
				i == 1500 ? (uint64_t)1 << 61 : small_below(STEP_NS));
	for (uint32_t queue = 0; queue < made.queues; queue++) {
		made.now_ns[queue] = UINT64_C(5) << 59;
		close_queue(&made, queue);
	}
	small_ready(&made.small);
	qsort(made.spans, made.count, sizeof *made.spans, compare_spans);
	assert_true(ask(made.small.run, made.queues, 0, UINT64_C(1) << 62, &swept_ns) ==
		    truth(&made, 0, UINT64_C(1) << 62));
	check_run(&made, true);
	small_end(&made.small);
	free(made.spans);
}

/* Some of a device's queues are not the device; and who asks for no rollups gets none. */
static void test_part(void **unused)
{
	struct run_options naive = {.no_rollups = true};
	struct error error = {0};
	struct made made;
	uint64_t swept_ns = 0, length_ns;

	(void)unused;
	small_seed("device_busy.part");
	begin_made(&made);
	while (made.queues < 3)
		begin_queue(&made);
	for (uint64_t i = 0; i < 6000; i++)
		for (uint32_t queue = 0; queue < 3; queue++)
			add_span(&made, queue, made.now_ns[queue] + i * STEP_NS, 1 + small_below(STEP_NS));
	for (uint32_t queue = 0; queue < made.queues; queue++) {
		made.now_ns[queue] += 7000 * STEP_NS;
		close_queue(&made, queue);
	}
	length_ns = latest(&made);
	small_ready(&made.small);
	ask(made.small.run, made.queues, 0, length_ns, &swept_ns);
	assert_true(swept_ns < length_ns);
	swept_ns = 0;
	assert_true(
		ask(made.small.run, 2, 0, length_ns, &swept_ns) == sweep(made.small.run, 2, 0, length_ns));
	assert_true(swept_ns == length_ns);
	run_close(made.small.run);
	if (run_open(&made.small.run, made.small.path, &naive, &error))
		fail_msg("%s", error.text);
	swept_ns = 0;
	ask(made.small.run, made.queues, 0, length_ns, &swept_ns);
	assert_true(swept_ns == length_ns);
	small_end(&made.small);
	free(made.spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin), cmocka_unit_test(test_long), cmocka_unit_test(test_part)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
