/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_world.h - what tests of the view stand on: a directory of their own that is the user's home too,
 * simulated runs in it, and a session on one of them that is drawn after each key.
 */
#ifndef TESTS_TUI_WORLD_H
#define TESTS_TUI_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulate.h"
#include "tui/app/app.h"
#include "tui/models/compare.h"
#include "tui/views/views.h"

#define ROWS 36
#define COLUMNS 120

struct fixture {
	struct run *run;
	struct session *session;
	struct grid grid;
};

static char directory[] = "/tmp/hpct-tui.XXXXXX";
static char run_a[64]; /* made by begin_world */

static inline int make_run(char path[64], const char *name, unsigned streams, unsigned records, unsigned seed)
{
	struct simulate_options options = {
		.run = path, .shape = "mixed", .streams = streams, .records = records, .seed = seed};
	struct error error;

	snprintf(path, 64, "%s/%s.hpct", directory, name);
	return simulate_run(&options, &error);
}

/* For cmocka's group setup, and the way back. */
static inline int begin_world(unsigned records, unsigned seed)
{
	if (!mkdtemp(directory))
		return -1;
	setenv("XDG_CONFIG_HOME", directory, 1); /* saved views */
	setenv("XDG_CACHE_HOME", directory, 1);	 /* what y keeps */
	return make_run(run_a, "a", 12, records, seed);
}

static inline int end_world(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static inline void open_run(struct run **run, const char *path)
{
	struct run_options options = {.no_cache = true};
	struct error error;

	if (run_open(run, path, &options, &error))
		fail_msg("%s", error.text);
}

static inline void draw(struct fixture *f)
{
	struct error error;

	if (session_draw(f->session, &f->grid, 0, &error))
		fail_msg("%s", error.text);
}

/* On run A; `b`: a second one beside it, or NULL. */
static inline void open_session(struct fixture *f, const char *b, struct session_looks looks)
{
	struct error error;
	struct run *other;

	open_run(&f->run, run_a);
	assert_int_equal(session_open(&f->session, f->run, NULL, looks, &error), 0);
	assert_int_equal(grid_init(&f->grid, ROWS, COLUMNS, false), 0);
	if (!b)
		return;
	open_run(&other, b);
	assert_int_equal(compare_open(f->session, other, &error), 0);
	session_open_pane(f->session, &view_compare);
}

static inline void close_session(struct fixture *f)
{
	session_close(f->session);
	run_close(f->run);
	grid_fini(&f->grid);
}

/* A session of one run, in colour, with its first picture. */
static inline void open_one(struct fixture *f)
{
	open_session(f, NULL, (struct session_looks){.colours = 256});
	draw(f);
}

static inline void press(struct fixture *f, const char *keys)
{
	uint32_t key;
	size_t size;

	for (; (size = keys_parse(keys, &key)) > 0; keys += size) {
		session_key(f->session, key);
		draw(f);
	}
}

/* Whether ASCII text stands on the screen. */
static inline bool grid_has(const struct fixture *f, const char *text)
{
	size_t size = strlen(text), at;

	for (size_t i = 0; i + size <= (size_t)ROWS * COLUMNS; i++) {
		for (at = 0; at < size && f->grid.cells[i + at].rune == (unsigned char)text[at]; at++)
			;
		if (at == size)
			return true;
	}
	return false;
}

#endif
