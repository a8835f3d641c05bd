/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches_rings.c - the perf rings with switch records: one per processor, or one per thread. The program
 * sends them with its handshake or one by one; they end with the process or the thread. A program that ends
 * before they were mapped leaves copies.
 */
#include "record/process/switches_internal.h"

#include "record/process/switch_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint32_t descriptors; /* held by all rings together */

/* Half of our descriptors are for processes and launchers. */
static bool may_keep_descriptor(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && descriptors < limit.rlim_cur / 2;
}

static struct process_ring *ring_room(struct switches *switches)
{
	if (switches->count == switches->capacity) {
		uint32_t room = switches->capacity ? 2 * switches->capacity : 4;
		struct process_ring *grown = realloc(switches->rings, room * sizeof(*grown));

		if (!grown)
			return NULL;
		switches->rings = grown;
		switches->capacity = room;
	}
	return &switches->rings[switches->count];
}

static bool switches_make(struct switches **switches)
{
	if (!*switches)
		*switches = calloc(1, sizeof(**switches));
	return *switches;
}

static void ring_take(
	struct switches *switches, struct process_ring *ring, const struct perf_ring *perf, uint32_t tid)
{
	*ring = (struct process_ring){.perf = *perf, .tid = tid};
	ring->perf.callchains = &switches->callchains;
	switches->count++;
	if (ring->perf.event < 0)
		return;
	if (may_keep_descriptor()) {
		descriptors++;
	} else {
		close(ring->perf.event);
		ring->perf.event = -1;
	}
}

/* `open`: perf_ring_open, or perf_ring_keep. */
static int ring_add(struct switches **switches, int event, uint32_t bytes, uint32_t tid,
	int (*open)(struct perf_ring *, int, uint32_t))
{
	struct process_ring *ring;
	struct perf_ring perf;

	if (!switches_make(switches)) {
		close(event);
		return -1;
	}
	if (open(&perf, event, bytes))
		return -1;
	switch_reader_lock();
	ring = ring_room(*switches);
	if (ring)
		ring_take(*switches, ring, &perf, tid);
	switch_reader_unlock();
	if (!ring)
		perf_ring_close(&perf);
	return ring ? 0 : -1;
}

int switches_add(struct switches **switches, int event, uint32_t bytes, uint32_t tid)
{
	if (ring_add(switches, event, bytes, tid, perf_ring_open))
		return -1;
	switch_reader_watch(*switches);
	return 0;
}

int switches_stream(struct switches **switches)
{
	if (!switches_make(switches))
		return -1;
	(*switches)->is_streamed = true;
	return 0;
}

static void event_put(struct switches *switches, const struct switch_event *event)
{
	switch_reader_lock();
	if (switch_events_reserve(&switches->fresh, 1)) {
		switches->fresh.events[switches->fresh.count++] = *event;
		switches->records++;
		switches->read++;
	}
	switch_reader_unlock();
}

void switches_put(struct switches *switches, const struct switch_event *event)
{
	if (switches && switches->is_streamed)
		event_put(switches, event);
}

void switches_asleep(struct switches *switches, uint32_t tid, uint64_t since_ns)
{
	if (switches)
		event_put(switches,
			&(struct switch_event){.time_ns = since_ns, .tid = tid, .kind = SWITCH_OUT});
}

void switches_begin(struct switches *switches, uint32_t tid, uint64_t since_ns)
{
	for (uint32_t i = 0; switches && i < switches->count; i++)
		if (switches->rings[i].tid == tid)
			switches->rings[i].since_ns = since_ns;
}

static void ring_forget(struct process_ring *ring)
{
	if (ring->perf.event >= 0)
		descriptors--;
	perf_ring_close(&ring->perf);
}

void switches_free(struct switches *switches)
{
	if (!switches)
		return;
	switch_reader_forget(switches);
	switch_reader_lock(); /* the total of descriptors is shared */
	for (uint32_t i = 0; i < switches->count; i++)
		ring_forget(&switches->rings[i]);
	switch_reader_unlock();
	switch_events_fini(&switches->fresh);
	switch_events_fini(&switches->waiting);
	switch_events_fini(&switches->scratch);
	kernel_callchains_fini(&switches->callchains);
	free(switches->rings);
	free(switches->slots);
	free(switches);
}

/* A mapping made after the program's own has gone gets an empty ring, after waiting some 10 ms for the
 * kernel to release the first. */
static bool has_come_late(const struct measured_process *process)
{
	return atomic_load(&process->shared->ended) || measured_process_is_dead(process);
}

/* Takes the copies that the process left at its end, in place of its rings. Negative: none. */
static int copies_take(struct measured_process *process, uint32_t bytes)
{
	struct switches *switches = process->switches;
	struct event_process *shared = process->shared;
	uint64_t at = shared->switches_at, stride = (uint64_t)sysconf(_SC_PAGESIZE) + bytes;

	if (!atomic_load(&shared->switches_copied) || at % 4096 || at > process->shared_bytes ||
		stride * switches->count > process->shared_bytes - at)
		return -1;
	for (uint32_t i = 0; i < switches->count; i++)
		perf_ring_copied(&switches->rings[i].perf, (char *)shared + at + i * stride);
	switches->has_copies = true;
	return 0;
}

/* The process left no copies, because it saw that we had mapped the rings. */
static bool was_mapped(const struct switches *switches)
{
	for (uint32_t i = 0; i < switches->count; i++)
		if (perf_ring_has_records(&switches->rings[i].perf))
			return true;
	return false;
}

/* Maps rings that were only held, or copied: the process's exec failed, so its own mapping still exists;
 * or it ended while its rings were being mapped, and left no copies. */
static int kept_map(struct switches *switches)
{
	for (uint32_t i = 0; i < switches->count; i++) {
		struct perf_ring *ring = &switches->rings[i].perf;

		if ((!ring->memory || ring->is_copy) && perf_ring_map(ring))
			return -1;
	}
	return 0;
}

/* The rings themselves were not read yet: they hold all records after the copies. */
void switches_resume(struct measured_process *process)
{
	struct switches *switches = process->switches;

	if (!switches->has_copies || has_come_late(process))
		return;
	switch_reader_lock();
	if (kept_map(switches))
		process->switches_refused++;
	switches->has_copies = false;
	switch_reader_unlock();
}

/* For a process that ends, or called exec, before or while its rings arrived (`was_late`: before). */
static int late_take(struct measured_process *process, uint32_t bytes, bool was_late)
{
	bool is_over = has_come_late(process);

	if (is_over && !copies_take(process, bytes))
		return 0;
	if (is_over && was_late)
		return -1;
	if (kept_map(process->switches))
		return -1;
	return !is_over || was_mapped(process->switches) ? 0 : -1;
}

int switches_take_up(struct measured_process *process, const int *events, unsigned count, uint32_t bytes)
{
	bool was_late = has_come_late(process), is_late = was_late;
	int result = 0;

	for (unsigned i = 0; i < count; i++) {
		is_late = is_late || has_come_late(process); /* it may end at any of its rings */
		if (ring_add(&process->switches, events[i], bytes, 0,
			    is_late ? perf_ring_keep : perf_ring_open))
			result = -1;
	}
	if (!count)
		return 0;
	atomic_store(&process->shared->switches_taken, 1);
	is_late = is_late || has_come_late(process);
	if (is_late && !result)
		result = late_take(process, bytes, was_late);
	if (is_late && result) {
		switches_free(process->switches);
		process->switches = NULL;
	}
	if (process->switches)
		switch_reader_watch(process->switches);
	return result;
}

bool switches_cover(const struct switches *switches, uint32_t tid)
{
	for (uint32_t i = 0; switches && i < switches->count; i++)
		if (!switches->rings[i].tid || switches->rings[i].tid == tid)
			return true;
	return switches && switches->is_streamed;
}

static void ring_drop(struct switches *switches, uint32_t which)
{
	switch_reader_lock();
	ring_forget(&switches->rings[which]);
	memmove(&switches->rings[which], &switches->rings[which + 1],
		(--switches->count - which) * sizeof(*switches->rings));
	switch_reader_unlock();
}

/* The first one of that thread id: a new thread with the same id sent its ring later. */
void switches_thread_end(struct switches *switches, uint32_t tid)
{
	for (uint32_t i = 0; switches && tid && i < switches->count; i++)
		if (switches->rings[i].tid == tid) {
			ring_drop(switches, i);
			switch_reader_renew();
			return;
		}
}

unsigned switches_poll(const struct switches *switches, struct pollfd *polled, unsigned room)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < switches->count && count < room; i++)
		if (switches->rings[i].perf.event >= 0)
			polled[count++] = (struct pollfd){switches->rings[i].perf.event, POLLIN, 0};
	return count;
}

static void ring_polled(struct switches *switches, struct process_ring *ring, short revents, bool may_close)
{
	if (switches->fresh.count < SWITCHES_FRESH_MAX)
		switches_ring_read(switches, ring);
	if (!(revents & (POLLHUP | POLLERR)) || !may_close)
		return;
	perf_ring_event_close(&ring->perf);
	descriptors--;
}

void switches_polled(struct switches *switches, const struct pollfd *polled, unsigned count, bool may_close)
{
	for (unsigned i = 0; i < count; i++)
		for (uint32_t r = 0; polled[i].revents && r < switches->count; r++)
			if (switches->rings[r].perf.event == polled[i].fd)
				ring_polled(switches, &switches->rings[r], polled[i].revents, may_close);
}
