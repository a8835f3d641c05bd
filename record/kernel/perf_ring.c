/* SPDX-License-Identifier: Apache-2.0 */
/* perf_ring.c - see perf_ring.h. */
#include "record/kernel/perf_ring.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/base/clock.h"

#define RING_BYTES_MAX (16u << 20)
#define RECORD_BYTES_MAX 2048u

/* Follows the header of all records of these events (sample_id_all). */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct switch_record {
	struct perf_event_header header;
	struct sample_id id;
};

struct sample_record {
	struct perf_event_header header;
	struct sample_id id;
	uint64_t count;
	uint64_t address[]; /* with marks in between that separate kernel and user */
};

struct lost_record {
	struct perf_event_header header;
	uint64_t event;
	uint64_t count;
	struct sample_id id;
};

bool switch_events_reserve(struct switch_events *events, size_t more)
{
	size_t room = events->capacity ? events->capacity : 256;
	struct switch_event *grown;

	while (room - events->count < more)
		room *= 2;
	if (room == events->capacity)
		return true;
	grown = realloc(events->events, room * sizeof(*grown));
	if (!grown)
		return false;
	events->events = grown;
	events->capacity = room;
	return true;
}

void switch_events_fini(struct switch_events *events)
{
	free(events->events);
	*events = (struct switch_events){0};
}

/* If a mapped file is truncated, reading it kills us; a perf event's ring cannot be. */
static bool is_perf_event(int descriptor)
{
	static const char wanted[] = "anon_inode:[perf_event]";
	char path[40], got[sizeof(wanted)] = "";
	uint64_t id;

	if (access("/proc/self/fd", F_OK)) /* without /proc: recognized by its ioctl */
		return !ioctl(descriptor, PERF_EVENT_IOC_ID, &id);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	return readlink(path, got, sizeof(got)) == sizeof(wanted) - 1 &&
	       !memcmp(got, wanted, sizeof(wanted) - 1);
}

static bool is_size(uint32_t bytes, size_t page)
{
	return bytes >= page && bytes <= RING_BYTES_MAX && !(bytes & (bytes - 1));
}

/* Closes what is no perf event: reading it could block. */
int perf_ring_keep(struct perf_ring *ring, int event, uint32_t bytes)
{
	bool is_event = is_perf_event(event), is_ring = is_size(bytes, (size_t)sysconf(_SC_PAGESIZE));

	*ring = (struct perf_ring){.bytes = bytes, .event = is_event ? event : -1, .dropped = UINT64_MAX};
	if (!is_event || !is_ring)
		close(event);
	return is_ring ? 0 : -1;
}

static void memory_take(struct perf_ring *ring, void *memory)
{
	ring->memory = memory;
	ring->data = (const char *)memory + sysconf(_SC_PAGESIZE);
}

int perf_ring_map(struct perf_ring *ring)
{
	void *memory = ring->event < 0 ? MAP_FAILED
				       : mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes,
						 PROT_READ | PROT_WRITE, MAP_SHARED, ring->event, 0);

	if (memory == MAP_FAILED)
		return -1;
	memory_take(ring, memory);
	ring->is_copy = false;
	return 0;
}

int perf_ring_open(struct perf_ring *ring, int event, uint32_t bytes)
{
	if (perf_ring_keep(ring, event, bytes) || ring->event < 0)
		return -1;
	if (!perf_ring_map(ring))
		return 0;
	close(event);
	return -1;
}

bool perf_ring_has_records(const struct perf_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->memory;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) > 0;
}

static void unmap(struct perf_ring *ring)
{
	if (ring->memory && !ring->is_copy)
		munmap(ring->memory, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
	ring->memory = NULL;
}

/* From the event's own counter (Linux 6.0), the only source while the ring is full. */
static uint64_t dropped_of(const struct perf_ring *ring)
{
	uint64_t said[2]; /* its count, and the lost records */

	if (ring->event < 0)
		return ring->dropped;
	return read(ring->event, said, sizeof(said)) == sizeof(said) ? said[1] : UINT64_MAX;
}

void perf_ring_event_close(struct perf_ring *ring)
{
	ring->dropped = dropped_of(ring);
	close(ring->event);
	ring->event = -1;
}

void perf_ring_close(struct perf_ring *ring)
{
	unmap(ring);
	if (ring->event >= 0)
		close(ring->event);
}

void perf_ring_copied(struct perf_ring *ring, void *memory)
{
	unmap(ring);
	memory_take(ring, memory);
	ring->tail = 0;
	ring->is_copy = true;
}

static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t bytes)
{
	size_t place = at & (ring->bytes - 1), first = ring->bytes - place;

	first = first < bytes ? first : bytes;
	memcpy(to, ring->data + place, first);
	memcpy((char *)to + first, ring->data, bytes - first);
}

/* Appends; the caller has reserved space. */
static void switch_take(
	struct perf_ring *ring, const struct switch_record *record, struct switch_events *events)
{
	uint16_t misc = record->header.misc;
	struct switch_event event = {.time_ns = record->id.time_ns,
		.tid = record->id.tid,
		.kind = !(misc & PERF_RECORD_MISC_SWITCH_OUT)	     ? SWITCH_IN
			: misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED
								     : SWITCH_OUT};

	ring->last_ns = event.time_ns;
	events->events[events->count++] = event;
}

static void sample_take(struct perf_ring *ring, const struct sample_record *record, size_t bytes)
{
	uint64_t address[KERNEL_CALLCHAIN_DEPTH_MAX];
	struct kernel_callchain callchain = {
		.time_ns = record->id.time_ns, .tid = record->id.tid, .address = address};
	size_t room = (bytes - sizeof(*record)) / sizeof(uint64_t);

	ring->last_ns = callchain.time_ns;
	for (uint64_t i = 0; i < record->count && i < room && callchain.depth < KERNEL_CALLCHAIN_DEPTH_MAX;
		i++)
		if (record->address[i] < (uint64_t)PERF_CONTEXT_MAX)
			address[callchain.depth++] = record->address[i];
	if (ring->callchains)
		kernel_callchains_add(ring->callchains, &callchain);
}

/* `dropped` is the total so far. */
static void lost_add(struct perf_ring *ring, uint64_t dropped, uint64_t now_ns)
{
	if (dropped <= ring->reported)
		return;
	if (!ring->lost)
		ring->lost_begin_ns = ring->last_ns < now_ns ? ring->last_ns : now_ns;
	ring->lost += dropped - ring->reported;
	ring->lost_end_ns = now_ns;
	ring->reported = dropped;
}

static void lost_take(struct perf_ring *ring, const struct lost_record *record)
{
	uint64_t now_ns = record->id.time_ns;

	ring->recorded += record->count;
	lost_add(ring, ring->recorded, now_ns);
	ring->last_ns = now_ns;
}

/* `room`: free bytes at the read. The kernel reports records that did not fit with its next record, which
 * may never come. If no counter has them, counts one. */
static void full_take(struct perf_ring *ring, uint64_t room)
{
	uint64_t dropped = dropped_of(ring);

	if (dropped == UINT64_MAX)
		dropped = ring->reported + (room < sizeof(struct lost_record) + sizeof(struct switch_record));
	lost_add(ring, dropped, clock_now_ns());
}

/* Fast path: most records are switches that do not wrap around. */
static bool switch_copy(const struct perf_ring *ring, uint64_t head, struct switch_record *record)
{
	size_t place = ring->tail & (ring->bytes - 1);

	if (head - ring->tail < sizeof(*record) || ring->bytes - place < sizeof(*record))
		return false;
	memcpy(record, ring->data + place, sizeof(*record));
	return record->header.type == PERF_RECORD_SWITCH && record->header.size == sizeof(*record);
}

/* All other records. Returns the size; 0: invalid. */
static uint16_t record_take(struct perf_ring *ring, uint64_t head, struct switch_events *events)
{
	uint64_t copy[RECORD_BYTES_MAX / sizeof(uint64_t)];
	struct perf_event_header header;
	size_t copied;

	copy_out(ring, ring->tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > head - ring->tail)
		return 0;
	copied = header.size < sizeof(copy) ? header.size : sizeof(copy);
	copy_out(ring, ring->tail, copy, copied);
	memcpy(copy, &header, sizeof(header));
	if (header.type == PERF_RECORD_SWITCH && header.size >= sizeof(struct switch_record))
		switch_take(ring, (const void *)copy, events);
	else if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof(struct sample_record))
		sample_take(ring, (const void *)copy, copied);
	else if (header.type == PERF_RECORD_LOST && header.size >= sizeof(struct lost_record))
		lost_take(ring, (const void *)copy);
	return header.size;
}

size_t perf_ring_read(struct perf_ring *ring, struct switch_events *events)
{
	struct perf_event_mmap_page *page = ring->memory;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t room = ring->bytes - (head - ring->tail);
	size_t records = 0;

	if (head - ring->tail > ring->bytes)
		ring->is_broken = true;
	if (!ring->is_broken &&
		!switch_events_reserve(events, (head - ring->tail) / sizeof(struct switch_record)))
		return 0;
	while (!ring->is_broken && ring->tail != head) {
		struct switch_record record;
		uint16_t size = sizeof(record);

		if (switch_copy(ring, head, &record))
			switch_take(ring, &record, events);
		else
			size = record_take(ring, head, events);
		if (!size) {
			ring->is_broken = true;
			break;
		}
		ring->tail += size;
		records++;
	}
	if (ring->is_broken)
		ring->tail = head;
	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
	if (!ring->is_broken && room < RECORD_BYTES_MAX)
		full_take(ring, room);
	return records;
}
