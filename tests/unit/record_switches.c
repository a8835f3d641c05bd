/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_switches.c - switch records out of a perf ring that lies about its sizes, and their way into spans,
 * against a twin that paints every nanosecond by its two neighbours.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/kernel/switch_spans.h"
#include "record/process/drain.h"
#include "record/process/switches_internal.h"
#include "store/write/writer.h"
#include "tests/unit/seed.h"

#define BYTES 4096u
#define TIMES 400u

/* As the kernel writes it: first page, then data. */
struct image {
	char *memory;
	size_t page;
};

static struct image image_new(void)
{
	struct image image = {.page = (size_t)sysconf(_SC_PAGESIZE)};

	image.memory = calloc(1, image.page + BYTES);
	return image;
}

static void image_put(struct image *image, const void *record, size_t size)
{
	struct perf_event_mmap_page *page = (void *)image->memory;

	for (size_t i = 0; i < size; i++)
		image->memory[image->page + (page->data_head + i) % BYTES] = ((const char *)record)[i];
	page->data_head += size;
}

static void put_switch(struct image *image, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time_ns;
	} record = {{PERF_RECORD_SWITCH, misc, sizeof(record)}, 1, tid, time_ns};

	image_put(image, &record, sizeof(record));
}

static struct perf_ring ring_on(const struct image *image)
{
	struct perf_ring ring = {.memory = image->memory,
		.data = image->memory + image->page,
		.bytes = BYTES,
		.event = -1,
		.dropped = UINT64_MAX,
		.is_copy = true};

	return ring;
}

static void test_ring_wraps_and_counts_losses(void **state)
{
	struct image image = image_new();
	struct perf_ring ring = ring_on(&image);
	struct switch_events events = {0};
	struct {
		struct perf_event_header header;
		uint64_t event, count;
		uint32_t pid, tid;
		uint64_t time_ns;
	} lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 0, 7, 1, 2, 100000};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		put_switch(&image, i % 2 ? 0 : PERF_RECORD_MISC_SWITCH_OUT, (uint32_t)(i % 3), i);
		if (i % 50 == 49)
			assert_int_equal(perf_ring_read(&ring, &events), 50);
	}
	assert_int_equal(events.count, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(events.events[i].time_ns, i);
		assert_int_equal(events.events[i].tid, i % 3);
		assert_int_equal(events.events[i].kind, i % 2 ? SWITCH_IN : SWITCH_OUT);
	}
	image_put(&image, &lost, sizeof(lost));
	put_switch(&image, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 9, 100001);
	perf_ring_read(&ring, &events);
	assert_int_equal(ring.lost, 7);
	assert_int_equal(ring.lost_begin_ns, 999);
	assert_int_equal(ring.lost_end_ns, 100000);
	assert_int_equal(events.events[1000].kind, SWITCH_PREEMPTED);
	assert_int_equal(((struct perf_event_mmap_page *)(void *)image.memory)->data_tail, ring.tail);
	switch_events_fini(&events);
	free(image.memory);
}

/* A full ring has no room to say what was dropped: one at least, until it does. */
static void test_a_full_ring_lost_something(void **state)
{
	struct image image = image_new();
	struct perf_ring ring = ring_on(&image);
	struct switch_events events = {0};
	struct {
		struct perf_event_header header;
		uint64_t event, count;
		uint32_t pid, tid;
		uint64_t time_ns;
	} lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 0, 7, 1, 2, 100000};

	(void)state;
	for (uint64_t i = 0; i < BYTES / 24; i++)
		put_switch(&image, PERF_RECORD_MISC_SWITCH_OUT, 1, i + 1);
	assert_int_equal(perf_ring_read(&ring, &events), BYTES / 24);
	assert_int_equal(ring.lost, 1);
	assert_int_equal(ring.lost_begin_ns, BYTES / 24);
	ring.lost = 0; /* taken */
	image_put(&image, &lost, sizeof(lost));
	perf_ring_read(&ring, &events);
	assert_int_equal(ring.lost, 6);
	put_switch(&image, 0, 1, 100001);
	perf_ring_read(&ring, &events);
	assert_int_equal(ring.lost, 6);
	switch_events_fini(&events);
	free(image.memory);
}

/* Whatever stands there, it ends, stays inside, and says nothing after nonsense. */
static void test_ring_survives_lies(void **state)
{
	uint64_t end, first = seed_rounds(__func__, 500, &end);

	(void)state;
	for (uint64_t seed = first; seed < end; seed++) {
		struct image image = image_new();
		struct perf_event_mmap_page *page = (void *)image.memory;
		struct perf_ring ring = ring_on(&image);
		struct switch_events events = {0};

		srand((unsigned)seed);
		for (size_t i = 0; i < BYTES; i++)
			image.memory[image.page + i] = (char)(rand() % 4 ? rand() % 32 : 0);
		page->data_head = seed % 3 ? (uint64_t)(rand() % BYTES) & ~7u : (uint64_t)rand() << 8;
		perf_ring_read(&ring, &events);
		assert_true(events.count <= BYTES / 24);
		assert_int_equal(ring.tail, page->data_head);
		switch_events_fini(&events);
		free(image.memory);
	}
}

static void test_only_perf_events_are_mapped(void **state)
{
	struct perf_ring ring;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	assert_int_not_equal(perf_ring_open(&ring, ends[0], BYTES), 0);
	assert_int_not_equal(perf_ring_open(&ring, -1, BYTES), 0);
	assert_int_equal(close(ends[0]), -1); /* it was taken */
}

enum paint { RUNS, BLOCKED, RUNNABLE, LOST };

/* The state between two neighbours. */
static enum paint between(int before, int after)
{
	if ((before == SWITCH_OUT || before == SWITCH_PREEMPTED) && after == SWITCH_IN)
		return before == SWITCH_OUT ? BLOCKED : RUNNABLE;
	return before == SWITCH_IN && after != SWITCH_IN ? RUNS : LOST;
}

static size_t events_make(struct switch_event *events)
{
	size_t count = 0;
	int out = 0;

	for (uint64_t now = 2; now < TIMES; now += 1 + (uint64_t)rand() % 5) {
		struct switch_event event = {now, 1,
			out	     ? SWITCH_IN
			: rand() % 2 ? SWITCH_OUT
				     : SWITCH_PREEMPTED};

		out = !out;
		if (rand() % 8) /* else it is lost */
			events[count++] = event;
	}
	return count;
}

static void paint_spans(unsigned char *painted, const struct switch_event *events, size_t count)
{
	static const unsigned char paints[STORE_OP_COUNT] = {
		[STORE_OP_BLOCKED] = BLOCKED, [STORE_OP_RUNNABLE] = RUNNABLE, [STORE_OP_LOST] = LOST};
	struct switch_spans line = {.known_ns = 1};
	struct store_record span;

	for (size_t i = 0; i < count; i++)
		if (switch_spans_take(&line, &events[i], &span)) {
			assert_true(span.begin_ns <= span.end_ns && span.end_ns <= TIMES);
			memset(painted + span.begin_ns, paints[span.what], span.end_ns - span.begin_ns);
		}
}

static void test_line_is_its_twin(void **state)
{
	uint64_t end, first = seed_rounds(__func__, 300, &end);

	(void)state;
	for (uint64_t seed = first; seed < end; seed++) {
		unsigned char wanted[TIMES] = {0}, got[TIMES] = {0};
		struct switch_event events[TIMES];
		uint64_t last_ns = 1;
		int last = SWITCH_IN;
		size_t count;

		srand((unsigned)seed);
		count = events_make(events);
		for (size_t i = 0; i < count; i++) {
			for (uint64_t t = last_ns; t < events[i].time_ns; t++)
				wanted[t] = (unsigned char)between(last, (int)events[i].kind);
			last_ns = events[i].time_ns;
			last = (int)events[i].kind;
		}
		paint_spans(got, events, count);
		if (memcmp(wanted, got, sizeof(wanted)))
			printf("seed %llu\n", (unsigned long long)seed);
		assert_memory_equal(wanted, got, sizeof(wanted));
	}
}

/* What comes too late for its place is said to be lost, and time does not go back. */
static void test_line_late_event(void **state)
{
	struct switch_spans line = {.known_ns = 10};
	struct switch_event out = {50, 1, SWITCH_OUT}, late = {30, 1, SWITCH_IN}, in = {60, 1, SWITCH_IN};
	struct store_record span;

	(void)state;
	assert_false(switch_spans_take(&line, &out, &span));
	assert_true(switch_spans_take(&line, &late, &span));
	assert_int_equal(span.what, STORE_OP_LOST);
	assert_true(switch_spans_take(&line, &in, &span));
	assert_int_equal(span.what, STORE_OP_BLOCKED);
	assert_int_equal(span.begin_ns, 50);
	assert_int_equal(span.end_ns, 60);
}

/* A process that has ended before its rings were mapped, with or without copies of them. */
static int take_up(bool is_copied, struct measured_process *process)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       at = (sizeof(struct event_process) + page - 1) / page * page, bytes = at + 2 * (page + BYTES);
	struct event_process *shared = aligned_alloc(page, bytes);
	int events[2] = {dup(0), dup(0)}, result;

	memset(shared, 0, bytes);
	*process = (struct measured_process){
		.shared = shared, .shared_bytes = bytes, .pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0)};
	shared->switches_at = at;
	atomic_store(&shared->switches_copied, is_copied);
	atomic_store(&shared->ended, 1);
	for (int i = 0; i < 2; i++) {
		struct image copy = {(char *)shared + at + (size_t)i * (page + BYTES), page};

		put_switch(&copy, PERF_RECORD_MISC_SWITCH_OUT, 7, 100);
	}
	result = switches_take_up(process, events, 2, BYTES);
	/* They were no perf events: to map them would have failed. */
	assert_int_equal(fcntl(events[0], F_GETFD), -1);
	assert_int_equal(fcntl(events[1], F_GETFD), -1);
	return result;
}

static void test_copies_of_the_dead_are_taken(void **state)
{
	struct measured_process process;

	(void)state;
	assert_int_equal(take_up(true, &process), 0);
	assert_true(switches_cover(process.switches, 7));
	assert_int_equal(switches_drain(&process, NULL, 0), 2);
	switches_free(process.switches);
	close(process.pidfd);
	free(process.shared);
	assert_true(take_up(false, &process) < 0);
	assert_false(switches_cover(process.switches, 7));
	close(process.pidfd);
	free(process.shared);
}

/* How many records of thread 7, which began at 50, are said to be lost: on the one processor it comes in at
 * 100, on the other it goes out at 200 and at 400. */
static uint64_t lost_of(uint64_t since_ns)
{
	char path[] = "/tmp/hpct-switches.XXXXXX", lock_path[sizeof path + 5];
	struct store_writer *writer;
	struct error error;
	struct image one = image_new(), other = image_new();
	struct measured_process process = {0};
	struct ring thread = {.tid = 7, .begin_ns = 50, .has_ended = true};
	struct process_ring rings[] = {{.perf = ring_on(&one)}, {.perf = ring_on(&other)}};
	struct switches switches = {.rings = rings, .count = 2};

	assert_true(mkstemp(path) >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	thread.stream = store_writer_stream(writer, &(struct store_stream){.kind = STORE_STREAM_CPU});
	process.switches = &switches;
	process.rings = &thread;
	process.ring_seen = 1;
	put_switch(&one, 0, 7, 100);
	put_switch(&other, PERF_RECORD_MISC_SWITCH_OUT, 7, 200);
	put_switch(&other, PERF_RECORD_MISC_SWITCH_OUT, 7, 400);
	switches_begin(&switches, 0, since_ns);
	assert_int_equal(switches_drain(&process, writer, UINT64_MAX), 3);
	store_writer_abort(writer);
	assert_int_equal(unlink(path), 0);
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	assert_int_equal(unlink(lock_path), 0);
	switch_events_fini(&switches.fresh);
	switch_events_fini(&switches.waiting);
	switch_events_fini(&switches.scratch);
	kernel_callchains_fini(&switches.callchains);
	free(switches.slots);
	free(one.memory);
	free(other.memory);
	return process.switches_lost;
}

static void test_what_was_before_the_rings_is_not_lost(void **state)
{
	(void)state;
	assert_int_equal(lost_of(0), 2);
	assert_int_equal(lost_of(90), 1); /* came in before the first was there */
	assert_int_equal(
		lost_of(250), 0); /* went out on the one, came in where the other was not there yet */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_wraps_and_counts_losses),
		cmocka_unit_test(test_a_full_ring_lost_something),
		cmocka_unit_test(test_ring_survives_lies),
		cmocka_unit_test(test_only_perf_events_are_mapped),
		cmocka_unit_test(test_copies_of_the_dead_are_taken),
		cmocka_unit_test(test_what_was_before_the_rings_is_not_lost),
		cmocka_unit_test(test_line_is_its_twin),
		cmocka_unit_test(test_line_late_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
