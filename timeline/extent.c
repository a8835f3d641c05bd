/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent.c - the sweep that turns a stream's samples and spans into its line. At every moment the first of
 * these that holds owns the line:
 *
 *   CPU thread   absent  lost  unmonitored  sync  blocked  runnable  sample in force      unknown
 *   GPU queue    absent  lost  unmonitored  work  sync     blocked   runnable             idle
 *
 * Spans of one kind: the one that began last, of those that begin together the one that ends last.
 *
 * The sample in force is the last extent sample. Lost and unmonitored time ends its force. A
 * blocked or runnable span interrupts it: the thread comes back to where it was switched out, which
 * is the span's context where it names one. Without any such span in the stream the force ends two periods
 * after the sample. A CPU stream without samples (an import of spans) works where its spans say so.
 */
#include "timeline/extent.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/extent_stack.h"
#include "timeline/run_parts.h"
#include "timeline/scan.h"

#define PERIODS 2 /* that a sample stays in force without switch records */
#define KIND_CACHE 16u

/* Records of one track, one by one. */
struct feed {
	struct scan *scan;
	const struct batch *batch;
	size_t row;
	uint64_t next_ns; /* begin of the row; UINT64_MAX: no more */
	uint64_t ops;	  /* spans: bits of the operations that say something about the line */
	bool wants_texts; /* those that are texts, too */
};

/* The sample whose context holds the line. */
struct force {
	uint64_t begin_ns, end_ns;
	uint32_t context;
	bool holds;
};

struct extent_walk {
	struct run *run;
	const struct run_line *line;
	unsigned store;
	bool is_gpu, has_samples;
	uint64_t begin_ns, end_ns; /* window */
	uint64_t now_ns;
	struct feed samples, spans;
	struct extent_stack stacks[EXTENT_KIND_COUNT];
	struct force force;
	struct extent base;  /* what the line is but for samples, until steady_ns */
	uint64_t base_owner; /* its record's serial, 0: none */
	uint64_t steady_ns;  /* no later than now_ns: to be found out anew */
	bool is_base_open;   /* a sample in force shows */
	uint64_t serial;     /* of records: tells owners apart */
	uint64_t force_serial;
	struct extent held; /* grows until a different piece follows */
	uint64_t held_owner;
	bool has_held;
	struct { /* copies' attributes that were read already */
		uint32_t attributes;
		enum extent_state state;
	} kinds[KIND_CACHE];
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
	return state >= EXTENT_WORK && state <= EXTENT_SET;
}

/* ---- records in ---- */

static bool says_something(const struct feed *feed, uint32_t op)
{
	return op < STORE_OP_TEXT ? feed->ops >> op & 1 : feed->wants_texts;
}

/* Most spans of a thread with samples are launches and the like: passed over here, they cost next to nothing.
 */
static void feed_pass_over(struct feed *feed)
{
	const struct batch *batch = feed->batch;

	while (feed->row < batch->count && !says_something(feed, batch->what[feed->row]))
		feed->row++;
}

static int feed_advance(struct feed *feed, struct error *error)
{
	feed->row++;
	for (;;) {
		long count;

		if (feed->batch && feed->batch->track == STORE_SPANS)
			feed_pass_over(feed);
		if (feed->batch && feed->row < feed->batch->count)
			break;
		count = scan_next(feed->scan, &feed->batch, error);
		feed->row = 0;
		if (count <= 0) {
			feed->next_ns = UINT64_MAX;
			return (int)count;
		}
	}
	feed->next_ns = feed->batch->begin_ns[feed->row];
	return 0;
}

static int feed_open(struct feed *feed, struct extent_walk *walk, uint32_t stream, enum store_track track,
	uint64_t begin_ns, unsigned columns, struct error *error)
{
	int code =
		scan_open(&feed->scan, walk->run, stream, track, begin_ns, walk->end_ns, columns, 0, error);

	return code ? code : feed_advance(feed, error);
}

static void take_sample(struct extent_walk *walk)
{
	const struct feed *feed = &walk->samples;
	uint64_t time_ns = feed->next_ns, reach_ns = walk->line->period_ns;

	if (!(feed->batch->flags[feed->row] & STORE_RECORD_EXTENT))
		return;
	walk->force = (struct force){time_ns, UINT64_MAX, feed->batch->context[feed->row], true};
	walk->force_serial = ++walk->serial;
	if (reach_ns && !walk->line->has_switches && reach_ns < (UINT64_MAX - time_ns) / PERIODS)
		walk->force.end_ns = time_ns + PERIODS * reach_ns;
}

static enum extent_state copy_state(struct extent_walk *walk, uint32_t attributes)
{
	size_t size = 0;
	const char *text;

	if (walk->kinds[attributes % KIND_CACHE].attributes == attributes)
		return walk->kinds[attributes % KIND_CACHE].state;
	text = store_reader_text(run_store(walk->run, walk->store), attributes, &size);
	walk->kinds[attributes % KIND_CACHE].attributes = attributes;
	return walk->kinds[attributes % KIND_CACHE].state = extent_copy_state(text, size);
}

static int take_span(struct extent_walk *walk, struct error *error)
{
	const struct feed *feed = &walk->spans;
	const struct batch *b = feed->batch;
	struct extent_span span = {.begin_ns = b->begin_ns[feed->row],
		.end_ns = b->end_ns[feed->row],
		.context = b->context[feed->row],
		.op = b->what[feed->row],
		.serial = ++walk->serial};
	enum extent_kind kind = extent_kind_of(span.op, walk->is_gpu, walk->has_samples);

	if (kind == EXTENT_KIND_COUNT)
		return 0;
	span.state = extent_state_of(span.op, walk->is_gpu);
	if (span.op == STORE_OP_COPY && walk->is_gpu && b->attributes[feed->row])
		span.state = copy_state(walk, b->attributes[feed->row]);
	if (kind == EXTENT_KIND_MONITORED && span.end_ns == STORE_OPEN_NS)
		span.end_ns = walk->line->complete_ns;
	if (span.end_ns <= walk->now_ns || span.end_ns <= span.begin_ns)
		return 0;
	walk->steady_ns = 0;
	if ((kind == EXTENT_KIND_BLOCKED || kind == EXTENT_KIND_RUNNABLE) && span.context)
		walk->force.context = span.context;
	return extent_stack_push(&walk->stacks[kind], &span) ? 0 : error_memory(error);
}

/* Takes what begins now, samples before spans. */
static int take_all(struct extent_walk *walk, struct error *error)
{
	int code = 0;

	while (!code && (walk->samples.next_ns <= walk->now_ns || walk->spans.next_ns <= walk->now_ns)) {
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

static bool is_monitored(struct extent_walk *walk)
{
	const struct run_line *line = walk->line;

	if (line->has_monitored)
		return extent_stack_top(&walk->stacks[EXTENT_KIND_MONITORED], walk->now_ns) != NULL;
	return walk->now_ns >= line->first_ns && walk->now_ns < line->last_ns;
}

/* The span that owns the line now, NULL: none. */
static const struct extent_span *owner_span(struct extent_walk *walk)
{
	static const enum extent_kind cpu[] = {
		EXTENT_KIND_SYNC, EXTENT_KIND_BLOCKED, EXTENT_KIND_RUNNABLE, EXTENT_KIND_WORK};
	static const enum extent_kind gpu[] = {
		EXTENT_KIND_WORK, EXTENT_KIND_SYNC, EXTENT_KIND_BLOCKED, EXTENT_KIND_RUNNABLE};
	const enum extent_kind *order = walk->is_gpu ? gpu : cpu;
	const struct extent_span *span = NULL;

	for (int i = 0; i < 4 && !span; i++)
		span = extent_stack_top(&walk->stacks[order[i]], walk->now_ns);
	return span;
}

/* What the line is now but for samples. */
static void find_base(struct extent_walk *walk)
{
	const struct run_line *line = walk->line;
	struct extent *base = &walk->base;
	const struct extent_span *span = NULL;

	*base = (struct extent){.begin_ns = walk->now_ns, .state = EXTENT_ABSENT};
	walk->base_owner = 0;
	walk->is_base_open = false;
	if (walk->now_ns < line->begin_ns || walk->now_ns >= line->end_ns)
		return;
	span = extent_stack_top(&walk->stacks[EXTENT_KIND_LOST], walk->now_ns);
	if (!span)
		span = extent_stack_top(&walk->stacks[EXTENT_KIND_UNMONITORED], walk->now_ns);
	if (!span && !is_monitored(walk)) {
		base->state = EXTENT_UNMONITORED;
		return;
	}
	if (!span)
		span = owner_span(walk);
	if (!span) {
		base->state = walk->is_gpu ? EXTENT_IDLE : EXTENT_UNKNOWN;
		walk->is_base_open = true;
		return;
	}
	base->state = span->state;
	base->context = span->context;
	base->op = span->op;
	base->is_record_begin = span->begin_ns == walk->now_ns;
	walk->base_owner = span->serial;
}

/* The nearer of two moments that are still to come. */
static uint64_t nearer(const struct extent_walk *walk, uint64_t a_ns, uint64_t b_ns)
{
	return b_ns > walk->now_ns && b_ns < a_ns ? b_ns : a_ns;
}

/* Until when nothing but samples changes the line. */
static uint64_t steady_until(struct extent_walk *walk)
{
	const struct run_line *line = walk->line;
	uint64_t until = nearer(walk, walk->end_ns, walk->spans.next_ns);

	until = nearer(walk, until, line->begin_ns);
	until = nearer(walk, until, line->end_ns);
	if (!line->has_monitored) {
		until = nearer(walk, until, line->first_ns);
		until = nearer(walk, until, line->last_ns);
	}
	for (int kind = 0; kind < EXTENT_KIND_COUNT; kind++) {
		const struct extent_span *span = extent_stack_top(&walk->stacks[kind], walk->now_ns);

		if (span)
			until = nearer(walk, until, span->end_ns);
	}
	return until;
}

static bool is_dead(enum extent_state state)
{
	return state == EXTENT_ABSENT || state == EXTENT_LOST || state == EXTENT_UNMONITORED;
}

/* The next elementary piece; *owner tells its record from others, 0: none. */
static int step(struct extent_walk *walk, struct extent *piece, uint64_t *owner, struct error *error)
{
	int code = take_all(walk, error);

	if (code)
		return code;
	if (walk->now_ns >= walk->steady_ns) {
		find_base(walk);
		walk->steady_ns = steady_until(walk);
	}
	*piece = walk->base;
	piece->begin_ns = walk->now_ns;
	piece->end_ns = nearer(walk, walk->steady_ns, walk->samples.next_ns);
	*owner = walk->base_owner;
	walk->base.is_record_begin = false;
	if (walk->is_base_open && walk->force.holds && walk->now_ns < walk->force.end_ns) {
		piece->state = EXTENT_WORK;
		piece->context = walk->force.context;
		piece->is_record_begin = walk->force.begin_ns == walk->now_ns;
		piece->end_ns = nearer(walk, piece->end_ns, walk->force.end_ns);
		*owner = walk->force_serial;
	}
	if (is_dead(piece->state))
		walk->force.holds = false;
	walk->now_ns = piece->end_ns;
	return 0;
}

/* True when the piece was taken into the one that is held. */
static bool extend_held(struct extent_walk *walk, const struct extent *piece, uint64_t owner)
{
	struct extent *held = &walk->held;

	if (!walk->has_held || walk->held_owner != owner || held->state != piece->state ||
		held->context != piece->context || held->end_ns != piece->begin_ns)
		return false;
	held->end_ns = piece->end_ns;
	return true;
}

long extent_next(struct extent_walk *walk, struct extent *extents, size_t capacity, struct error *error)
{
	size_t count = 0;

	while (count < capacity && walk->now_ns < walk->end_ns) {
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

/* Where the sweep has to begin so that it knows the sample in force at the window's begin. */
static int find_start(
	const struct extent_walk *walk, const struct run_stream *r, uint64_t *start_ns, struct error *error)
{
	const struct run_part *part = &walk->run->parts[walk->store];
	struct store_record sample;
	int code;

	*start_ns = walk->begin_ns;
	if (!walk->has_samples || walk->begin_ns == UINT64_MAX)
		return 0;
	code = store_reader_sample_before(
		part->reader, r->id_in_store, run_part_store_time(part, walk->begin_ns) + 1, &sample, error);
	if (code > 0 && run_part_time(part, sample.begin_ns) < *start_ns)
		*start_ns = run_part_time(part, sample.begin_ns);
	return code < 0 ? code : 0;
}

static int open_feeds(
	struct extent_walk *walk, uint32_t stream, const struct run_stream *r, struct error *error)
{
	unsigned columns = STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT;
	uint64_t start_ns;
	int code = find_start(walk, r, &start_ns, error);

	if (code)
		return code;
	walk->now_ns = start_ns;
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		if (extent_kind_of(op, walk->is_gpu, walk->has_samples) != EXTENT_KIND_COUNT)
			walk->spans.ops |= (uint64_t)1 << op;
	walk->spans.wants_texts =
		extent_kind_of(STORE_OP_TEXT, walk->is_gpu, walk->has_samples) != EXTENT_KIND_COUNT;
	code = feed_open(&walk->spans, walk, stream, STORE_SPANS, start_ns,
		walk->is_gpu ? columns | STORE_ATTRIBUTES : columns, error);
	if (!code && walk->has_samples)
		code = feed_open(&walk->samples, walk, stream, STORE_SAMPLES, start_ns,
			STORE_BEGIN | STORE_CONTEXT | STORE_FLAGS, error);
	return code;
}

int extent_open(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	struct extent_walk *w = calloc(1, sizeof *w);
	int code;

	*walk = NULL;
	if (!w)
		return error_memory(error);
	w->run = run;
	w->store = r->store;
	w->is_gpu = r->s.kind == STORE_STREAM_GPU;
	w->has_samples = !w->is_gpu && r->s.count[STORE_SAMPLES];
	w->begin_ns = w->now_ns = begin_ns;
	w->end_ns = end_ns;
	w->samples.next_ns = w->spans.next_ns = UINT64_MAX;
	memset(w->kinds, 0, sizeof w->kinds);
	code = run_line(run, stream, &w->line, error);
	/* Outside the stream's life there is nothing to read. */
	if (!code && begin_ns < end_ns && begin_ns < w->line->end_ns && end_ns > w->line->begin_ns)
		code = open_feeds(w, stream, r, error);
	if (code) {
		extent_close(w);
		return code;
	}
	*walk = w;
	return 0;
}

void extent_close(struct extent_walk *walk)
{
	if (!walk)
		return;
	scan_close(walk->samples.scan);
	scan_close(walk->spans.scan);
	for (int kind = 0; kind < EXTENT_KIND_COUNT; kind++)
		extent_stack_fini(&walk->stacks[kind]);
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
	walk->begin_ns = walk->now_ns;
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
