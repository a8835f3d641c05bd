/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_session_read.c - keys against pictures: keys that come faster than pictures are drawn end where they
 * should, and a picture or a table that keys put off, however often, becomes what it is without them.
 */
#include "tests/unit/seed.h"
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "timeline/base/progress.h"
#include "tui/app/progress_keys.h"
#include "tui/app/session_read.h"
#include "tui/models/wait_whom.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 7);
}

/* ---- keys that come faster than pictures ---- */

/* Keys that are done without a picture between them end where the same keys end with one each. */
static void test_drained(void **state)
{
	static const char keys[] = "hljkHLwsadAD+-0LLLLlllHHH";
	struct error error;
	struct fixture f[2];
	unsigned seed = (unsigned)seed_take(__func__, 5);

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_one(&f[i]);
		f[i].session->looks.is_single = true; /* wider cells are chosen by a picture */
		press(&f[i], "wE");
	}
	for (int i = 0; i < 400; i++) {
		uint32_t key = (uint32_t)keys[(size_t)rand_r(&seed) % (sizeof(keys) - 1)];
		session_key(f[0].session, key);
		session_settle(f[0].session);
		session_key(f[1].session, key);
		assert_int_equal(session_draw(f[1].session, &f[1].grid, 0, &error), 0);
		assert_true(f[0].session->state.begin_ns == f[1].session->state.begin_ns);
		assert_true(f[0].session->state.end_ns == f[1].session->state.end_ns);
		assert_true(f[0].session->state.cursor_ns == f[1].session->state.cursor_ns);
		assert_true(f[0].session->state.node == f[1].session->state.node);
	}
	close_session(&f[0]);
	close_session(&f[1]);
}

/* ---- reads that a key puts off ---- */

struct impatient {
	struct session *session;
	int asked, put_off;
};

/* A key at every third question. */
static bool ask(void *own, const char *what, uint64_t done, uint64_t all)
{
	struct impatient *impatient = own;

	assert_non_null(what);
	assert_true(done <= all);
	if (!impatient->session->is_resumable || ++impatient->asked % 3)
		return true;
	impatient->put_off++;
	impatient->session->is_put_off = true;
	return false;
}

/* All lines are read by function, and for another depth, or by path, once more. */
static void make_dense(struct fixture *f)
{
	f->session->frame.dense_records = f->session->frame.rolled_records = 0;
}

/* One is put off, the other, `whole`, is not. */
static void open_two(struct fixture *f, struct fixture *whole, bool is_dense)
{
	open_one(whole);
	open_one(f);
	if (is_dense) {
		make_dense(f);
		make_dense(whole);
	}
	f->session->looks.is_single = whole->session->looks.is_single = true;
}

static void press_both(struct fixture *f, struct fixture *whole, const char *keys)
{
	press(whole, keys);
	press(f, keys);
}

/* They show the same. */
static void close_equal(struct fixture *f, struct fixture *whole)
{
	draw(f);
	draw(whole);
	assert_memory_equal(f->grid.cells, whole->grid.cells, ROWS * COLUMNS * sizeof(*f->grid.cells));
	close_session(f);
	close_session(whole);
}

/* However often a picture is put off, it gets there, and is the one that was never put off. */
static void reach_picture(bool is_dense)
{
	struct impatient impatient;
	struct fixture f, whole;
	struct error error;
	int pictures = 0;

	open_two(&f, &whole, is_dense);
	press_both(&f, &whole, "w");
	session_key(f.session, 's');
	session_key(whole.session, 's');
	session_key(f.session, 'd');
	session_key(whole.session, 'd');
	if (is_dense) /* all rows are there, but not at the depths to choose from */
		press_both(&f, &whole, ":depth 3<Enter>");
	session_key(f.session, '=');
	session_key(whole.session, '=');
	draw(&whole);
	impatient = (struct impatient){.session = f.session};
	progress_watch(ask, &impatient, 0);
	do {
		if (session_draw(f.session, &f.grid, 60000, &error))
			fail_msg("%s", error.text);
		session_refine(f.session, 60000);
		assert_true(++pictures < 2000);
	} while (f.session->is_unread || session_is_refining(f.session));
	progress_watch(NULL, NULL, 0);
	assert_true(impatient.put_off > 5 && pictures > 5);
	assert_true(f.session->state.depth > 1);
	assert_int_equal(f.session->state.depth, whole.session->state.depth);
	session_refine(whole.session, 0);
	close_equal(&f, &whole);
}

static void test_put_off(void **state)
{
	(void)state;
	reach_picture(false);
}

/* The depth, too, is chosen by all that is read for it. */
static void test_put_off_dense(void **state)
{
	(void)state;
	reach_picture(true);
}

/* ---- tables that a key has begin anew ---- */

/* A key at the first, the third and the seventh question about a table. */
static bool ask_of_tables(void *own, const char *what, uint64_t done, uint64_t all)
{
	struct impatient *impatient = own;

	assert_non_null(what);
	assert_true(done <= all);
	if (!impatient->session->is_restartable)
		return true;
	impatient->asked++;
	if (impatient->asked != 1 && impatient->asked != 3 && impatient->asked != 7)
		return true;
	impatient->put_off++;
	impatient->session->is_put_off = true;
	return false;
}

/* What is put off is not shown as if it were all, and gets there. */
static void test_tables_put_off(void **state)
{
	static const char *const views[] = {"6", "ii", ":by path<Enter>", "4", "44"};

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		struct impatient impatient;
		struct fixture f, whole;
		struct error error;
		int pictures = 0;

		open_two(&f, &whole, true);
		press_both(&f, &whole, views[i][0] == 'i' ? "w22" : "w:depth 3<Enter>");
		press(&whole, views[i]);
		for (size_t at = 0, size; views[i][at]; at += size) {
			uint32_t key;
			size = keys_parse(&views[i][at], &key);
			session_key(f.session, key);
		}
		impatient = (struct impatient){.session = f.session};
		progress_watch(ask_of_tables, &impatient, 0);
		do {
			int put_off = impatient.put_off;
			if (session_draw(f.session, &f.grid, 60000, &error))
				fail_msg("%s", error.text);
			assert_true(f.session->is_unread || put_off == impatient.put_off);
			assert_true(++pictures < 100);
		} while (f.session->is_unread);
		progress_watch(NULL, NULL, 0);
		if (impatient.put_off == 0 && views[i][0] != 'i') /* few batches may end before they ask */
			fail_msg("%s: nothing was asked", views[i]);
		session_refine(f.session, 0);
		session_refine(whole.session, 0);
		close_equal(&f, &whole);
	}
}

/* Esc is said, and what lacks numbers with it. */
static bool stop_tables(void *own, const char *what, uint64_t done, uint64_t all)
{
	(void)what, (void)done, (void)all;
	return !((struct session *)own)->is_restartable;
}

static void test_tables_stopped(void **state)
{
	struct fixture f;
	struct error error;

	(void)state;
	open_one(&f);
	make_dense(&f);
	press(&f, "w:depth 3<Enter>");
	progress_watch(stop_tables, f.session, 0);
	session_key(f.session, 'b'); /* by path: of leaves */
	f.session->message[0] = '\0';
	if (session_draw(f.session, &f.grid, 60000, &error))
		fail_msg("%s", error.text);
	assert_non_null(strstr(f.session->message, "numbers are missing"));
	progress_watch(NULL, NULL, 0);
	close_session(&f);
}

static bool key_came(void *own, const char *what, uint64_t done, uint64_t all)
{
	struct session *session = own;

	(void)what, (void)done, (void)all;
	session->is_put_off = true;
	return false;
}

/* A key stops the search for a circle of waits, which gives no error: the wait is looked up again. */
static void test_whom_put_off(void **state)
{
	struct fixture f;

	(void)state;
	open_one(&f);
	progress_watch(key_came, f.session, 0);
	assert_false(progress_at("reading", 0, 1));
	assert_false(wait_whom_find(f.session, 0, 0, 1));
	assert_false(progress_is_stopped());
	assert_null(wait_whom_text(f.session, 0, 0, 1));
	progress_watch(NULL, NULL, 0);
	assert_true(wait_whom_find(f.session, 0, 0, 1));
	assert_non_null(wait_whom_text(f.session, 0, 0, 1));
	close_session(&f);
}

/* What ends a long read at once, and what waits for its end. */
static void test_long_read(void **state)
{
	static const char ends[] = "qtuadADws0IO", waits[] = "hjkl:/gem1+-";

	(void)state;
	for (size_t i = 0; ends[i]; i++)
		assert_true(progress_keys_is_over((uint32_t)ends[i]));
	for (size_t i = 0; waits[i]; i++)
		assert_false(progress_keys_is_over((uint32_t)waits[i]));
	assert_true(progress_keys_is_over(KEYS_ESC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drained),
		cmocka_unit_test(test_put_off),
		cmocka_unit_test(test_put_off_dense),
		cmocka_unit_test(test_tables_put_off),
		cmocka_unit_test(test_tables_stopped),
		cmocka_unit_test(test_whom_put_off),
		cmocka_unit_test(test_long_read),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
