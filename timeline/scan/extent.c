/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent.c - feeds a stream's samples and spans into the sweep (store/states/state_timeline.h) and returns
 * its timeline in the run's clock and contexts.
 */
#include "timeline/scan/extent.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/run/run_internal.h"
#include "timeline/scan/scan.h"

#define EXTENT_KIND_CACHE 16u

/* Records of one track, one by one. */
struct extent_feed {
	struct scan *scan;
	struct extent_source source; /* instead of a scan */
	const struct batch *batch;
	size_t row;
	uint64_t next_ns; /* begin of the row; UINT64_MAX: no more */
	uint64_t ops;	  /* spans: bits of the operations that affect the timeline */
	bool wants_texts; /* also those that are texts */
};

struct extent_walk {
	struct run *run;
	const struct run_line *line;
	unsigned store;
	uint64_t begin_ns, end_ns; /* window */
	struct extent_feed samples, spans;
	struct line_walk sweep;
	struct extent held; /* grows until a different piece follows */
	uint64_t held_owner;
	uint32_t ended; /* synchronization in which the last sample was taken */
	bool has_held, tells_resumed, tells_ended;
	struct extent_classes classes;
	struct {
		uint64_t end_ns; /* of its operations so far */
		uint32_t context;
	} running[EXTENT_CLASSES];
	struct { /* attributes of copies already parsed */
		uint32_t attributes;
		enum extent_state state;
	} kinds[EXTENT_KIND_CACHE];
};

/* ---- states ---- */

static const struct {
	const char *name;
	char glyph;
} states[] = {
#define X(name, text, glyph) {text, glyph},
	EXTENT_STATES(X)
#undef X
};

const char *extent_state_word(enum extent_state state)
{
	return state == EXTENT_RUNNABLE ? "preempted" : extent_state_name(state);
}

const char *extent_state_name(enum extent_state state)
{
	return (unsigned)state < EXTENT_STATE_COUNT ? states[state].name : "";
}

char extent_state_glyph(enum extent_state state)
{
	return (unsigned)state < EXTENT_STATE_COUNT ? states[state].glyph : ' ';
}

bool extent_state_is_busy(enum extent_state state)
{
	return span_state_is_busy(state);
}

/* ---- records in ---- */

static bool says_something(const struct extent_feed *feed, uint32_t op)
{
	return op < STORE_OP_TEXT ? feed->ops >> op & 1 : feed->wants_texts;
}

/* Most spans of a thread with samples are launches and the like: passed over here, they cost next to nothing.
 */
static void feed_pass_over(struct extent_feed *feed)
{
	const struct batch *batch = feed->batch;

	while (feed->row < batch->count && !says_something(feed, batch->what[feed->row]))
		feed->row++;
}

static long feed_read(struct extent_feed *feed, struct error *error)
{
	if (feed->scan)
		return scan_next(feed->scan, &feed->batch, error);
	return feed->source.next ? feed->source.next(feed->source.own, &feed->batch, error) : 0;
}

static int feed_advance(struct extent_feed *feed, struct error *error)
{
	feed->row++;
	for (;;) {
		long count;

		if (feed->scan && feed->batch && feed->batch->track == STORE_SPANS)
			feed_pass_over(feed);
		if (feed->batch && feed->row < feed->batch->count)
			break;
		count = feed_read(feed, error);
		feed->row = 0;
		if (count <= 0) {
			feed->next_ns = UINT64_MAX;
			return (int)count;
		}
	}
	feed->next_ns = feed->batch->begin_ns[feed->row];
	return 0;
}

static int feed_open(struct extent_feed *feed, struct extent_walk *walk, uint32_t stream,
	enum store_track track, uint64_t begin_ns, unsigned columns, struct error *error)
{
	int code =
		scan_open(&feed->scan, walk->run, stream, track, begin_ns, walk->end_ns, columns, 0, error);

	return code ? code : feed_advance(feed, error);
}

static void take_sample(struct extent_walk *walk)
{
	const struct extent_feed *feed = &walk->samples;

	if (!(feed->batch->flags[feed->row] & STORE_RECORD_EXTENT))
		return;
	state_timeline_take_sample(&walk->sweep, feed->next_ns, feed->batch->context[feed->row]);
	walk->ended = 0;
}

static enum extent_state copy_state(struct extent_walk *walk, uint32_t attributes)
{
	size_t size = 0;
	const char *text;

	if (walk->kinds[attributes % EXTENT_KIND_CACHE].attributes == attributes)
		return walk->kinds[attributes % EXTENT_KIND_CACHE].state;
	text = store_reader_text(run_store(walk->run, walk->store), attributes, &size);
	walk->kinds[attributes % EXTENT_KIND_CACHE].attributes = attributes;
	return walk->kinds[attributes % EXTENT_KIND_CACHE].state = span_copy_state(text, size);
}

/* Operations come by begin: what of a class runs is known from the furthest end. */
static void take_class(struct extent_walk *walk, const struct state_span *span)
{
	unsigned class = walk->classes.class_of(walk->classes.own, span->op, span->context);

	if (span->end_ns > walk->running[class].end_ns)
		walk->running[class].end_ns = span->end_ns;
	if (span->end_ns > span->begin_ns)
		walk->running[class].context = span->context;
}

static int take_span(struct extent_walk *walk, struct error *error)
{
	const struct extent_feed *feed = &walk->spans;
	const struct batch *b = feed->batch;
	bool is_gpu = walk->sweep.rules.is_gpu;
	struct state_span span = {.begin_ns = b->begin_ns[feed->row],
		.end_ns = b->end_ns[feed->row],
		.context = b->context[feed->row],
		.op = b->what[feed->row],
		.state = span_state_of(b->what[feed->row], is_gpu)};

	if (span.op == STORE_OP_COPY && is_gpu && b->attributes[feed->row])
		span.state = copy_state(walk, b->attributes[feed->row]);
	if (span.op == STORE_OP_MONITORED && span.end_ns == STORE_OPEN_NS)
		span.end_ns = walk->line->complete_ns;
	if (walk->classes.class_of && is_gpu && span_kind_of(span.op, true, false) == SPAN_KIND_WORK)
		take_class(walk, &span);
	return state_timeline_take_span(&walk->sweep, span) ? 0 : error_memory(error);
}

/* Takes what begins now, samples before spans. */
static int take_all(struct extent_walk *walk, struct error *error)
{
	int code = 0;

	while (!code &&
		(walk->samples.next_ns <= walk->sweep.now_ns || walk->spans.next_ns <= walk->sweep.now_ns)) {
		if (walk->samples.next_ns <= walk->spans.next_ns) {
			take_sample(walk);
			code = feed_advance(&walk->samples, error);
		} else {
			code = take_span(walk, error);
			if (!code)
				code = feed_advance(&walk->spans, error);
		}
	}
	return code;
}

/* ---- pieces out ---- */

/* A preempted thread continues where it was. */
static uint32_t resumed_by(const struct extent_walk *walk, const struct state_piece *piece)
{
	if (!walk->tells_resumed || piece->state != EXTENT_RUNNABLE || !walk->sweep.force.holds)
		return 0;
	return walk->sweep.force.context;
}

static uint32_t ended_before(struct extent_walk *walk, const struct state_piece *piece)
{
	if (piece->state == EXTENT_SYNC && walk->sweep.force.begin_ns == piece->begin_ns)
		walk->ended = piece->context;
	return walk->tells_ended && piece->state != EXTENT_SYNC ? walk->ended : 0;
}

/* Until when the same classes of operations run. */
static uint64_t classes_until(const struct extent_walk *walk)
{
	uint64_t until_ns = walk->end_ns;

	for (unsigned class = 0; class < EXTENT_CLASSES; class ++)
		if (walk->running[class].end_ns > walk->sweep.now_ns &&
			walk->running[class].end_ns < until_ns)
			until_ns = walk->running[class].end_ns;
	return until_ns;
}

static void tell_classes(const struct extent_walk *walk, struct extent *piece)
{
	if (!extent_state_is_busy(piece->state))
		return;
	for (unsigned class = EXTENT_CLASSES; class -- > 0;)
		if (walk->running[class].end_ns > piece->begin_ns) {
			piece->classes |= 1u << class;
			piece->class_context = walk->running[class].context;
		}
}

/* The next elementary piece. */
static int step(struct extent_walk *walk, struct extent *piece, uint64_t *owner, struct error *error)
{
	int code = take_all(walk, error);
	struct state_piece p;

	if (code)
		return code;
	state_timeline_step(
		&walk->sweep, walk->samples.next_ns, walk->spans.next_ns, classes_until(walk), &p);
	*owner = p.owner;
	*piece = (struct extent){p.begin_ns, p.end_ns, p.context, p.op, p.state, p.is_record_begin,
		resumed_by(walk, &p), ended_before(walk, &p), 0, 0};
	if (walk->classes.class_of)
		tell_classes(walk, piece);
	return 0;
}

/* True when the piece was taken into the one that is held. */
static bool extend_held(struct extent_walk *walk, const struct extent *piece, uint64_t owner)
{
	struct extent *held = &walk->held;

	if (!walk->has_held || walk->held_owner != owner || held->state != piece->state ||
		held->context != piece->context || held->resumed != piece->resumed ||
		held->classes != piece->classes || held->class_context != piece->class_context ||
		held->end_ns != piece->begin_ns)
		return false;
	held->end_ns = piece->end_ns;
	return true;
}

long extent_next(struct extent_walk *walk, struct extent *extents, size_t capacity, struct error *error)
{
	size_t count = 0;

	while (count < capacity && walk->sweep.now_ns < walk->end_ns) {
		struct extent piece;
		uint64_t owner;
		int code = step(walk, &piece, &owner, error);

		if (code)
			return code;
		/* The sweep may begin before the window, to know what is in force there. */
		if (piece.end_ns <= walk->begin_ns)
			continue;
		if (piece.begin_ns < walk->begin_ns) {
			piece.begin_ns = walk->begin_ns;
			piece.is_record_begin = false;
		}
		if (extend_held(walk, &piece, owner))
			continue;
		if (walk->has_held)
			extents[count++] = walk->held;
		walk->held = piece;
		walk->held_owner = owner;
		walk->has_held = true;
	}
	if (count < capacity && walk->has_held) {
		extents[count++] = walk->held;
		walk->has_held = false;
	}
	return (long)count;
}

/* ---- begin and end ---- */

static struct store_hash path_of(const void *run, uint32_t context)
{
	return run_context_hash(run, context);
}

static struct store_slice operation_of(const void *run, uint32_t op)
{
	const char *name = run_op_name(run, op);

	return (struct store_slice){(const uint8_t *)name, strlen(name)};
}

/* Where the sweep has to begin so that it knows the sample in force at the window's begin. */
static int find_start(
	const struct extent_walk *walk, const struct run_stream *r, uint64_t *start_ns, struct error *error)
{
	const struct run_part *part = &walk->run->parts[walk->store];
	struct store_record sample;
	int code;

	*start_ns = walk->begin_ns;
	if (!walk->sweep.rules.has_samples || walk->begin_ns == UINT64_MAX)
		return 0;
	code = store_reader_sample_before(
		part->reader, r->id_in_store, run_part_store_time(part, walk->begin_ns) + 1, &sample, error);
	if (code > 0 && run_part_time(part, sample.begin_ns) < *start_ns)
		*start_ns = run_part_time(part, sample.begin_ns);
	return code < 0 ? code : 0;
}

static int open_feeds(struct extent_walk *walk, uint32_t stream, const struct run_stream *r,
	const struct extent_source *spans, struct error *error)
{
	unsigned columns = STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT;
	const struct state_rules *rules = &walk->sweep.rules;
	uint64_t start_ns;
	int code = find_start(walk, r, &start_ns, error);

	if (code)
		return code;
	walk->sweep.now_ns = start_ns;
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		if (span_kind_of(op, rules->is_gpu, rules->has_samples) != SPAN_KIND_COUNT)
			walk->spans.ops |= (uint64_t)1 << op;
	walk->spans.wants_texts =
		span_kind_of(STORE_OP_TEXT, rules->is_gpu, rules->has_samples) != SPAN_KIND_COUNT;
	if (spans && spans->since_ns <= start_ns) {
		walk->spans.source = *spans;
		code = feed_advance(&walk->spans, error);
	} else {
		code = feed_open(&walk->spans, walk, stream, STORE_SPANS, start_ns,
			walk->sweep.rules.is_gpu ? columns | STORE_ATTRIBUTES : columns, error);
	}
	if (!code && walk->sweep.rules.has_samples)
		code = feed_open(&walk->samples, walk, stream, STORE_SAMPLES, start_ns,
			STORE_BEGIN | STORE_CONTEXT | STORE_FLAGS, error);
	return code;
}

struct state_rules extent_rules(const struct run_stream *r, const struct run_line *line)
{
	bool is_gpu = r->s.kind == STORE_STREAM_GPU;

	return (struct state_rules){.begin_ns = line->begin_ns,
		.end_ns = line->end_ns,
		.first_ns = line->first_ns,
		.last_ns = line->last_ns,
		.period_ns = line->period_ns,
		.is_gpu = is_gpu,
		.has_samples = !is_gpu && r->s.count[STORE_SAMPLES],
		.has_monitored = line->has_monitored,
		.has_switches = line->has_switches};
}

int extent_open(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	return extent_open_read(walk, run, stream, begin_ns, end_ns, NULL, error);
}

int extent_open_read(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, const struct extent_source *spans, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	struct extent_walk *w = calloc(1, sizeof *w);
	int code;

	*walk = NULL;
	if (!w)
		return error_memory(error);
	w->run = run;
	w->store = r->store;
	w->begin_ns = w->sweep.now_ns = begin_ns;
	w->end_ns = end_ns;
	w->sweep.names = (struct tie_names){path_of, operation_of, run};
	w->samples.next_ns = w->spans.next_ns = UINT64_MAX;
	memset(w->kinds, 0, sizeof w->kinds);
	code = run_line(run, stream, &w->line, error);
	if (!code)
		w->sweep.rules = extent_rules(r, w->line);
	/* Outside the stream's life there is nothing to read. */
	if (!code && begin_ns < end_ns && begin_ns < w->line->end_ns && end_ns > w->line->begin_ns)
		code = open_feeds(w, stream, r, spans, error);
	if (code) {
		extent_close(w);
		return code;
	}
	*walk = w;
	return 0;
}

void extent_tell_resumed(struct extent_walk *walk)
{
	walk->tells_resumed = true;
}

void extent_tell_ended(struct extent_walk *walk)
{
	walk->tells_ended = true;
}

void extent_tell_classes(struct extent_walk *walk, const struct extent_classes *classes)
{
	walk->classes = *classes;
}

void extent_close(struct extent_walk *walk)
{
	if (!walk)
		return;
	scan_close(walk->samples.scan);
	scan_close(walk->spans.scan);
	state_timeline_fini(&walk->sweep);
	free(walk);
}

/* The piece that holds time_ns in a walk from *begin_ns on, or from the sample that is in force there. */
static int find_from(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t time_ns,
	struct extent *extent, struct error *error)
{
	struct extent_walk *walk;
	long count;
	int code = extent_open(&walk, run, stream, begin_ns, UINT64_MAX, error);

	if (code)
		return code;
	/* What the sweep knows from before the window may be shown, too. */
	walk->begin_ns = walk->sweep.now_ns;
	do
		count = extent_next(walk, extent, 1, error);
	while (count > 0 && extent->end_ns <= time_ns);
	extent_close(walk);
	return count < 0 ? (int)count : 0;
}

int extent_at(struct run *run, uint32_t stream, uint64_t time_ns, struct extent *extent, struct error *error)
{
	uint64_t back_ns = 0;

	*extent = (struct extent){.begin_ns = time_ns, .end_ns = time_ns, .state = EXTENT_ABSENT};
	/* Farther and farther back, until the piece is seen to begin. */
	for (;;) {
		uint64_t begin_ns = back_ns < time_ns ? time_ns - back_ns : 0;
		int code = find_from(run, stream, begin_ns, time_ns, extent, error);

		if (code || extent->is_record_begin || extent->begin_ns > begin_ns || !begin_ns)
			return code;
		back_ns = back_ns > UINT64_MAX / 64 ? UINT64_MAX : back_ns ? back_ns * 64 : 4096;
	}
}

int extent_in_force(
	struct run *run, uint32_t stream, uint64_t time_ns, bool *is_in_force, struct error *error)
{
	struct extent_walk *walk;
	struct extent extent;
	long count;
	int code = extent_open(&walk, run, stream, time_ns, time_ns + 1, error);

	*is_in_force = false;
	if (code)
		return code;
	do
		count = extent_next(walk, &extent, 1, error);
	while (count > 0 && extent.end_ns <= time_ns);
	*is_in_force = walk->sweep.force.holds && time_ns < walk->sweep.force.end_ns;
	extent_close(walk);
	return count < 0 ? (int)count : 0;
}
