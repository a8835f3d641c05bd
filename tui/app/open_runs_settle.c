/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_runs_settle.c - opens, shows, compares and closes runs between keys, when no code of a session is
 * active (struct open_runs, models/open_runs.h).
 */
#include <string.h>

#include "timeline/names/names_fill.h"
#include "tui/app/app.h"
#include "tui/models/compare.h"
#include "tui/models/config.h"
#include "tui/models/open_runs.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

void open_runs_init(struct open_runs *open, struct session *session, const struct run_options *options)
{
	*open = (struct open_runs){.places = {{.session = session}}, .count = 1, .options = *options};
	session->open = open;
}

static void close_place(struct open_run *place)
{
	session_close(place->session);
	if (place->run)
		run_close(place->run);
}

void open_runs_fini(struct open_runs *open)
{
	for (size_t i = 0; i < open->count; i++)
		close_place(&open->places[i]);
	open->count = 0;
}

static struct session *shown(struct open_runs *open)
{
	return open->places[open->at].session;
}

static void show(struct open_runs *open, size_t at)
{
	struct session_looks looks = shown(open)->looks;
	struct layout layout = shown(open)->layout;

	/* The terminal is the same: keys that wait already find where they act, ahead of the first picture.
	 */
	open->at = at;
	shown(open)->looks = looks;
	shown(open)->layout = layout;
	shown(open)->is_redraw = true;
	session_say(shown(open), "%s, run %zu of %zu open", run_path(shown(open)->run), at + 1, open->count);
}

static int open_place(struct open_runs *open, const char *path, struct error *error)
{
	struct open_run *place = &open->places[open->count];
	int result;

	if (open->count == OPEN_RUNS_MAX)
		return error_set(error, ERROR_USAGE, "%d runs are open; :close closes one", OPEN_RUNS_MAX);
	result = names_run_open(&place->run, path, &open->options, error);
	if (result)
		return result;
	result = session_open(&place->session, place->run, NULL, shown(open)->looks, error);
	if (result) {
		run_close(place->run);
		return result;
	}
	place->session->open = open;
	config_read(place->session);
	show(open, open->count++);
	return 0;
}

static int open_run(struct open_runs *open, const char *path, struct error *error)
{
	size_t size = strlen(path), at;
	char clean[SESSION_TEXT];

	while (size > 1 && path[size - 1] == '/')
		size--;
	snprintf(clean, sizeof(clean), "%.*s", (int)size, path);
	at = open_runs_find(open, clean);
	if (at == open->count)
		return open_place(open, clean, error);
	show(open, at);
	return 0;
}

static int compare_with(struct open_runs *open, const char *path, struct error *error)
{
	struct session *session = shown(open);
	struct run *run;
	int result = names_run_open(&run, path, &open->options, error);

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

static int close_run(struct open_runs *open, const char *path, struct error *error)
{
	size_t at = path[0] ? open_runs_find(open, path) : open->at;
	struct session *next;

	if (at == open->count)
		return error_set(error, ERROR_USAGE, "%s is not open", path);
	if (open->count == 1)
		return error_set(error, ERROR_USAGE, "no other run is open; q leaves the view");
	if (at == open->at)
		show(open, at ? at - 1 : 1);
	next = shown(open);
	close_place(&open->places[at]);
	memmove(&open->places[at], &open->places[at + 1], (--open->count - at) * sizeof(*open->places));
	for (open->at = 0; shown(open) != next; open->at++)
		;
	show(open, open->at);
	return 0;
}

struct session *open_runs_settle(struct open_runs *open)
{
	struct session *session = shown(open);
	enum session_want want = session->want;
	char path[SESSION_TEXT];
	struct error error;
	int result = 0;

	if (want == SESSION_WANTS_NOTHING)
		return session;
	session->want = SESSION_WANTS_NOTHING;
	strcpy(path, session->wanted);
	if (want == SESSION_WANTS_RUN)
		result = open_run(open, path, &error);
	else if (want == SESSION_WANTS_COMPARISON)
		result = compare_with(open, path, &error);
	else
		result = close_run(open, path, &error);
	if (result)
		session_say(shown(open), "%s", error.text);
	return shown(open);
}
