/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the table of commands after `:`, with their functions. The options of the shared selector are
 * commands too.
 */
#include "tui/app/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/stats/stats.h"
#include "tui/app/actions.h"
#include "tui/app/app.h"
#include "tui/app/export.h"
#include "tui/app/kept_run.h"
#include "tui/app/saved_views.h"
#include "tui/app/screenshot.h"
#include "tui/models/blame_page.h"
#include "tui/models/compare.h"
#include "tui/models/config.h"
#include "tui/models/flame_page.h"
#include "tui/models/lanes.h"
#include "tui/models/profile_page.h"
#include "tui/models/runs_page.h"
#include "tui/models/settings.h"
#include "tui/models/source.h"
#include "tui/timeline/sums.h"
#include "tui/views/views.h"

/* ---- the selector ---- */

/* Error texts begin with an option; the user typed none here, so it is cut off. */
static const char *without_option(const char *text)
{
	size_t bytes = strcspn(text, " ");

	return strncmp(text, "--", 2) == 0 && text[bytes - 1] == ':' && text[bytes] ? text + bytes + 1 : text;
}

/* One option of the selector, bound to the run; NULL after saying what is wrong. While two runs are shown, an
 * end that is left out is that of both: "1.2s.." reaches the end of the longer one. */
struct select *commands_bind(struct session *session, const char *name, const char *value)
{
	struct view_state_limits limits = session_limits(session);
	struct select *select;
	struct error error;
	int result = select_new(&select, &error);

	if (result) {
		session_say(session, "%s", error.text);
		return NULL;
	}
	if (session->second.end_ns)
		select_bind_time_later(select);
	result = select_option(select, name, value, &error);
	if (result > 0)
		error_set(&error, ERROR_USAGE, "'%s' is no command; :help lists them", name);
	if (!result)
		result = select_bind(select, session->run, &error);
	if (!result && session->second.end_ns)
		result = select_bind_time(select, limits.begin_ns, limits.end_ns, &error);
	if (result) {
		session_say(session, "%s", without_option(error.text));
		select_free(select);
		return NULL;
	}
	return select;
}

static void set_time(struct session *session, const char *value)
{
	struct select *select = commands_bind(session, "time", value);
	struct error error;

	if (!select)
		return;
	if (session_require_window(session, select, &error)) {
		session_say(session, "%s", error.text);
		select_free(select);
		return;
	}
	session_keep(session);
	session->state.is_following = false;
	session_take_window(session, select);
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
	uint32_t depth;

	if (!select_read_depth(value, &depth) || depth == 0 ||
		(depth > 100000 && !run_depth_is_below(depth))) {
		session_say(session, ":depth needs a number from 1 on, auto, or auto+1");
		return;
	}
	session_keep(session);
	session->state.depth = depth;
	view_state_choose_depth(&session->state, run_depth_is_below(depth));
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

static void open_alike(struct session *session)
{
	session_open_pane(session, &view_alike);
}

static void open_settings(struct session *session)
{
	session_open_pane(session, &view_settings);
}

static void set_look(struct session *session, const char *value)
{
	if (*value)
		settings_set(session, value);
	else
		open_settings(session);
}

static void set_theme(struct session *session, const char *value)
{
	char text[64];

	snprintf(text, sizeof(text), "theme %.40s", value);
	if (!settings_set(session, text))
		session_say(session, ":theme auto, dark, light, contrast or safe (for colour-blind eyes)");
}

static void set_colour(struct session *session, const char *value)
{
	if (!config_colour(session, value))
		session_say(session, ":colour GLOB context 0..23|none|0..255, at most %d patterns",
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

/* Lists the user's bindings; `:bind` changes them. */
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
	struct source *source = source_of(session);
	size_t size = strcspn(value, " ");
	const char *to = value + size + strspn(value + size, " ");
	char from[SESSION_TEXT];

	snprintf(from, sizeof(from), "%.*s", (int)size, value);
	if (!source || !*from || !*to || source_file_map(&source->file, from, to))
		session_say(session,
			":map OLD NEW, up to %d times; paths that begin with OLD are looked for below NEW",
			SOURCE_MAPS);
}

/* The whole name of what is under the cursor, which a cell or a table may have shortened. */
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
	view_help_open(session, "COMMANDS");
}

static void no_report(struct session *session)
{
	session_say(session,
		"--context, --op and --top are of reports (Y shows their command line); here / finds "
		"functions, :hide takes them out");
}

static void find(struct session *session, const char *value)
{
	if (*value)
		snprintf(session->find, sizeof(session->find), "%s", value);
	actions_do(session, KEYS_DO_FIND_NEXT);
}

static const struct command {
	const char *name;
	void (*with_value)(struct session *session, const char *value);
	void (*without)(struct session *session);
	const char *value, *help; /* for the help: at most 25 and 53 characters, with the name */
} commands[] = {{"time", set_time, NULL, "A..B", "the window: 1.2s..1.5s, -1s.., @MARK.., 14:32..+20s"},
	{"streams", commands_set_streams, NULL, "EXPR", "only these: kind=gpu & rank=0-3, name=worker*"},
	{"depth", set_depth, NULL, "N|auto", "how deep in the call path the cells show"},
	{"by", set_by, NULL, "KEY", "statistics by function path module line stream op ..."},
	{"lane", lanes_set, NULL, "NAME[<30] [N|off]", "figures over time below the rows: CPU, memory ..."},
	{"scale", lanes_set_scale, NULL, "own|shared|N A..B",
		"of lanes: their own, one for a unit, or a range"},
	{"mark", lanes_set_mark, NULL, "NAME<30", "a bound in a lane, and how often it is met"},
	{"against", flame_page_against, NULL, "A..B|off",
		"flame graph: of the window, held against that one"},
	{"min", blame_page_set_min, NULL, "DURATION", "gaps shorter than that are counted, not listed"},
	{"name", NULL, say_name, "", "the whole name of what is under the cursor"},
	{"find", find, NULL, "NAME", "as /, then n N; ~ before it: a regular expression"},
	{"write", kept_run_write, NULL, "RUN", "keeps what hpct-view -p records; else it is dropped"},
	{"save", saved_views_write, NULL, "NAME", "keeps the view: window, cursor, depth, streams, pane"},
	{"load", saved_views_load, NULL, "NAME", "comes back to it"},
	{"runs", NULL, view_runs_open, "", "the runs beside this one, as R"},
	{"open", ask_run, NULL, "RUN", "opens a run, or shows it again"},
	{"close", ask_close, NULL, "[RUN]", "closes it; without RUN the one that is shown"},
	{"compare", ask_comparison, NULL, "RUN", "holds a run against this one"},
	{"align", compare_set_align, NULL, "AT", "two runs: begin, span, @MARK or @MARK#N"},
	{"metric", profile_set_metric, NULL, "NAME = FORMULA",
		"profile: of others; $0 the first here, @0 in the root"},
	{"columns", profile_set_columns, NULL, "N", "profile: hides or shows column $N (heading)"},
	{"percent", profile_set_percent, NULL, "N", "profile: its percentages off or on"},
	{"format", profile_set_format, NULL, "N %.3e", "profile: how a column is written"},
	{"width", profile_set_width, NULL, "N", "profile: cells of the names"},
	{"rename", profile_set_rename, NULL, "N TITLE", "profile: another title for column $N"},
	{"move", profile_set_move, NULL, "N PLACE", "profile: another place for $N; 0: first"},
	{"hide", profile_set_hide, NULL, "self|below|all GLOB",
		"takes functions out; :hide N off or on, :hide keep"},
	{"threads", profile_set_threads, NULL, "EXPR", "profile: of these streams"},
	{"hot", profile_set_hot, NULL, "50%", "share of its parent that a hot child has"},
	{"map", set_map, NULL, "OLD NEW", "sources that were below OLD are below NEW"},
	{"csv", export_csv, NULL, "FILE", "writes the profile, or the statistics"},
	{"picture", screenshot_save, NULL, "FILE", "keeps the screen: .svg, .html, .ansi, else text"},
	{"colour", set_colour, NULL, "GLOB WHAT", "context 0..23, none or 0..255 for names like GLOB"},
	{"colours", set_colours, NULL, "spread|own", "colours that none of the largest contexts shares"},
	{"set", set_look, NULL, "NAME [VALUE]", "mouse colors ascii fill cross braille cells loops ..."},
	{"theme", set_theme, NULL, "NAME", "colours: auto, dark, light, contrast, safe"},
	{"alike", NULL, open_alike, "", "streams that do alike, and those that do not"},
	{"settings", NULL, open_settings, "", "all of these on a screen, kept for every run"},
	{"keys", NULL, list_keys, "", "what you bound"},
	{"bind", set_key, NULL, "KEY AS", "KEY does what AS does: <C-d> <PageDown>"},
	{"help", NULL, help, "", "this list"}, {"quit", NULL, quit, "", "leaves the view; so does :q"},
	{"q", NULL, quit, NULL, NULL},
	/* options of the selector that say what a report lists: the view has other ways */
	{"context", NULL, no_report, NULL, NULL}, {"op", NULL, no_report, NULL, NULL},
	{"top", NULL, no_report, NULL, NULL}};

bool commands_line(size_t at, char *usage, const char **help)
{
	if (at >= sizeof(commands) / sizeof(commands[0]) || !commands[at].help)
		return false;
	snprintf(usage, SESSION_USAGE, ":%s%s%s", commands[at].name, commands[at].value[0] ? " " : "",
		commands[at].value);
	*help = commands[at].help;
	return true;
}

void commands_run(struct session *session, const char *command, const char *value)
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
	commands_run(session, line, value);
}
