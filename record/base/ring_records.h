/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_records.h - reads the records of a ring (store/ring/ring.h) one by one. They are untrusted: the writer
 * can change them at any time.
 */
#ifndef RECORD_RING_RECORDS_H
#define RECORD_RING_RECORDS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/ring/ring.h"
#include "store/write/writer.h"

/* Visits a copy of one record, whose length was checked against its type's minimum. Returns false if the
 * record is invalid. */
typedef bool ring_records_take(void *context, const struct event_header *h);

/* Passes the records from `tail` to `head` to `take`, from `data` of `bytes` (a power of two). Returns the
 * new tail; at an invalid record it returns `head` and sets *is_broken. */
uint64_t ring_records_walk(const uint8_t *data, uint64_t bytes, uint64_t tail, uint64_t head,
	ring_records_take *take, void *context, bool *is_broken);

/* Unread bytes in the ring, by the writer's position. */
static inline uint64_t ring_unread_bytes(struct event_ring *shared)
{
	return atomic_load_explicit(&shared->head, memory_order_relaxed) -
	       atomic_load_explicit(&shared->tail, memory_order_relaxed);
}

/* Maps a ring's own numbers to store ids. */
struct ring_ids {
	uint32_t *list;
	uint32_t count, capacity;
};

/* Adds one. False: `most` is reached, or memory is out. */
bool ring_ids_add(struct ring_ids *ids, uint32_t value, uint32_t most);

/* Adds a text to the store and its store id to `texts`. Ring ids count up from 1. False: wrong id, too
 * many texts, or no memory. */
bool ring_texts_add(struct ring_ids *texts, struct store_writer *writer, const struct event_text *text);
/* Store text of a ring's text id; 0 for 0 and for undefined ids. */
uint32_t ring_texts_at(const struct ring_ids *texts, uint32_t id);

#endif
