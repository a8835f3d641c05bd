/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_internal.h - state of the drain of one ring, and functions its files share. Only drain*.c includes
 * it.
 */
#ifndef RECORD_DRAIN_INTERNAL_H
#define RECORD_DRAIN_INTERNAL_H

#include "record/process/drain.h"

#define BATCH 256

/* Records buffered for the writer. Empty between drains. */
struct batch {
	struct store_record record[BATCH];
	size_t count;
};

struct drain {
	struct measured_process *process;
	struct ring *ring;
	struct store_writer *writer;
	uint32_t host;
	struct batch *samples, *spans;
	size_t records;
	uint64_t now_ns; /* limit for times in records: later ones are invalid, as STORE_OPEN_NS means
			    "open" */
};

static inline uint64_t drain_credible(const struct drain *drain, uint64_t time_ns)
{
	return time_ns < drain->now_ns ? time_ns : drain->now_ns;
}

/* drain_take.c */

/* Takes one record (a ring_records_walk visitor, `context` is the drain) of checked length; false: it is
 * invalid. */
bool drain_record_take(void *context, const struct event_header *h);
/* Writes the buffered samples. */
void drain_samples_flush(struct drain *drain);
/* Counts records that the store does not get. */
void drain_discard(struct drain *drain, uint64_t count);
/* Store context of a predefined node; STORE_CONTEXT_NONE for other nodes. */
uint32_t drain_context_reserved(const struct drain *drain, uint32_t node);
/* Store context of a node; STORE_CONTEXT_NONE for an id that the ring never defined. */
static inline uint32_t drain_context_of(const struct drain *drain, uint32_t node)
{
	const struct ring_ids *contexts = &drain->ring->contexts;

	if (node >= EVENT_NODE_FIRST && node - EVENT_NODE_FIRST < contexts->count)
		return contexts->list[node - EVENT_NODE_FIRST];
	return drain_context_reserved(drain, node);
}
/* Takes the increase of a counter, a value without duration. False: no such counter. */
bool drain_counter_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns);

/* Its vfork children that became programs without an agent, as fork_take has others. */
void drain_unheard_take(struct measured_process *process, bool is_end);

/* drain_spans.c */

/* Writes the buffered spans. Call before any other write of spans to the stream. */
void drain_spans_flush(struct drain *drain);
/* Buffer slot for one more finished span, which the caller fills in. */
static inline struct store_record *drain_span_new(struct drain *drain)
{
	if (drain->spans->count == BATCH)
		drain_spans_flush(drain);
	return &drain->spans->record[drain->spans->count++];
}
/* A span `lock` of the thread's wait that never ends, if it waits for a lock. */
void drain_lock_open(struct drain *drain, struct event_ring *shared, uint64_t end_ns);
/* drain_call.c: the collective call that the thread is in. Look before the ring's head is read. */
void drain_call_look(struct drain *drain, const struct event_ring *shared);
/* It is over: its own span is there, or comes. */
void drain_call_forget(struct drain *drain);
/* It never returns from there. */
void drain_call_close(struct drain *drain, const struct event_ring *shared, uint64_t end_ns);
void drain_lost_put(
	struct drain *drain, uint64_t begin_ns, uint64_t end_ns, uint64_t count, uint32_t attributes);
/* Visitors like drain_record_take. */
bool drain_span_take(struct drain *drain, const struct event_span *span);
bool drain_lost_take(struct drain *drain, const struct event_lost *lost);
bool drain_launch_take(struct drain *drain, const struct event_launch *launch);

/* drain_stream.c */

/* Opens a stream for the claim in `shared`; if memory is out, ring->stream stays UINT32_MAX. */
void drain_stream_open(struct drain *drain, struct event_ring *shared);
/* The main thread's attributes have changed, those of its process. */
void drain_process_told(struct measured_process *process, struct store_writer *writer);
/* Ends the stream at `end_ns`, or at its last record if that is later. */
void drain_stream_close(struct drain *drain, struct event_ring *shared, uint64_t end_ns);
/* If the thread has no sampler: opens its `unmonitored` span. */
void drain_unsampled_open(struct drain *drain, struct event_ring *shared);

#endif
