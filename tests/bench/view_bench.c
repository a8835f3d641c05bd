/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_bench.c - what pictures and keys of the view cost on a run, without a terminal: 50 rows and 272
 * columns hold 200 cells a row. Prints TSV: what, how often, p50, p99 and longest, in ms, and p50 and
 * shortest of the process's own time, which others on the machine disturb less.
 *
 *   view_bench RUN [ROUNDS]
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/app/app.h"
#include "tui/app/session_read.h"
#include "tui/session/session.h"

#define ROWS 50
#define COLUMNS 272
#define SAMPLES 4096

struct bench {
	struct run *run;
	struct session *session;
	struct grid grid;
};

struct took {
	double ms, cpu_ms;
};

struct times {
	double ms[SAMPLES], cpu_ms[SAMPLES];
	size_t count;
};

static double clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct took now(void)
{
	return (struct took){clock_ms(CLOCK_MONOTONIC), clock_ms(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct took since(struct took begin)
{
	struct took end = now();

	return (struct took){end.ms - begin.ms, end.cpu_ms - begin.cpu_ms};
}

static void die(const struct error *error)
{
	fprintf(stderr, "view_bench: %s\n", error->text);
	exit(1);
}

static int compare_ms(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void add(struct times *times, struct took took)
{
	if (times->count == SAMPLES)
		return;
	times->ms[times->count] = took.ms;
	times->cpu_ms[times->count++] = took.cpu_ms;
}

static void report(const char *what, struct times *times)
{
	size_t count = times->count;

	if (!count)
		return;
	qsort(times->ms, count, sizeof(times->ms[0]), compare_ms);
	qsort(times->cpu_ms, count, sizeof(times->cpu_ms[0]), compare_ms);
	printf("%s\t%zu\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", what, count, times->ms[count / 2],
		times->ms[count * 99 / 100], times->ms[count - 1], times->cpu_ms[count / 2],
		times->cpu_ms[0]);
	fflush(stdout);
	times->count = 0;
}

/* As the terminal does: a picture soon, then one each 50 ms; until all rows are read if it `is_whole`. */
static struct took draw(struct bench *bench, bool is_whole)
{
	struct took begin = now();
	unsigned limit_ms = APP_ANSWER_MS;
	struct error error;

	do {
		if (session_draw(bench->session, &bench->grid, limit_ms, &error))
			die(&error);
		limit_ms = 50;
	} while (is_whole && bench->session->is_unread);
	return since(begin);
}

static struct took press(struct bench *bench, const char *key, bool is_whole)
{
	struct took begin = now();
	uint32_t code;
	size_t size;

	for (; (size = keys_parse(key, &code)) > 0; key += size) {
		session_key(bench->session, code);
		draw(bench, is_whole);
	}
	return since(begin);
}

/* The first picture as a terminal gets it: what the time of an answer gives. */
static void open_view(struct bench *bench, const char *path, struct times *opened, struct times *whole)
{
	struct run_options options = {.no_cache = true};
	struct session_looks looks = {.colours = 256, .is_single = true};
	struct took begin = now();
	struct error error;

	if (run_open(&bench->run, path, &options, &error) ||
		session_open(&bench->session, bench->run, NULL, looks, &error) ||
		session_draw(bench->session, &bench->grid, APP_ANSWER_MS, &error))
		die(&error);
	add(opened, since(begin));
	draw(bench, true);
	add(whole, since(begin));
}

static void close_view(struct bench *bench)
{
	session_close(bench->session);
	run_close(bench->run);
}

/* Each key once to its first picture, then to the complete one. */
static void each(struct bench *bench, const char *what, const char *before, const char *keys, int rounds)
{
	static struct times seen, whole;
	char title[96];

	press(bench, before, true);
	for (int i = 0; i < rounds; i++) {
		char key[2] = {keys[(size_t)i % strlen(keys)], '\0'};
		struct took first = press(bench, key, false), rest = {0, 0};

		add(&seen, first);
		if (bench->session->is_unread)
			rest = draw(bench, true);
		add(&whole, (struct took){first.ms + rest.ms, first.cpu_ms + rest.cpu_ms});
	}
	snprintf(title, sizeof(title), "%s: key to screen", what);
	report(title, &seen);
	snprintf(title, sizeof(title), "%s: key to complete picture", what);
	report(title, &whole);
}

/* A window that begins on a tile and whose columns are two tiles each, as `0` and the zoom keys leave it:
 * half of the run to whole tiles; first with new tiles, then with those that are there. */
static void aligned(struct bench *bench, int rounds)
{
	static struct times made, again;
	struct session *session = bench->session;
	uint64_t begin_ns = run_begin_ns(bench->run), length_ns = run_end_ns(bench->run) - begin_ns;
	uint64_t was[2] = {session->state.begin_ns, session->state.end_ns};
	uint32_t cells = session->frame.columns.count;
	unsigned shift = 0;
	struct error error;

	while (((uint64_t)cells << (shift + 2)) <= length_ns)
		shift++;
	session->state.begin_ns = ((begin_ns >> shift) + 1) << shift;
	session->state.end_ns = session->state.begin_ns + ((uint64_t)cells << (shift + 1));
	for (int i = 0; i < 2 * rounds; i++) {
		if (frame_renew(&session->frame, &error))
			die(&error);
		add(i ? &again : &made, draw(bench, true));
	}
	report("aligned (2 tiles a column), tiles new", &made);
	report("aligned (2 tiles a column), tiles there", &again);
	session->state.begin_ns = was[0];
	session->state.end_ns = was[1];
	draw(bench, true);
}

/* What is beside the rows: done while nobody types. */
static void rest(struct bench *bench)
{
	while (session_is_refining(bench->session))
		session_refine(bench->session, 1000);
}

int main(int argc, char **argv)
{
	static struct times opened, whole, again;
	int rounds = argc > 2 ? atoi(argv[2]) : 5, columns = COLUMNS, rows = ROWS;
	struct bench bench = {0};

	setlocale(LC_CTYPE, "C.UTF-8");
	if (argc > 3 && sscanf(argv[3], "%dx%d", &columns, &rows) != 2)
		argc = 0;
	if (argc < 2 || grid_init(&bench.grid, rows, columns, false)) {
		fprintf(stderr, "usage: view_bench RUN [ROUNDS [COLSxROWS]]\n");
		return 2;
	}
	printf("what\tcount\tp50_ms\tp99_ms\tmax_ms\tp50_cpu_ms\tmin_cpu_ms\n");
	for (int i = 0; i < rounds; i++) {
		if (i)
			close_view(&bench);
		open_view(&bench, argv[1], &opened, &whole);
	}
	report("first screen: open, read for an answer, draw", &opened);
	report("full span, complete, tiles new", &whole);
	for (int i = 0; i < rounds; i++) {
		frame_renew(&bench.session->frame, &(struct error){0});
		add(&again, draw(&bench, true));
	}
	report("full span, complete, tiles there", &again);
	aligned(&bench, rounds);
	rest(&bench);
	each(&bench, "cursor, whole run", "", "lljlkhLH", 8 * rounds);
	each(&bench, "depth, whole run", "", "Ee", 2 * rounds);
	each(&bench, "zoom in, from the whole run", "g50%<Enter>", "w", 12);
	each(&bench, "zoom out and in", "", "sw", 4 * rounds);
	each(&bench, "pan by a quarter", "", "ddad", 8 * rounds);
	each(&bench, "cursor, zoomed", "", "lljlkhLH", 8 * rounds);
	each(&bench, "zoom in, to the records", "", "w", 12);
	each(&bench, "pan by a quarter there", "", "ddad", 8 * rounds);
	close_view(&bench);
	return 0;
}
