/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_laws.c - slice | import | slice gives the same bytes, and the same answers to other questions, for
 * every shape of run that hpct-simulate makes; rows that are damaged make no run and no crash.
 */
#include "tests/unit/timeline_small_run.h"

#include "formats/base/stream_text.h"
#include "formats/format_table.h"
#include "tests/simulate.h"
#include "timeline/profile/profile.h"
#include "timeline/stats/stats.h"

struct spot {
	char directory[64], run[80], again[80], other[80];
};

static void place_begin(struct spot *place)
{
	*place = (struct spot){.directory = "/tmp/hpct-test-laws-XXXXXX"};
	assert_non_null(mkdtemp(place->directory));
	sprintf(place->run, "%s/a.hpct", place->directory);
	sprintf(place->again, "%s/b.hpct", place->directory);
	sprintf(place->other, "%s/c.hpct", place->directory);
}

static void place_end(struct spot *place)
{
	small_remove(place->run);
	small_remove(place->again);
	small_remove(place->other);
	small_remove(place->directory);
	assert_int_not_equal(access(place->directory, F_OK), 0); /* nothing hidden was left in it */
}

static struct run *open_run(const char *path)
{
	struct error error = {0};
	struct run *run;

	if (run_open(&run, path, NULL, &error))
		fail_msg("%s", error.text);
	return run;
}

static struct select *everything(struct run *run, const char *name, const char *value)
{
	struct select *select;
	struct error error = {0};

	if (select_new(&select, &error) || (name && select_option(select, name, value, &error)) ||
		select_bind(select, run, &error))
		fail_msg("%s", error.text);
	return select;
}

static char *exported(const struct format *format, struct run *run, size_t *size)
{
	struct select *select = everything(run, NULL, NULL);
	struct error error = {0};
	char *text = NULL;
	struct format_output output = {.out = open_memstream(&text, size)};

	if (format->put(run, select, &output, &error))
		fail_msg("%s", error.text);
	fclose(output.out);
	store_bytes_fini(&output.left_out);
	select_free(select);
	return text;
}

static int import_text(const char *text, size_t size, const char *path, struct error *error)
{
	FILE *in = fmemopen((void *)text, size > 0 ? size : 1, "r");
	struct format_input input = {.in = in, .name = "rows", .fd = -1};
	int rc = format_tsv.take(&input, path, error);

	fclose(in);
	return rc;
}

/* Rows of the profile and of the statistics as one text. */
static char *answers(struct run *run)
{
	struct select *select = everything(run, NULL, NULL);
	struct arena arena = {0};
	struct profile profile;
	struct stats stats;
	struct error error = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (profile_compute(&profile, run, select, PROFILE_TOP_DOWN, &arena, &error) ||
		stats_of_selection(&stats, run, select, STATS_PATH, NULL, &arena, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < profile.count; i++)
		if (profile.rows[i].depth == 0)
			fprintf(out, "%" PRIu64 "\n", profile.rows[i].inclusive[0].number);
	for (size_t i = 0; i < stats.count; i++)
		fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", stats.rows[i].key, stats.rows[i].time_ns,
			stats.rows[i].records);
	fclose(out);
	arena_fini(&arena);
	select_free(select);
	return text;
}

static void assert_round_trip(const char *shape, uint64_t seed)
{
	struct spot place;
	struct simulate_options options = {.shape = shape, .streams = 5, .records = 4000, .seed = seed};
	struct error error = {0};
	struct run *run, *again;
	char *first, *second, *answer, *answer_again;
	size_t size, size_again;

	place_begin(&place);
	options.run = place.run;
	if (simulate_run(&options, &error))
		fail_msg("%s", error.text);
	run = open_run(place.run);
	first = exported(&format_tsv, run, &size);
	if (import_text(first, size, place.again, &error))
		fail_msg("%s", error.text);
	again = open_run(place.again);
	second = exported(&format_tsv, again, &size_again);
	assert_int_equal(size_again, size);
	assert_memory_equal(second, first, size);
	answer = answers(run);
	answer_again = answers(again);
	/* of odd samples at one time it depends on context ids, which rows do not hold, who owns the line */
	if (strcmp(shape, "odd") != 0)
		assert_string_equal(answer_again, answer);
	assert_int_equal(strtoull(answer_again, NULL, 10), strtoull(answer, NULL, 10));
	free(first);
	free(second);
	free(answer);
	free(answer_again);
	run_close(run);
	run_close(again);
	place_end(&place);
}

static void test_round_trip(void **state)
{
	uint64_t end, first = seed_rounds(__func__, 3, &end);

	(void)state;
	for (unsigned i = 0; simulate_shape_name(i); i++)
		for (uint64_t seed = first; seed < end; seed++)
			assert_round_trip(simulate_shape_name(i), seed);
}

/* Lines in any order, columns in any order and some more of them, give the same run. */
static void test_any_order(void **state)
{
	static const char rows[] = "x\tweight\tbegin_ns\tstream\tpath\tmetric\n"
				   "\t3\t20\tcpu:h/0/1.0/0\tmain;b\tCPUTIME\r\n"
				   "\n"
				   "y\t\t10\tcpu:h/0/1.0/0\tmain\n"
				   "\t7\t10\tcpu:h/0/1.0/0\t<program root>;main";
	static const char want[] =
		"stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n"
		"cpu:h/0/1.0/0\tsamples\t10\t\tmain\t\t\t0\tCPUTIME\t\t\n"
		"cpu:h/0/1.0/0\tsamples\t10\t\tmain\t\t\t7\tCPUTIME\t\t\n"
		"cpu:h/0/1.0/0\tsamples\t20\t\tmain;b\t\t\t3\tCPUTIME\t\t\n";
	struct spot place;
	struct error error = {0};
	struct run *run;
	size_t size;
	char *text;

	(void)state;
	place_begin(&place);
	if (import_text(rows, sizeof rows - 1, place.run, &error))
		fail_msg("%s", error.text);
	run = open_run(place.run);
	text = exported(&format_tsv, run, &size);
	assert_string_equal(text, want);
	free(text);
	run_close(run);
	place_end(&place);
}

/* Bytes changed, doubled and cut at random: a sentence or a sound run, never a crash, never half a run. */
static void test_damaged_rows(void **state)
{
	static const char rows[] =
		"stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n"
		"cpu:h/0/1.0/0\tspans\t0\t\t\tmonitored\t\t\t\t\tname=a\\,b,metric=CPUTIME,tid=7\n"
		"cpu:h/0/1.0/0\tsamples\t10\t\tmain;f\\;g\\x01\t\t\t7\tCPUTIME\t\t\n"
		"gpu:h/0/1.0/0/1/2\tspans\t20\t40\tmain;<gpu kernel>;k\tkernel\t4096\t\t\t\tlink=3\n"
		"gpu:h/0/1.0/0/1/2\tvalues\t20\t\t\t\t\t\tpower\t1.5\t\n";
	static const char likely[] = "\t\n\\;,=/.:-0129x";
	struct spot place;
	unsigned refused = 0, taken = 0;

	(void)state;
	small_seed("damaged_rows");
	place_begin(&place);
	for (int round = 0; round < 600; round++) {
		char text[2 * sizeof rows];
		size_t size = sizeof rows - 1;
		struct error error = {0};
		int rc;

		memcpy(text, rows, sizeof rows);
		for (uint64_t change = 0, changes = 1 + small_below(3); change < changes; change++)
			text[small_below(size)] = small_below(4) ? likely[small_below(sizeof likely - 1)]
								 : (char)small_below(256);
		if (small_below(4) == 0)
			size = small_below(size);
		rc = import_text(text, size, place.run, &error);
		assert_true(rc == 0 || (rc == -ERROR_RUN && error.text[0]));
		if (rc == 0) {
			struct run *run = open_run(place.run);

			for (unsigned i = 0; i < run_store_count(run); i++)
				assert_int_equal(store_reader_check(run_store(run, i), &error), 0);
			run_close(run);
			small_remove(place.run);
			taken++;
		} else {
			assert_int_not_equal(access(place.run, F_OK), 0);
			refused++;
		}
	}
	assert_true(taken > 50 && refused > 50);
	place_end(&place);
}

static void test_stream_texts(void **state)
{
	static const char *const wrong[] = {"", "cpu:", "cpu:h", "cpu:h/0/1.0", "cpu:h/0/1/0", "cpu:/0/1.0/0",
		"gpu:h/0/1.0/0", "disk:h/0/1.0/0", "cpu:h/0/1.0/x", "cpu:h/-1/1.0/0", "cpu:h/0/1.0/",
		"cpu:h/0/1.0/4294967296", "cpu:h/3000000000/1.0/0", "cpu:h//1.0/0"};
	struct store_stream stream;
	const char *host;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(stream_text_parse(wrong[i], strlen(wrong[i]), &stream, &host, &size));
	assert_true(stream_text_parse("gpu:a/b.c-d/12/34.5/6/7/8", 25, &stream, &host, &size));
	assert_int_equal(size, 7);
	assert_memory_equal(host, "a/b.c-d", 7);
	assert_int_equal(stream.kind, STORE_STREAM_GPU);
	assert_int_equal(stream.rank, 12);
	assert_int_equal(stream.pid, 34);
	assert_int_equal(stream.generation, 5);
	assert_int_equal(stream.device, 6);
	assert_int_equal(stream.context, 7);
	assert_int_equal(stream.queue, 8);
	assert_true(stream_text_parse("cpu:-/-/-.-/-", 13, &stream, &host, &size));
	assert_int_equal(size, 0);
	assert_int_equal(stream.rank, -1);
	assert_int_equal(stream.thread, UINT32_MAX);
}

/* ---- exports ---- */

/* Folded counts are the profile's whole, whatever the names. */
static void test_folded_sums(void **state)
{
	(void)state;
	for (unsigned i = 0; simulate_shape_name(i); i++) {
		struct spot place;
		struct simulate_options options = {
			.shape = simulate_shape_name(i), .streams = 5, .records = 4000, .seed = 7};
		struct error error = {0};
		char *text, *answer, *save = NULL;
		uint64_t sum = 0;
		struct run *run;
		size_t size;

		place_begin(&place);
		options.run = place.run;
		assert_int_equal(simulate_run(&options, &error), 0);
		run = open_run(place.run);
		text = exported(&format_folded, run, &size);
		answer = answers(run);
		assert_int_equal(strlen(text), size); /* no NUL came through */
		for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
		assert_int_equal(sum, strtoull(answer, NULL, 10));
		free(text);
		free(answer);
		run_close(run);
		place_end(&place);
	}
}

/* A begin or an end of the Chrome export, and what is open on its thread. */
struct event {
	char phase;
	unsigned pid, tid;
	unsigned long long us, ns;
	char name[512];
};

static bool parse_event(const char *line, struct event *event)
{
	return sscanf(line, "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%llu.%3llu,\"name\":%511[^,}]",
		       &event->phase, &event->pid, &event->tid, &event->us, &event->ns, event->name) == 6 &&
	       (event->phase == 'B' || event->phase == 'E');
}

/* Events of a thread come in order, and each end is that of what began last: what viewers need to stack them.
 */
static void assert_nested(char *text)
{
	enum { THREADS = 256, HEIGHT = 512 };
	static char *stacks[THREADS][HEIGHT];
	size_t heights[THREADS] = {0}, events = 0;
	uint64_t last_ns[THREADS] = {0};
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct event event;
		size_t *height;

		if (!parse_event(line, &event))
			continue;
		assert_true(event.tid < THREADS);
		height = &heights[event.tid];
		assert_true(event.us * 1000 + event.ns >= last_ns[event.tid]);
		last_ns[event.tid] = event.us * 1000 + event.ns;
		if (event.phase == 'B') {
			assert_true(*height < HEIGHT);
			stacks[event.tid][(*height)++] = strdup(event.name);
		} else {
			assert_true(*height > 0);
			assert_string_equal(stacks[event.tid][--*height], event.name);
			free(stacks[event.tid][*height]);
		}
		events++;
	}
	for (unsigned tid = 0; tid < THREADS; tid++)
		assert_int_equal(heights[tid], 0);
	assert_true(events > 100);
}

static void test_chrome_nests(void **state)
{
	(void)state;
	for (unsigned i = 0; simulate_shape_name(i); i++) {
		struct spot place;
		struct simulate_options options = {
			.shape = simulate_shape_name(i), .streams = 4, .records = 3000, .seed = 5};
		struct error error = {0};
		struct run *run;
		size_t size;
		char *text;

		place_begin(&place);
		options.run = place.run;
		assert_int_equal(simulate_run(&options, &error), 0);
		run = open_run(place.run);
		text = exported(&format_chrome, run, &size);
		assert_memory_equal(text + size - 4, "\n]}\n", 4);
		assert_nested(text);
		free(text);
		run_close(run);
		place_end(&place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_damaged_rows),
		cmocka_unit_test(test_stream_texts),
		cmocka_unit_test(test_folded_sums),
		cmocka_unit_test(test_chrome_nests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
