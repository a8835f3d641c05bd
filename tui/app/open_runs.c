/* SPDX-License-Identifier: Apache-2.0 */
/* open_runs.c - see open_runs.h. */
#include "tui/app/open_runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tui/models/compare.h"
#include "tui/models/config.h"
#include "tui/models/profile_page.h"

void desk_init(struct desk *desk, struct session *session, const struct run_options *options)
{
	*desk = (struct desk){.places = {{.session = session}}, .count = 1, .options = *options};
	session->desk = desk;
}

static void close_place(struct desk_place *place)
{
	session_close(place->session);
	if (place->run)
		run_close(place->run);
}

void desk_fini(struct desk *desk)
{
	for (size_t i = 0; i < desk->count; i++)
		close_place(&desk->places[i]);
	desk->count = 0;
}

static struct session *shown(struct desk *desk)
{
	return desk->places[desk->at].session;
}

static void show(struct desk *desk, size_t at)
{
	struct session_looks looks = shown(desk)->looks;
	struct layout layout = shown(desk)->layout;

	/* The terminal is the same: keys that wait already find where they act, ahead of the first picture.
	 */
	desk->at = at;
	shown(desk)->looks = looks;
	shown(desk)->layout = layout;
	shown(desk)->is_redraw = true;
	session_say(shown(desk), "%s, run %zu of %zu open", run_path(shown(desk)->run), at + 1, desk->count);
}

bool desk_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return strcmp(path, other) == 0 ||
	       (stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static size_t find(const struct desk *desk, const char *path)
{
	size_t at = 0;

	while (at < desk->count && !desk_is_same(run_path(desk->places[at].session->run), path))
		at++;
	return at;
}

static int open_place(struct desk *desk, const char *path, struct error *error)
{
	struct desk_place *place = &desk->places[desk->count];
	int result;

	if (desk->count == DESK_RUNS)
		return error_set(error, ERROR_USAGE, "%d runs are open; :close closes one", DESK_RUNS);
	result = run_open(&place->run, path, &desk->options, error);
	if (result)
		return result;
	result = session_open(&place->session, place->run, NULL, shown(desk)->looks, error);
	if (result) {
		run_close(place->run);
		return result;
	}
	place->session->desk = desk;
	config_read(place->session);
	show(desk, desk->count++);
	return 0;
}

static int open_run(struct desk *desk, const char *path, struct error *error)
{
	size_t size = strlen(path), at;
	char clean[SESSION_TEXT];

	while (size > 1 && path[size - 1] == '/')
		size--;
	snprintf(clean, sizeof(clean), "%.*s", (int)size, path);
	at = find(desk, clean);
	if (at == desk->count)
		return open_place(desk, clean, error);
	show(desk, at);
	return 0;
}

static int compare_with(struct desk *desk, const char *path, struct error *error)
{
	struct session *session = shown(desk);
	struct run *run;
	int result = run_open(&run, path, &desk->options, error);

	if (result)
		return result;
	if (session->profile) /* its rows may be of the other run, too */
		profile_page_forget(session->profile);
	compare_close(session->compare);
	session->compare = NULL;
	session->only = NULL;
	result = compare_open(session, run, error);
	if (!result)
		session_open_pane(session, &view_compare);
	return result;
}

static int close_run(struct desk *desk, const char *path, struct error *error)
{
	size_t at = path[0] ? find(desk, path) : desk->at;
	struct session *next;

	if (at == desk->count)
		return error_set(error, ERROR_USAGE, "%s is not open", path);
	if (desk->count == 1)
		return error_set(error, ERROR_USAGE, "no other run is open; q leaves the view");
	if (at == desk->at)
		show(desk, at ? at - 1 : 1);
	next = shown(desk);
	close_place(&desk->places[at]);
	memmove(&desk->places[at], &desk->places[at + 1], (--desk->count - at) * sizeof(*desk->places));
	for (desk->at = 0; shown(desk) != next; desk->at++)
		;
	show(desk, desk->at);
	return 0;
}

struct session *desk_settle(struct desk *desk)
{
	struct session *session = shown(desk);
	enum session_want want = session->want;
	char path[SESSION_TEXT];
	struct error error;
	int result = 0;

	if (want == SESSION_WANTS_NOTHING)
		return session;
	session->want = SESSION_WANTS_NOTHING;
	strcpy(path, session->wanted);
	if (want == SESSION_WANTS_RUN)
		result = open_run(desk, path, &error);
	else if (want == SESSION_WANTS_COMPARISON)
		result = compare_with(desk, path, &error);
	else
		result = close_run(desk, path, &error);
	if (result)
		session_say(shown(desk), "%s", error.text);
	return shown(desk);
}
