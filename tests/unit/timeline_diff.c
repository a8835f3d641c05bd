/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_diff.c - comparisons against a twin that asks for every nanosecond of every stream what holds
 * there and works with texts alone; the statistics against numbers worked out by hand; gates.
 */
#include "tests/unit/timeline_small_run.h"

#include <math.h>

#include "timeline/diff/diff.h"
#include "timeline/scan/extent.h"

#define CLOCK 500
#define ROWS_MAX 128
#define RUNS 5 /* A has the first two */
#define PERIOD 20

static const char *const paths[] = {
	"main", "main;solve", "main;solve;smooth", "main;norm", "main;solve;norm", "main;solve;solve;solve"};

static void put_thread(struct store_writer *writer, uint32_t thread)
{
	uint32_t stream = small_cpu(writer, thread, 0, CLOCK);
	uint32_t metric = store_writer_metric(writer, "CPUTIME", "ns", false);
	uint64_t at_ns = 0;

	small_span(writer, stream, 0, CLOCK - 50, STORE_OP_MONITORED, 0, "metric=CPUTIME,period_ns=20");
	while (at_ns < CLOCK - 60) {
		at_ns += 1 + small_below(30);
		if (small_below(6) == 0)
			small_span(
				writer, stream, at_ns, at_ns + 1 + small_below(40), STORE_OP_BLOCKED, 0, "");
		else
			small_sample(writer, stream, at_ns, small_path(writer, paths[small_below(6)]), metric,
				PERIOD);
	}
}

static void put_queue(struct store_writer *writer)
{
	uint32_t stream = small_gpu(writer, 1, 0, CLOCK);

	small_span(writer, stream, 0, CLOCK, STORE_OP_MONITORED, 0, "");
	for (int i = 0; i < 10; i++) {
		uint64_t at_ns = small_below(CLOCK - 50);

		small_span(writer, stream, at_ns, at_ns + 1 + small_below(40),
			small_below(2) ? STORE_OP_KERNEL : STORE_OP_COPY,
			small_path(writer, paths[small_below(6)]), "");
	}
}

/* Contexts get other numbers in every run. */
static void make_run(struct small_run *small)
{
	small_begin(small);
	for (uint64_t i = small_below(6); i < 6; i++)
		small_path(small->writer, paths[i]);
	put_thread(small->writer, 0);
	if (small_below(2))
		put_thread(small->writer, 1);
	put_queue(small->writer);
	small_ready(small);
}

/* ---- the twin ---- */

struct twin_row {
	char key[128];
	bool is_state;
	double time[RUNS], sampled[RUNS], samples[RUNS];
};

struct twin {
	struct twin_row rows[ROWS_MAX];
	size_t count;
	double sampled[RUNS]; /* the whole */
};

static struct twin_row *twin_row(struct twin *twin, const char *key, bool is_state)
{
	struct twin_row *row;

	for (row = twin->rows; row < twin->rows + twin->count; row++)
		if (!strcmp(row->key, key) && row->is_state == is_state)
			return row;
	assert_true(twin->count++ < ROWS_MAX);
	snprintf(row->key, sizeof row->key, "%s", key);
	row->is_state = is_state;
	return row;
}

static void twin_add(struct twin *twin, int run, const char *key, const struct extent *piece, bool is_state)
{
	struct twin_row *row = twin_row(twin, key, is_state);
	bool is_sampled = piece->state == EXTENT_WORK;

	row->time[run]++;
	row->sampled[run] += is_sampled;
}

/* Exclusive, or every prefix of the path, or every function in it once. */
static void twin_context(struct twin *twin, int run, const char *path, const struct extent *piece,
	const struct diff_question *question)
{
	char text[128], *at = text;
	const char *seen[16];
	size_t seen_count = 0;

	for (size_t i = 0;; i++) {
		bool is_end = !path[i];

		if (!is_end && path[i] != ';')
			continue;
		if (is_end || question->is_inclusive) {
			bool is_new = true;

			snprintf(text, sizeof text, "%.*s", (int)i, path);
			at = question->by == STATS_FUNCTION && strrchr(text, ';') ? strrchr(text, ';') + 1
										  : text;
			for (size_t s = 0; s < seen_count; s++)
				is_new &= strcmp(seen[s], at) != 0;
			if (is_new) {
				seen[seen_count++] = strdup(at);
				twin_add(twin, run, at, piece, false);
			}
		}
		if (is_end)
			break;
	}
	while (seen_count)
		free((char *)seen[--seen_count]);
}

static void twin_run(struct twin *twin, int number, struct run *run, uint64_t begin_ns, uint64_t end_ns,
	const struct diff_question *question)
{
	for (uint32_t stream = 0; stream < run_stream_count(run); stream++)
		for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns++) {
			struct arena arena = {0};
			struct extent piece;
			struct error error;

			assert_int_equal(extent_at(run, stream, at_ns, &piece, &error), 0);
			if (piece.state == EXTENT_ABSENT)
				continue;
			twin->sampled[number] += piece.state == EXTENT_WORK;
			if (extent_state_is_busy(piece.state) && piece.context)
				twin_context(twin, number,
					run_context_path(run, piece.context, UINT32_MAX, &arena), &piece,
					question);
			else
				twin_add(twin, number, extent_state_name(piece.state), &piece, true);
			arena_fini(&arena);
		}
}

static double mean(const double *values, int from, int to)
{
	double sum = 0;

	for (int i = from; i < to; i++)
		sum += values[i];
	return sum / (to - from);
}

static void hold_row(const struct twin *twin, const struct diff_row *row)
{
	const struct twin_row *expected = NULL;

	for (size_t i = 0; i < twin->count; i++)
		if (!strcmp(twin->rows[i].key, row->key) && twin->rows[i].is_state == row->is_state)
			expected = &twin->rows[i];
	if (!expected)
		fail_msg("%s is no row of the twin", row->key);
	if (row->time_ns[DIFF_A] != (uint64_t)llround(mean(expected->time, 0, 2)) ||
		row->time_ns[DIFF_B] != (uint64_t)llround(mean(expected->time, 2, RUNS)))
		fail_msg("%s: %" PRIu64 " %" PRIu64 ", the twin has %g %g", row->key, row->time_ns[DIFF_A],
			row->time_ns[DIFF_B], mean(expected->time, 0, 2), mean(expected->time, 2, RUNS));
	assert_true(row->delta_ns == (int64_t)row->time_ns[DIFF_B] - (int64_t)row->time_ns[DIFF_A]);
	/* Without samples it is the scatter of the repeats alone. */
	if (row->is_state) {
		double a = mean(expected->time, 0, 2), squares_a = 0, b = mean(expected->time, 2, RUNS),
		       squares_b = 0;
		struct diff_estimate sides[2];

		for (int i = 0; i < RUNS; i++)
			*(i < 2 ? &squares_a : &squares_b) += pow(expected->time[i] - (i < 2 ? a : b), 2);
		sides[0] = (struct diff_estimate){a, squares_a / 2, squares_a > 0 ? 1 : 0, 2, false};
		sides[1] = (struct diff_estimate){b, squares_b / 2 / 3, squares_b > 0 ? 2 : 0, 3, false};
		assert_true(llabs((long long)row->noise_ns - llround(diff_noise(&sides[0], &sides[1]))) <= 1);
	}
}

static void compare_runs(struct small_run *runs, const struct diff_question *question)
{
	uint64_t begin_ns = small_below(CLOCK / 2), end_ns = begin_ns + 1 + small_below(CLOCK - begin_ns - 1),
		 sum = 0;
	struct twin *twin = calloc(1, sizeof *twin);
	struct error error = {0};
	struct arena arena = {0};
	struct select *select;
	struct diff_result result;
	struct diff *diff;
	char time[64];
	int code;

	assert_int_equal(select_new(&select, &error), 0);
	snprintf(time, sizeof time, "%" PRIu64 "ns..%" PRIu64 "ns", begin_ns, end_ns);
	assert_int_equal(select_option(select, "time", time, &error), 0);
	assert_int_equal(diff_new(&diff, question, &error), 0);
	for (int i = 0; i < RUNS; i++) {
		code = select_bind(select, runs[i].run, &error);
		if (!code)
			code = diff_add(diff, i < 2 ? DIFF_A : DIFF_B, runs[i].run, select, &error);
		if (code == -ERROR_EMPTY) /* the window lies behind the end */
			goto out;
		if (code)
			fail_msg("%s", error.text);
		twin_run(twin, i, runs[i].run, select_begin_ns(select), select_end_ns(select), question);
	}
	assert_int_equal(diff_finish(diff, &result, &arena, &error), 0);
	for (size_t i = 0; i < result.count; i++) {
		hold_row(twin, &result.rows[i]);
		sum += result.rows[i].time_ns[DIFF_A] + result.rows[i].time_ns[DIFF_B];
	}
	for (size_t i = 0; i < twin->count; i++)
		sum -= (uint64_t)llround(mean(twin->rows[i].time, 0, 2)) +
		       (uint64_t)llround(mean(twin->rows[i].time, 2, RUNS));
	assert_int_equal(sum, 0);
out:
	diff_free(diff);
	select_free(select);
	arena_fini(&arena);
	free(twin);
}

static void twin(void **state)
{
	struct small_run runs[RUNS];

	(void)state;
	small_seed(__func__);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < RUNS; i++)
			make_run(&runs[i]);
		for (int inclusive = 0; inclusive < 2; inclusive++) {
			compare_runs(runs,
				&(struct diff_question){.by = STATS_FUNCTION, .is_inclusive = inclusive});
			compare_runs(
				runs, &(struct diff_question){.by = STATS_PATH, .is_inclusive = inclusive});
		}
		for (int i = 0; i < RUNS; i++)
			small_end(&runs[i]);
	}
}

/* ---- statistics ---- */

static void noise_by_hand(void **state)
{
	const double a[] = {100, 110, 120}, b[] = {150, 154}, none[3] = {0}, some[3] = {900, 900, 900};
	struct diff_estimate x = diff_estimate_of(a, none, 3), y = diff_estimate_of(b, none, 2);

	(void)state;
	assert_true(fabs(x.mean - 110) < 1e-9 && fabs(x.variance - 100.0 / 3) < 1e-9 && x.freedom == 2);
	assert_true(fabs(y.mean - 152) < 1e-9 && fabs(y.variance - 4) < 1e-9 && y.freedom == 1);
	/* Welch: 37.33^2 / (33.33^2 / 2 + 4^2) = 2.4 degrees of freedom, counted as 2. */
	assert_true(fabs(diff_noise(&x, &y) - 4.3027 * sqrt(100.0 / 3 + 4)) < 1e-3);
	/* Sampling says more than the scatter, and is known. */
	x = diff_estimate_of(a, some, 3);
	assert_true(fabs(x.variance - 300) < 1e-9 && x.freedom == 0);
	assert_true(fabs(diff_noise(&x, &x) - 1.959964 * sqrt(600)) < 1e-3);
	/* One run that nothing was sampled in. */
	x = diff_estimate_of(a, none, 1);
	assert_true(diff_noise(&x, &x) == 0);
	/* Many degrees of freedom: the table's 2.042 for 30, 2.131 for 15. */
	x = (struct diff_estimate){0, 1, 30, 31, false};
	y = (struct diff_estimate){0, 0, 0, 1, false};
	assert_true(fabs(diff_noise(&x, &y) - 2.0423) < 2e-3);
	x.freedom = 15;
	assert_true(fabs(diff_noise(&x, &y) - 2.1314) < 2e-3);
}

/* What a single run states exactly tells nothing of the next one; repeats and samples do. */
static void noise_unknown(void **state)
{
	const struct diff_estimate none = {.repeats = 1}, exact = {.mean = 5, .repeats = 1},
				   sampled = {.mean = 5, .variance = 2, .repeats = 1, .is_sampled = true},
				   whole = {.mean = 5, .repeats = 1, .is_sampled = true},
				   repeated = {.mean = 5, .repeats = 2};

	(void)state;
	assert_false(diff_noise_is_known(&exact, &exact));
	assert_false(diff_noise_is_known(&none, &exact));
	assert_false(diff_noise_is_known(&exact, &sampled));
	assert_false(diff_noise_is_known(&exact, &repeated));
	assert_false(diff_noise_is_known(&whole, &whole));
	assert_true(diff_noise_is_known(&none, &sampled));
	assert_true(diff_noise_is_known(&whole, &sampled));
	assert_true(diff_noise_is_known(&repeated, &repeated));
}

/* ---- gates ---- */

static enum diff_verdict ask_gate(const char *text, double least, struct error *why)
{
	struct diff_row rows[] = {{.key = "solve",
					  .time_ns = {1000, 1100},
					  .delta_ns = 100,
					  .noise_ns = 40,
					  .is_noise_known = true},
		{.key = "solver->step",
			.time_ns = {1000, 1030},
			.delta_ns = 30,
			.noise_ns = 40,
			.is_noise_known = true},
		{.key = "norm", .time_ns = {0, 50}, .delta_ns = 50, .noise_ns = 10, .is_noise_known = true},
		{.key = "write",
			.time_ns = {1000, 100},
			.delta_ns = -900,
			.noise_ns = 10,
			.is_noise_known = true}};
	struct diff_result result = {.rows = rows, .count = 4, .coverage = {1, 0.95}};
	struct arena arena = {0};
	enum diff_verdict verdict;
	struct diff_gate gate;

	assert_int_equal(diff_gate_parse(&gate, text, &arena, why), 0);
	verdict = diff_gate_judge(&gate, &result, least, why);
	arena_fini(&arena);
	return verdict;
}

static void gates(void **state)
{
	struct error why;

	(void)state;
	assert_int_equal(ask_gate("solve>+5%", 0.9, &why), DIFF_HIT);
	assert_int_equal(why.code, ERROR_GATE);
	assert_int_equal(ask_gate("solve>+10%", 0.9, &why), DIFF_HOLDS); /* by more than */
	assert_int_equal(ask_gate("solve>+99ns", 0.9, &why), DIFF_HIT);
	assert_int_equal(ask_gate("solve>+100ns", 0.9, &why), DIFF_HOLDS);
	assert_string_equal(why.text, "");
	assert_int_equal(ask_gate("solver->step>+1%", 0.9, &why), DIFF_HOLDS); /* within its noise */
	assert_string_not_equal(why.text, "");
	assert_int_equal(ask_gate("solver->step>+3%", 0.9, &why), DIFF_HOLDS);
	assert_string_equal(why.text, "");
	assert_int_equal(ask_gate("n*>+500%", 0.9, &why), DIFF_HIT); /* from nothing */
	assert_int_equal(ask_gate("write>+0%", 0.9, &why), DIFF_HOLDS);
	assert_int_equal(ask_gate("*>+5%", 0.9, &why), DIFF_HIT);
	assert_int_equal(ask_gate("solve>+5%", 0.96, &why), DIFF_UNJUDGED);
	assert_int_equal(why.code, ERROR_EMPTY);
	assert_int_equal(ask_gate("nobody>+5%", 0.9, &why), DIFF_UNJUDGED);
}

static void gates_refused(void **state)
{
	static const char *const texts[] = {"solve", "solve>5%", "solve>+", "solve>+%", "solve>+5", ">+5%",
		"solve>+-5%", "solve>+5%%", "solve>+nan%", ""};
	struct arena arena = {0};
	struct diff_gate gate;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (diff_gate_parse(&gate, texts[i], &arena, &error) != -ERROR_USAGE)
			fail_msg("'%s' is taken for a gate", texts[i]);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twin),
		cmocka_unit_test(noise_by_hand),
		cmocka_unit_test(noise_unknown),
		cmocka_unit_test(gates),
		cmocka_unit_test(gates_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
