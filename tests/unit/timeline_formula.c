/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_formula.c - values of formulas, sentences for wrong ones, and random text that must never crash
 * the parser.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "timeline/base/formula.h"

static const double row[] = {6, 3, 10, 0, -2}, root[] = {100, 50, 200, 8, 0};

static double value(const char *text)
{
	struct formula *formula;
	struct error error;
	double result;

	if (formula_parse(&formula, text, 5, &error)) {
		fprintf(stderr, "%s\n", error.text);
		fail();
	}
	result = formula_value(formula, row, root);
	formula_free(formula);
	return result;
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {{"1", 1}, {" 1.5e2 ", 150}, {"$0", 6}, {"@0", 100}, {"$4", -2}, {"1 + 2 * 3", 7},
		{"(1 + 2) * 3", 9}, {"8 / 4 / 2", 1}, {"8 - 4 - 2", 2}, {"-2^2", -4}, {"2^-2", 0.25},
		{"2^3^2", 512}, {"--3", 3}, {"100 * $0 / @0", 6}, {"avg($0, $1)/avg($2,$2)", 0.45},
		{"sum(1,2,3,4)", 10}, {"min($0,$4,3)", -2}, {"max($0,$4,3)", 6},
		{"stdev(2,4,4,4,5,5,7,9)", 2}, {"abs($4)", 2}, {"sqrt(16)", 4}, {"pow(2, 10)", 1024},
		{"exp(0)", 1}, {"log(1)", 0}, {"log10(1000)", 3}, {"floor(-1.5)", -2}, {"ceil(-1.5)", -1},
		{"round(2.5)", 3}, {"if($3 > 0, 1, 2)", 2}, {"if($3 == 0, 1, 2)", 1}, {"1 <= 1", 1},
		{"2 != 2", 0}, {"$0 >= 7", 0}, {NULL, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) - 1; i++)
		if (fabs(value(cases[i].text) - cases[i].value) > 1e-12)
			fail_msg("%s is %g, not %g", cases[i].text, value(cases[i].text), cases[i].value);
	assert_true(isnan(value("$0 / $3")));
	assert_true(isnan(value("sqrt(-1)")));
	assert_true(isnan(value("max(1, sqrt(-1), 2)")));
}

static void test_errors(void **state)
{
	static const char *const wrong[][2] = {{"", "value is missing"}, {"1 +", "value is missing"},
		{"$5", "columns 0 to 4"}, {"@99", "columns 0 to 4"}, {"$", "number is missing"},
		{"sqrt(1, 2)", "takes 1 argument"}, {"pow(1)", "takes 2 arguments"},
		{"nosuch(1)", "no such function"}, {"(1", ") is missing"}, {"avg 1", "( is missing"},
		{"1 2", "too much"}, {"1)", "too much"}, {"avg()", "value is missing"},
		{"$99999999999999999999", "columns 0 to 4"}, {"1 < 2 < 3", "too much"}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct formula *formula;
		struct error error;
		assert_int_equal(formula_parse(&formula, wrong[i][0], 5, &error), -ERROR_USAGE);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("'%s': %s", wrong[i][0], error.text);
		assert_null(formula);
	}
}

static void test_long(void **state)
{
	char text[20000];
	struct formula *formula;
	struct error error;

	(void)state;
	memset(text, '(', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(formula_parse(&formula, text, 5, &error), -ERROR_USAGE);
	memset(text, '-', sizeof(text) - 1);
	assert_int_equal(formula_parse(&formula, text, 5, &error), -ERROR_USAGE);
	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = i % 2 ? '+' : '1';
	assert_int_equal(formula_parse(&formula, text, 5, &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "too long"));
}

/* Any text is a formula or a sentence. */
static void test_random(void **state)
{
	static const char letters[] = "$@01259.+-*/^()<>=!, avgsqrtpowif e";
	unsigned seed = (unsigned)seed_take(__func__, 20261122), parsed = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct formula *formula;
		struct error error;
		char text[24];
		size_t size = 1 + (size_t)rand_r(&seed) % (sizeof(text) - 1);

		for (size_t k = 0; k < size; k++)
			text[k] = letters[(size_t)rand_r(&seed) % (sizeof(letters) - 1)];
		text[size] = '\0';
		if (formula_parse(&formula, text, 5, &error))
			continue;
		(void)formula_value(formula, row, root);
		formula_free(formula);
		parsed++;
	}
	assert_true(parsed > 100);
}

/* Columns by name: whatever stands in a metric's name, in any case. */
static void test_names_in_braces(void **unused)
{
	static const char *const names[] = {"cycles:excl", "cache-misses:incl", ""};
	const double own[] = {8, 3, 5}, whole[] = {16, 6, 7};
	struct formula *formula;
	struct error error;

	(void)unused;
	assert_int_equal(
		formula_parse_named(&formula, "${cache-misses:incl} - ${CYCLES:excl} / @{cycles:excl} + $2",
			names, 3, &error),
		0);
	assert_true(formula_value(formula, own, whole) == 3 - 0.5 + 5);
	formula_free(formula);
	assert_int_equal(formula_parse_named(&formula, "${cycles}", names, 3, &error), -ERROR_USAGE);
	assert_non_null(
		strstr(error.text, "a column's number or name, such as cycles:excl, is missing here"));
	assert_int_equal(formula_parse_named(&formula, "${cycles:excl", names, 3, &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "} is missing"));
	assert_int_equal(formula_parse(&formula, "${cycles:excl}", 3, &error), -ERROR_USAGE);
}

/* The longest name that stands there; ":incl" may be left out. */
static void test_names(void **unused)
{
	static const char *const names[] = {"a:incl", "a:excl", "a:incl:sum", "page-faults:incl", "per cent"};
	static const struct {
		const char *text;
		double value;
	} cases[] = {{"$a", 1}, {"$a:incl", 1}, {"$a:excl", 2}, {"$a:incl:sum+1", 4}, {"$page-faults-$a", 3},
		{"@a*10", 60}, {"$per cent / 5", 1}, {"$0 + $4", 6}, {"$a+$a", 2}};
	static const double of_row[] = {1, 2, 3, 4, 5}, of_root[] = {6, 7, 8, 9, 10};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct formula *formula;
		struct error error = {0};

		if (formula_parse_named(&formula, cases[i].text, names, 5, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		if (formula_value(formula, of_row, of_root) != cases[i].value)
			fail_msg("%s is %g", cases[i].text, formula_value(formula, of_row, of_root));
		formula_free(formula);
	}
	for (size_t i = 0; i < 2; i++) {
		struct formula *formula;
		struct error error = {0};

		assert_int_equal(
			formula_parse_named(&formula, i ? "$b" : "1+$", names, 5, &error), -ERROR_USAGE);
		assert_non_null(
			strstr(error.text, "a column's number or name, such as a:incl, is missing here"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_in_braces), cmocka_unit_test(test_values),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_long), cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
