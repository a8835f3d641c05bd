/* SPDX-License-Identifier: Apache-2.0 */
/* drain_internal.h - inside the drain of one ring: what is known while its records are taken, and what the
 * parts do for each other. Only drain*.c includes it. */
#ifndef RECORD_DRAIN_INTERNAL_H
#define RECORD_DRAIN_INTERNAL_H

#include "record/process/drain.h"

#define BATCH 256

/* Records on their way to the writer. Empty between two drains, which take turns with those there are. */
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
	uint64_t now_ns; /* no time in a record is later: the end of time means "open" in the store */
};

static inline uint64_t drain_credible(const struct drain *drain, uint64_t time_ns)
{
	return time_ns < drain->now_ns ? time_ns : drain->now_ns;
}

/* drain_take.c */

/* Takes one record (a ring_records_walk visitor, `context` is the drain), its length checked; false: it makes
 * no sense. */
bool drain_record_take(void *context, const struct event_header *h);
/* Hands the samples on to the writer. */
void drain_samples_flush(struct drain *drain);
/* Counts what the store does not get. */
void drain_discard(struct drain *drain, uint64_t count);
/* Store context of a node that the ring need not define; STORE_CONTEXT_NONE for any other. */
uint32_t drain_context_reserved(const struct drain *drain, uint32_t node);
/* Store context of a node; STORE_CONTEXT_NONE for an id the ring never defined. */
static inline uint32_t drain_context_of(const struct drain *drain, uint32_t node)
{
	const struct ring_ids *contexts = &drain->ring->contexts;

	if (node >= EVENT_NODE_FIRST && node - EVENT_NODE_FIRST < contexts->count)
		return contexts->list[node - EVENT_NODE_FIRST];
	return drain_context_reserved(drain, node);
}
/* What a counter has come by: a value, not a stretch of time. False: there is no such counter. */
bool drain_counter_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns);

/* Its vfork children that became programs without an agent, as fork_take has others. */
void drain_unheard_take(struct measured_process *process);

/* drain_spans.c */

/* Hands finished spans on to the writer: before anything else is said of the stream's spans. */
void drain_spans_flush(struct drain *drain);
/* The place of one more finished span, which is to be filled in. */
static inline struct store_record *drain_span_new(struct drain *drain)
{
	if (drain->spans->count == BATCH)
		drain_spans_flush(drain);
	return &drain->spans->record[drain->spans->count++];
}
void drain_lost_put(struct drain *drain, uint64_t begin_ns, uint64_t end_ns, uint64_t count);
/* As drain_record_take. */
bool drain_span_take(struct drain *drain, const struct event_span *span);
bool drain_lost_take(struct drain *drain, const struct event_lost *lost);
bool drain_launch_take(struct drain *drain, const struct event_launch *launch);

/* drain_stream.c */

/* A stream for the claim that `shared` holds; without memory ring->stream stays UINT32_MAX. */
void drain_stream_open(struct drain *drain, struct event_ring *shared);
/* Ends the stream at `end_ns`, or at its last record if that is later. */
void drain_stream_close(struct drain *drain, struct event_ring *shared, uint64_t end_ns);
/* If the thread has no sampler: opens its `unmonitored` span. */
void drain_unsampled_open(struct drain *drain, struct event_ring *shared);

#endif
