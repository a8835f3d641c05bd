/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_report.c - escapes and the three formats: what goes in comes out, whatever the bytes.
 */
#include "tests/unit/timeline_small_run.h"

#include "store/base/escape.h"
#include "store/base/json.h"
#include "store/base/utf8.h"
#include "timeline/report/report.h"
#include "timeline/select/select.h"

static size_t random_bytes(char *bytes, size_t most)
{
	static const char likely[] = "\\\\;,=\t\n\rx0aZ\x01\x7f\xff\"\xc2\xc2\x80\x9b\xa0\xe2";
	size_t size = small_below(most + 1);

	for (size_t i = 0; i < size; i++)
		bytes[i] = small_below(2) ? likely[small_below(sizeof likely)] : (char)small_below(256);
	return size;
}

static void assert_bytes(const struct store_bytes *got, const char *want, size_t size)
{
	assert_int_equal(got->size, size);
	if (size > 0)
		assert_memory_equal(got->data, want, size);
}

/* Nothing that would break a line or that a terminal obeys, and no separator but behind a backslash. */
static void assert_harmless(const struct store_bytes *text, const char *separators)
{
	bool is_escaped = false;

	for (size_t i = 0; i < text->size;) {
		const unsigned char *at = text->data + i;
		size_t length = store_utf8_length(at, text->size - i);

		assert_true(*at >= 0x20 && *at != 0x7f);
		assert_true(length || *at >= 0xa0);
		assert_false(length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
		assert_true(is_escaped || !strchr(separators, *at));
		is_escaped = !is_escaped && *at == '\\';
		i += length ? length : 1;
	}
}

static void test_escapes_undo(void **state)
{
	(void)state;
	small_seed("escapes_undo");
	for (int round = 0; round < 20000; round++) {
		char bytes[40];
		size_t size = random_bytes(bytes, sizeof bytes);
		struct store_bytes field = {0}, frame = {0}, attribute = {0}, back = {0};

		escape_field(&field, bytes, size);
		assert_harmless(&field, "");
		assert_true(escape_undo(&back, (char *)field.data, field.size));
		assert_bytes(&back, bytes, size);
		escape_frame(&frame, bytes, size);
		assert_harmless(&frame, ";");
		back.size = 0;
		assert_true(escape_undo(&back, (char *)frame.data, frame.size));
		assert_bytes(&back, bytes, size);
		escape_attribute(&attribute, bytes, size);
		assert_harmless(&attribute, ",=");
		back.size = 0;
		assert_true(escape_undo(&back, (char *)attribute.data, attribute.size));
		assert_bytes(&back, bytes, size);
		store_bytes_fini(&field);
		store_bytes_fini(&frame);
		store_bytes_fini(&attribute);
		store_bytes_fini(&back);
	}
}

/* What composed text reads as stays the same however often it is taken back and said again. */
static void test_composed_is_stable(void **state)
{
	(void)state;
	small_seed("composed_is_stable");
	for (int round = 0; round < 20000; round++) {
		char bytes[40];
		size_t size = random_bytes(bytes, sizeof bytes);
		struct store_bytes once = {0}, back = {0}, twice = {0};

		escape_composed(&once, bytes, size);
		assert_harmless(&once, "");
		escape_composed_undo(&back, (char *)once.data, once.size);
		escape_composed(&twice, (char *)back.data, back.size);
		assert_bytes(&twice, (char *)once.data, once.size);
		store_bytes_fini(&once);
		store_bytes_fini(&back);
		store_bytes_fini(&twice);
	}
}

static void test_wrong_escapes(void **state)
{
	static const char *const wrong[] = {"\\", "a\\", "\\q", "\\x", "\\x1", "\\xg0", "\\ "};
	struct store_bytes back = {0};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(escape_undo(&back, wrong[i], strlen(wrong[i])));
	store_bytes_fini(&back);
}

static void assert_json(const char *bytes, size_t size, const char *want)
{
	struct store_bytes text = {0};

	json_put_string(&text, bytes, size);
	assert_bytes(&text, want, strlen(want));
	store_bytes_fini(&text);
}

static void test_json_strings(void **state)
{
	(void)state;
	assert_json("", 0, "\"\"");
	assert_json("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
	assert_json("\x00\x1f\x7f", 3, "\"\\u0000\\u001f\\u007f\"");
	assert_json(
		"r\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x94\xa5", 12, "\"r\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x94\xa5\"");
	assert_json("\xc2\x9b\xc2\xa0", 4, "\"\\u009b\xc2\xa0\""); /* a terminal's CSI; a space */
	assert_json("\xff\xc3", 2, "\"\\\\xff\\\\xc3\"");
	assert_json("\xc0\xaf", 2, "\"\\\\xc0\\\\xaf\"");	     /* overlong */
	assert_json("\xed\xa0\x80", 3, "\"\\\\xed\\\\xa0\\\\x80\""); /* a surrogate */
	assert_json(
		"\xf4\x90\x80\x80", 4, "\"\\\\xf4\\\\x90\\\\x80\\\\x80\""); /* behind the last character */
	assert_json("\xe6\xbc", 2, "\"\\\\xe6\\\\xbc\"");		    /* cut */
}

/* ---- a tree's names ---- */

static void test_deep_names_are_numbered(void **state)
{
	static const struct report_column name[] = {{"name", REPORT_TEXT}};
	static const size_t depths[] = {0, 2, REPORT_INDENT_MAX, REPORT_INDENT_MAX + 1, 1000000};
	static const char *const wanted[] = {"main", "~ f\\n", "~ f\\n", "+1 ~ f\\n", "+999900 ~ f\\n"};
	char *text = NULL, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report *report;
	struct error error;

	(void)state;
	assert_int_equal(report_open(&report, out, REPORT_TABLE, "hpct-test", name, 1, &error), 0);
	for (unsigned i = 0; i < 5; i++) {
		report_tree_name(report, depths[i], i ? "~ " : "", i ? "f\n" : "main", i ? 2 : 4);
		report_row(report);
	}
	assert_int_equal(report_close(report, &error), 0);
	fclose(out);
	line = strchr(text, '\n') + 1; /* below the header */
	for (unsigned i = 0; i < 5; i++) {
		size_t indent = strspn(line, " ");
		char *end = strchr(line, '\n');

		assert_int_equal(indent, depths[i] < REPORT_INDENT_MAX ? depths[i] : REPORT_INDENT_MAX);
		*end = '\0';
		assert_string_equal(line + indent, wanted[i]);
		line = end + 1;
	}
	free(text);
}

/* ---- the formats ---- */

static const struct report_column columns[] = {{"name", REPORT_TEXT}, {"path", REPORT_COMPOSED},
	{"count", REPORT_NUMBER}, {"time_ns", REPORT_DURATION}, {"share", REPORT_PERCENT},
	{"value", REPORT_FIGURES}};

static char *report_two_rows(enum report_format format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report *report;
	struct error error;

	assert_int_equal(report_open(&report, out, format, "hpct-test", columns, 6, &error), 0);
	report_text(report, "a\tb\\", 4);
	report_string(report, "x;y\\;z");
	report_number(report, 18446744073709551615u);
	report_number(report, 1234567);
	report_real(report, 12.345);
	report_string(report, "1e+300");
	report_row(report);
	report_string(report, NULL);
	report_string(report, "\n");
	report_number(report, 0);
	report_none(report);
	report_real(report, 100);
	report_string(report, "nan");
	report_row(report);
	assert_int_equal(report_close(report, &error), 0);
	fclose(out);
	return text;
}

static void test_formats(void **state)
{
	char *text = report_two_rows(REPORT_TSV);

	(void)state;
	assert_string_equal(text, "name\tpath\tcount\ttime_ns\tshare\tvalue\n"
				  "a\\tb\\\\\tx;y\\;z\t18446744073709551615\t1234567\t12.35\t1e+300\n"
				  "\t\\n\t0\t\t100.00\tnan\n");
	free(text);
	text = report_two_rows(REPORT_JSON);
	assert_string_equal(text, "{\"schema\":\"hpct-test\",\"version\":1}\n"
				  "{\"name\":\"a\\\\tb\\\\\\\\\",\"path\":\"x;y\\\\;z\",\"count\":"
				  "18446744073709551615,\"time_ns\":1234567,"
				  "\"share\":12.35,\"value\":1e+300}\n"
				  "{\"name\":null,\"path\":\"\\\\n\",\"count\":0,\"time_ns\":null,\"share\":"
				  "100.00,\"value\":\"nan\"}\n");
	free(text);
	text = report_two_rows(REPORT_TABLE);
	assert_string_equal(text, "name    path                   count      time   share   value\n"
				  "a\\tb\\\\  x;y\\;z  18446744073709551615  1.235 ms   12.35  1e+300\n"
				  "        \\n                         0            100.00     nan\n");
	free(text);
}

/* ---- formulas add columns to any report ---- */

static char *report_with_formulas(enum report_format format, bool has_whole, const char *const *formulas,
	int wanted, struct error *error)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct select *select;
	struct report *report;

	assert_int_equal(select_new(&select, error), 0);
	select_take_formulas(select);
	for (; *formulas; formulas++)
		assert_int_equal(select_option(select, "metric", *formulas, error), 0);
	report_take_formulas(select, has_whole);
	assert_int_equal(report_open(&report, out, format, "hpct-test", columns, 6, error), wanted);
	for (unsigned i = 0; i < 2 && !wanted; i++) {
		report_string(report, i ? "b" : "a");
		report_string(report, "x;y");
		report_number(report, i ? 30 : 10);
		if (i)
			report_none(report);
		else
			report_number(report, 4000);
		report_real(report, 25);
		report_string(report, i ? "nan" : "0.5");
		report_row(report);
	}
	if (!wanted)
		assert_int_equal(report_close(report, error), 0);
	report_take_formulas(NULL, true);
	select_free(select);
	fclose(out);
	return text;
}

static void test_formulas(void **state)
{
	static const char *const rows[] = {
		"two = 2", "each = $time_ns / $count", "more=$each+${value}*$two", NULL};
	static const char *const whole[] = {"part = 100 * $count / @count", "of = @time", NULL};
	struct error error = {0};
	char *text = report_with_formulas(REPORT_TSV, false, rows, 0, &error);

	(void)state;
	assert_string_equal(text, "name\tpath\tcount\ttime_ns\tshare\tvalue\ttwo\teach\tmore\n"
				  "a\tx;y\t10\t4000\t25.00\t0.5\t2\t400\t401\n"
				  "b\tx;y\t30\t\t25.00\tnan\t2\t\t\n");
	free(text);
	text = report_with_formulas(REPORT_TSV, true, whole, 0, &error);
	assert_string_equal(text, "name\tpath\tcount\ttime_ns\tshare\tvalue\tpart\tof\n"
				  "a\tx;y\t10\t4000\t25.00\t0.5\t25\t4000\n"
				  "b\tx;y\t30\t\t25.00\tnan\t75\t4000\n");
	free(text);
	text = report_with_formulas(REPORT_JSON, true, rows, 0, &error);
	assert_non_null(strstr(text, "\"value\":\"nan\",\"two\":2,\"each\":null,\"more\":null}\n"));
	free(text);
	text = report_with_formulas(REPORT_TABLE, true, whole, 0, &error);
	assert_string_equal(text, "name  path  count  time  share  value  part    of\n"
				  "a     x;y      10  4 us  25.00    0.5    25  4000\n"
				  "b     x;y      30        25.00    nan    75  4000\n");
	free(text);
}

/* In a table numbers stand ahead of a long text. */
static void test_formulas_ahead_of_texts(void **state)
{
	static const struct report_column texts_last[] = {
		{"time", REPORT_DURATION}, {"key", REPORT_COMPOSED}, {"path", REPORT_COMPOSED}};
	struct report *report;
	struct select *select;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct error error;

	(void)state;
	assert_int_equal(select_new(&select, &error), 0);
	select_take_formulas(select);
	assert_int_equal(select_option(select, "metric", "half = $time_ns / 2", &error), 0);
	report_take_formulas(select, true);
	assert_int_equal(report_open(&report, out, REPORT_TABLE, "hpct-test", texts_last, 3, &error), 0);
	report_number(report, 14);
	report_string(report, "k");
	report_string(report, "main;f");
	report_row(report);
	assert_int_equal(report_close(report, &error), 0);
	report_take_formulas(NULL, true);
	select_free(select);
	fclose(out);
	assert_string_equal(text, " time  half  key  path\n14 ns     7  k    main;f\n");
	free(text);
}

static void test_wrong_formulas(void **state)
{
	static const struct {
		const char *formula;
		bool has_whole;
		const char *said;
	} cases[] = {{"x = $nothing", true, "column's number or name"},
		{"x = $4", true, "only columns 0 to 3"}, {"x = $count +", true, "value is missing"},
		{"x = @count", false, "@ stands for all rows"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const formulas[] = {cases[i].formula, NULL};
		struct error error = {0};

		free(report_with_formulas(REPORT_TSV, cases[i].has_whole, formulas, -ERROR_USAGE, &error));
		assert_non_null(strstr(error.text, cases[i].said));
	}
}

/* The table goes on, in the widths of its first rows, when it is too long to be kept. */
static void test_long_table(void **state)
{
	const struct report_column one = {"n", REPORT_NUMBER};
	char *text = NULL, *line;
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);
	struct report *report;
	struct error error;

	(void)state;
	assert_int_equal(report_open(&report, out, REPORT_TABLE, "hpct-test", &one, 1, &error), 0);
	for (uint64_t i = 0; i < 2500; i++) {
		report_number(report, i);
		report_row(report);
	}
	assert_int_equal(report_close(report, &error), 0);
	fclose(out);
	line = strtok(text, "\n");
	assert_string_equal(line, "  n");
	for (; (line = strtok(NULL, "\n")); lines++)
		assert_int_equal(strtoull(line, NULL, 10), lines);
	assert_int_equal(lines, 2500);
	free(text);
}

static void test_full_disk(void **state)
{
	const enum report_format formats[] = {REPORT_TABLE, REPORT_TSV, REPORT_JSON};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		FILE *out = fopen("/dev/full", "w");
		struct report *report;
		struct error error;

		if (!out)
			skip();
		assert_int_equal(report_open(&report, out, formats[i], "hpct-test", columns, 6, &error), 0);
		assert_int_equal(report_close(report, &error), -ERROR_IO);
		fclose(out);
	}
}

static void test_human_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {{0, "0 ns"}, {999, "999 ns"}, {1000, "1 us"}, {1234, "1.234 us"}, {99999, "100.0 us"},
		{12345678, "12.35 ms"}, {999999999, "1.000 s"}, {1500000000, "1.500 s"},
		{3600000000000, "3600 s"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[REPORT_HUMAN_MAX];

		report_human_duration(text, cases[i].ns);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes_undo),
		cmocka_unit_test(test_composed_is_stable),
		cmocka_unit_test(test_wrong_escapes),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_deep_names_are_numbered),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_formulas_ahead_of_texts),
		cmocka_unit_test(test_wrong_formulas),
		cmocka_unit_test(test_long_table),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_human_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
