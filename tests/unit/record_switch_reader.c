/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_switch_reader.c - the thread that empties switch rings while the collector is at something else: a
 * ring that is written as the kernel does it, many times over, and never drained meanwhile.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/process/switch_reader.h"
#include "record/process/switches_internal.h"

#define BYTES 4096u
#define FULL 128u /* so little room is taken for a loss */
#define RECORDS 20000u

struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/* First page and data, as the kernel has them; descriptors that are not perf events tell as well that there
 * is something. */
static struct process_ring ring_make(int event)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = calloc(1, page + BYTES);

	return (struct process_ring){.perf = {.memory = memory,
					     .data = memory + page,
					     .bytes = BYTES,
					     .event = event,
					     .dropped = UINT64_MAX,
					     .is_copy = true}};
}

static void record_put(struct process_ring *ring, uint64_t number)
{
	struct perf_event_mmap_page *page = ring->perf.memory;
	struct record record = {
		{PERF_RECORD_SWITCH, number % 2 ? 0 : PERF_RECORD_MISC_SWITCH_OUT, sizeof(record)}, 1, 7,
		number + 1};
	const char *from = (const char *)&record;
	char *data = (char *)ring->perf.memory + sysconf(_SC_PAGESIZE);
	uint64_t head = number * sizeof(record);

	while (head + sizeof(record) - __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) > BYTES - FULL)
		sched_yield();
	for (size_t i = 0; i < sizeof(record); i++)
		data[(head + i) % BYTES] = from[i];
	__atomic_store_n(&page->data_head, head + sizeof(record), __ATOMIC_RELEASE);
}

/* All of a storm that is larger than its ring by far are there when the collector comes at last. */
static void test_a_storm_waits_for_nobody(void **state)
{
	int tell = eventfd(0, EFD_SEMAPHORE);
	struct process_ring ring = ring_make(tell);
	struct switches switches = {.rings = &ring, .count = 1};
	struct measured_process process = {.switches = &switches};

	(void)state;
	assert_int_equal(eventfd_write(tell, UINT32_MAX), 0); /* there is always something */
	assert_int_equal(switch_reader_start(), 0);
	switch_reader_watch(&switches);
	for (uint64_t i = 0; i < RECORDS; i++)
		record_put(&ring, i);
	assert_int_equal(switches_drain(&process, NULL, 1), RECORDS);
	assert_int_equal(process.switches_read, RECORDS);
	assert_int_equal(process.switches_lost, 0);
	/* Nobody knows the thread yet: they wait for it. */
	assert_int_equal(switches.waiting.count, RECORDS);
	for (uint64_t i = 0; i < RECORDS; i++)
		assert_int_equal(switches.waiting.events[i].time_ns, i + 1);
	switch_reader_forget(&switches);
	switch_reader_stop();
	switch_events_fini(&switches.fresh);
	switch_events_fini(&switches.waiting);
	switch_events_fini(&switches.scratch);
	free(switches.slots);
	free(ring.perf.memory);
	close(tell);
}

static bool is_closed(const struct process_ring *ring)
{
	bool closed;

	switch_reader_lock();
	closed = ring->perf.event < 0;
	switch_reader_unlock();
	return closed;
}

/* A ring that nobody writes any more is read to its end, and not waited for again. */
static void test_a_hangup_is_heard_once(void **state)
{
	struct process_ring rings[2];
	struct switches switches = {.rings = rings, .count = 2}, none = {0};
	int ends[2], other = eventfd(0, 0);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	rings[0] = ring_make(ends[0]);
	rings[1] = ring_make(other);
	record_put(&rings[0], 0);
	close(ends[1]);
	assert_int_equal(switch_reader_start(), 0);
	switch_reader_watch(&none);
	switch_reader_watch(&switches);
	while (!is_closed(&rings[0]))
		sched_yield();
	switch_reader_stop();
	assert_int_equal(switches.fresh.count, 1);
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	assert_int_equal(rings[1].perf.event, other);
	switch_reader_forget(&switches);
	switch_reader_forget(&none);
	switch_events_fini(&switches.fresh);
	free(rings[0].perf.memory);
	free(rings[1].perf.memory);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_storm_waits_for_nobody),
		cmocka_unit_test(test_a_hangup_is_heard_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
