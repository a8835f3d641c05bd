/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_cell.c - each line of the table of tui/SCREEN.md, "Cells", with its thresholds from both sides, ties,
 * and at random shares what must hold always: work is never drawn as rest, nor rest as work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "tui/timeline/cell.h"

#define COLUMN 8000u /* an eighth is 1000 */
#define NONE UINT32_MAX

static struct cell decide(const struct cell_share *shares, size_t count)
{
	return cell_decide(shares, count, COLUMN);
}

#define CELL(...)                                  \
	decide((struct cell_share[]){__VA_ARGS__}, \
		sizeof((struct cell_share[]){__VA_ARGS__}) / sizeof(struct cell_share))
#define WORK(f, ns)                                                                 \
	{                                                                           \
		.state = EXTENT_WORK, .function = (f), .hash = (f), .time_ns = (ns) \
	}
#define REST(s, ns)                                                    \
	{                                                              \
		.state = EXTENT_##s, .function = NONE, .time_ns = (ns) \
	}

static void test_blocks(void **state)
{
	struct cell cell;

	(void)state;
	cell = CELL(WORK(1, 8000));
	assert_int_equal(cell.kind, CELL_BLOCK);
	assert_int_equal(cell.function, 1);
	assert_int_equal(cell.nick, EXTENT_ABSENT);
	cell = CELL(WORK(1, 7001), REST(BLOCKED, 999));
	assert_int_equal(cell.nick, EXTENT_ABSENT);
	cell = CELL(WORK(1, 7000), REST(BLOCKED, 1000));
	assert_int_equal(cell.kind, CELL_BLOCK);
	assert_int_equal(cell.nick, EXTENT_BLOCKED);
	cell = CELL(WORK(1, 4000), WORK(2, 3000), REST(SYNC, 1000));
	assert_int_equal(cell.kind, CELL_BLOCK);
	assert_int_equal(cell.nick, EXTENT_SYNC);
	assert_int_equal(cell.function, 1);
}

static void test_mixed_and_some(void **state)
{
	struct cell cell;

	(void)state;
	cell = CELL(WORK(1, 3999), WORK(2, 3000), REST(BLOCKED, 1001));
	assert_int_equal(cell.kind, CELL_MIXED);
	cell = CELL(WORK(1, 2000), WORK(2, 2000), REST(BLOCKED, 4000));
	assert_int_equal(cell.kind, CELL_MIXED);
	cell = CELL(WORK(1, 2000), WORK(2, 1999), REST(BLOCKED, 4001));
	assert_int_equal(cell.kind, CELL_SOME);
	assert_int_equal(cell.eighths, 3);
	assert_int_equal(cell.function, 1);
	cell = CELL(WORK(1, 1), REST(IDLE, 7999));
	assert_int_equal(cell.kind, CELL_SOME);
	assert_int_equal(cell.eighths, 1);
}

static void test_states(void **state)
{
	struct cell cell;

	(void)state;
	cell = CELL(REST(IDLE, 8000));
	assert_int_equal(cell.kind, CELL_STATE);
	assert_int_equal(cell.state, EXTENT_IDLE);
	cell = CELL(REST(BLOCKED, 3000), REST(SYNC, 5000));
	assert_int_equal(cell.state, EXTENT_SYNC);
	cell = CELL(REST(UNMONITORED, 3999), REST(BLOCKED, 2000), REST(SYNC, 2001));
	assert_int_equal(cell.state, EXTENT_SYNC);
	cell = CELL(REST(UNMONITORED, 4000), REST(BLOCKED, 2000), REST(SYNC, 2000));
	assert_int_equal(cell.state, EXTENT_UNMONITORED);
	cell = CELL(WORK(1, 6999), REST(LOST, 1001));
	assert_int_equal(cell.state, EXTENT_LOST);
	assert_int_equal(cell.kind, CELL_STATE);
	cell = CELL(WORK(1, 7001), REST(LOST, 999));
	assert_int_equal(cell.kind, CELL_BLOCK);
	cell = decide(NULL, 0);
	assert_int_equal(cell.kind, CELL_STATE);
	assert_int_equal(cell.state, EXTENT_ABSENT);
}

static void test_copies(void **state)
{
	struct cell cell;
	struct cell_share copy = {.state = EXTENT_COPY_IN, .function = NONE, .time_ns = 500};
	struct cell_share kernel = {.state = EXTENT_KERNEL, .function = 7, .hash = 7, .time_ns = 600};
	struct cell_share idle = {.state = EXTENT_IDLE, .function = NONE, .time_ns = 7500};

	(void)state;
	cell = decide((struct cell_share[]){copy, idle}, 2);
	assert_int_equal(cell.kind, CELL_BLOCK);
	assert_int_equal(cell.state, EXTENT_COPY_IN);
	idle.time_ns = 6900;
	cell = decide((struct cell_share[]){copy, kernel, idle}, 3);
	assert_int_equal(cell.kind, CELL_SOME);
	assert_int_equal(cell.state, EXTENT_KERNEL);
}

/* The function in force holds the thread while it is preempted, and while it waits in a call of its own. */
static void test_held(void **state)
{
	struct cell_share runnable = {.state = EXTENT_RUNNABLE, .function = NONE, .time_ns = 5600};
	struct cell_share own_wait = {.state = EXTENT_BLOCKED, .function = 1, .hash = 1, .time_ns = 3000};
	struct cell cell, other;

	(void)state;
	/* time-sharing: 30 % of a core are a whole phase */
	cell = decide((struct cell_share[]){WORK(1, 2400), runnable}, 2);
	assert_int_equal(cell.kind, CELL_SOME);
	assert_true(cell.is_held && cell_has_holder(&cell) && !cell.is_brief);
	assert_int_equal(cell.eighths, 2);
	assert_int_equal(cell.nick, EXTENT_RUNNABLE);
	/* one run with the cells in which it ran more, none with another function's */
	other = CELL(WORK(1, 8000));
	assert_true(cell_is_same_run(&cell, &other));
	other = decide((struct cell_share[]){WORK(2, 2400), runnable}, 2);
	assert_false(cell_is_same_run(&cell, &other));
	/* preemption is shared as the core was: 1300 + 5600 * 1300 / 2400 of 8000 ns, then just below a half
	 */
	cell = decide((struct cell_share[]){WORK(1, 1300), WORK(2, 1100), runnable}, 3);
	assert_true(cell.is_held);
	cell = decide((struct cell_share[]){WORK(1, 1199), WORK(2, 1195), WORK(3, 6), runnable}, 4);
	assert_false(cell.is_held);
	/* its own waits are its time, another's are not */
	cell = decide((struct cell_share[]){WORK(1, 1000), own_wait, REST(ABSENT, 4000)}, 3);
	assert_true(cell.is_held);
	own_wait.function = own_wait.hash = 2;
	cell = decide((struct cell_share[]){WORK(1, 1000), own_wait, REST(ABSENT, 4000)}, 3);
	assert_false(cell.is_held);
	/* next to nothing ran: the texture is what it did instead */
	runnable.time_ns = 7900;
	cell = decide((struct cell_share[]){WORK(1, 100), runnable}, 2);
	assert_true(cell.is_held && cell.is_brief);
	/* a queue that rests is not held by its kernel */
	cell = decide(
		(struct cell_share[]){{.state = EXTENT_KERNEL, .function = 7, .hash = 7, .time_ns = 2000},
			REST(IDLE, 6000)},
		2);
	assert_false(cell_has_holder(&cell));
}

/* The same cell whatever the order of the shares: ties go to the smaller hash. */
static void test_ties(void **state)
{
	struct cell_share a = WORK(5, 4000), b = WORK(3, 4000);
	struct cell one = decide((struct cell_share[]){a, b}, 2),
		    two = decide((struct cell_share[]){b, a}, 2);

	(void)state;
	assert_int_equal(one.function, 3);
	assert_int_equal(two.function, 3);
}

static void test_runs(void **state)
{
	struct cell a = CELL(WORK(1, 8000)), b = CELL(WORK(1, 7000), REST(IDLE, 1000)),
		    c = CELL(WORK(2, 8000));
	struct cell d = CELL(REST(IDLE, 8000)), e = CELL(REST(BLOCKED, 8000));

	(void)state;
	assert_true(cell_is_same_run(&a, &b)); /* a nick does not end a run */
	assert_false(cell_is_same_run(&a, &c));
	assert_false(cell_is_same_run(&a, &d));
	assert_false(cell_is_same_run(&d, &e));
	assert_true(cell_is_same_run(&d, &d));
}

static void test_always(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 4711);

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct cell_share shares[6];
		uint64_t left = COLUMN, busy = 0, lost = 0;
		size_t count = 1 + (size_t)rand_r(&seed) % 6;
		struct cell cell;

		for (size_t s = 0; s < count; s++) {
			uint64_t part = s + 1 == count ? left : (uint64_t)rand_r(&seed) % (left + 1);
			enum extent_state kind =
				(enum extent_state)((unsigned)rand_r(&seed) % EXTENT_STATE_COUNT);
			shares[s] = (struct cell_share){
				.state = kind, .function = (uint32_t)s, .hash = s, .time_ns = part};
			left -= part;
			busy += extent_state_is_busy(kind) ? part : 0;
			lost += kind == EXTENT_LOST ? part : 0;
		}
		cell = decide(shares, count);
		if (lost * 8 >= COLUMN)
			assert_true(cell.kind == CELL_STATE && cell.state == EXTENT_LOST);
		else if (busy == 0)
			assert_true(cell.kind == CELL_STATE && !extent_state_is_busy(cell.state));
		else
			assert_true(cell.kind != CELL_STATE && cell.kind != CELL_UNREAD);
		if (cell.kind == CELL_BLOCK || cell.kind == CELL_SOME)
			assert_true(extent_state_is_busy(cell.state) && !extent_state_is_busy(cell.nick));
		if (cell.kind == CELL_SOME)
			assert_in_range(cell.eighths, 1, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_mixed_and_some),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
