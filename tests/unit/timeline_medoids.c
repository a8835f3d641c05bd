/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_medoids.c - k-medoids against a twin that tries every choice of medoids, the number of groups on
 * planted ones, and what has none.
 */
#include "tests/unit/timeline_small_run.h"

#include <math.h>

#include "timeline/stats/medoids.h"

#define MOST 60

struct points {
	double x[MOST], y[MOST];
	float distances[MOST * MOST];
	size_t count;
};

static double unit(void)
{
	return (double)small_below(1000000) / 1e6;
}

static void measure(struct points *points)
{
	for (size_t i = 0; i < points->count; i++)
		for (size_t j = 0; j < points->count; j++)
			points->distances[i * points->count + j] =
				(float)hypot(points->x[i] - points->x[j], points->y[i] - points->y[j]);
}

/* So many around each centre, in an order that does not tell. */
static void plant(
	struct points *points, const double (*centres)[2], size_t groups, size_t each, double spread)
{
	points->count = groups * each;
	for (size_t i = 0; i < points->count; i++) {
		points->x[i] = centres[i % groups][0] + spread * (unit() - 0.5);
		points->y[i] = centres[i % groups][1] + spread * (unit() - 0.5);
	}
	measure(points);
}

static double least_of_all(const struct points *points, struct medoids *chosen, uint32_t count, uint32_t from)
{
	double least = INFINITY;

	if (chosen->count == count)
		return medoids_cost(chosen, points->distances, points->count);
	for (uint32_t i = from; i < points->count; i++) {
		chosen->medoids[chosen->count++] = i;
		least = fmin(least, least_of_all(points, chosen, count, i + 1));
		chosen->count--;
	}
	return least;
}

static void test_twin(void **unused)
{
	struct points points;
	struct error error;
	int best = 0, rounds = 60;

	(void)unused;
	small_seed("medoids.twin");
	for (int round = 0; round < rounds; round++) {
		struct medoids medoids, tried = {0};
		uint32_t count = 1 + (uint32_t)small_below(3);
		double least, cost;

		points.count = 4 + small_below(8);
		for (size_t i = 0; i < points.count; i++)
			points.x[i] = unit(), points.y[i] = unit();
		measure(&points);
		assert_int_equal(medoids_of(&medoids, points.distances, points.count, count, &error), 0);
		assert_int_equal(medoids.count, count);
		least = least_of_all(&points, &tried, count, 0);
		cost = medoids_cost(&medoids, points.distances, points.count);
		assert_true(cost >= least - 1e-4);
		best += cost < least + 1e-4;
		/* No exchange lessens it. */
		for (uint32_t g = 0; g < count; g++)
			for (uint32_t i = 0; i < points.count; i++) {
				struct medoids other = medoids;

				other.medoids[g] = i;
				assert_true(
					medoids_cost(&other, points.distances, points.count) > cost - 1e-4);
			}
	}
	assert_true(best >= rounds * 8 / 10); /* exchanges one by one may end short of the best */
}

static void test_planted(void **unused)
{
	static const double centres[5][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {3, 3}};
	struct points points;
	struct error error;

	(void)unused;
	small_seed("medoids.planted");
	for (uint32_t groups = 1; groups <= 5; groups++)
		for (int round = 0; round < 5; round++) {
			struct medoids medoids;
			bool seen[5] = {false};

			plant(&points, centres, groups, 12, groups == 1 ? 0.05 : 0.3);
			assert_int_equal(
				medoids_find(&medoids, points.distances, points.count, 0.6, 0.1, &error), 0);
			if (medoids.count != groups)
				fail_msg("%u groups planted, %u found", groups, medoids.count);
			for (uint32_t g = 0; g < groups; g++)
				seen[medoids.medoids[g] % groups] = true;
			for (uint32_t g = 0; g < groups; g++)
				assert_true(seen[g]); /* one medoid in each */
			assert_true(groups == 1 ? medoids.silhouette == 0 : medoids.silhouette > 0.6);
		}
}

static void test_few(void **unused)
{
	const float none[1] = {0}, same[9] = {0}, two[4] = {0, 1, 1, 0};
	struct medoids medoids;
	struct error error;

	(void)unused;
	assert_int_equal(medoids_find(&medoids, none, 1, 0.4, 0.05, &error), 0);
	assert_int_equal(medoids.count, 1);
	assert_int_equal(medoids_find(&medoids, same, 3, 0.4, 0.05, &error), 0);
	assert_int_equal(medoids.count, 1);
	assert_int_equal(medoids_find(&medoids, two, 2, 0.4, 0.05, &error), 0);
	assert_int_equal(medoids.count, 1); /* two that differ are no groups */
	assert_int_equal(medoids_of(&medoids, two, 2, 5, &error), 0);
	assert_int_equal(medoids.count, 2);
}

/* Groups must differ by something that matters. */
static void test_apart(void **unused)
{
	static const double centres[2][2] = {{0, 0}, {0.03, 0}};
	struct points points;
	struct medoids medoids;
	struct error error;

	(void)unused;
	plant(&points, centres, 2, 10, 0.001);
	assert_int_equal(medoids_find(&medoids, points.distances, points.count, 0.4, 0.05, &error), 0);
	assert_int_equal(medoids.count, 1);
	assert_int_equal(medoids_find(&medoids, points.distances, points.count, 0.4, 0.01, &error), 0);
	assert_int_equal(medoids.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_planted),
		cmocka_unit_test(test_few), cmocka_unit_test(test_apart)};

	return cmocka_run_group_tests_name("timeline.medoids", tests, NULL, NULL);
}
