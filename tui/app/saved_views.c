/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_views.c - writes and reads saved views. Times are relative to the run's origin.
 */
#include "tui/app/saved_views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/commands.h"
#include "tui/app/status_bars.h"
#include "tui/models/config.h"

#define SAVED_VIEWS_NAME 128

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return name[0] && name[0] != '.' && strlen(name) < SAVED_VIEWS_NAME &&
	       strspn(name, letters) == strlen(name);
}

/* False after saying why. */
static bool put_path(struct session *session, char *path, const char *name, bool makes_parents)
{
	char file[SAVED_VIEWS_NAME + sizeof("views/")];

	if (!is_name(name)) {
		session_say(session, "a view's name is made of letters, digits, '.', '_' and '-'");
		return false;
	}
	snprintf(file, sizeof(file), "views/%s", name);
	if (config_path(path, file, makes_parents))
		return true;
	session_say(session, "there is no place for views: HOME is not set");
	return false;
}

/* Two runs are hardly ever begun in the same nanosecond. */
static void put_run(const struct session *session, char *out, size_t size_bytes)
{
	snprintf(out, size_bytes, "%llu.%llu", (unsigned long long)run_origin_ns(session->run),
		(unsigned long long)run_wall_ns(session->run));
}

void saved_views_write(struct session *session, const char *name)
{
	const struct view_state *state = &session->state;
	uint64_t origin_ns = run_origin_ns(session->run);
	char path[CONFIG_PATH], id[64], depth[SESSION_DEPTH];
	uint32_t stream;
	FILE *file;

	if (!put_path(session, path, name, true))
		return;
	file = fopen(path, "we");
	if (!file) {
		session_say(session, "cannot write %s: %s", path, strerror(errno));
		return;
	}
	put_run(session, id, sizeof(id));
	fprintf(file, "run %s\nbegin_ns %lld\nend_ns %lld\ncursor_ns %lld\n", id,
		(long long)(state->begin_ns - origin_ns), (long long)(state->end_ns - origin_ns),
		(long long)(state->cursor_ns - origin_ns));
	if (session_stream(session, &stream))
		fprintf(file, "stream %s\n", run_stream(session->run, stream)->text);
	session_depth_option(session, depth);
	fprintf(file, "depth %s\n", depth);
	fprintf(file, "filter %s\npane %c\n", session->filter, session->pane->key);
	if (fclose(file) != 0)
		session_say(session, "cannot write %s: %s", path, strerror(errno));
	else
		session_say(session, "saved; :load %s comes back", name);
}

/* Contents of a file. */
struct saved {
	bool is_of_run;
	long long begin_ns, end_ns, cursor_ns;
	char stream[512], filter[SESSION_TEXT], depth[16], pane;
};

static void take_line(const struct session *session, struct saved *saved, char *line)
{
	char *value = line + strcspn(line, " "), id[64];

	if (*value)
		*value++ = '\0';
	value[strcspn(value, "\n")] = '\0';
	put_run(session, id, sizeof(id));
	if (strcmp(line, "run") == 0)
		saved->is_of_run = strcmp(value, id) == 0;
	else if (strcmp(line, "begin_ns") == 0)
		saved->begin_ns = strtoll(value, NULL, 10);
	else if (strcmp(line, "end_ns") == 0)
		saved->end_ns = strtoll(value, NULL, 10);
	else if (strcmp(line, "cursor_ns") == 0)
		saved->cursor_ns = strtoll(value, NULL, 10);
	else if (strcmp(line, "stream") == 0)
		snprintf(saved->stream, sizeof(saved->stream), "%s", value);
	else if (strcmp(line, "filter") == 0)
		snprintf(saved->filter, sizeof(saved->filter), "%s", value);
	else if (strcmp(line, "depth") == 0)
		snprintf(saved->depth, sizeof(saved->depth), "%.15s", value);
	else if (strcmp(line, "pane") == 0)
		saved->pane = value[0];
}

static void go_to_place(struct session *session, const struct saved *saved)
{
	uint64_t origin_ns = run_origin_ns(session->run);
	struct view_state_limits limits = session_limits(session);

	session->state.is_following = false;
	if (saved->end_ns > saved->begin_ns)
		view_state_set_window(&session->state, limits, origin_ns + (uint64_t)saved->begin_ns,
			(uint64_t)saved->end_ns - (uint64_t)saved->begin_ns);
	view_state_go(&session->state, limits, origin_ns + (uint64_t)saved->cursor_ns);
	for (uint32_t i = 0; i < run_stream_count(session->run); i++)
		if (strcmp(run_stream(session->run, i)->text, saved->stream) == 0 &&
			rows_node_of(&session->rows, i) != UINT32_MAX)
			session->state.node = rows_node_of(&session->rows, i);
}

void saved_views_load(struct session *session, const char *name)
{
	struct saved saved = {0};
	char path[CONFIG_PATH], line[1024];
	FILE *file;

	if (!put_path(session, path, name, false))
		return;
	file = fopen(path, "re");
	if (!file) {
		session_say(session, "no view '%s': %s", name, strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), file))
		take_line(session, &saved, line);
	fclose(file);
	session_keep(session);
	commands_run(session, "streams", saved.filter);
	if (saved.depth[0])
		commands_run(session, "depth", saved.depth);
	for (const struct view *const *view = status_bars_panes(); *view; view++)
		if ((*view)->key == saved.pane)
			session->pane = *view;
	if (saved.is_of_run)
		go_to_place(session, &saved);
	else
		session_say(
			session, "'%s' was saved of another run: its window and stream are left out", name);
}
