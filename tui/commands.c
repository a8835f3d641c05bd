/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - what can be said behind `:`, one table of names and functions; the options of the shared
 * selector are among them.
 */
#include "tui/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/stats.h"
#include "tui/blame_page.h"
#include "tui/compare.h"
#include "tui/config.h"
#include "tui/export.h"
#include "tui/picture.h"
#include "tui/profile_page.h"
#include "tui/runs_page.h"
#include "tui/saved.h"
#include "tui/source.h"
#include "tui/sums.h"

/* ---- the selector ---- */

/* One option of the selector, bound to the run; NULL after saying what is wrong. */
struct select *commands_bind(struct session *session, const char *name, const char *value)
{
	struct select *select;
	struct error error;
	int result = select_new(&select, &error);

	if (result) {
		session_say(session, "%s", error.text);
		return NULL;
	}
	result = select_option(select, name, value, &error);
	if (result > 0)
		error_set(&error, ERROR_USAGE, "'%s' is no command; :help lists them", name);
	if (!result)
		result = select_bind(select, session->run, &error);
	if (result) {
		session_say(session, "%s", error.text);
		select_free(select);
		return NULL;
	}
	return select;
}

static void set_time(struct session *session, const char *value)
{
	struct select *select = commands_bind(session, "time", value);

	if (!select)
		return;
	session_keep(session);
	session->state.is_following = false;
	state_set_window(&session->state, session_limits(session), select_begin_ns(select),
		select_end_ns(select) - select_begin_ns(select));
	select_free(select);
}

void commands_set_streams(struct session *session, const char *value)
{
	struct select *select = NULL;
	const uint32_t *streams = NULL;
	struct error error;
	uint32_t count = 0;

	if (value[0]) {
		select = commands_bind(session, "streams", value);
		if (!select)
			return;
		streams = select_streams(select, &count);
	}
	session_keep(session);
	if (rows_filter(&session->rows, streams, count, &error))
		session_say(session, "%s", error.text);
	else
		snprintf(session->filter, sizeof(session->filter), "%s", value);
	if (select)
		select_free(select);
}

static void set_depth(struct session *session, const char *value)
{
	char *end;
	unsigned long depth = strtoul(value, &end, 10);

	if (strcmp(value, "auto") == 0) {
		act(session, KEYS_DO_AUTO);
		return;
	}
	if (end == value || *end || depth == 0 || depth > 100000) {
		session_say(session, ":depth needs a number from 1 on, or auto");
		return;
	}
	session_keep(session);
	session->state.depth = (uint32_t)depth;
	session->state.is_auto = session->state.is_auto_wanted = false;
}

static void set_by(struct session *session, const char *value)
{
	int by = stats_by_find(value);

	if (by < 0) {
		session_say(session, ":by " STATS_BY_NAMES ", stream or op");
		return;
	}
	session->stats.by = by;
}

/* ---- commands ---- */

static void set_look(struct session *session, const char *value)
{
	struct session_looks *looks = &session->looks;
	bool is_on = !strstr(value, " off");

	if (strncmp(value, "fill", 4) == 0)
		looks->is_fill = is_on;
	else if (strncmp(value, "mouse", 5) == 0)
		looks->has_mouse = is_on;
	else if (strncmp(value, "ascii", 5) == 0)
		looks->is_ascii = is_on;
	else if (strncmp(value, "loops", 5) == 0)
		looks->has_loops = is_on;
	else if (strncmp(value, "sites", 5) == 0)
		looks->no_sites = !is_on;
	else if (strncmp(value, "cells", 5) == 0)
		looks->is_single = strstr(value, "1") != NULL;
	else
		session_say(session, ":set fill [off], ascii [off], mouse [off], cells 1|auto, and of the "
				     "call stack: loops [off], sites [off]");
}

/* The whole name of what is under the cursor, which a cell or a table may have shortened. */
static void set_colour(struct session *session, const char *value)
{
	if (!config_colour(session, value))
		session_say(session, ":colour GLOB context 0..13|none|0..255, at most %d patterns",
			COLOURS_PATTERNS);
}

/* The largest contexts of the window get colours that none of them shares. */
static void set_colours(struct session *session, const char *value)
{
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams));
	uint32_t stream_count = streams ? session_streams_on_screen(session, streams) : 0;
	uint64_t hashes[GRID_CONTEXTS];
	struct sums_line *lines;
	size_t count, found = 0;

	if (strcmp(value, "spread") != 0 && strcmp(value, "own") != 0)
		session_say(session,
			":colours spread parts the %d largest contexts of the window, own takes "
			"that back",
			GRID_CONTEXTS);
	else if (strcmp(value, "own") == 0)
		session->colours.spread_count = 0;
	else if (streams && !sums_largest(&lines, &count, &session->frame, streams, stream_count)) {
		for (size_t i = 0; i < count && found < GRID_CONTEXTS; i++)
			if (extent_state_is_busy(lines[i].state) && lines[i].function != UINT32_MAX)
				hashes[found++] = run_function(session->run, lines[i].function)->hash;
		colours_spread(&session->colours, hashes, found);
		free(lines);
	}
	free(streams);
}

/* What the user bound; `:bind` changes it. */
static void list_keys(struct session *session)
{
	char text[SESSION_MESSAGE] = "", key[KEYS_NAME_BYTES];
	size_t count, used = 0;
	const struct keys_binding *bound = keys_bound(&count);

	for (size_t i = 0; i < count && used < sizeof(text); i++) {
		keys_name(bound[i].key, key);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? "   " : "", key,
			keys_help(bound[i].action));
	}
	session_say(session, "%s",
		used ? text : "all keys are as ? says; :bind KEY AS gives one another meaning");
}

static void set_key(struct session *session, const char *value)
{
	if (!config_key(value))
		session_say(session, ":bind KEY AS, such as <C-d> <PageDown>: KEY does what AS did");
}

/* OLD NEW: directories of the recording, and where they are here. */
static void set_map(struct session *session, const char *value)
{
	struct source *source = session_source(session);
	size_t size = strcspn(value, " ");
	const char *to = value + size + strspn(value + size, " ");
	char from[SESSION_TEXT];

	snprintf(from, sizeof(from), "%.*s", (int)size, value);
	if (!source || !*from || !*to || source_file_map(&source->file, from, to))
		session_say(session,
			":map OLD NEW, up to %d times; paths that begin with OLD are looked for below NEW",
			SOURCE_MAPS);
}

static void say_name(struct session *session)
{
	const struct frame_line *line;
	struct cell cell;

	if (!session_cell(session, &line, &cell))
		return;
	if (cell.function == UINT32_MAX)
		session_say(session, "%s", extent_state_name((enum extent_state)cell.state));
	else
		session_say(session, "%s", run_function(session->run, cell.function)->name);
}

static void ask_run(struct session *session, const char *value)
{
	if (*value)
		session_ask(session, SESSION_WANTS_RUN, value);
	else
		view_runs_open(session);
}

static void ask_comparison(struct session *session, const char *value)
{
	if (*value)
		session_ask(session, SESSION_WANTS_COMPARISON, value);
	else
		session_say(session, ":compare RUN holds it against this one");
}

static void ask_close(struct session *session, const char *value)
{
	session_ask(session, SESSION_WANTS_CLOSE, value);
}

static void quit(struct session *session)
{
	session->is_done = true;
}

static void help(struct session *session)
{
	session_say(session,
		":time A..B  :streams EXPR  :depth N|auto  :by KEY  :min DURATION  :map OLD NEW "
		" :save NAME  :load NAME  "
		":set fill|ascii|cells|mouse|loops|sites [off]  :colour GLOB WHAT  :colours spread|own  "
		":keys  :bind KEY AS  :runs  :open RUN  :close [RUN]  :compare RUN  :metric "
		"NAME = FORMULA  :columns N  "
		":percent N  :width N  :format N %%.3e  :rename N TITLE  :move N PLACE  "
		":csv FILE  :picture FILE  :align @MARK  :hide "
		"self|below|all GLOB  :threads EXPR  :hot 50%%  :name  :q");
}

static const struct command {
	const char *name;
	void (*with_value)(struct session *session, const char *value);
	void (*without)(struct session *session);
} commands[] = {{"time", set_time, NULL}, {"streams", commands_set_streams, NULL}, {"depth", set_depth, NULL},
	{"by", set_by, NULL}, {"metric", profile_set_metric, NULL}, {"columns", profile_set_columns, NULL},
	{"percent", profile_set_percent, NULL}, {"width", profile_set_width, NULL},
	{"format", profile_set_format, NULL}, {"hide", profile_set_hide, NULL},
	{"threads", profile_set_threads, NULL}, {"hot", profile_set_hot, NULL}, {"map", set_map, NULL},
	{"save", saved_write, NULL}, {"load", saved_load, NULL}, {"colour", set_colour, NULL},
	{"bind", set_key, NULL}, {"min", blame_set_min, NULL}, {"set", set_look, NULL},
	{"name", NULL, say_name}, {"align", compare_set_align, NULL}, {"csv", export_csv, NULL},
	{"picture", picture_save, NULL}, {"rename", profile_set_rename, NULL},
	{"move", profile_set_move, NULL}, {"colours", set_colours, NULL}, {"keys", NULL, list_keys},
	{"q", NULL, quit}, {"quit", NULL, quit}, {"open", ask_run, NULL}, {"compare", ask_comparison, NULL},
	{"close", ask_close, NULL}, {"runs", NULL, view_runs_open}, {"help", NULL, help}};

void prompt_do(struct session *session, const char *command, const char *value)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, command) != 0)
			continue;
		if (commands[i].with_value)
			commands[i].with_value(session, value);
		else
			commands[i].without(session);
		return;
	}
	session_say(session, "'%.40s' is no command; :help lists them", command);
}

void commands_do(struct session *session, char *line)
{
	char *value;

	line += strspn(line, " -:");
	if (!*line)
		return;
	value = line + strcspn(line, " =");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " ");
	prompt_do(session, line, value);
}
