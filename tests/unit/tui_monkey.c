/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_monkey.c - a monkey at the keys, the mouse, the prompts and the corner of the window, on one run and on
 * two: whatever it does, a picture comes out, all of its cells can be shown, the cursor is in the window
 * (or in the last column, which may begin beyond it) and the window in the run. HPCT_MONKEY_SECONDS lets it
 * play longer (build.sh monkey), HPCT_MONKEY_SEED again.
 */
#include <locale.h>
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

#include "tests/simulate.h"
#include "tui/compare.h"
#include "tui/mouse.h"
#include "tui/session.h"

#define KEYS_AT_LEAST 2500

struct fixture {
	struct session *session;
	struct run *run;
	struct grid grid;
	unsigned seed;
	char recent[4096]; /* what it did, for who looks into a failure */
};

static char directory[] = "/tmp/hpct-monkey.XXXXXX";
static char run_a[64], run_b[64];

static int make_runs(void **state)
{
	struct simulate_options options = {
		.run = run_a, .shape = "mixed", .streams = 12, .records = 12000, .seed = 7};
	struct error error;

	(void)state;
	if (!mkdtemp(directory) || chdir(directory) != 0) /* where :csv writes */
		return -1;
	setenv("XDG_CONFIG_HOME", directory, 1);
	setenv("XDG_CACHE_HOME", directory, 1);
	snprintf(run_a, sizeof(run_a), "%s/a.hpct", directory);
	snprintf(run_b, sizeof(run_b), "%s/b.hpct", directory);
	if (simulate_run(&options, &error))
		return -1;
	options.run = run_b;
	options.streams = 17;
	options.seed = 11;
	return simulate_run(&options, &error);
}

static int remove_runs(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static unsigned dice(struct fixture *f, unsigned sides)
{
	return (unsigned)rand_r(&f->seed) % sides;
}

static void note(struct fixture *f, const char *what)
{
	size_t used = strlen(f->recent), more = strlen(what);

	if (used + more + 1 >= sizeof(f->recent)) {
		memmove(f->recent, f->recent + used / 2, used - used / 2 + 1);
		used -= used / 2;
	}
	memcpy(f->recent + used, what, more + 1);
}

/* ---- what must hold ---- */

static void check_grid(const struct grid *grid)
{
	for (int i = 0; i < grid->rows * grid->columns; i++) {
		uint32_t rune = grid->cells[i].rune;
		assert_true(rune == 0 || (rune >= 0x20 && rune != 0x7f));
		assert_true(!grid->is_ascii || rune < 0x7f);
		assert_true(grid->cells[i].style < GRID_STYLE_COUNT);
	}
}

/* A read is sometimes cut short, as in a terminal, and goes on. */
static void draw(struct fixture *f)
{
	struct session *s = f->session;
	struct state_limits limits = session_limits(s);
	struct error error = {0};

	if (session_draw(s, &f->grid, dice(f, 4) ? 0 : 1, &error))
		fail_msg("%s", error.text);
	if (s->is_unread && session_draw(s, &f->grid, 0, &error))
		fail_msg("%s", error.text);
	if (f->grid.is_ascii == s->looks.is_ascii)
		check_grid(&f->grid);
	if (s->layout.is_too_small)
		return;
	if (s->state.begin_ns >= s->state.end_ns || s->state.begin_ns < limits.begin_ns ||
		s->state.end_ns > limits.end_ns ||
		(s->state.cursor_ns < s->state.begin_ns && s->state.cursor_ns < s->frame.begin_ns) ||
		(s->state.cursor_ns >= s->state.end_ns && s->state.cursor_ns >= s->frame.end_ns))
		fail_msg("window [%lu, %lu) cursor %lu of a run [%lu, %lu) after %s",
			(unsigned long)s->state.begin_ns, (unsigned long)s->state.end_ns,
			(unsigned long)s->state.cursor_ns, (unsigned long)limits.begin_ns,
			(unsigned long)limits.end_ns, f->recent);
}

/* ---- what it does ---- */

static void press_key(struct fixture *f, uint32_t key)
{
	session_key(f->session, key);
	if (dice(f, 5) == 0)
		session_settle(f->session); /* another key is there already */
	else
		draw(f);
}

static void press(struct fixture *f, const char *keys)
{
	uint32_t key;
	size_t size;

	note(f, keys);
	for (; (size = keys_parse(keys, &key)) > 0; keys += size)
		press_key(f, key);
}

static void press_something(struct fixture *f)
{
	static const char *const typed[] = {":time 0.1s..0.2s<Enter>", ":time 9s..<Enter>",
		":time -10ms..<Enter>", ":depth 3<Enter>", ":depth auto<Enter>", ":streams kind=gpu<Enter>",
		":streams kind=cpu<Enter>", ":streams <Enter>", ":streams rank=9<Enter>", "g50%<Enter>",
		"g0.3<Enter>", "g<Enter>", "/solve<Enter>", "/no such<Enter>nN", "ma", "'a", "'q",
		":by path<Enter>", ":by op<Enter>", ":save a<Enter>", ":load a<Enter>", ":set mouse<Enter>",
		":set fill<Enter>", ":set ascii<Enter>", ":set ascii off<Enter>", ":set cells 1<Enter>",
		":set cells auto<Enter>", ":colour a* context 2<Enter>", ":colours spread<Enter>",
		":colours own<Enter>", ":metric a = $0 / @1<Enter>", ":metric b = sqrt($1)<Enter>",
		":hide self s*<Enter>", ":hide below *<Enter>", ":hide all *a*<Enter>", ":hide 0<Enter>",
		":columns 1<Enter>", ":percent 0<Enter>", ":rename 0 x<Enter>", ":move 1 1<Enter>",
		":hot 10%<Enter>", ":threads kind=cpu<Enter>", ":threads rank=7<Enter>", ":csv a.csv<Enter>",
		":keys<Enter>", ":help<Enter>", ":name<Enter>", ":min 1ms<Enter>", ":map /src .<Enter>",
		":align begin<Enter>", ":align span<Enter>", ":align @x<Enter>", "60P", "6b", "60PG", "G",
		"44", "33", "22", "11", "55j", "7", "77", "88", "9", "9T", "9<Tab>a", "9>>", "9<lt>", "9b",
		"&rank=1<Enter>", "C", "X", "0", "vLLz", "1<Enter>", "2<Enter>", "5<Enter>", "6<Enter>"};

	press(f, typed[dice(f, sizeof(typed) / sizeof(typed[0]))]);
}

static void press_special(struct fixture *f)
{
	static const uint32_t special[] = {KEYS_LEFT, KEYS_RIGHT, KEYS_UP, KEYS_DOWN, KEYS_HOME, KEYS_END,
		KEYS_PAGE_UP, KEYS_PAGE_DOWN, KEYS_DELETE, KEYS_ENTER, KEYS_TAB, KEYS_ESC, KEYS_BACKSPACE,
		'R' & 31, 'L' & 31, 'U' & 31, 0xe9, 0x1f600, 0x301, KEYS_RESIZE};
	uint32_t key = special[dice(f, sizeof(special) / sizeof(special[0]))];
	char name[KEYS_NAME_BYTES];

	keys_name(key, name);
	note(f, name);
	press_key(f, key);
}

static void use_mouse(struct fixture *f)
{
	struct mouse_event event = {(enum mouse_kind)dice(f, 5), (int)dice(f, 60), (int)dice(f, 220),
		(int)dice(f, 60), (int)dice(f, 220)};

	note(f, "(mouse)");
	mouse_event(f->session, &event);
	draw(f);
}

static void resize(struct fixture *f)
{
	int rows = 1 + (int)dice(f, 60), columns = 1 + (int)dice(f, 220);

	if (dice(f, 20) == 0)
		rows = 200, columns = 500;
	note(f, "(size)");
	grid_fini(&f->grid);
	assert_int_equal(grid_init(&f->grid, rows, columns, f->session->looks.is_ascii), 0);
	draw(f);
}

static void do_something(struct fixture *f)
{
	unsigned what = dice(f, 100);
	char key[2] = {(char)(33 + dice(f, 94)), '\0'};

	if (what < 3)
		resize(f);
	else if (what < 20)
		press_something(f);
	else if (what < 25)
		use_mouse(f);
	else if (what < 40)
		press_special(f);
	else
		press(f, strcmp(key, "<") == 0 ? "<lt>" : key);
	f->session->is_done = false;
}

/* ---- its games ---- */

static void open_runs(struct fixture *f, bool has_two)
{
	struct run_options options = {.no_cache = true};
	struct session_looks looks = {.colours = 256, .has_mouse = true};
	struct run *other;
	struct error error;

	assert_int_equal(run_open(&f->run, run_a, &options, &error), 0);
	assert_int_equal(session_open(&f->session, f->run, NULL, looks, &error), 0);
	assert_int_equal(grid_init(&f->grid, 36, 120, false), 0);
	if (has_two) {
		assert_int_equal(run_open(&other, run_b, &options, &error), 0);
		assert_int_equal(compare_open(f->session, other, &error), 0);
		session_open_pane(f->session, &view_compare);
	}
	draw(f);
}

static void play(bool has_two)
{
	const char *seconds = getenv("HPCT_MONKEY_SECONDS"), *seed = getenv("HPCT_MONKEY_SEED");
	uint64_t end_ms = session_now_ms() + (seconds ? strtoull(seconds, NULL, 10) * 500 : 0);
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.seed = seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)getpid();
	print_message("HPCT_MONKEY_SEED=%u\n", f.seed);
	for (int i = 0; i < KEYS_AT_LEAST || session_now_ms() < end_ms; i++) {
		if (i % KEYS_AT_LEAST == 0) { /* anew, lest it stays in a corner */
			if (i) {
				session_close(f.session);
				run_close(f.run);
				grid_fini(&f.grid);
			}
			f.recent[0] = '\0';
			open_runs(&f, has_two);
		}
		do_something(&f);
	}
	session_close(f.session);
	run_close(f.run);
	grid_fini(&f.grid);
}

static void test_one(void **state)
{
	(void)state;
	play(false);
}

static void test_two(void **state)
{
	(void)state;
	play(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_two)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
