/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_internal.h - one stream's builder: queued records, the sweep, and one open bucket of
 * each size. Shared by state_rollup_builder*.c.
 *
 *   sizes[base]     |####    |      filled by the sweep
 *   sizes[base + 1] |########|####           |      filled by finished buckets of the size below
 */
#ifndef STORE_STATE_ROLLUP_BUILDER_INTERNAL_H
#define STORE_STATE_ROLLUP_BUILDER_INTERNAL_H

#include "store/states/state_rollup_builder.h"

#define STATE_BUILDER_TOP (STORE_STATE_ROLLUP_SIZES - 1)
#define STATE_BUILDER_WAIT_MAX (15u << 16) /* queued records without a watermark; above it: no rollups */

/* The part of a span that the timeline needs. */
struct state_builder_span {
	uint64_t begin_ns, end_ns;
	uint32_t context;
	uint32_t metric; /* store_state_rollup_metric(): the state of a copy comes from its attributes */
	uint32_t op;
};
_Static_assert(sizeof(struct state_builder_span) == 32, "many wait");

static inline enum extent_state state_builder_span_state(const struct state_builder_span *span)
{
	return (enum extent_state)(span->metric & 15);
}

/* Queued spans, sorted from `head` on unless `is_unsorted`. */
struct state_builder_spans {
	struct state_builder_span *list;
	uint32_t head, count, capacity;
	bool is_unsorted;
};

/* The part of a sample that the timeline needs. */
struct state_builder_sample {
	uint64_t begin_ns;
	uint32_t context;
};

/* Queued samples, likewise. */
struct state_builder_samples {
	struct state_builder_sample *list;
	uint32_t head, count;
	size_t capacity;
	bool is_unsorted;
};

/* An open bucket. */
struct state_builder_bucket {
	struct store_context_sums sums;
	uint64_t begin_ns, next_ns; /* filled from begin_ns to next_ns */
	unsigned parts;
	bool is_whole; /* complete so far */
};

#define STATE_BUILDER_COPIES 8u
/* Caches the state of copies with these attributes; 0: empty. */
struct state_builder_copy {
	uint32_t attributes;
	enum extent_state state;
};

struct store_state_builder {
	struct line_walk line;
	struct store_all_streams *all_streams;
	struct state_builder_tally *tally; /* of all builders, see state_rollup_builder_run.c */
	struct store_device_busy *busy;	   /* a GPU queue's device, or NULL */
	uint32_t device_busy_queue;
	uint32_t stream;
	struct state_builder_samples samples;
	struct state_builder_spans spans;
	struct state_builder_copy copies[STATE_BUILDER_COPIES]; /* [attributes modulo the length] */
	uint64_t valid_ns;					/* the timeline is known from here on */
	bool awaits_sample;					/* ... once a sample begins there */
	uint32_t asked;						/* records queued at the last sweep */
	uint64_t monitored_ns; /* begin of the open `monitored` span; UINT64_MAX: none */
	bool has_begun, is_over;
	bool is_switches_said; /* `monitored` states it; otherwise any blocked or runnable span implies
				  switch records */
	unsigned base;
	unsigned pieces; /* pieces in the bucket of the base size */
	struct state_builder_bucket
		*sizes; /* [STORE_STATE_ROLLUP_SIZES]; NULL: sweeps only for the sums of all streams */
	struct store_bytes made; /* rollups to be written, see pending_rollups.h */
	struct store_bytes value;
	uint64_t torn_ns; /* rollups that end after it must be deleted; UINT64_MAX: none */
};

/* State of a stream that has no builder yet. */
struct state_builder_place {
	struct store_state_builder *builder;
	uint64_t passed_ns;	       /* latest end of the spans that no builder received; 0: none */
	bool is_passed;		       /* some records reached no builder */
	struct store_record monitored; /* the last one; end STORE_OPEN_NS while it is open */
	bool has_monitored;
};

static inline unsigned state_builder_shift(unsigned size)
{
	return size * STORE_STATE_ROLLUP_STEP;
}

/* Marks a time range whose sweep is wrong or unknown in the sums of all streams and of the device. */
static inline void state_builder_spoil(
	struct store_state_builder *builder, uint64_t begin_ns, uint64_t end_ns)
{
	store_all_streams_spoil(builder->all_streams, begin_ns, end_ns);
	if (builder->busy && begin_ns < end_ns)
		store_device_busy_spoil(builder->busy, begin_ns, end_ns);
}

static inline uint32_t state_builder_samples_waiting(const struct store_state_builder *builder)
{
	return builder->samples.count - builder->samples.head;
}

static inline uint32_t state_builder_spans_waiting(const struct store_state_builder *builder)
{
	return builder->spans.count - builder->spans.head;
}

/* ---- state_rollup_builder_wait.c ---- */

/* Queue a record for the sweep; one that is behind the sweep deletes rollups. False: no memory. */
bool state_builder_wait_sample(struct store_state_builder *builder, const struct store_record *record);
/* The same for many samples of a CPU stream. */
bool state_builder_wait_samples(
	struct store_state_builder *builder, const struct store_record *records, size_t count);
bool state_builder_wait_span(struct store_state_builder *builder, const struct store_record *record,
	const struct store_texts *texts);
/* Queues the leading spans that do not change what is known of the stream, up to the first that may, unless
 * all is known. Returns how many; SIZE_MAX: no memory. */
size_t state_builder_wait_spans(struct store_state_builder *builder, const struct store_record *records,
	size_t count, const struct store_texts *texts, bool is_told);
bool state_builder_is_late(const struct store_state_builder *builder, const struct store_record *record);
/* Marks rollups from this time on as wrong; the timeline is known again from `again_ns`, or from now. */
void state_builder_tear(struct store_state_builder *builder, uint64_t from_ns, uint64_t again_ns);
/* Ends the open `monitored` span that the sweep knows. */
void state_builder_monitored_end(struct store_state_builder *builder, const struct store_record *ended);
/* The stream turns out to have switch records, or samples: earlier sweeps used other rules. */
void state_builder_note_switches(struct store_state_builder *builder);
void state_builder_note_samples(struct store_state_builder *builder);

/* The order in which the timeline takes spans; also tells apart spans of equal times. */
static inline int state_builder_span_compare(
	const struct state_builder_span *a, const struct state_builder_span *b)
{
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static inline int state_builder_sample_compare(
	const struct state_builder_sample *a, const struct state_builder_sample *b)
{
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* ---- state_rollup_builder_run.c ---- */

/* NULL: no memory; free() it. */
struct state_builder_tally *state_builder_tally_new(void);
/* [operation]: the metric of such a span (store_state_rollup_metric()); 0: depends on the span. */
const uint32_t *state_builder_metrics(const struct store_state_builder *builder);

/* The fast path of the sweep, for the time before `limit_ns` in the open bucket; all that begins by then is
 * queued. False: it swept nothing. */
bool state_builder_run(struct store_state_builder *builder, uint64_t limit_ns);

/* ---- state_rollup_builder_sweep.c ---- */

/* Sweeps until then; all that begins earlier is queued. False: no memory. */
bool state_builder_sweep(struct store_state_builder *builder, uint64_t until_ns);
/* The stream has ended, and is swept. */
void state_builder_finish(struct store_state_builder *builder);

#endif
