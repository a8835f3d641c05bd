/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_retention.c - a flight recording against the same recording with all its records: what it says of
 * windows in what was kept is the same, of the whole run it knows the weights, and of windows in between it
 * says less, never more, and how much less.
 */
#include "tests/unit/timeline_small_run.h"

#include "store/read/reader_internal.h"
#include "store/rollup/rollup_internal.h"
#include "timeline/report/coverage.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/state_check.h"
#include "timeline/sum/window.h"

#define ROUNDS 6
#define STREAMS 3u /* sampled, switched out, a queue */
#define CONTEXTS 30u
#define WINDOWS 30
#define PERIOD_NS UINT64_C(1000000)
#define KEEP_NS (2000 * PERIOD_NS)
#define LENGTH_NS (12 * KEEP_NS)

enum { THINNED, FULL, BOTH };

struct made {
	struct small_run small[BOTH];
	uint64_t begin_ns, now_ns;
	uint64_t silent_from_ns; /* the first stream, for long */
	uint32_t attributes[STREAMS];
};

/* ---- recording the same twice ---- */

static void begin_made(struct made *made)
{
	memset(made, 0, sizeof *made);
	made->begin_ns = made->now_ns = small_below((uint64_t)1 << 50);
	made->silent_from_ns = made->begin_ns + small_below(LENGTH_NS);
	for (int which = 0; which < BOTH; which++) {
		struct store_writer *writer;

		small_begin(&made->small[which]);
		writer = made->small[which].writer;
		store_writer_metric(writer, "CPUTIME", "ns", false);
		for (uint32_t i = 0; i < CONTEXTS; i++)
			small_path(writer, (char[]){(char)('A' + i), '\0'});
		for (uint32_t stream = 0; stream < STREAMS; stream++) {
			char attributes[80];

			snprintf(attributes, sizeof attributes, "metric=CPUTIME,period_ns=%u%s",
				(unsigned)PERIOD_NS, stream == 1 ? ",switches=1" : "");
			if (stream == 2)
				small_gpu(writer, stream, made->begin_ns, STORE_OPEN_NS);
			else
				small_cpu(writer, stream, made->begin_ns, STORE_OPEN_NS);
			made->attributes[stream] = small_text(writer, attributes);
			small_span(writer, stream, made->begin_ns, STORE_OPEN_NS, STORE_OP_MONITORED, 0,
				attributes);
		}
	}
}

static void put(struct made *made, uint32_t stream, enum store_track track, const struct store_record *record)
{
	for (int which = 0; which < BOTH; which++)
		store_writer_append(made->small[which].writer, stream, track, record, 1);
}

static uint32_t draw_context(void)
{
	return STORE_CONTEXT_FIRST + (uint32_t)small_below(small_below(4) ? 3 : CONTEXTS);
}

static void put_sample(struct made *made, uint32_t stream, uint64_t at_ns)
{
	struct store_record record = {.begin_ns = at_ns,
		.end_ns = at_ns,
		.amount = PERIOD_NS - 5 + small_below(10),
		.context = draw_context(),
		.flags = STORE_RECORD_EXTENT};

	put(made, stream, STORE_SAMPLES, &record);
}

static void put_span(struct made *made, uint32_t stream, uint64_t at_ns, uint64_t length_ns, uint32_t op)
{
	struct store_record record = {
		.begin_ns = at_ns, .end_ns = at_ns + length_ns, .context = draw_context(), .what = op};

	put(made, stream, STORE_SPANS, &record);
}

/* Some time goes by, is complete, and is committed. */
static void go_on(struct made *made)
{
	uint64_t end_ns = made->now_ns + 1 + small_below(KEEP_NS / 3);
	bool is_quiet = !small_below(6);

	for (uint64_t t = made->now_ns; t < end_ns && !is_quiet;
		t += PERIOD_NS / 2 + small_below(PERIOD_NS)) {
		put_sample(made, 0, t);
		put_sample(made, 1, t);
		if (!small_below(4))
			put_span(made, 1, t, small_below(2 * PERIOD_NS), STORE_OP_BLOCKED + small_below(2));
		put_span(made, 2, t, small_below(PERIOD_NS), STORE_OP_KERNEL);
	}
	made->now_ns = end_ns;
	/* What has lasted for long, and begins in what was dropped. */
	if (!small_below(10) && end_ns - made->begin_ns > 2 * KEEP_NS)
		put_span(made, 1, end_ns - KEEP_NS * 3 / 2, KEEP_NS * 3 / 2, STORE_OP_RANGE);
	for (int which = 0; which < BOTH; which++) {
		struct store_writer *writer = made->small[which].writer;

		for (uint32_t stream = 0; stream < STREAMS; stream++)
			for (int track = 0; track < STORE_TRACK_COUNT; track++)
				store_writer_stream_edit(writer, stream)->complete_ns[track] = end_ns;
		if (which == THINNED)
			store_writer_keep(writer, end_ns, KEEP_NS);
		small_commit(&made->small[which]);
	}
}

static void close_made(struct made *made)
{
	for (int which = 0; which < BOTH; which++) {
		struct store_writer *writer = made->small[which].writer;

		for (uint32_t stream = 0; stream < STREAMS; stream++) {
			struct store_record span = {.begin_ns = made->begin_ns,
				.end_ns = made->now_ns,
				.what = STORE_OP_MONITORED,
				.attributes = made->attributes[stream]};

			store_writer_stream_edit(writer, stream)->end_ns = made->now_ns;
			store_writer_span_close(
				writer, stream, made->begin_ns << 8 | STORE_OP_MONITORED, &span);
		}
		small_close_writer(writer);
		made->small[which].writer = NULL;
	}
}

/* ---- asking ---- */

static struct run *open_run(const struct small_run *small, bool no_rollups)
{
	const struct run_options options = {.no_rollups = no_rollups};
	struct error error = {0};
	struct run *run;

	if (run_open(&run, small->path, &options, &error))
		fail_msg("%s", error.text);
	return run;
}

struct answer {
	uint64_t times[EXTENT_STATE_COUNT][CONTEXTS + STORE_CONTEXT_FIRST];
	uint64_t thinned_ns, total_ns;
	uint64_t weights[CONTEXTS + STORE_CONTEXT_FIRST], samples;
};

static void ask(struct answer *answer, struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	struct window *window;
	struct error error = {0};
	size_t count;

	memset(answer, 0, sizeof *answer);
	if (window_new(&window, run, &error) || window_add_time(window, stream, begin_ns, end_ns, &error) ||
		window_add_weight(window, stream, begin_ns, end_ns, &error))
		fail_msg("%s", error.text);
	for (const struct window_time *at = window_times(window, &count); count--; at++) {
		assert_true(at->context < CONTEXTS + STORE_CONTEXT_FIRST);
		if (at->op == STORE_OP_THINNED)
			answer->thinned_ns += at->time_ns;
		else
			answer->times[at->state][at->context] += at->time_ns;
		answer->total_ns += at->time_ns;
	}
	for (const struct window_weight *at = window_weights(window, &count); count--; at++) {
		answer->weights[at->context] += at->weight;
		answer->samples += at->samples;
	}
	window_free(window);
}

static void check_same(const struct answer *a, const struct answer *b)
{
	assert_memory_equal(a, b, sizeof *a);
}

/* What is known is right; what is not known is said to be thinned, to the ns, but for the stretch between
 * the dropped records and the first sample behind them, which is unknown. */
static void check_less(const struct answer *less, const struct answer *all)
{
	uint64_t missing_ns = 0, unknown_ns = less->thinned_ns;

	assert_true(less->total_ns == all->total_ns);
	for (int state = 0; state < EXTENT_STATE_COUNT; state++)
		for (uint32_t context = 0; context < CONTEXTS + STORE_CONTEXT_FIRST; context++) {
			uint64_t a = less->times[state][context], b = all->times[state][context];

			if (state == EXTENT_UNKNOWN && a > b) {
				unknown_ns += a - b;
				continue;
			}
			assert_true(a <= b);
			missing_ns += b - a;
		}
	assert_true(missing_ns == unknown_ns);
	assert_true(less->samples <= all->samples);
	for (uint32_t context = 0; context < CONTEXTS + STORE_CONTEXT_FIRST; context++)
		assert_true(less->weights[context] <= all->weights[context]);
}

/* From where on a CPU's line is known again: its first sample that was kept. */
static uint64_t known_from(struct run *run, uint32_t stream)
{
	struct store_reader *reader = run->parts[0].reader;
	uint32_t count;
	const struct store_stream *s = &store_reader_streams(reader, &count)[stream];
	struct store_cursor *cursor;
	struct store_chunk chunk;
	struct error error = {0};
	uint64_t from_ns = s->thinned_ns, found_ns = 0;
	struct store_batch batch;

	if (s->kind == STORE_STREAM_GPU)
		return from_ns;
	assert_false(store_cursor_open(&cursor, reader, stream, STORE_SAMPLES, 0, STORE_OPEN_NS, &error));
	store_batch_init(&batch);
	while (!found_ns && store_cursor_next(cursor, &chunk, &error) == 1) {
		assert_false(store_chunk_decode(&chunk, STORE_BEGIN, &batch, &error));
		for (size_t i = 0; i < batch.count && !found_ns; i++)
			if (batch.begin_ns[i] >= from_ns)
				found_ns = batch.begin_ns[i];
	}
	store_batch_fini(&batch);
	store_cursor_close(cursor);
	return found_ns ? found_ns : STORE_OPEN_NS;
}

static void check_sound(struct run *run)
{
	struct error error = {0};
	uint64_t rollups;

	if (store_reader_check(run->parts[0].reader, &error) || state_check(run, &rollups, &error))
		fail_msg("%s", error.text);
}

static uint64_t check_made(const struct made *made)
{
	struct run *thinned = open_run(&made->small[THINNED], false);
	struct run *naive = open_run(&made->small[THINNED], true);
	struct run *full = open_run(&made->small[FULL], true);
	uint64_t length_ns = made->now_ns - made->begin_ns + 2, known_ns = 0;
	struct answer a, b;

	check_sound(thinned);
	for (int i = 0; i < WINDOWS; i++) {
		uint32_t stream = (uint32_t)small_below(STREAMS);
		uint64_t from_ns = known_from(thinned, stream);
		uint64_t begin_ns = made->begin_ns + small_below(length_ns);
		uint64_t end_ns = made->begin_ns + small_below(length_ns);

		if (begin_ns > end_ns)
			begin_ns = made->begin_ns;
		ask(&a, thinned, stream, begin_ns, end_ns);
		ask(&b, full, stream, begin_ns, end_ns);
		if (begin_ns >= from_ns) {
			check_same(&a, &b);
			ask(&a, naive, stream, begin_ns, end_ns);
			check_same(&a, &b);
		} else {
			check_less(&a, &b);
			known_ns += a.total_ns - a.thinned_ns;
			ask(&a, naive, stream, begin_ns, end_ns);
			check_less(&a, &b);
		}
	}
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		ask(&a, thinned, stream, 0, STORE_OPEN_NS);
		ask(&b, full, stream, 0, STORE_OPEN_NS);
		assert_memory_equal(a.weights, b.weights, sizeof a.weights);
		assert_true(a.samples == b.samples);
		check_less(&a, &b);
	}
	run_close(thinned);
	run_close(naive);
	run_close(full);
	return known_ns;
}

static uint64_t dropped(const struct small_run *small, uint64_t *kept)
{
	struct run *run = open_run(small, false);
	uint64_t count = 0;

	*kept = 0;
	for (uint32_t i = 0; i < run_stream_count(run); i++)
		for (int track = 0; track < STORE_TRACK_COUNT; track++) {
			count += run_stream(run, i)->s.dropped[track];
			*kept += run_stream(run, i)->s.count[track] - run_stream(run, i)->s.dropped[track];
		}
	run_close(run);
	return count;
}

static void test_random(void **state)
{
	(void)state;
	small_seed("thin");
	for (int round = 0; round < ROUNDS; round++) {
		struct made made;
		uint64_t known_ns = 0, kept, gone;

		begin_made(&made);
		while (made.now_ns - made.begin_ns < LENGTH_NS) {
			go_on(&made);
			if (!small_below(20))
				known_ns += check_made(&made);
		}
		close_made(&made);
		known_ns += check_made(&made);
		gone = dropped(&made.small[THINNED], &kept);
		printf("%" PRIu64 " dropped, %" PRIu64 " kept, %.3f s known where records are gone\n", gone,
			kept, (double)known_ns / 1e9);
		assert_true(gone > 2 * kept);
		assert_true(known_ns > 0);
		small_end(&made.small[THINNED]);
		small_end(&made.small[FULL]);
	}
}

/* Pages of what was dropped are used again. */
static void test_size(void **state)
{
	struct made made;
	struct stat file = {0};
	char path[128];
	off_t early = 0;

	(void)state;
	small_seed("thin_size");
	begin_made(&made);
	snprintf(path, sizeof path, "%s/node-1.mdb", made.small[THINNED].path);
	for (unsigned part = 1; part <= 20; part++) {
		while (made.now_ns - made.begin_ns < part * 4 * KEEP_NS)
			go_on(&made);
		assert_false(stat(path, &file));
		early = part == 2 ? file.st_size : early;
	}
	printf("%ld bytes after 8 times what is kept, %ld after 80 times\n", (long)early, (long)file.st_size);
	assert_true(file.st_size < 3 * early);
	close_made(&made);
	small_end(&made.small[THINNED]);
	small_end(&made.small[FULL]);
}

/* What comes later than it is kept is counted as lost, and drops nothing that is there. */
static void test_late(void **state)
{
	struct made made;
	struct run *run;

	(void)state;
	small_seed("thin_late");
	begin_made(&made);
	while (made.now_ns - made.begin_ns < 4 * KEEP_NS)
		go_on(&made);
	small_sample(made.small[THINNED].writer, 0, made.begin_ns + 1, STORE_CONTEXT_FIRST, 0, 1);
	small_span(made.small[THINNED].writer, 2, made.begin_ns, made.begin_ns + 5, STORE_OP_KERNEL, 0, "");
	go_on(&made);
	close_made(&made);
	check_made(&made);
	run = open_run(&made.small[THINNED], false);
	assert_int_equal(run_stream(run, 0)->s.lost, 1);
	assert_int_equal(run_stream(run, 2)->s.lost, 1);
	run_close(run);
	small_end(&made.small[THINNED]);
	small_end(&made.small[FULL]);
}

/* ---- sums that are wrong ---- */

/* Is this a rollup of dropped samples in no other one but that of the whole track, whose bucket ends at
 * *top_ns then? */
static bool is_top(const struct store_reader *reader, const struct store_key_rollup *key, uint64_t *top_ns)
{
	uint64_t last_ns = store_rollup_last(key->begin_ns, key->shift);

	if (key->kind != STORE_SAMPLES || key->stream || (*top_ns && key->begin_ns <= *top_ns) ||
		last_ns >= store_reader_at(reader, 0)->thinned_ns)
		return false;
	*top_ns = last_ns;
	return true;
}

/* One of the first stream; empty once there are no more. */
static struct store_slice find_sums(struct store_reader *reader, unsigned skip, struct store_key_rollup *key)
{
	struct store_tree_cursor cursor;
	struct error error = {0};
	uint64_t top_ns = 0;
	int code;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	for (code = store_tree_seek(&cursor, "", 0, &error); code == 1;
		code = store_tree_next(&cursor, &error)) {
		assert_true(store_key_rollup_get(key, cursor.key.bytes, cursor.key.size));
		if (is_top(reader, key, &top_ns) && !skip--)
			return cursor.value;
	}
	return (struct store_slice){0};
}

static void flip(struct store_bytes *spoilt, struct store_slice value)
{
	store_bytes_put(spoilt, value.bytes, value.size);
	spoilt->data[small_below(value.size)] ^= (uint8_t)(1 << small_below(8));
}

/* A sample more, sealed as the writer seals; empty when that does not fit where it lay. */
static void lie(struct store_bytes *spoilt, struct store_reader *reader, const struct store_key_rollup *key,
	struct store_slice value)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	struct error error = {0};

	assert_true(store_rollup_read(
			    reader, key, value, STORE_ROLLUP_WEIGHTS | STORE_ROLLUP_TIMES, &error) >= 0);
	store_key_rollup_put(bytes, key);
	for (uint32_t i = 0; i < reader->sums.count && spoilt->size != value.size; i++) {
		reader->sums.entries[i].samples++;
		store_bytes_begin_sealed(spoilt);
		store_context_sums_put(&reader->sums, spoilt);
		store_bytes_seal(spoilt, bytes, sizeof bytes);
		reader->sums.entries[i].samples--;
	}
	if (spoilt->size != value.size)
		spoilt->size = 0;
}

/* Is a rollup that was spoilt found? False: there is none, or none that can be. */
static bool check_spoilt(const struct small_run *small, unsigned skip, bool is_lie)
{
	struct run *run = open_run(small, false);
	struct store_reader *reader = run->parts[0].reader;
	struct store_key_rollup key;
	struct store_slice value = find_sums(reader, skip, &key);
	struct store_bytes spoilt = {0}, whole = {0};
	struct error error = {0};
	bool is_spoilt;
	char path[128];

	snprintf(path, sizeof path, "%s/node-1.mdb", small->path);
	store_bytes_put(&whole, value.bytes, value.size);
	if (value.size && is_lie)
		lie(&spoilt, reader, &key, value);
	else if (value.size)
		flip(&spoilt, value);
	run_close(run);
	if (spoilt.size) {
		small_overwrite(path, (struct store_slice){whole.data, whole.size}, &spoilt);
		run = open_run(small, false);
		assert_int_equal(store_reader_check(run->parts[0].reader, &error), -ERROR_RUN);
		run_close(run);
		small_overwrite(path, (struct store_slice){spoilt.data, spoilt.size}, &whole);
	}
	is_spoilt = spoilt.size > 0;
	store_bytes_fini(&whole);
	store_bytes_fini(&spoilt);
	return is_spoilt;
}

/* Sums of dropped samples are the record: nobody would find out otherwise. While it is recorded, too: nothing
 * sums up the whole track then. */
static void check_all_spoilt(const struct made *made)
{
	unsigned found[2] = {0, 0};

	for (unsigned skip = 0; skip < 20; skip++)
		for (int is_lie = 0; is_lie < 2; is_lie++)
			found[is_lie] += check_spoilt(&made->small[THINNED], skip, is_lie);
	printf("%u changed, %u told a lie\n", found[0], found[1]);
	assert_true(found[0] > 2); /* few lies fit */
	check_made(made);
}

static void test_spoilt(void **state)
{
	struct made made;

	(void)state;
	small_seed("thin_spoilt");
	begin_made(&made);
	while (made.now_ns - made.begin_ns < LENGTH_NS)
		go_on(&made);
	check_all_spoilt(&made);
	close_made(&made);
	check_all_spoilt(&made);
	small_end(&made.small[THINNED]);
	small_end(&made.small[FULL]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_size),
		cmocka_unit_test(test_late), cmocka_unit_test(test_spoilt)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
