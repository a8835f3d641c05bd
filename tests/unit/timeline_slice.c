/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_slice.c - slices of random runs against a twin that keeps every record as a line of text and
 * sorts lines; copies against slices; windows against each other.
 */
#include "tests/unit/timeline_small_run.h"

#include "tests/simulate.h"
#include "timeline/report/coverage.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/scan.h"
#include "timeline/slice/slice.h"

#define STREAMS 3
#define RECORDS 300
#define CLOCK 1000
#define LIFE (CLOCK + 200) /* of a stream; nobody knows what is open behind it */

/* ---- asking ---- */

static struct select *choose(struct run *run, const char *time, const char *op)
{
	struct select *select;
	struct error error = {0};

	assert_int_equal(select_new(&select, &error), 0);
	if ((time && select_option(select, "time", time, &error)) ||
		(op && select_option(select, "op", op, &error)) || select_bind(select, run, &error))
		fail_msg("%s", error.text);
	return select;
}

static size_t rows_max = 1000000; /* so few that a slice is put together of many stretches, or so many */

static char *slice_text(struct run *run, const char *time, const char *op)
{
	struct select *select = choose(run, time, op);
	struct error error = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (slice_print_within(run, select, REPORT_TSV, out, rows_max, &error))
		fail_msg("%s", error.text);
	fclose(out);
	select_free(select);
	return text;
}

static struct run *copy_of(struct run *run, const char *time, const char *path)
{
	struct select *select = choose(run, time, NULL);
	struct error error = {0};
	struct run *copy;

	small_remove(path);
	if (slice_copy(run, select, path, &error) || run_open(&copy, path, NULL, &error))
		fail_msg("%s", error.text);
	for (unsigned i = 0; i < run_store_count(copy); i++)
		if (store_reader_check(run_store(copy, i), &error))
			fail_msg("%s", error.text);
	select_free(select);
	return copy;
}

/* ---- random runs ---- */

struct known {
	uint32_t stream;
	enum store_track track;
	uint64_t begin_ns, end_ns, amount, bytes, link;
	const char *path, *op, *metric, *attributes;
};

struct world {
	struct small_run small;
	uint32_t streams[STREAMS];
	struct known records[RECORDS];
};

static const char *const paths[] = {"", "main", "main;a", "main;b;c", "main;b"};
static const char *const ops[] = {"kernel", "copy", "io", "my op"};
static const char *const attributes[] = {"", "k=v", "grid=1:2:3,x=\\,", "z"};

static struct known draw(void)
{
	struct known known = {.stream = (uint32_t)small_below(STREAMS),
		.track = (enum store_track)small_below(3),
		.begin_ns = small_below(CLOCK),
		.path = paths[small_below(5)],
		.op = "",
		.metric = "",
		.attributes = ""};

	known.end_ns = known.begin_ns;
	if (known.track != STORE_SPANS) {
		known.metric = known.track == STORE_SAMPLES ? "CPUTIME" : "power";
		known.amount = small_below(20);
		return known;
	}
	known.op = ops[small_below(4)];
	known.attributes = attributes[small_below(4)];
	known.end_ns = small_below(10) == 0 ? STORE_OPEN_NS : known.begin_ns + small_below(200);
	known.bytes = small_below(3) ? 0 : small_below(5000);
	known.amount = small_below(5) ? 0 : 3;
	known.link = small_below(4) ? 0 : 1 + small_below(20);
	return known;
}

static void put(struct world *world, const struct known *known, uint64_t handle)
{
	struct store_writer *writer = world->small.writer;
	struct store_record record = {.begin_ns = known->begin_ns,
		.end_ns = known->end_ns,
		.amount = known->amount,
		.bytes = known->bytes,
		.link = known->link,
		.context = *known->path ? small_path(writer, known->path) : 0,
		.attributes = small_text(writer, known->attributes),
		.flags = known->track == STORE_SAMPLES ? STORE_RECORD_EXTENT : 0};

	record.what = known->track == STORE_SPANS ? store_writer_op(writer, known->op, strlen(known->op))
						  : store_writer_metric(writer, known->metric, "", false);
	if (known->end_ns == STORE_OPEN_NS)
		store_writer_span_open(writer, world->streams[known->stream], handle, &record);
	else
		store_writer_append(writer, world->streams[known->stream], known->track, &record, 1);
}

static void world_begin(struct world *world)
{
	small_begin(&world->small);
	for (uint32_t s = 0; s < STREAMS; s++)
		world->streams[s] = small_cpu(world->small.writer, s, 0, LIFE);
	for (int i = 0; i < RECORDS; i++) {
		world->records[i] = draw();
		put(world, &world->records[i], (uint64_t)i);
		if (i % 97 == 0)
			small_commit(&world->small); /* what comes behind is late */
	}
	small_ready(&world->small);
}

/* ---- the twin ---- */

struct line {
	uint64_t begin_ns, end_ns;
	char text[256]; /* from the third column's text on, for the order too */
	const char *stream, *track;
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int order = (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);

	if (!order)
		order = strcmp(a->stream, b->stream);
	if (!order)
		order = strcmp(a->track, b->track);
	if (!order && strcmp(a->track, "spans") == 0)
		order = (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
	return order ? order : strcmp(a->text, b->text);
}

static void line_of(struct line *line, const struct known *known, uint64_t begin_ns, uint64_t end_ns)
{
	static const char *const streams[STREAMS] = {
		"cpu:node/-/100.0/0", "cpu:node/-/100.0/1", "cpu:node/-/100.0/2"};
	bool is_span = known->track == STORE_SPANS;
	char bytes[24] = "", weight[24] = "", value[24] = "", link[32] = "";

	*line = (struct line){.begin_ns = begin_ns,
		.end_ns = end_ns,
		.stream = streams[known->stream],
		.track = store_track_name(known->track)};
	if (known->bytes)
		sprintf(bytes, "%" PRIu64, known->bytes);
	if (known->track == STORE_SAMPLES || (is_span && known->amount))
		sprintf(weight, "%" PRIu64, known->amount);
	if (known->track == STORE_VALUES)
		sprintf(value, "%" PRIu64, known->amount);
	if (known->link)
		sprintf(link, "link=%" PRIu64 "%s", known->link, *known->attributes ? "," : "");
	sprintf(line->text, "%s\t%s\t%s\t%s\t%s\t%s\t%s%s", known->path, known->op, bytes, weight,
		known->metric, value, link, known->attributes);
}

static char *lines_text(struct line *lines, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	qsort(lines, count, sizeof *lines, compare_lines);
	fputs("stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s\t%s\t%" PRIu64 "\t", lines[i].stream, lines[i].track, lines[i].begin_ns);
		if (strcmp(lines[i].track, "spans") == 0 && lines[i].end_ns != STORE_OPEN_NS)
			fprintf(out, "%" PRIu64, lines[i].end_ns);
		fprintf(out, "\t%s\n", lines[i].text);
	}
	fclose(out);
	return text;
}

/* The sample in force at the window's begin. Streams here have no `monitored` span and no states: it is the
 * last one before, unless one stands exactly there. */
static const struct known *in_force(const struct world *world, uint32_t stream, uint64_t at_ns)
{
	const struct known *found = NULL;

	for (int i = 0; i < RECORDS; i++) {
		const struct known *known = &world->records[i];

		if (known->stream != stream || known->track != STORE_SAMPLES || known->begin_ns > at_ns)
			continue;
		if (known->begin_ns == at_ns)
			return NULL;
		if (!found || known->begin_ns > found->begin_ns)
			found = known;
	}
	return found;
}

/* Streams here are monitored from the first to the last record. A window that cuts that says what is left. */
static bool is_monitored_line(
	const struct world *world, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct line *line)
{
	struct known monitored = {.stream = stream,
		.track = STORE_SPANS,
		.path = "",
		.op = "monitored",
		.metric = "",
		.attributes = ""};
	uint64_t first = UINT64_MAX, last = 0;

	for (int i = 0; i < RECORDS; i++) {
		const struct known *known = &world->records[i];
		uint64_t until = known->end_ns == STORE_OPEN_NS ? known->begin_ns : known->end_ns;

		if (known->stream != stream)
			continue;
		first = known->begin_ns < first ? known->begin_ns : first;
		last = until > last ? until : last;
	}
	if ((begin_ns <= first && last <= end_ns) || first >= end_ns || last <= begin_ns)
		return false;
	line_of(line, &monitored, first > begin_ns ? first : begin_ns, last < end_ns ? last : end_ns);
	return true;
}

static char *twin_text(const struct world *world, uint64_t begin_ns, uint64_t end_ns)
{
	struct line *lines = calloc(RECORDS + STREAMS, sizeof *lines);
	size_t count = 0;
	char *text;

	for (int i = 0; i < RECORDS; i++) {
		const struct known *known = &world->records[i];
		uint64_t from = known->begin_ns, to = known->end_ns;

		if (known->track == STORE_SPANS && from < begin_ns && to > begin_ns)
			from = begin_ns;
		if (from < begin_ns || from >= end_ns)
			continue;
		if (to > end_ns && (to != STORE_OPEN_NS || end_ns <= LIFE))
			to = end_ns;
		line_of(&lines[count++], known, from, to);
	}
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		count += is_monitored_line(world, stream, begin_ns, end_ns, &lines[count]);
	text = lines_text(lines, count);
	free(lines);
	return text;
}

static void test_whole_twin(void **state)
{
	(void)state;
	small_seed("whole_twin");
	for (int round = 0; round < 10; round++) {
		struct world *world = calloc(1, sizeof *world);
		char *got, *want;

		world_begin(world);
		rows_max = small_below(2) ? 1000000 : small_below(100);
		world->small.run->options.jobs = 1 + (unsigned)small_below(4);
		got = slice_text(world->small.run, NULL, NULL);
		want = twin_text(world, 0, STORE_OPEN_NS);
		assert_string_equal(got, want);
		free(got);
		free(want);
		small_end(&world->small);
		free(world);
	}
}

/* Lines but for opening samples: those of weight 0 at the window's begin that the twin does not know. */
static char *without_opening(const char *text, const struct world *world, uint64_t begin_ns)
{
	char *copy = strdup(text), *out = calloc(1, strlen(text) + 1), *save = NULL;
	uint32_t opened = 0;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		bool is_opening = false;

		for (uint32_t s = 0; s < STREAMS && !is_opening; s++) {
			const struct known *known = in_force(world, s, begin_ns);
			struct line want;
			char expected[512];

			if (!known || opened & 1u << s)
				continue;
			line_of(&want, known, begin_ns, begin_ns);
			/* of equal times any one is in force: only the weight and the place are compared */
			sprintf(expected, "%s\tsamples\t%" PRIu64 "\t\t", want.stream, begin_ns);
			is_opening = strncmp(line, expected, strlen(expected)) == 0 &&
				     strstr(line, "\t\t\t0\tCPUTIME\t\t");
			opened |= is_opening ? 1u << s : 0;
		}
		if (!is_opening) {
			strcat(out, line);
			strcat(out, "\n");
		}
	}
	free(copy);
	return out;
}

static void test_window_twin(void **state)
{
	(void)state;
	small_seed("window_twin");
	for (int round = 0; round < 20; round++) {
		struct world *world = calloc(1, sizeof *world);
		uint64_t begin_ns = 1 + small_below(CLOCK - 100), end_ns = begin_ns + 100 + small_below(300);
		char *got, *rest, *want, window[64];

		world_begin(world);
		rows_max = small_below(2) ? 1000000 : small_below(100);
		world->small.run->options.jobs = 1 + (unsigned)small_below(4);
		sprintf(window, "%" PRIu64 "ns..%" PRIu64 "ns", begin_ns, end_ns);
		got = slice_text(world->small.run, window, NULL);
		rest = without_opening(got, world, begin_ns);
		want = twin_text(world, begin_ns, end_ns);
		assert_string_equal(rest, want);
		free(got);
		free(rest);
		free(want);
		small_end(&world->small);
		free(world);
	}
}

/* ---- copies ---- */

static void assert_copy_is_slice(struct run *run, const char *time)
{
	char path[64], *want, *got;
	struct run *copy;

	sprintf(path, "/tmp/hpct-test-copy-%d", (int)getpid());
	copy = copy_of(run, time, path);
	want = slice_text(run, time, NULL);
	got = slice_text(copy, NULL, NULL);
	assert_string_equal(got, want);
	free(want);
	free(got);
	run_close(copy);
	small_remove(path);
}

static void test_copy_is_slice(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	(void)state;
	small_seed("copy_is_slice");
	world_begin(world);
	assert_copy_is_slice(world->small.run, NULL);
	for (int round = 0; round < 8; round++) {
		uint64_t begin_ns = small_below(CLOCK - 100);
		char window[64];

		/* long enough for a record to lie in it: without one nothing is monitored */
		sprintf(window, "%" PRIu64 "ns..%" PRIu64 "ns", begin_ns, begin_ns + 100 + small_below(300));
		assert_copy_is_slice(world->small.run, window);
	}
	small_end(&world->small);
	free(world);
}

static struct coverage coverage_in(struct run *run, const char *time)
{
	struct select *select = choose(run, time, NULL);
	struct coverage coverage;
	struct error error = {0};

	if (coverage_compute(&coverage, run, select, &error))
		fail_msg("%s", error.text);
	select_free(select);
	return coverage;
}

/* Nothing becomes unknown because a window cuts it: a thread whose next sample lies behind the window works
 * to its end, a queue is idle before its first operation there. */
static void test_copy_stays_monitored(void **state)
{
	static const char *const windows[] = {"0ns..100ns", "30ns..100ns", "60ns..130ns", "160ns..190ns"};
	char path[64];
	struct small_run small;
	uint32_t queue;

	(void)state;
	sprintf(path, "/tmp/hpct-test-copy-%d", (int)getpid());
	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	small_cpu(small.writer, 0, 0, 200);
	queue = small_gpu(small.writer, 0, 0, 200);
	for (uint64_t at = 0; at <= 200; at += 50)
		small_sample(small.writer, 0, at, small_path(small.writer, "main"), 0, 7);
	for (uint64_t at = 0; at <= 180; at += 60) {
		struct store_record record = {.begin_ns = at, .end_ns = at + 20, .what = STORE_OP_KERNEL};

		store_writer_append(small.writer, queue, STORE_SPANS, &record, 1);
	}
	small_ready(&small);
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		struct run *copy = copy_of(small.run, windows[i], path);
		struct coverage of_run = coverage_in(small.run, windows[i]);
		struct coverage of_copy = coverage_in(copy, windows[i]);

		assert_true(of_run.lived_ns > 0);
		assert_int_equal(of_run.monitored_ns, of_run.lived_ns);
		assert_int_equal(of_copy.lived_ns, of_run.lived_ns);
		assert_int_equal(of_copy.monitored_ns, of_copy.lived_ns);
		run_close(copy);
		small_remove(path);
	}
	small_end(&small);
}

/* A second host, with a clock of its own. */
static void put_host(struct small_run *small, uint64_t origin_ns, uint64_t wall_ns)
{
	struct store_writer *writer = small_store(small, "node-2");

	store_writer_meta(writer, "host", "node-2");
	store_writer_meta(writer, "boot", "b2");
	store_writer_meta_number(writer, "origin_ns", origin_ns);
	store_writer_meta_number(writer, "wall_ns", wall_ns);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	small_cpu(writer, 1, origin_ns, origin_ns + 5000);
	for (uint64_t i = 0; i < 5000; i += 100)
		small_sample(writer, 0, origin_ns + i, small_path(writer, "main"), 0, 7);
	small_close_writer(writer);
}

/* A host whose clock began in the window, and one whose clock began so long before that its first records lie
 * before the other's clock. */
static void test_clocks(void **state)
{
	static const uint64_t walls[] = {600000, 492000};
	static const char *const windows[] = {"1us..", "1us..101us", "100us..102us"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_run small;

		small_begin(&small);
		store_writer_meta(small.writer, "host", "node-1");
		store_writer_meta(small.writer, "boot", "b1");
		store_writer_meta_number(small.writer, "origin_ns", 5000);
		store_writer_meta_number(small.writer, "wall_ns", 500000);
		small_cpu(small.writer, 0, 5000, 200000);
		store_writer_metric(small.writer, "CPUTIME", "ns", false);
		small_sample(small.writer, 0, 5500, small_path(small.writer, "main"), 0, 7);
		small_sample(small.writer, 0, 199000, small_path(small.writer, "main"), 0, 7);
		put_host(&small, 500, walls[i]);
		small_ready(&small);
		for (int w = 0; w < 3; w++)
			assert_copy_is_slice(small.run, windows[w]);
		small_end(&small);
	}
}

/* ---- runs that were cut short ---- */

/* Of all streams, in the window. */
static uint64_t monitored(struct run *run, const char *time)
{
	struct select *select = choose(run, time, NULL);
	struct coverage coverage;
	struct error error = {0};

	if (coverage_compute(&coverage, run, select, &error))
		fail_msg("%s", error.text);
	select_free(select);
	return coverage.monitored_ns;
}

static uint64_t clipped_end(struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	const struct batch *batch;
	struct scan *scan;
	struct error error = {0};
	uint64_t last_ns = 0;

	if (scan_open(
		    &scan, run, 0, STORE_SPANS, begin_ns, end_ns, STORE_BEGIN | STORE_END, SCAN_CLIP, &error))
		fail_msg("%s", error.text);
	while (scan_next(scan, &batch, &error) > 0)
		for (size_t i = 0; i < batch->count; i++)
			last_ns = batch->end_ns[i] > last_ns ? batch->end_ns[i] : last_ns;
	scan_close(scan);
	return last_ns;
}

/* A collector was killed: what was open then is not said to have gone on for as long as somebody asks about.
 */
static void test_cut_short(void **state)
{
	static const char *const windows[] = {"100ns..5us", "100ns..", "100ns..400ns"};
	static const uint64_t known[] = {900, 900, 300};
	struct small_run small;
	struct store_stream *stream;

	(void)state;
	small_begin(&small);
	small_cpu(small.writer, 0, 0, STORE_OPEN_NS);
	small_span(small.writer, 0, 0, STORE_OPEN_NS, STORE_OP_MONITORED, 0, "switches=1");
	small_span(small.writer, 0, 50, STORE_OPEN_NS, STORE_OP_BLOCKED, 0, "");
	stream = store_writer_stream_edit(small.writer, 0);
	stream->complete_ns[STORE_SAMPLES] = stream->complete_ns[STORE_SPANS] = CLOCK;
	small_ready(&small);
	assert_int_equal(clipped_end(small.run, 100, 5 * CLOCK), CLOCK);
	assert_int_equal(clipped_end(small.run, 100, 400), 400);
	for (int i = 0; i < 3; i++) {
		char path[64];
		struct run *copy;

		sprintf(path, "/tmp/hpct-test-short-%d", (int)getpid());
		copy = copy_of(small.run, windows[i], path);
		assert_int_equal(monitored(small.run, windows[i]), known[i]);
		assert_int_equal(monitored(copy, windows[i]), known[i]);
		assert_copy_is_slice(small.run, windows[i]);
		assert_int_equal(run_stream(copy, 0)->s.end_ns == STORE_OPEN_NS, i < 2);
		run_close(copy);
		small_remove(path);
	}
	small_end(&small);
}

/* Every shape of hpct-simulate: the copy has the same rows, symbols and modules included. */
static void test_copy_of_shapes(void **state)
{
	(void)state;
	for (unsigned i = 0; simulate_shape_name(i); i++) {
		char path[] = "/tmp/hpct-test-shape-XXXXXX";
		struct simulate_options options = {.run = path,
			.shape = simulate_shape_name(i),
			.streams = 5,
			.records = 5000,
			.seed = i + 1};
		struct error error = {0};
		struct run *run;

		assert_non_null(mkdtemp(path));
		rmdir(path);
		if (simulate_run(&options, &error) || run_open(&run, path, NULL, &error))
			fail_msg("%s", error.text);
		assert_copy_is_slice(run, NULL);
		assert_copy_is_slice(run, strcmp(options.shape, "odd") == 0 ? "1.01s..1.05s" : "20ms..50ms");
		run_close(run);
		small_remove(path);
	}
}

static void test_copy_refuses(void **state)
{
	struct world *world = calloc(1, sizeof *world);
	struct select *select;
	struct error error = {0};

	(void)state;
	small_seed("copy_refuses");
	world_begin(world);
	select = choose(world->small.run, NULL, NULL);
	assert_int_equal(slice_copy(world->small.run, select, world->small.path, &error), -ERROR_USAGE);
	assert_int_equal(slice_copy(world->small.run, select, "/nowhere/at/all.hpct", &error), -ERROR_IO);
	select_free(select);
	small_end(&world->small);
	free(world);
}

/* ---- laws ---- */

static uint64_t sum_of(const char *text, bool weights)
{
	char *copy = strdup(text), *save = NULL, *line = strtok_r(copy, "\n", &save);
	uint64_t sum = 0;

	while ((line = strtok_r(NULL, "\n", &save))) {
		char *fields[11], *at = line;

		for (int i = 0; i < 11; i++)
			fields[i] = strsep(&at, "\t");
		if (weights && strcmp(fields[1], "samples") == 0)
			sum += strtoull(fields[7], NULL, 10);
		if (!weights && strcmp(fields[1], "spans") == 0 && strcmp(fields[5], "monitored") != 0)
			sum += strtoull(fields[3], NULL, 10) - strtoull(fields[2], NULL, 10);
	}
	free(copy);
	return sum;
}

/* Spans cut at a window's end go on in the next: their lengths, and all weights, sum to the whole. */
static void test_windows_sum(void **state)
{
	struct world *world = calloc(1, sizeof *world);
	uint64_t edges[] = {0, 0, 0, CLOCK + 200}, weights = 0, lengths = 0;
	char *all;

	(void)state;
	small_seed("windows_sum");
	edges[1] = 100 + small_below(CLOCK / 2);
	edges[2] = edges[1] + 1 + small_below(CLOCK / 2);
	world_begin(world);
	for (int i = 0; i < 3; i++) {
		char window[64], *text;

		sprintf(window, "%" PRIu64 "ns..%" PRIu64 "ns", edges[i], edges[i + 1]);
		text = slice_text(world->small.run, window, NULL);
		weights += sum_of(text, true);
		lengths += sum_of(text, false);
		free(text);
	}
	all = slice_text(world->small.run, "0ns..1200ns", NULL); /* open spans end with the window */
	assert_int_equal(weights, sum_of(all, true));
	assert_int_equal(lengths, sum_of(all, false));
	free(all);
	small_end(&world->small);
	free(world);
}

static void test_filters(void **state)
{
	struct world *world = calloc(1, sizeof *world);
	char *text, *save = NULL, *line;
	size_t lines = 0, want = 0;

	(void)state;
	small_seed("filters");
	world_begin(world);
	text = slice_text(world->small.run, NULL, "kernel,io");
	line = strtok_r(text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save))) {
		assert_true(strstr(line, "\tkernel\t") || strstr(line, "\tio\t"));
		lines++;
	}
	for (int i = 0; i < RECORDS; i++)
		want += strcmp(world->records[i].op, "kernel") == 0 ||
			strcmp(world->records[i].op, "io") == 0;
	assert_int_equal(lines, want);
	free(text);
	small_end(&world->small);
	free(world);
}

/* ---- fields ---- */

static void test_links(void **state)
{
	static const struct {
		const char *attributes;
		uint64_t link;
		const char *want;
	} cases[] = {{"", 0, ""}, {"", 7, "link=7"}, {"a=1", 7, "link=7,a=1"},
		{"a=1,link=7", 0, "link=7,a=1"}, {"a=1,link=7,b", 0, "link=7,a=1,b"},
		{"link=7,b", 0, "link=7,b"}, {"link=7", 5, "link=5,link=7"}, {"link=07", 0, "link=07"},
		{"link=", 0, "link="}, {"xlink=7", 0, "xlink=7"}, {"a\\,link=7", 0, "a\\,link=7"},
		{"link=18446744073709551616", 0, "link=18446744073709551616"}, {"a=\n", 1, "link=1,a=\\n"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct store_bytes text = {0};

		slice_put_attributes(&text, cases[i].attributes, strlen(cases[i].attributes), cases[i].link);
		store_bytes_put(&text, "", 1);
		assert_string_equal((char *)text.data, cases[i].want);
		store_bytes_fini(&text);
	}
}

static void test_values(void **state)
{
	static const struct {
		double value;
		const char *want;
	} cases[] = {{0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {0.1, "0.1"}, {1e22, "1e+22"},
		{5e-324, "4.94065645841247e-324"}, {1.0 / 3, "0.3333333333333333"},
		{123456789, "123456789.0"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[SLICE_VALUE_MAX];
		uint64_t bits;
		double back;

		memcpy(&bits, &cases[i].value, sizeof bits);
		slice_value_text(text, bits, true);
		assert_string_equal(text, cases[i].want);
		back = strtod(text, NULL);
		assert_memory_equal(&back, &cases[i].value, sizeof back);
	}
	small_seed("values");
	for (int i = 0; i < 20000; i++) {
		char text[SLICE_VALUE_MAX];
		uint64_t bits = small_draw();
		double value, back;

		memcpy(&value, &bits, sizeof value);
		if (value != value)
			continue;
		slice_value_text(text, bits, true);
		back = strtod(text, NULL);
		assert_memory_equal(&back, &value, sizeof back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_twin),
		cmocka_unit_test(test_window_twin),
		cmocka_unit_test(test_copy_is_slice),
		cmocka_unit_test(test_copy_stays_monitored),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_copy_of_shapes),
		cmocka_unit_test(test_copy_refuses),
		cmocka_unit_test(test_windows_sum),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
