/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_records.h - the records that lie in a ring (store/ring/ring.h), one by one, read without trust:
 * whoever wrote them can change them at any time.
 */
#ifndef RECORD_RING_RECORDS_H
#define RECORD_RING_RECORDS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/ring/ring.h"
#include "store/write/writer.h"

/* Takes one record: a copy, its length checked against its type's least. False: it makes no sense. */
typedef bool ring_records_take(void *context, const struct event_header *h);

/* Hands the records from `tail` to `head` to `take`, from `data` of `bytes` (a power of two). Returns the new
 * tail; `head` and *is_broken after a record that made no sense. */
uint64_t ring_records_walk(const uint8_t *data, uint64_t bytes, uint64_t tail, uint64_t head,
	ring_records_take *take, void *context, bool *is_broken);

/* Bytes in the ring that nobody has read yet, as the ring's writer says. */
static inline uint64_t ring_unread_bytes(struct event_ring *shared)
{
	return atomic_load_explicit(&shared->head, memory_order_relaxed) -
	       atomic_load_explicit(&shared->tail, memory_order_relaxed);
}

/* Store ids by a ring's own numbers. */
struct ring_ids {
	uint32_t *list;
	uint32_t count, capacity;
};

/* Adds one; false: there are `most` already, or no memory. */
bool ring_ids_add(struct ring_ids *ids, uint32_t value, uint32_t most);

/* Texts come with ids that count up from 1; the store's take their place. False: this one does not, there are
 * too many, or no memory. */
bool ring_texts_add(struct ring_ids *texts, struct store_writer *writer, const struct event_text *text);
/* Store text of an id in the ring, 0 for none and for an id that it never defined. */
uint32_t ring_texts_at(const struct ring_ids *texts, uint32_t id);

#endif
