/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_monkey.c - a monkey at the keys, the mouse, the prompts and the corner of the window, on one run and on
 * two: whatever it does, a picture comes out, all of its cells can be shown, the cursor is in the window
 * (or in the last column, which may begin beyond it) and the window in the run. HPCT_MONKEY_SECONDS lets it
 * play longer (build.sh monkey), HPCT_SEED again.
 */
#include "tests/unit/seed.h"
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "tui/app/mouse.h"
#include "tui/app/session_read.h"
#include "tui/models/open_runs.h"
#include "tui/session/deadline.h"

#define KEYS_AT_LEAST 2500

struct monkey {
	struct fixture its;
	struct open_runs open;
	unsigned seed;
	char recent[4096]; /* what it did, for who looks into a failure */
};

static char run_b[64];

static int make(void **state)
{
	(void)state;
	if (begin_world(12000, 7) || chdir(directory) != 0) /* where :csv writes */
		return -1;
	return make_run(run_b, "b", 17, 12000, 11);
}

static unsigned dice(struct monkey *f, unsigned sides)
{
	return (unsigned)rand_r(&f->seed) % sides;
}

static void note(struct monkey *f, const char *what)
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
static void look(struct monkey *f)
{
	struct session *s = f->its.session;
	struct view_state_limits limits;
	struct error error = {0};

	if (session_draw(s, &f->its.grid, dice(f, 4) ? 0 : 1, &error))
		fail_msg("%s", error.text);
	if (s->is_unread && session_draw(s, &f->its.grid, 0, &error))
		fail_msg("%s", error.text);
	if (f->its.grid.is_ascii == s->looks.is_ascii)
		check_grid(&f->its.grid);
	if (s->layout.is_too_small)
		return;
	limits = session_limits(s); /* drawing tells whether both runs are on the screen */
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

static void press_key(struct monkey *f, uint32_t key)
{
	session_key(f->its.session, key);
	f->its.session = open_runs_settle(&f->open);
	if (dice(f, 5) == 0)
		session_settle(f->its.session); /* another key is there already */
	else
		look(f);
}

static void press_all(struct monkey *f, const char *keys)
{
	uint32_t key;
	size_t size;

	note(f, keys);
	for (; (size = keys_parse(keys, &key)) > 0; keys += size)
		press_key(f, key);
}

static void press_something(struct monkey *f)
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
		"&rank=1<Enter>", "C", "X", "0", "vLLz", "1<Enter>", "2<Enter>", "5<Enter>", "6<Enter>", "R",
		"Rj<Enter>", "Rk<Enter>", "Rx", "R9", "6<Tab>", ":hide keep<Enter>", ":<Up><Up><Enter>",
		":<Up><Down>x<Enter>", ":width 9<Enter>", ":width 0<Enter>", ":format 1 %.3e<Enter>",
		":format 0 %n<Enter>", "/~s.*e<Enter>", "/~(<Enter>", ":set loops<Enter>",
		":set sites off<Enter>", ":picture a.svg<Enter>", ":picture a<Enter>", ":open a.hpct<Enter>",
		":open b.hpct<Enter>", ":compare b.hpct<Enter>6", ":close<Enter>", ":close b.hpct<Enter>",
		"Y", ":settings<Enter>jl", ":settings<Enter>jjjl", ":settings<Enter>jjjjlx",
		":set cross<Enter>", ":set live 2s<Enter>", ":set<Enter>", ":find solve<Enter>",
		"?/hide<Enter>n", "6?<End>", "?/~(<Enter>"};

	press_all(f, typed[dice(f, sizeof(typed) / sizeof(typed[0]))]);
}

static void press_special(struct monkey *f)
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

static void use_mouse(struct monkey *f)
{
	struct mouse_event event = {(enum mouse_kind)dice(f, 5), (int)dice(f, 60), (int)dice(f, 220),
		(int)dice(f, 60), (int)dice(f, 220)};

	note(f, "(mouse)");
	mouse_event(f->its.session, &event);
	look(f);
}

static void resize(struct monkey *f)
{
	int rows = 1 + (int)dice(f, 60), columns = 1 + (int)dice(f, 220);

	if (dice(f, 20) == 0)
		rows = 200, columns = 500;
	note(f, "(size)");
	grid_fini(&f->its.grid);
	assert_int_equal(grid_init(&f->its.grid, rows, columns, f->its.session->looks.is_ascii), 0);
	look(f);
}

static void do_something(struct monkey *f)
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
		press_all(f, strcmp(key, "<") == 0 ? "<lt>" : key);
	f->its.session->is_done = false;
}

/* ---- its games ---- */

static void open_runs(struct monkey *f, bool has_two)
{
	open_session(
		&f->its, has_two ? run_b : NULL, (struct session_looks){.colours = 256, .has_mouse = true});
	open_runs_init(&f->open, f->its.session, &(struct run_options){.no_cache = true});
	look(f);
}

static void close_runs(struct monkey *f)
{
	open_runs_fini(&f->open);
	run_close(f->its.run);
	grid_fini(&f->its.grid);
}

static void play(bool has_two)
{
	const char *seconds = getenv("HPCT_MONKEY_SECONDS");
	uint64_t end_ms = deadline_now_ms() + (seconds ? strtoull(seconds, NULL, 10) * 500 : 0);
	static struct monkey f;

	memset(&f, 0, sizeof(f));
	f.seed = (unsigned)seed_take(__func__, 20261122);
	for (int i = 0; i < KEYS_AT_LEAST || deadline_now_ms() < end_ms; i++) {
		if (i % KEYS_AT_LEAST == 0) { /* anew, lest it stays in a corner */
			if (i)
				close_runs(&f);
			f.recent[0] = '\0';
			open_runs(&f, has_two);
		}
		do_something(&f);
	}
	close_runs(&f);
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
	return cmocka_run_group_tests(tests, make, end_world);
}
