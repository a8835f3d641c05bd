/* SPDX-License-Identifier: Apache-2.0 */
/* blame_estimate.c - Eq 2 to 10 of S2 with the numbers of its figures, and its theorem as a property. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "blame/advise/estimate.h"
#include "blame/stalls/stall.h"
#include "tests/unit/seed.h"

static int near(double a, double b, double by)
{
	return fabs(a - b) < by;
}

/* Fig 8: importance and speedup of the optimizer, and of its first hotspot. */
static void test_elimination(void **state)
{
	(void)state;
	assert_true(near(estimate_elimination(100, 5.805), 1.062, 0.0005));
	assert_true(near(estimate_elimination(100, 0.444), 1.004, 0.0005));
	assert_true(near(estimate_elimination(100, 0), 1, 1e-12));
	assert_true(near(estimate_elimination(0, 0), 1, 1e-12));
	assert_true(isinf(estimate_elimination(100, 100)));
}

static void test_hiding(void **state)
{
	(void)state;
	assert_true(near(estimate_hiding_unbounded(100, 75), 4, 1e-12));
	assert_true(near(estimate_hiding(100, 25, 75), 100.0 / 75, 1e-12)); /* the active samples bound it */
	assert_true(near(estimate_hiding(100, 60, 20), 1.25, 1e-12));
	assert_true(near(estimate_hiding(100, 50, 50), 2, 1e-12)); /* the bound is reached */
}

static double draw(double most)
{
	return most * rand() / RAND_MAX; /* NOLINT: seeded, see seed.h */
}

/* Theorem V.1, and monotony. */
static void test_theorem(void **state)
{
	(void)state;
	srand((unsigned)seed_take("blame_estimate", 21));
	for (int i = 0; i < 20000; i++) {
		double all = 1 + draw(1000), active = draw(all), matched = draw(all - active);
		double hidden = estimate_hiding(all, active, matched);
		struct estimate_scope scopes[4] = {{0}};
		double left = active, left_matched = matched, together;

		assert_true(hidden >= 1 && hidden <= 2 + 1e-9);
		assert_true(hidden <= estimate_hiding_unbounded(all, matched) + 1e-9);
		assert_true(estimate_hiding(all, active, matched / 2) <= hidden + 1e-12);
		for (size_t s = 0; s < 4; s++) {
			scopes[s].parent = s ? (size_t)rand() % s : SIZE_MAX; /* NOLINT */
			scopes[s].active = s == 3 ? left : draw(left);
			scopes[s].matched_latency = s == 3 ? left_matched : draw(left_matched);
			left -= scopes[s].active;
			left_matched -= scopes[s].matched_latency;
		}
		/* Scopes together hide no more than if work could move anywhere. */
		together = estimate_elimination(all, estimate_scopes(scopes, 4));
		assert_true(together >= 1 && together <= hidden + 1e-9);
	}
}

/* Eq 5: a loop in a loop; the outer one has the active samples of both. */
static void test_scopes(void **state)
{
	struct estimate_scope scopes[] = {{10, 30, SIZE_MAX}, {20, 15, 0}};
	struct estimate_scope inner[] = {{0, 0, SIZE_MAX}, {20, 15, 0}, {9, 30, 0}};

	(void)state;
	assert_true(near(estimate_scopes(scopes, 2), 30, 1e-12)); /* 15 in it, 15 of 10 + 5 around */
	assert_true(near(estimate_scopes(inner, 3), 24, 1e-12));  /* what is left of one is no other's */
}

static void test_parallel(void **state)
{
	(void)state;
	assert_true(near(estimate_issue(0.25, 2), 0.4375, 1e-12));
	/* Half the warps for each scheduler: at most twice as fast; less, since fewer hide less. */
	assert_true(near(estimate_parallel(0.25, 2, 1, 1), 2 * 0.25 / 0.4375, 1e-12));
	/* A scheduler that is always busy gains all of it. */
	assert_true(near(estimate_parallel(1, 4, 1, 1), 4, 1e-12));
	assert_true(near(estimate_parallel(0.5, 3, 3, 1), 1, 1e-12));
	assert_true(near(estimate_parallel(0, 3, 1, 1), 1, 1e-12));
}

/* Fig 1 and S4 Fig 8.1: of six samples three are latency samples and five have a reason; four of six. */
static void test_figures(void **state)
{
	static const char *const fig1[] = {"GINST:STL_GMEM/long_scoreboard/not_issued",
		"GINST:STL_NSEL/not_selected", "GINST:STL_NONE/selected", "GINST:STL_IDEP/wait/not_issued",
		"GINST:STL_SYNC/barrier", "GINST:STL_GMEM/long_scoreboard/not_issued"};
	unsigned latency = 0, stalls = 0;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct stall_metric metric;

		assert_true(stall_metric_parse(fig1[i], &metric));
		latency += metric.is_latency;
		stalls += metric.stall != STALL_NONE;
	}
	assert_int_equal(latency, 3);
	assert_int_equal(stalls, 5);
}

static void test_names(void **state)
{
	struct stall_metric metric;

	(void)state;
	assert_true(stall_metric_parse("GINST:STL_MTHR/lg_throttle/not_issued", &metric));
	assert_int_equal(metric.stall, STALL_MTHR);
	assert_true(metric.is_latency);
	assert_int_equal(metric.vendor_bytes, 11);
	assert_true(stall_metric_parse("GINST:STL_OTH/a_new_one", &metric));
	assert_int_equal(metric.stall, STALL_OTH);
	assert_false(metric.is_latency);
	assert_true(stall_metric_parse("GINST:STL_SLP", &metric));
	assert_int_equal(metric.vendor_bytes, 0);
	assert_false(stall_metric_parse("GINST:STL_XXX", &metric));
	assert_false(stall_metric_parse("CPUTIME", &metric));
}

/* Half of the cycles issue; a quarter of what issues goes: the rest needs three eighths of the cycles. */
static void test_issue_floor(void **state)
{
	(void)state;
	assert_true(near(estimate_issue_floor(50, 20, 5), 37.5, 1e-12));
	assert_true(near(estimate_issue_floor(50, 20, 0), 50, 1e-12));
	assert_true(near(estimate_issue_floor(50, 20, 25), 0, 1e-12)); /* no more than all goes */
	assert_true(near(estimate_issue_floor(50, 0, 0), 50, 1e-12));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_elimination), cmocka_unit_test(test_hiding),
		cmocka_unit_test(test_theorem), cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_parallel), cmocka_unit_test(test_figures), cmocka_unit_test(test_names),
		cmocka_unit_test(test_issue_floor)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
