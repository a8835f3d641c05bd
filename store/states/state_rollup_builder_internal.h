/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_internal.h - one stream's roller: what waits, the sweep, and the buckets of each size
 * that are being filled. Shared by roller*.c.
 *
 *   sizes[base]     |####    |      filled by the sweep
 *   sizes[base + 1] |########|####           |      filled by buckets that were finished below
 */
#ifndef STORE_STATE_ROLLUP_BUILDER_INTERNAL_H
#define STORE_STATE_ROLLUP_BUILDER_INTERNAL_H

#include "store/states/state_rollup_builder.h"

#define ROLLER_TOP (STORE_LINE_ROLL_SIZES - 1)
#define ROLLER_WAIT_MAX (15u << 16) /* records of a stream without a watermark; then it is not rolled */

/* What the line wants to know of a span. */
struct roller_span {
	uint64_t begin_ns, end_ns;
	uint32_t context;
	uint32_t metric; /* store_line_roll_metric(): the state of a copy is told by its attributes */
	uint32_t op;
};
_Static_assert(sizeof(struct roller_span) == 32, "many wait");

static inline enum extent_state roller_span_state(const struct roller_span *span)
{
	return (enum extent_state)(span->metric & 15);
}

/* Spans that wait, sorted from `head` on unless `is_unsorted`. */
struct roller_spans {
	struct roller_span *list;
	uint32_t head, count, capacity;
	bool is_unsorted;
};

/* What the line wants to know of a sample that owns it. */
struct roller_sample {
	uint64_t begin_ns;
	uint32_t context;
};

/* Samples that wait, likewise. */
struct roller_samples {
	struct roller_sample *list;
	uint32_t head, count, capacity;
	bool is_unsorted;
};

/* A bucket that is being filled. */
struct roller_bucket {
	struct store_sums sums;
	uint64_t begin_ns, next_ns; /* filled from its begin to here */
	unsigned parts;
	bool is_whole; /* nothing is missing so far */
};

#define ROLLER_COPIES 8u
/* What copies of these attributes are; 0: none yet. */
struct roller_copy {
	uint32_t attributes;
	enum extent_state state;
};

struct store_roller {
	struct line_walk line;
	struct store_crowd *crowd;
	struct roller_tally *tally;  /* of all rollers, see state_rollup_builder_run.c */
	struct store_united *united; /* a GPU queue's device, or NULL */
	uint32_t united_queue;
	uint32_t stream;
	struct roller_samples samples;
	struct roller_spans spans;
	struct roller_copy copies[ROLLER_COPIES]; /* [attributes modulo that] */
	uint64_t valid_ns;			  /* the sweep knows the line from here on */
	bool awaits_sample;			  /* ... once a sample begins there */
	uint32_t asked;				  /* how many records waited when it was swept last */
	uint64_t monitored_ns; /* begin of the `monitored` span that is open; UINT64_MAX: none is */
	bool has_begun, is_over;
	bool is_switches_said; /* by `monitored`; else any blocked or runnable span is taken for a sign */
	unsigned base;
	unsigned pieces;	     /* in the bucket of the base */
	struct roller_bucket *sizes; /* [STORE_LINE_ROLL_SIZES]; NULL: sweeps for the crowd alone */
	struct store_bytes made;     /* to be put, see pending_rollups.h */
	struct store_bytes value;
	uint64_t torn_ns; /* rollups that reach beyond it are to be deleted; UINT64_MAX: none */
};

/* What is known of a stream before it needs a roller. */
struct roller_place {
	struct store_roller *roller;
	uint64_t passed_ns;	       /* the latest end of spans that no roller knows; 0: there are none */
	bool is_passed;		       /* some records were given to none */
	struct store_record monitored; /* the last one; end STORE_OPEN_NS while it is open */
	bool has_monitored;
};

static inline unsigned roller_shift(unsigned size)
{
	return size * STORE_LINE_ROLL_STEP;
}

/* What was swept there is wrong, or not known: nobody who sums it up is to believe it. */
static inline void roller_spoil(struct store_roller *roller, uint64_t begin_ns, uint64_t end_ns)
{
	store_crowd_spoil(roller->crowd, begin_ns, end_ns);
	if (roller->united && begin_ns < end_ns)
		store_united_spoil(roller->united, begin_ns, end_ns);
}

static inline uint32_t roller_samples_waiting(const struct store_roller *roller)
{
	return roller->samples.count - roller->samples.head;
}

static inline uint32_t roller_spans_waiting(const struct store_roller *roller)
{
	return roller->spans.count - roller->spans.head;
}

/* ---- state_rollup_builder.c ---- */

void roller_free(struct store_roller *roller);

/* ---- state_rollup_builder_sleep.c ---- */

/* Once nobody will ask for the crowd, or while nobody may, streams that only feed it need no roller: it goes.
 */
void roller_retire(const struct store_rollers *rollers, struct roller_place *place);
/* A record that no roller is given, and the end of a span that none will know. */
void roller_pass_until(struct roller_place *place, uint64_t end_ns);
void roller_pass(struct roller_place *place, enum store_track track, const struct store_record *record);
/* Spans at the front, of one operation, for which a CPU stream without a roller needs none; how many. */
size_t roller_pass_alike(struct roller_place *place, const struct store_record *records, size_t count);
/* So many samples of a stream, or of all, wait for a crowd that it is not waited for. */
void roller_doze(struct store_rollers *rollers, const struct store_roller *roller);
/* Counts those that are swept, too. */
void roller_count(struct store_rollers *rollers);

/* ---- state_rollup_builder_wait.c ---- */

/* Let a record wait for the sweep; one that comes behind it tears what it made. False: memory is out. */
bool roller_wait_sample(struct store_roller *roller, const struct store_record *record);
/* Many at once, of a CPU stream. */
bool roller_wait_samples(struct store_roller *roller, const struct store_record *records, size_t count);
bool roller_wait_span(
	struct store_roller *roller, const struct store_record *record, const struct store_texts *texts);
/* Those at the front that change nothing of what is known of the stream, many at once: the first that may is
 * not taken, unless all is told. How many they are; SIZE_MAX: memory is out. */
size_t roller_wait_spans(struct store_roller *roller, const struct store_record *records, size_t count,
	const struct store_texts *texts, bool is_told);
bool roller_is_late(const struct store_roller *roller, const struct store_record *record);
/* What was made from this time on is wrong; the line is known again from `again_ns`, or from now. */
void roller_tear(struct store_roller *roller, uint64_t from_ns, uint64_t again_ns);
/* The `monitored` span that is open, as the sweep knows it, ends. */
void roller_monitored_end(struct store_roller *roller, const struct store_record *ended);
/* The stream turns out to have switch records, or samples: it was swept by other rules so far. */
void roller_note_switches(struct store_roller *roller);
void roller_note_samples(struct store_roller *roller);

/* The order in which the line takes them; it tells those apart that are of one time. */
static inline int roller_span_compare(const struct roller_span *a, const struct roller_span *b)
{
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static inline int roller_sample_compare(const struct roller_sample *a, const struct roller_sample *b)
{
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* ---- state_rollup_builder_run.c ---- */

/* free() lets it go; NULL: memory is out. */
struct roller_tally *roller_tally_new(void);
/* [operation]: what a span of it is to the stream, as store_line_roll_metric() has it; 0: look closer. */
const uint32_t *roller_metrics(const struct store_roller *roller);

/* Sweeps what is quickly swept of the time before `limit_ns`, which is in the bucket that is being filled;
 * all that begins now or before is taken. False: nothing of it. */
bool roller_run(struct store_roller *roller, uint64_t limit_ns);

/* ---- state_rollup_builder_sweep.c ---- */

/* Sweeps until then; all that begins before waits already. False: memory is out. */
bool roller_sweep(struct store_roller *roller, uint64_t until_ns);
/* The stream has ended, and is swept. */
void roller_finish(struct store_roller *roller);

#endif
