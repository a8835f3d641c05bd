/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_extent.c - the line of random small streams against a twin that asks, for every single
 * nanosecond, all records what they say; and the laws: pieces tile a window, partitions sum to the whole.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/scan/extent.h"

#define ROUNDS 400
#define LENGTH 160u /* ns */
#define RECORDS 40

struct trace {
	bool is_gpu, is_open, has_life;
	uint64_t base_ns; /* all times are from here */
	uint64_t begin, end, complete;
	uint64_t period;
	struct store_record samples[RECORDS], spans[RECORDS];
	size_t sample_count, span_count;
	uint32_t contexts[6];
	uint32_t attributes[5];
	struct store_writer *writer;
};

/* What the twin finds at one nanosecond. */
struct moment {
	enum extent_state state;
	uint32_t context, op;
	uint64_t owner_begin; /* UINT64_MAX: none */
	const struct store_record *owner;
};

/* ---- the twin ---- */

static enum extent_state work_state(const struct trace *t, const struct store_record *span)
{
	if (!t->is_gpu)
		return EXTENT_WORK;
	if (span->what == STORE_OP_KERNEL || span->what == STORE_OP_GRAPH)
		return EXTENT_KERNEL;
	if (span->what != STORE_OP_COPY)
		return EXTENT_SET;
	if (span->attributes == t->attributes[1])
		return EXTENT_COPY_IN;
	return span->attributes == t->attributes[2] ? EXTENT_COPY_OUT : EXTENT_SET;
}

/* What comes last of one time is seen: by path hash, then operation, then what a copy's kind makes of it. */
static int compare(const void *left, const void *right, void *own)
{
	const struct store_record *a = left, *b = right;
	const struct trace *t = own;
	struct store_hash x = store_writer_context_at(t->writer, a->context).hash,
			  y = store_writer_context_at(t->writer, b->context).hash;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (x.high != y.high || x.low != y.low)
		return (x.high != y.high ? x.high < y.high : x.low < y.low) ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (int)work_state(t, a) - (int)work_state(t, b);
}

static uint64_t until(const struct trace *t, const struct store_record *span)
{
	if (span->end_ns != STORE_OPEN_NS || span->what != STORE_OP_MONITORED)
		return span->end_ns;
	return t->is_open ? t->base_ns + t->complete : t->base_ns + t->end;
}

static bool has(const struct trace *t, uint32_t op)
{
	for (size_t i = 0; i < t->span_count; i++)
		if (t->spans[i].what == op)
			return true;
	return false;
}

/* The span of one of these operations that covers the moment and began last. */
static const struct store_record *covering(const struct trace *t, uint64_t at, bool (*wanted)(uint32_t op))
{
	const struct store_record *best = NULL;

	for (size_t i = 0; i < t->span_count; i++)
		if (wanted(t->spans[i].what) && t->spans[i].begin_ns <= at && until(t, &t->spans[i]) > at)
			best = &t->spans[i];
	return best;
}

static bool is_monitored(uint32_t op)
{
	return op == STORE_OP_MONITORED;
}
static bool is_lost(uint32_t op)
{
	return op == STORE_OP_LOST;
}
static bool is_unmonitored(uint32_t op)
{
	return op == STORE_OP_UNMONITORED;
}
static bool is_sync(uint32_t op)
{
	return op == STORE_OP_SYNC;
}
static bool is_blocked(uint32_t op)
{
	return op == STORE_OP_BLOCKED;
}
static bool is_runnable(uint32_t op)
{
	return op == STORE_OP_RUNNABLE;
}
static bool is_work(uint32_t op)
{
	return op == STORE_OP_KERNEL || op == STORE_OP_COPY || op == STORE_OP_SET || op == STORE_OP_MPI ||
	       op == STORE_OP_GRAPH;
}

static void reach(const struct trace *t, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < t->sample_count; i++) {
		*first = t->samples[i].begin_ns < *first ? t->samples[i].begin_ns : *first;
		*last = t->samples[i].begin_ns > *last ? t->samples[i].begin_ns : *last;
	}
	for (size_t i = 0; i < t->span_count; i++) {
		const struct store_record *s = &t->spans[i];
		uint64_t end = s->end_ns == STORE_OPEN_NS ? s->begin_ns : s->end_ns;

		*first = s->begin_ns < *first ? s->begin_ns : *first;
		*last = end > *last ? end : *last;
	}
}

static enum extent_state dead_state(const struct trace *t, uint64_t at, const struct store_record **owner)
{
	uint64_t first, last;

	*owner = NULL;
	reach(t, &first, &last);
	if (at < t->base_ns + t->begin || (!t->is_open && at >= t->base_ns + t->end))
		return EXTENT_ABSENT;
	if ((*owner = covering(t, at, is_lost)))
		return EXTENT_LOST;
	if ((*owner = covering(t, at, is_unmonitored)))
		return EXTENT_UNMONITORED;
	if (has(t, STORE_OP_MONITORED) ? !covering(t, at, is_monitored) : at < first || at >= last)
		return EXTENT_UNMONITORED;
	return EXTENT_STATE_COUNT;
}

static bool set(struct moment *m, enum extent_state state, const struct store_record *owner)
{
	if (!owner)
		return false;
	*m = (struct moment){state, owner->context, owner->what, owner->begin_ns, owner};
	return true;
}

/* The sample in force, NULL: none. */
static const struct store_record *in_force(const struct trace *t, uint64_t at, uint32_t *context)
{
	const struct store_record *sample = NULL, *owner;
	bool has_switches = has(t, STORE_OP_BLOCKED) || has(t, STORE_OP_RUNNABLE);

	for (size_t i = 0; i < t->sample_count; i++)
		if (t->samples[i].begin_ns <= at && t->samples[i].flags & STORE_RECORD_EXTENT)
			sample = &t->samples[i];
	if (!sample)
		return NULL;
	for (uint64_t u = sample->begin_ns; u < at; u++)
		if (dead_state(t, u, &owner) != EXTENT_STATE_COUNT)
			return NULL;
	if (t->period && has(t, STORE_OP_MONITORED) && !has_switches &&
		at >= sample->begin_ns + 2 * t->period)
		return NULL;
	*context = sample->context;
	return sample;
}

static struct moment twin(const struct trace *t, uint64_t at)
{
	const struct store_record *owner;
	struct moment m = {dead_state(t, at, &owner), 0, 0, UINT64_MAX, NULL};
	const struct store_record *work = covering(t, at, is_work);
	uint32_t context;

	if (m.state != EXTENT_STATE_COUNT) {
		set(&m, m.state, owner);
		return m;
	}
	if (t->is_gpu && work && set(&m, work_state(t, work), work))
		return m;
	if (set(&m, EXTENT_SYNC, covering(t, at, is_sync)) ||
		set(&m, EXTENT_BLOCKED, covering(t, at, is_blocked)) ||
		set(&m, EXTENT_RUNNABLE, covering(t, at, is_runnable)))
		return m;
	m.state = t->is_gpu ? EXTENT_IDLE : EXTENT_UNKNOWN;
	if (t->is_gpu)
		return m;
	if (!t->sample_count) {
		if (work)
			set(&m, EXTENT_WORK, work);
		return m;
	}
	owner = in_force(t, at, &context);
	if (owner)
		m = (struct moment){EXTENT_WORK, context, STORE_OP_NONE, owner->begin_ns, owner};
	return m;
}

/* ---- random streams ---- */

static void draw_samples(struct trace *t)
{
	if (t->is_gpu || !small_below(4))
		return;
	t->sample_count = small_below(10);
	for (size_t i = 0; i < t->sample_count; i++) {
		uint64_t at = t->base_ns + small_below(LENGTH);

		t->samples[i] = (struct store_record){.begin_ns = at,
			.end_ns = at,
			.amount = small_below(9),
			.context = t->contexts[1 + small_below(5)],
			.flags = small_below(5) ? STORE_RECORD_EXTENT : 0};
	}
	qsort_r(t->samples, t->sample_count, sizeof *t->samples, compare, t);
}

static void draw_spans(struct trace *t)
{
	static const uint32_t ops[] = {STORE_OP_KERNEL, STORE_OP_COPY, STORE_OP_SET, STORE_OP_SYNC,
		STORE_OP_MPI, STORE_OP_RANGE, STORE_OP_MARK, STORE_OP_LOST, STORE_OP_UNMONITORED,
		STORE_OP_MONITORED, STORE_OP_GRAPH, STORE_OP_BLOCKED, STORE_OP_RUNNABLE};
	/* Without switches half of the time. */
	size_t choices = sizeof ops / sizeof *ops - (small_below(2) ? 2 : 0);
	size_t count = small_below(16);

	if (small_below(3))
		t->spans[t->span_count++] = (struct store_record){.begin_ns = t->base_ns + small_below(10),
			.end_ns = t->base_ns + LENGTH - small_below(40),
			.what = STORE_OP_MONITORED,
			.attributes = t->attributes[4]};
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = t->base_ns + small_below(LENGTH);
		uint32_t op = ops[small_below(choices)];

		t->spans[t->span_count++] = (struct store_record){.begin_ns = begin,
			.end_ns = small_below(10) ? begin + small_below(40) : STORE_OPEN_NS,
			.context = t->contexts[small_below(6)],
			.what = op,
			.attributes =
				op == STORE_OP_MONITORED ? t->attributes[4] : t->attributes[small_below(4)]};
	}
	qsort_r(t->spans, t->span_count, sizeof *t->spans, compare, t);
}

static void draw_trace(struct trace *t, struct store_writer *writer)
{
	static const char *const paths[] = {"main", "main;a", "main;b", "main;a;c", "main;b;d"};
	static const char *const attributes[] = {"", "kind=H2D", "x=1,kind=D2H,y=2", "kind=D2D"};
	char period[64];

	*t = (struct trace){.is_gpu = small_below(3) == 0, .is_open = small_below(3) == 0, .writer = writer};
	t->base_ns = small_below(2) ? 1 + small_below(1u << 20) : 1000000007ull * (1 + small_below(1000));
	t->begin = small_below(2) ? 0 : small_below(30);
	t->end = small_below(2) ? LENGTH : LENGTH - small_below(30);
	t->complete = LENGTH - small_below(50);
	t->period = small_below(3) ? 3 + small_below(10) : 0;
	for (int i = 0; i < 5; i++)
		t->contexts[i + 1] = small_path(writer, paths[i]);
	for (int i = 0; i < 4; i++)
		t->attributes[i] = small_text(writer, attributes[i]);
	snprintf(
		period, sizeof period, t->period ? "metric=CPUTIME,period_ns=%" PRIu64 : "name=x", t->period);
	t->attributes[4] = small_text(writer, period);
	draw_samples(t);
	draw_spans(t);
}

static uint32_t write_trace(const struct trace *t, struct store_writer *writer)
{
	uint64_t end = t->is_open ? STORE_OPEN_NS : t->base_ns + t->end;
	uint32_t stream = t->is_gpu ? small_gpu(writer, 1, t->base_ns + t->begin, end)
				    : small_cpu(writer, 0, t->base_ns + t->begin, end);
	struct store_stream *s = store_writer_stream_edit(writer, stream);

	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		s->complete_ns[track] = t->base_ns + t->complete;
	store_writer_metric(writer, "CPUTIME", "ns", false);
	store_writer_append(writer, stream, STORE_SAMPLES, t->samples, t->sample_count);
	for (size_t i = 0; i < t->span_count; i++) {
		if (t->spans[i].end_ns == STORE_OPEN_NS)
			store_writer_span_open(writer, stream, i, &t->spans[i]);
		else
			store_writer_append(writer, stream, STORE_SPANS, &t->spans[i], 1);
	}
	return stream;
}

/* ---- comparison ---- */

static size_t walk(struct run *run, uint64_t begin, uint64_t end, size_t capacity, struct extent *out)
{
	struct extent_walk *w;
	struct error error = {0};
	size_t total = 0;
	long count;

	assert_int_equal(extent_open(&w, run, 0, begin, end, &error), 0);
	while ((count = extent_next(w, out + total, capacity, &error)) > 0)
		total += (size_t)count;
	assert_int_equal(count, 0);
	extent_close(w);
	return total;
}

static void check_window(const struct trace *t, struct run *run, uint64_t begin, uint64_t end)
{
	static struct extent pieces[4 * LENGTH];
	size_t count = walk(run, begin, end, 1 + small_below(7), pieces);
	uint64_t at = begin;

	for (size_t i = 0; i < count; i++) {
		const struct extent *p = &pieces[i];

		assert_int_equal(p->begin_ns, at);
		assert_true(p->end_ns > p->begin_ns);
		for (; at < p->end_ns; at++) {
			struct moment m = twin(t, at);

			if (m.state != p->state || m.context != p->context || m.op != p->op)
				fail_msg("at %" PRIu64 ": %s context %u op %u, the twin says %s %u %u",
					at - t->base_ns, extent_state_name(p->state), p->context, p->op,
					extent_state_name(m.state), m.context, m.op);
			if (at == p->begin_ns)
				assert_int_equal(p->is_record_begin, m.owner_begin == at);
			else
				assert_true(m.owner_begin != at);
		}
	}
	assert_int_equal(at, end);
}

static void check_at(const struct trace *t, struct run *run, uint64_t at)
{
	struct extent piece;
	struct error error = {0};
	struct moment m = twin(t, at), before;

	assert_int_equal(extent_at(run, 0, at, &piece, &error), 0);
	assert_true(piece.begin_ns <= at && piece.end_ns > at);
	assert_int_equal(piece.state, m.state);
	assert_int_equal(piece.context, m.context);
	/* Whole: what lies before it is something else. */
	if (piece.begin_ns) {
		before = twin(t, piece.begin_ns - 1);
		assert_true(
			before.state != m.state || before.context != m.context || before.owner != m.owner);
	}
}

static void test_twin(void **unused)
{
	(void)unused;
	small_seed("extent.twin");
	for (int round = 0; round < ROUNDS; round++) {
		struct small_run small;
		struct trace t;

		small_begin(&small);
		draw_trace(&t, small.writer);
		write_trace(&t, small.writer);
		small_commit(&small);
		small_open(&small);
		check_window(&t, small.run, t.base_ns > 20 ? t.base_ns - 20 : 0, t.base_ns + LENGTH + 60);
		for (int i = 0; i < 12; i++) {
			uint64_t begin = t.base_ns + small_below(LENGTH);

			check_window(&t, small.run, begin, begin + small_below(LENGTH));
			check_at(&t, small.run, begin);
		}
		small_end(&small);
	}
}

/* ---- cases with a known answer ---- */

static void expect(struct run *run, uint32_t stream, uint64_t begin, uint64_t end, const char *wanted)
{
	struct extent_walk *w;
	struct error error = {0};
	struct extent e;
	char text[1024] = "";
	size_t used = 0;

	assert_int_equal(extent_open(&w, run, stream, begin, end, &error), 0);
	while (extent_next(w, &e, 1, &error) > 0) {
		struct arena arena = {0};

		used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 "%c%s",
			used ? " " : "", e.begin_ns, extent_state_glyph(e.state),
			run_context_path(run, e.context, UINT32_MAX, &arena));
		arena_fini(&arena);
	}
	extent_close(w);
	assert_string_equal(text, wanted);
}

static void test_unknown_after_two_periods(void **unused)
{
	struct small_run small;
	uint32_t stream, a, b, cpu;

	(void)unused;
	small_begin(&small);
	a = small_path(small.writer, "main;a");
	b = small_path(small.writer, "main;b");
	cpu = store_writer_metric(small.writer, "CPUTIME", "ns", false);
	stream = small_cpu(small.writer, 0, 100, 900);
	small_span(small.writer, stream, 100, 900, STORE_OP_MONITORED, 0, "metric=CPUTIME,period_ns=100");
	small_sample(small.writer, stream, 100, a, cpu, 0);
	small_sample(small.writer, stream, 200, b, cpu, 100);
	small_sample(small.writer, stream, 600, a, cpu, 100);
	small_span(small.writer, stream, 620, 700, STORE_OP_LOST, 0, "");
	small_sample(small.writer, stream, 850, b, cpu, 100);
	small_ready(&small);
	expect(small.run, 0, 50, 950, "50  100=main;a 200=main;b 400' 600=main;a 620! 700' 850=main;b 900 ");
	expect(small.run, 0, 300, 450, "300=main;b 400'");
	assert_int_equal(run_stream_read(small.run, 0)->period_ns, 100);
	assert_string_equal(run_stream_read(small.run, 0)->metric, "CPUTIME");
	small_end(&small);
}

static void test_blocked_comes_back(void **unused)
{
	struct small_run small;
	uint32_t stream, a, b, cpu;

	(void)unused;
	small_begin(&small);
	a = small_path(small.writer, "main;a");
	b = small_path(small.writer, "main;read");
	cpu = store_writer_metric(small.writer, "CPUTIME", "ns", false);
	stream = small_cpu(small.writer, 0, 0, 1000);
	small_span(small.writer, stream, 0, 1000, STORE_OP_MONITORED, 0, "metric=CPUTIME,period_ns=10");
	small_sample(small.writer, stream, 100, a, cpu, 0);
	small_span(small.writer, stream, 300, 400, STORE_OP_BLOCKED, b, "");
	small_span(small.writer, stream, 500, 600, STORE_OP_RUNNABLE, 0, "");
	small_ready(&small);
	expect(small.run, 0, 0, 700, "0' 100=main;a 300-main;read 400=main;a 500/ 600=main;a");
	expect(small.run, 0, 650, 700, "650=main;a");
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown_after_two_periods),
		cmocka_unit_test(test_blocked_comes_back), cmocka_unit_test(test_twin)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
