/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_internal.h - one stream's builder: what waits, the sweep, and the buckets of each size
 * that are being filled. Shared by builder*.c.
 *
 *   sizes[base]     |####    |      filled by the sweep
 *   sizes[base + 1] |########|####           |      filled by buckets that were finished below
 */
#ifndef STORE_STATE_ROLLUP_BUILDER_INTERNAL_H
#define STORE_STATE_ROLLUP_BUILDER_INTERNAL_H

#include "store/states/state_rollup_builder.h"

#define ROLLER_TOP (STORE_STATE_ROLLUP_SIZES - 1)
#define ROLLER_WAIT_MAX (15u << 16) /* records of a stream without a watermark; then it is not rolled */

/* What the line wants to know of a span. */
struct state_builder_span {
	uint64_t begin_ns, end_ns;
	uint32_t context;
	uint32_t metric; /* store_state_rollup_metric(): the state of a copy is told by its attributes */
	uint32_t op;
};
_Static_assert(sizeof(struct state_builder_span) == 32, "many wait");

static inline enum extent_state state_builder_span_state(const struct state_builder_span *span)
{
	return (enum extent_state)(span->metric & 15);
}

/* Spans that wait, sorted from `head` on unless `is_unsorted`. */
struct state_builder_spans {
	struct state_builder_span *list;
	uint32_t head, count, capacity;
	bool is_unsorted;
};

/* What the line wants to know of a sample that owns it. */
struct state_builder_sample {
	uint64_t begin_ns;
	uint32_t context;
};

/* Samples that wait, likewise. */
struct state_builder_samples {
	struct state_builder_sample *list;
	uint32_t head, count;
	size_t capacity;
	bool is_unsorted;
};

/* A bucket that is being filled. */
struct state_builder_bucket {
	struct store_context_sums sums;
	uint64_t begin_ns, next_ns; /* filled from its begin to here */
	unsigned parts;
	bool is_whole; /* nothing is missing so far */
};

#define ROLLER_COPIES 8u
/* What copies of these attributes are; 0: none yet. */
struct state_builder_copy {
	uint32_t attributes;
	enum extent_state state;
};

struct store_state_builder {
	struct line_walk line;
	struct store_all_streams *all_streams;
	struct state_builder_tally *tally; /* of all builders, see state_rollup_builder_run.c */
	struct store_device_busy *united;  /* a GPU queue's device, or NULL */
	uint32_t device_busy_queue;
	uint32_t stream;
	struct state_builder_samples samples;
	struct state_builder_spans spans;
	struct state_builder_copy copies[ROLLER_COPIES]; /* [attributes modulo that] */
	uint64_t valid_ns;				 /* the sweep knows the line from here on */
	bool awaits_sample;				 /* ... once a sample begins there */
	uint32_t asked;					 /* how many records waited when it was swept last */
	uint64_t monitored_ns; /* begin of the `monitored` span that is open; UINT64_MAX: none is */
	bool has_begun, is_over;
	bool is_switches_said; /* by `monitored`; else any blocked or runnable span is taken for a sign */
	unsigned base;
	unsigned pieces; /* in the bucket of the base */
	struct state_builder_bucket
		*sizes; /* [STORE_STATE_ROLLUP_SIZES]; NULL: sweeps for the sums of all streams alone */
	struct store_bytes made; /* to be put, see pending_rollups.h */
	struct store_bytes value;
	uint64_t torn_ns; /* rollups that reach beyond it are to be deleted; UINT64_MAX: none */
};

/* What is known of a stream before it needs a builder. */
struct state_builder_place {
	struct store_state_builder *builder;
	uint64_t passed_ns;	       /* the latest end of spans that no builder knows; 0: there are none */
	bool is_passed;		       /* some records were given to none */
	struct store_record monitored; /* the last one; end STORE_OPEN_NS while it is open */
	bool has_monitored;
};

static inline unsigned state_builder_shift(unsigned size)
{
	return size * STORE_STATE_ROLLUP_STEP;
}

/* What was swept there is wrong, or not known: nobody who sums it up is to believe it. */
static inline void state_builder_spoil(
	struct store_state_builder *builder, uint64_t begin_ns, uint64_t end_ns)
{
	store_all_streams_spoil(builder->all_streams, begin_ns, end_ns);
	if (builder->united && begin_ns < end_ns)
		store_device_busy_spoil(builder->united, begin_ns, end_ns);
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

/* Let a record wait for the sweep; one that comes behind it tears what it made. False: memory is out. */
bool state_builder_wait_sample(struct store_state_builder *builder, const struct store_record *record);
/* Many at once, of a CPU stream. */
bool state_builder_wait_samples(
	struct store_state_builder *builder, const struct store_record *records, size_t count);
bool state_builder_wait_span(struct store_state_builder *builder, const struct store_record *record,
	const struct store_texts *texts);
/* Those at the front that change nothing of what is known of the stream, many at once: the first that may is
 * not taken, unless all is told. How many they are; SIZE_MAX: memory is out. */
size_t state_builder_wait_spans(struct store_state_builder *builder, const struct store_record *records,
	size_t count, const struct store_texts *texts, bool is_told);
bool state_builder_is_late(const struct store_state_builder *builder, const struct store_record *record);
/* What was made from this time on is wrong; the line is known again from `again_ns`, or from now. */
void state_builder_tear(struct store_state_builder *builder, uint64_t from_ns, uint64_t again_ns);
/* The `monitored` span that is open, as the sweep knows it, ends. */
void state_builder_monitored_end(struct store_state_builder *builder, const struct store_record *ended);
/* The stream turns out to have switch records, or samples: it was swept by other rules so far. */
void state_builder_note_switches(struct store_state_builder *builder);
void state_builder_note_samples(struct store_state_builder *builder);

/* The order in which the line takes them; it tells those apart that are of one time. */
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

/* free() lets it go; NULL: memory is out. */
struct state_builder_tally *state_builder_tally_new(void);
/* [operation]: what a span of it is to the stream, as store_state_rollup_metric() has it; 0: look closer. */
const uint32_t *state_builder_metrics(const struct store_state_builder *builder);

/* Sweeps what is quickly swept of the time before `limit_ns`, which is in the bucket that is being filled;
 * all that begins now or before is taken. False: nothing of it. */
bool state_builder_run(struct store_state_builder *builder, uint64_t limit_ns);

/* ---- state_rollup_builder_sweep.c ---- */

/* Sweeps until then; all that begins before waits already. False: memory is out. */
bool state_builder_sweep(struct store_state_builder *builder, uint64_t until_ns);
/* The stream has ended, and is swept. */
void state_builder_finish(struct store_state_builder *builder);

#endif
