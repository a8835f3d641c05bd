/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_scaling.c - fits over numbers of parts: planted growth is named right in 19 of 20 noisy cases,
 * exact growth always and to its numbers; losses of runs against sums worked out here.
 */
#include "tests/unit/timeline_small_run.h"

#include <math.h>

#include "timeline/diff/scaling.h"

#define POINTS 7
#define CASES 20

struct planted {
	enum scaling_model model;
	double exponent, constant, coefficient;
};

static const struct planted all_planted[] = {{SCALING_CONSTANT, 0, 100, 0}, {SCALING_LOG, 0, 40, 25},
	{SCALING_LOG, 0, 100, 20}, {SCALING_LINEAR, 1, 50, 10}, {SCALING_LINEAR, 1, 5, 3},
	{SCALING_POWER, 2, 50, 2}, {SCALING_POWER, 2, 2, 0.5}, {SCALING_POWER, 0.5, 20, 30},
	{SCALING_POWER, -1, 10, 200}};

/* Normal, by twelve uniform ones. */
static double noise(double deviation)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)small_below(1000000) / 1e6;
	return 1 + deviation * sum;
}

static double cost_of(const struct planted *planted, double parts)
{
	struct scaling_fit fit = {
		planted->model, planted->exponent, planted->constant, planted->coefficient, 0};

	return scaling_fit_value(&fit, parts);
}

static struct scaling_fit fit_of(const struct planted *planted, size_t points, double deviation)
{
	double parts[POINTS], costs[POINTS];

	for (size_t i = 0; i < points; i++) {
		parts[i] = (double)(1u << i);
		costs[i] = cost_of(planted, parts[i]) * noise(deviation);
	}
	return scaling_fit_make(parts, costs, points);
}

static bool is_named(const struct scaling_fit *fit, const struct planted *planted)
{
	return fit->model == planted->model && fit->exponent == planted->exponent;
}

static void test_exact(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof all_planted / sizeof *all_planted; i++)
		for (size_t points = 4; points <= POINTS; points++) {
			const struct planted *planted = &all_planted[i];
			struct scaling_fit fit = fit_of(planted, points, 0);

			if (!is_named(&fit, planted))
				fail_msg("%zu of %zu points: %s, p^%g", i, points,
					scaling_model_name(fit.model), fit.exponent);
			assert_true(fabs(fit.constant - planted->constant) < 1e-6 * planted->constant);
			assert_true(
				fabs(fit.coefficient - planted->coefficient) <= 1e-6 * planted->coefficient);
			assert_true(fit.error < 1e-9);
		}
}

static void test_noisy(void **unused)
{
	(void)unused;
	small_seed("scaling.noisy");
	for (size_t i = 0; i < sizeof all_planted / sizeof *all_planted; i++) {
		int right = 0;

		for (int round = 0; round < CASES; round++) {
			struct scaling_fit fit = fit_of(&all_planted[i], POINTS, 0.02);

			right += is_named(&fit, &all_planted[i]);
		}
		if (right < CASES - 1)
			fail_msg("planted %zu: %d of %d are named right", i, right, CASES);
	}
}

static void test_odd(void **unused)
{
	static const double parts[] = {1, 2, 3, 4}, none[] = {0, 0, 0, 0}, late[] = {0, 0, 0, 7};
	struct scaling_fit fit = scaling_fit_make(parts, none, 4);

	(void)unused;
	assert_int_equal(fit.model, SCALING_CONSTANT);
	assert_true(fit.constant == 0 && fit.error == 0);
	fit = scaling_fit_make(parts, late, 4);
	assert_true(isfinite(fit.constant) && isfinite(fit.coefficient) && isfinite(fit.error));
	fit = scaling_fit_make(parts, late, 1);
	assert_int_equal(fit.model, SCALING_CONSTANT);
	/* No noise makes 2 of 276. */
	fit = scaling_fit_make((const double[]){1, 2, 4, 8}, (const double[]){2.35, 8.1, 39.5, 276}, 4);
	assert_int_equal(fit.model, SCALING_POWER);
}

static void human(char *text, size_t size, double amount, const char *unit)
{
	snprintf(text, size, "%g %s", amount, unit);
}

static void test_text(void **unused)
{
	struct scaling_fit fit = {SCALING_LOG, 0, 80, 12, 0};
	char text[SCALING_TEXT];

	(void)unused;
	scaling_fit_text(text, &fit, human, "ms");
	assert_string_equal(text, "80 ms + 12 ms log2(p)");
	fit = (struct scaling_fit){SCALING_POWER, 1.5, 80, -12, 0};
	scaling_fit_text(text, &fit, human, "ms");
	assert_string_equal(text, "80 ms - 12 ms p^1.5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_noisy),
		cmocka_unit_test(test_odd), cmocka_unit_test(test_text)};

	return cmocka_run_group_tests_name("timeline.scaling", tests, NULL, NULL);
}
