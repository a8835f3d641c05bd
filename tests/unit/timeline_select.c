/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_select.c - every spelling of the selector in one run whose clock, marks and streams are known,
 * and path patterns against a twin that tries everything.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/base/glob.h"
#include "timeline/select/bookmark.h"
#include "timeline/select/select.h"
#include "timeline/select/select_context.h"

#define S UINT64_C(1000000000)
#define ORIGIN (100 * S)
#define END (ORIGIN + 60 * S)
/* 2026-11-21T14:32:00Z */
#define BEFORE_ALL UINT64_MAX /* the clock of the run had not begun */
#define WALL (1795271520ull * S)

static struct small_run small;
static uint32_t worker, main_thread, queue;

static void bookmarks(const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/" BOOKMARK_FILE, small.path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int setup(void **unused)
{
	struct store_writer *w;

	(void)unused;
	setenv("TZ", "UTC0", 1);
	tzset();
	small_begin(&small);
	w = small.writer;
	store_writer_meta_number(w, "origin_ns", ORIGIN);
	store_writer_meta_number(w, "wall_ns", WALL);
	store_writer_metric(w, "CPUTIME", "ns", false);
	main_thread = small_cpu(w, 0, ORIGIN, END);
	worker = small_cpu(w, 3, ORIGIN, END);
	store_writer_stream_edit(w, worker)->name = small_text(w, "worker (io) 1");
	store_writer_stream_edit(w, worker)->rank = 2;
	queue = small_gpu(w, 7, ORIGIN, END);
	store_writer_stream_edit(w, queue)->device_name = small_text(w, "H200");
	store_writer_stream_edit(w, queue)->rank = 2;
	small_span(w, main_thread, ORIGIN + 10 * S, ORIGIN + 12 * S, STORE_OP_MARK, 0, "name=step");
	small_span(w, main_thread, ORIGIN + 20 * S, ORIGIN + 22 * S, STORE_OP_MARK, 0, "x=1,name=step");
	small_span(w, worker, ORIGIN + 30 * S, ORIGIN + 30 * S, STORE_OP_MARK, 0, "name=a\\,b");
	small_sample(w, main_thread, END, small_path(w, "main;solve"), 0, 1);
	small_ready(&small);
	bookmarks("name\tcolour\tbegin_ns\tend_ns\nhere\tred\t5000000000\t\nstep#"
		  "9\tred\t6000000000\t7000000000\n");
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	small_end(&small);
	return 0;
}

static int bind(const char *name, const char *value, struct select **select, struct error *error)
{
	int code;

	assert_int_equal(select_new(select, error), 0);
	code = select_option(*select, name, value, error);
	return code ? code : select_bind(*select, small.run, error);
}

/* ---- time ---- */

static void test_time(void **unused)
{
	static const struct {
		const char *text;
		uint64_t begin, end; /* from the origin */
	} cases[] = {{"1s..2s", S, 2 * S}, {"1.5s..1600ms", 3 * S / 2, 1600 * S / 1000}, {"0..7us", 0, 7000},
		{"12ns..0.5us", 12, 500}, {".5s..1s", S / 2, S}, {"1s..", S, 60 * S}, {"..2s", 0, 2 * S},
		{"..", 0, 60 * S}, {"-10s..", 50 * S, 60 * S}, {"-10s..-1s", 50 * S, 59 * S},
		{"-500s..1s", BEFORE_ALL, S}, {"1s..+2.5s", S, 7 * S / 2}, {"@step..@step", 10 * S, 12 * S},
		{"@step", 10 * S, 12 * S}, {"@step#2", 20 * S, 22 * S}, {"@step#1..@step#2", 10 * S, 22 * S},
		{"@here..@step", 5 * S, 12 * S}, {"@step#9", 6 * S, 7 * S}, {"@here..+1s", 5 * S, 6 * S},
		{"@a,b..", 30 * S, 60 * S}, {"14:32:05..+20s", 5 * S, 25 * S},
		{"14:32:05.25..14:32:06", 21 * S / 4, 6 * S}, {"14:32..14:33", 0, 60 * S},
		{"2026-11-21T14:32:05Z..", 5 * S, 60 * S}, {"2026-11-21T15:32:05+01:00..", 5 * S, 60 * S},
		{"2026-11-21T14:32:05..2026-11-21T09:02:06-0530", 5 * S, 6 * S},
		{"2026-11-21..", BEFORE_ALL, 60 * S}, {"0..2026-11-22", 0, (9 * 60 + 28) * 60 * S},
		{"59.9999999999s..", 59999999999, 60 * S}};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct select *select;
		struct error error = {0};
		uint64_t begin = cases[i].begin == BEFORE_ALL ? 0 : ORIGIN + cases[i].begin;
		uint64_t end = ORIGIN + cases[i].end;

		if (bind("time", cases[i].text, &select, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		if (select_begin_ns(select) != begin || select_end_ns(select) != end)
			fail_msg("%s: %" PRIu64 "..%" PRIu64, cases[i].text, select_begin_ns(select) - ORIGIN,
				select_end_ns(select) - ORIGIN);
		select_free(select);
	}
}

/* Beside a longer run what is left out is the limit of both, and -1s counts from there. */
static void test_time_of_two(void **unused)
{
	static const struct {
		const char *text;
		uint64_t begin, end;
	} cases[] = {{"..", 0, 90 * S}, {"1s..", S, 90 * S}, {"..70s", 0, 70 * S}, {"70s..", 70 * S, 90 * S},
		{"-10s..", 80 * S, 90 * S}, {"-10s..-1s", 80 * S, 89 * S}, {"1s..80s", S, 80 * S},
		{"@step..", 10 * S, 90 * S}, {"@step", 10 * S, 12 * S}, {"14:32:05..", 5 * S, 90 * S}};
	struct error error = {0};
	struct select *select;

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(select_new(&select, &error), 0);
		select_bind_time_later(select);
		assert_int_equal(select_option(select, "time", cases[i].text, &error), 0);
		assert_int_equal(select_bind(select, small.run, &error), 0);
		assert_true(select_begin_ns(select) == ORIGIN && select_end_ns(select) == ORIGIN + 60 * S);
		assert_int_equal(select_bind_time(select, ORIGIN, ORIGIN + 90 * S, &error), 0);
		if (select_begin_ns(select) != ORIGIN + cases[i].begin ||
			select_end_ns(select) != ORIGIN + cases[i].end)
			fail_msg("%s: %" PRIu64 "..%" PRIu64, cases[i].text, select_begin_ns(select) - ORIGIN,
				select_end_ns(select) - ORIGIN);
		select_free(select);
	}
	assert_int_equal(select_new(&select, &error), 0);
	select_bind_time_later(select);
	assert_int_equal(select_option(select, "time", "95s..", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(select_bind_time(select, ORIGIN, ORIGIN + 90 * S, &error), -ERROR_EMPTY);
	assert_non_null(strstr(error.text, "together they cover 0.000000000 s to 90.000000000 s"));
	select_free(select);
}

/* What is wrong, and that the sentence names the option and holds `says`. */
static void expect_sentence(const char *option, const char *value, int code, const char *says)
{
	struct select *select;
	struct error error = {0};
	int got = bind(option, value, &select, &error);

	if (got != -code)
		fail_msg("--%s '%s' gives %d", option, value, got);
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.text, option));
	if (!strstr(error.text, says))
		fail_msg("--%s '%s': '%s' is not in: %s", option, value, says, error.text);
	select_free(select);
}

static void expect_wrong(const char *option, const char *value, int code)
{
	expect_sentence(option, value, code, "");
}

static void test_wrong_time(void **unused)
{
	static const char *const wrong[] = {"", "1s", "1..2", "1s..2", "1x..2s", "s..2s", "1.s..2s", "2s..1s",
		"+1s..2s", "@..", "@nothing..", "@step#3..", "@step#0..", "@here", "25:00..", "14:60..",
		"2026-13-01..", "1s...2s.", "99999999999999999999s..", "-..", "1s..@", "1 s.."};

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_wrong("time", wrong[i], ERROR_USAGE);
	expect_sentence("time", "1s..1s", ERROR_EMPTY, "ends where it begins");
	expect_sentence("time", "70s..", ERROR_EMPTY, "the run covers");
	expect_wrong("time", "..0", ERROR_EMPTY);
}

/* An end that is left out lets the very last record through. */
static void test_record_window(void **unused)
{
	struct select *select;
	struct error error = {0};

	(void)unused;
	assert_int_equal(bind("time", "..1s", &select, &error), 0);
	assert_int_equal(select_records_begin_ns(select), 0);
	assert_int_equal(select_records_end_ns(select), ORIGIN + S);
	assert_int_equal(select_option(select, "time", "1s..", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(select_records_begin_ns(select), ORIGIN + S);
	assert_int_equal(select_records_end_ns(select), STORE_OPEN_NS);
	assert_int_equal(select_end_ns(select), END);
	select_free(select);
}

static void test_wrong_bookmarks(void **unused)
{
	static const char *const wrong[] = {"name\tbegin_ns\nx\t\n", "name\tbegin_ns\nx\t-1\n",
		"begin_ns\n1\n", "name\tbegin_ns\tend_ns\nx\t5\t4\n", "name\tbegin_ns\nx\\q\t4\n",
		"name\tbegin_ns\nx\t99999999999999999999\n", "name\tbegin_ns\nx\t18446744073709551615\n"};

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct select *select;
		struct error error = {0};

		bookmarks(wrong[i]);
		assert_int_equal(bind("time", "@step..", &select, &error), -ERROR_RUN);
		assert_non_null(strstr(error.text, BOOKMARK_FILE " line 2"));
		select_free(select);
	}
	bookmarks("");
}

/* ---- streams ---- */

static void test_streams(void **unused)
{
	/* 1 main, 2 worker, 4 queue */
	static const struct {
		const char *text;
		unsigned wanted;
	} cases[] = {{"kind=gpu", 4}, {"kind=cpu", 3}, {"kind=?pu", 7}, {"rank=2", 6}, {"rank=-", 1},
		{"rank=0-3", 6}, {"rank=0-", 6}, {"rank=0,1,2", 6}, {"rank=-,2", 7}, {"thread=0", 1},
		{"thread!=0", 6}, {"! thread=0", 6}, {"thread=-", 4}, {"tid=100-110", 3}, {"name=worker*", 2},
		{"name=\"worker (io) 1\"", 2}, {"name=\"*(io)*\" | kind=gpu", 6}, {"name=-", 5},
		{"device=H2*", 4}, {"device=0", 4}, {"queue=7&device=0&context=0", 4},
		{"queue=8|thread=3", 2}, {"kind=gpu & rank=0-3", 4}, {"kind=gpu | kind=cpu & rank=2", 6},
		{"(kind=gpu | kind=cpu) & rank=2", 6}, {"(kind=gpu|kind=cpu)&!(rank=2)", 1},
		{"!!kind=gpu", 4}, {"cpu:*", 3}, {"stream=*/3", 2}, {"*/100.0/3,gpu:*", 6}, {"host=no?e", 7},
		{"pid=100", 7}, {"generation=0", 7}, {" kind = gpu ", 4}};
	uint32_t bits[3] = {0};

	(void)unused;
	for (uint32_t i = 0; i < 3; i++) {
		const struct run_stream *r = run_stream(small.run, i);

		bits[i] = r->s.kind == STORE_STREAM_GPU ? 4 : r->s.thread ? 2 : 1;
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct select *select;
		struct error error = {0};
		const uint32_t *streams;
		uint32_t count, got = 0;

		if (bind("streams", cases[i].text, &select, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		streams = select_streams(select, &count);
		for (uint32_t k = 0; k < count; k++)
			got |= bits[streams[k]];
		if (got != cases[i].wanted)
			fail_msg("%s: %u", cases[i].text, got);
		select_free(select);
	}
}

static void test_wrong_streams(void **unused)
{
	static const char *const wrong[] = {"", "kind=", "=gpu", "colour=red", "rank=x", "rank=3-1",
		"rank=1-2-3", "kind=gpu &", "kind=gpu rank=1", "(kind=gpu", "kind=gpu)", "& kind=gpu", "!",
		"name=\"x", "rank=99999999999", "kind=gpu,,cpu", "||"};
	char deep[1000];

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_wrong("streams", wrong[i], ERROR_USAGE);
	expect_sentence("streams", "rank=3-1 | kind=gpu", ERROR_USAGE, "missing at '3-1");
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	expect_wrong("streams", deep, ERROR_USAGE);
	expect_wrong("streams", "rank=77", ERROR_EMPTY);
}

/* ---- paths ---- */

/* Tries everything: the pattern from `p` on against the path from `t` on. A frame that ends in @function is
 * compared with one frame. */
static bool twin(const char *pattern, const char *path, const char *p, const char *t)
{
	bool begins_frame = p == pattern || p[-1] == ';';
	size_t frame = strcspn(p, ";"), word = strlen("@function");

	if (begins_frame && frame >= word && strncmp(p + frame - word, "@function", word) == 0) {
		size_t size = strcspn(t, ";");
		char glob[64], name[64];

		snprintf(glob, sizeof glob, "%.*s", (int)(frame - word), p);
		snprintf(name, sizeof name, "%.*s", (int)size, t);
		return size && (frame == word || glob_match(glob, name)) &&
		       twin(pattern, path, p + frame, t + size);
	}
	if (*p == ';' && p[1] == '*' && (p[2] == ';' || !p[2]) && twin(pattern, path, p + 2, t))
		return true;
	if (p == pattern && t == path && *p == '*' && p[1] == ';' && twin(pattern, path, p + 2, t))
		return true;
	if (!*p)
		return !*t;
	if (*p == '*')
		return twin(pattern, path, p + 1, t) || (*t && twin(pattern, path, p, t + 1));
	return *t && (*p == *t || *p == '?') && twin(pattern, path, p + 1, t + 1);
}

/* A third of the frames gets a condition. */
static void with_conditions(char *pattern, const char *plain)
{
	size_t used = 0;

	for (const char *c = plain;; c++) {
		if ((!*c || *c == ';') && small_below(3) == 0)
			used += (size_t)sprintf(pattern + used, "@function");
		pattern[used++] = *c;
		if (!*c)
			break;
	}
}

static void test_context(void **unused)
{
	static const char letters[] = "ab;;*?";
	struct small_run run;
	char plain[12], pattern[140], path[200];
	uint32_t contexts[60];

	(void)unused;
	small_seed("select.context");
	small_begin(&run);
	for (int i = 0; i < 60; i++) {
		size_t frames = 1 + small_below(5), used = 0;

		for (size_t f = 0; f < frames; f++)
			used += (size_t)snprintf(path + used, sizeof path - used, "%s%.*s", f ? ";" : "",
				(int)(1 + small_below(2)), small_below(2) ? "ab" : "ba");
		contexts[i] = small_path(run.writer, path);
	}
	small_ready(&run);
	for (int round = 0; round < 3000; round++) {
		size_t size = small_below(sizeof plain);
		struct select_context *compiled;
		struct error error = {0};

		for (size_t i = 0; i < size; i++)
			plain[i] = letters[small_below(sizeof letters - 1)];
		plain[size] = '\0';
		with_conditions(pattern, plain);
		assert_int_equal(select_context_new(&compiled, pattern, &error), 0);
		select_context_bind(compiled, run.run);
		for (int i = 0; i < 20; i++) {
			uint32_t context = contexts[small_below(60)];
			struct arena arena = {0};
			const char *text = run_context_path(run.run, context, UINT32_MAX, &arena);

			if (select_context_match(compiled, context) != twin(pattern, text, pattern, text))
				fail_msg("'%s' and '%s'", pattern, text);
			arena_fini(&arena);
		}
		select_context_free(compiled);
	}
	small_end(&run);
}

/* Whatever is written, it is refused with a sentence or compared; with costs, too. */
static void test_any_context(void **unused)
{
	static const char *const words[] = {"@loop", "@line", "@inline", "@kernel", "@function",
		"@file=", "@module=", "@cost", "@own", ">", "<=", "1", "%", "ms", " ", "*", "?", ";", "\\",
		"\\;", "@", "=", "main", "a", ":"};
	struct small_run run;
	struct select_cost *cost = NULL;
	struct error error = {0};
	uint32_t stream, contexts[3];
	char pattern[400];
	int taken = 0;

	(void)unused;
	small_seed("select.any_context");
	small_begin(&run);
	stream = small_cpu(run.writer, 0, 0, 100);
	contexts[0] = small_path(run.writer, "main");
	contexts[1] = small_path(run.writer, "main;a");
	contexts[2] = small_path(run.writer, "main;a;a");
	store_writer_metric(run.writer, "CPUTIME", "ns", false);
	for (int i = 0; i < 3; i++)
		small_sample(run.writer, stream, 10 * (uint64_t)i, contexts[i], 0, 1);
	small_ready(&run);
	assert_int_equal(select_cost_new(&cost, run.run, &stream, 1, 0, 100, &error), 0);
	assert_int_equal(select_cost_scope(cost, run_context(run.run, contexts[0])->scope).own_ns, 10);
	assert_int_equal(select_cost_scope(cost, run_context(run.run, contexts[0])->scope).inclusive_ns, 20);
	for (int round = 0; round < 20000; round++) {
		struct select_context *compiled;
		size_t count = 1 + small_below(9);

		*pattern = '\0';
		for (size_t i = 0; i < count; i++)
			strcat(pattern, words[small_below(sizeof words / sizeof *words)]);
		error = (struct error){0};
		if (select_context_new(&compiled, pattern, &error)) {
			assert_null(compiled);
			assert_true(error.code == ERROR_USAGE && error.text[0]);
			continue;
		}
		taken++;
		select_context_bind(compiled, run.run);
		if (select_context_needs_cost(compiled) && small_below(2))
			select_context_set_cost(compiled, cost);
		for (int i = 0; i < 3; i++)
			select_context_match(compiled, contexts[i]);
		select_context_match(compiled, 0);
		select_context_free(compiled);
	}
	assert_true(taken > 5000);
	select_cost_free(cost);
	small_end(&run);
}

static void expect_context(const char *pattern, const char *path, bool wanted)
{
	struct small_run run;
	struct select_context *compiled;
	struct error error = {0};
	uint32_t context;

	small_begin(&run);
	context = small_path(run.writer, path);
	small_ready(&run);
	assert_int_equal(select_context_new(&compiled, pattern, &error), 0);
	select_context_bind(compiled, run.run);
	if (select_context_match(compiled, context) != wanted)
		fail_msg("'%s' and '%s'", pattern, path);
	select_context_free(compiled);
	small_end(&run);
}

static void test_context_cases(void **unused)
{
	(void)unused;
	expect_context("main;*;solve*", "main;a;b;solve_all;c", true);
	expect_context("main;*;solve*", "main;solve", true);
	expect_context("main;*;solve*", "main;presolve", false);
	expect_context("main;*", "main", true);
	expect_context("main;*", "mainly", false);
	expect_context("main", "main;a", false);
	expect_context("*;solve", "solve", true);
	expect_context("*;solve", "presolve", false);
	expect_context("*;solve", "main;presolve", false);
	expect_context("*[abi:cxx11]", "f[abi:cxx11]", true);
	expect_context("*", "", true);
	/* A frame with conditions is one frame; what is no condition is part of a name. */
	expect_context("main;*@function", "main;a;b", false);
	expect_context("main;*;b@function", "main;a;b", true);
	expect_context("*;@function;b", "main;a;b", true);
	expect_context("*;@inline;*", "main;a;b", false);
	expect_context("*;@loop;*", "main;a;b", false);
	expect_context("*;memcpy@plt", "main;memcpy@plt", true);
	expect_context("*;x@functions", "main;x@functions", true);
	/* Nothing explodes. */
	expect_context(
		"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false);
}

static void test_wrong_context(void **unused)
{
	static const char *const wrong[] = {"main;x@loop", "@loop@line", "@function@loop", "@line@inline",
		"@file", "a;@module;b", "@cost>", "@cost>3", "@cost>x%", "@own<1h", "@loop@module=a"};

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_wrong("context", wrong[i], ERROR_USAGE);
	expect_sentence("context", "main;@cost>3;*", ERROR_USAGE, "'@cost>3': a cost needs a number with %");
}

static void test_glob(void **unused)
{
	(void)unused;
	assert_true(glob_match("", ""));
	assert_true(glob_match("*", ""));
	assert_true(glob_match("a*b?d", "axxbcd"));
	assert_true(glob_match("*ab", "aab"));
	assert_false(glob_match("a", "ab"));
	assert_false(glob_match("?", ""));
	assert_true(glob_match("[a]", "[a]"));
}

/* ---- the rest ---- */

static void test_others(void **unused)
{
	struct select *select;
	struct error error = {0};

	(void)unused;
	assert_int_equal(bind("op", "kernel,co*", &select, &error), 0);
	assert_true(select_wants_op(select, STORE_OP_KERNEL));
	assert_true(select_wants_op(select, STORE_OP_COPY));
	assert_false(select_wants_op(select, STORE_OP_SET));
	assert_false(select_wants_op(select, STORE_OP_NONE));
	assert_true(select_has_record_filter(select));
	assert_int_equal(select_option(select, "depth", "4", &error), 0);
	assert_int_equal(select_option(select, "top", "10", &error), 0);
	assert_int_equal(select_option(select, "min", "1.5us", &error), 0);
	assert_int_equal(select_option(select, "by", "path", &error), 0);
	assert_int_equal(select_option(select, "metric", "CPU*", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(select_depth(select), 4);
	assert_int_equal(select_top(select), 10);
	assert_int_equal(select_min_ns(select), 1500);
	assert_string_equal(select_by(select), "path");
	assert_true(select_wants_metric(select, 0));
	/* A wrong value leaves the old one. */
	assert_int_equal(select_option(select, "depth", "x", &error), -ERROR_USAGE);
	assert_int_equal(select_depth(select), 4);
	assert_int_equal(select_option(select, "colour", "x", &error), 1);
	select_free(select);
	expect_wrong("metric", "CYCLES", ERROR_USAGE);
	expect_wrong("min", "5", ERROR_USAGE);
	expect_wrong("depth", "-1", ERROR_USAGE);
	expect_wrong("depth", "4294967296", ERROR_USAGE);
	expect_wrong("depth", "auto+9999999999999999999999", ERROR_USAGE);
	expect_wrong("depth", "auto-9999999999999999999999", ERROR_USAGE);
	expect_wrong("top", "", ERROR_USAGE);
	expect_wrong("op", "a,,b", ERROR_USAGE);
	expect_wrong("by", "", ERROR_USAGE);
}

static void test_command(void **unused)
{
	struct select *select;
	struct error error = {0};
	struct arena arena = {0};

	(void)unused;
	assert_int_equal(bind("time", "-10s..+1.335886s", &select, &error), 0);
	assert_string_equal(select_command(select, NULL, &arena), "--time 50s..51.335886s");
	assert_int_equal(select_option(select, "streams", "kind=cpu & !name='x'", &error), 0);
	assert_int_equal(select_option(select, "depth", "4", &error), 0);
	assert_int_equal(select_option(select, "context", "main;*", &error), 0);
	assert_string_equal(select_command(select, NULL, &arena),
		"--time 50s..51.335886s --streams 'kind=cpu & "
		"!name='\\''x'\\''' --context 'main;*' --depth 4");
	assert_string_equal(select_command(select, "by top depth op", &arena), "--depth 4");
	assert_string_equal(select_command(select, "", &arena), "");
	assert_string_equal(select_word("a/run-1.hpct", &arena), "a/run-1.hpct");
	assert_string_equal(select_word("my run", &arena), "'my run'");
	arena_fini(&arena);
	select_free(select);
}

/* A run opens with its first commit, before there is a stream. */
static void test_no_streams(void **unused)
{
	struct small_run none;
	struct select *select;
	struct error error = {0};

	(void)unused;
	small_begin(&none);
	small_commit(&none);
	for (int is_over = 0; is_over < 2; is_over++) {
		if (is_over)
			small_ready(&none);
		else
			small_open(&none);
		assert_int_equal(select_new(&select, &error), 0);
		assert_int_equal(select_bind(select, none.run, &error), -ERROR_EMPTY);
		assert_non_null(strstr(error.text, is_over ? "nothing was recorded" : "has just begun"));
		select_free(select);
		if (!is_over)
			run_close(none.run);
	}
	small_end(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_streams), cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_of_two), cmocka_unit_test(test_wrong_time),
		cmocka_unit_test(test_record_window), cmocka_unit_test(test_streams),
		cmocka_unit_test(test_wrong_streams), cmocka_unit_test(test_context),
		cmocka_unit_test(test_any_context), cmocka_unit_test(test_context_cases),
		cmocka_unit_test(test_wrong_context), cmocka_unit_test(test_glob),
		cmocka_unit_test(test_others), cmocka_unit_test(test_command),
		cmocka_unit_test(test_wrong_bookmarks)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
