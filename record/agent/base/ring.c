/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - writes records into the thread's ring. Never blocks: only the collector moves `tail`, and a full
 * ring means a counted loss.
 */
#include "record/agent/base/ring.h"

#include <string.h>

#include "record/agent/base/hot_section.h"
void ring_init(struct ring *ring, struct event_ring *shared, uint64_t bytes)
{
	memset(ring, 0, sizeof(*ring));
	ring->shared = shared;
	ring->data = (unsigned char *)shared + EVENT_RING_HEADER;
	ring->bytes = bytes;
	ring->at = atomic_load_explicit(&shared->head, memory_order_relaxed);
}

HOT bool ring_enter(struct ring *ring)
{
	if (ring->busy)
		return false;
	ring->busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

HOT void ring_leave(struct ring *ring)
{
	atomic_signal_fence(memory_order_seq_cst);
	ring->busy = false;
}

/* Takes the counters before it writes the record: a loss from a signal handler in between goes into the
 * next one. */
static void put_lost(struct ring *ring, uint64_t now_ns)
{
	uint64_t begin_ns = atomic_exchange_explicit(&ring->lost_begin_ns, 0, memory_order_relaxed);
	struct event_lost *lost = ring_put(ring, EVENT_LOST, 0, EVENT_NODE_PROGRAM_ROOT, sizeof(*lost));

	lost->begin_ns = begin_ns && begin_ns < now_ns ? begin_ns : now_ns;
	lost->end_ns = now_ns;
	lost->weight = atomic_exchange_explicit(&ring->lost_weight, 0, memory_order_relaxed);
	lost->count = atomic_exchange_explicit(&ring->lost_count, 0, memory_order_relaxed);
	for (unsigned i = 0; i < EVENT_LOST_KINDS; i++)
		lost->kinds[i] = atomic_exchange_explicit(&ring->lost_kinds[i], 0, memory_order_relaxed);
}

HOT bool ring_begin(struct ring *ring, uint64_t bytes, uint64_t longest, uint64_t now_ns)
{
	uint64_t tail = atomic_load_explicit(&ring->shared->tail, memory_order_acquire);
	bool lost = atomic_load_explicit(&ring->lost_count, memory_order_relaxed) != 0;
	uint64_t needed = bytes + longest;

	if (lost)
		needed += 2 * sizeof(struct event_lost);
	if (needed > ring->bytes - (ring->at - tail) || ring->at - tail > ring->bytes)
		return false;
	if (lost)
		put_lost(ring, now_ns);
	return true;
}

HOT void *ring_put(struct ring *ring, uint8_t type, uint8_t flags, uint32_t node, uint64_t bytes)
{
	uint64_t place = ring->at & (ring->bytes - 1), room = ring->bytes - place;
	struct event_header *header = (struct event_header *)(ring->data + place);

	if (bytes > room) { /* shorter than the longest record, so `words` holds it */
		*header = (struct event_header){.type = EVENT_PAD, .words = (uint16_t)(room / 8)};
		ring->at += room;
		header = (struct event_header *)ring->data;
	}
	*header = (struct event_header){
		.type = type, .flags = flags, .words = (uint16_t)((bytes + 7) / 8), .node = node};
	ring->at += (bytes + 7) / 8 * 8;
	return header;
}

HOT void ring_commit(struct ring *ring)
{
	atomic_store_explicit(&ring->shared->head, ring->at, memory_order_release);
}

void ring_lose(struct ring *ring, enum ring_loss why, uint64_t weight, uint64_t now_ns)
{
	ring_lose_kind(ring, why, EVENT_LOST_SAMPLE, weight, now_ns);
}

void ring_lose_kind(
	struct ring *ring, enum ring_loss why, enum event_lost_kind kind, uint64_t weight, uint64_t now_ns)
{
	struct event_ring *shared = ring->shared;
	_Atomic uint64_t *counter = why == RING_LOST_FULL	 ? &shared->lost_full
				    : why == RING_LOST_REENTERED ? &shared->lost_reentered
								 : &shared->lost_memory;
	uint64_t none = 0;

	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->lost_weight, weight, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(
		&ring->lost_begin_ns, &none, now_ns, memory_order_relaxed, memory_order_relaxed);
	atomic_fetch_add_explicit(&ring->lost_weight, weight, memory_order_relaxed);
	atomic_fetch_add_explicit(&ring->lost_kinds[kind], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&ring->lost_count, 1, memory_order_relaxed);
}
