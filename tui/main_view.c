/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_view.c - hpct-view: one session on one run, in the terminal, or with --print as one picture in text
 * after the keys of --keys.
 */
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "timeline/names/names_fill.h"
#include "timeline/report/coverage.h"
#include "timeline/report/program.h"
#include "timeline/stats/stacks_now.h"
#include "tui/app/app.h"
#include "tui/app/kept_run.h"
#include "tui/app/progress_keys.h"
#include "tui/app/screenshot.h"
#include "tui/app/session_read.h"
#include "tui/app/shell_command.h"
#include "tui/models/compare.h"
#include "tui/models/config.h"
#include "tui/models/lanes.h"
#include "tui/models/open_runs.h"
#include "tui/screen/keys.h"
#include "tui/screen/palette.h"
#include "tui/screen/screen.h"
#include "tui/views/views.h"

#define VIEW_READ_MS 50		  /* then a fuller picture is drawn, and keys are read */
#define VIEW_REFINE_MS 250	  /* a picture that grows is shown four times a second */
#define VIEW_PRINT_REFINE_MS 2000 /* one that is printed waits so long for what it can do without */
#define EXIT_NOW 4		  /* there is no run: hpct-record has said why */
#define EXIT_UNKEPT 5
#define VIEW_PRINT_MAX 2000 /* columns or rows of --print */

struct options {
	int print_columns, print_rows; /* 0: in the terminal */
	const char *keys;
	int colours;	  /* -1: what the terminal has */
	bool has_colours; /* they were asked for: --print shows them */
	bool has_format;
	enum screenshot_format format;
	bool is_ascii;
	const char *lanes; /* NULL: none */
	const char *align; /* of two runs; NULL: their begins */
	const char *pids;  /* of -p, which main takes out of the command line; NULL: a run was named */
	bool seeks_work;   /* the cursor starts where most time is, unless a time or keys were given */
};

static int take_print(void *own, const char *value, struct error *error)
{
	struct options *options = own;
	char rest;

	if (sscanf(value, "%dx%d%c", &options->print_columns, &options->print_rows, &rest) != 2 ||
		options->print_columns < 1 || options->print_rows < 1 ||
		options->print_columns > VIEW_PRINT_MAX || options->print_rows > VIEW_PRINT_MAX)
		return error_set(error, ERROR_USAGE, "--print %s: say COLSxROWS, such as 120x36", value);
	return 0;
}

static int take_keys(void *own, const char *value, struct error *error)
{
	(void)error;
	((struct options *)own)->keys = value;
	return 0;
}

static int take_colours(void *own, const char *value, struct error *error)
{
	struct options *options = own;
	char rest;

	options->has_colours = true;
	if (!strcmp(value, "24bit"))
		options->colours = PALETTE_DIRECT;
	else if (sscanf(value, "%d%c", &options->colours, &rest) != 1 || options->colours < 0)
		return error_set(error, ERROR_USAGE, "--colors %s: say 24bit, 256, 16, 8 or 0", value);
	return 0;
}

static int take_format(void *own, const char *value, struct error *error)
{
	struct options *options = own;
	int format = screenshot_format_find(value);

	if (format < 0)
		return error_set(error, ERROR_USAGE, "--format %s: say text, ansi, svg or html", value);
	options->format = (enum screenshot_format)format;
	options->has_format = true;
	return 0;
}

static int take_ascii(void *own, const char *value, struct error *error)
{
	(void)value, (void)error;
	((struct options *)own)->is_ascii = true;
	return 0;
}

static int take_align(void *own, const char *value, struct error *error)
{
	(void)error;
	((struct options *)own)->align = value;
	return 0;
}

static int take_pids(void *own, const char *value, struct error *error)
{
	(void)error;
	((struct options *)own)->pids = value;
	return 0;
}

static int take_lanes(void *own, const char *value, struct error *error)
{
	(void)error;
	((struct options *)own)->lanes = value;
	return 0;
}

/* As `:lane NAME` of each. */
static int add_lanes(struct session *session, const char *names, struct error *error)
{
	char name[FIGURE_NAME_MAX + 32];

	for (; *names; names += strcspn(names, ","), names += *names == ',') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(names, ","), names);
		lanes_set(session, name);
		if (session->message[0])
			return error_set(error, ERROR_USAGE, "--lanes %s: %s", name, session->message);
	}
	return 0;
}

static bool is_ascii_locale(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void play(struct open_runs *open, struct grid *grid, const char *keys)
{
	struct session *session = open_runs_settle(open);
	struct error error;
	uint32_t key;
	size_t size;

	for (; (size = keys_parse(keys, &key)) > 0 && !session->is_done; keys += size) {
		session_key(session, key);
		session = open_runs_settle(open);
		/* the next key may ask for what is on the screen then */
		if (session_draw(session, grid, 0, &error))
			session_say(session, "%s", error.text);
	}
}

/* Text has colours when they were asked for; an SVG has them unless they were refused. */
static void put_picture(struct session *session, const struct grid *grid, const struct options *options)
{
	enum screenshot_format format = options->has_format    ? options->format
					: options->has_colours ? SCREENSHOT_ANSI
							       : SCREENSHOT_TEXT;

	screenshot_print(session, grid, format, options->colours < 0 ? 256 : options->colours, stdout);
}

static bool is_second_known(const struct session *session)
{
	return session->second.end_ns && !session->compare->is_apart &&
	       session_take_coverage(session->compare->other).known_ns;
}

/* The picture shows that nothing was monitored; scripts need an exit code, too. */
static int require_coverage(struct session *session, struct error *error)
{
	struct select *select;
	int result;

	if (session_take_coverage(session).known_ns || is_second_known(session) ||
		lanes_are_all(session->run))
		return 0;
	result = session_select(&select, session, error);
	if (result)
		return result;
	result = coverage_require(session->run, select, error);
	select_free(select);
	return result;
}

static int print(struct open_runs *open, const struct options *options, struct error *error)
{
	struct session *session = open_runs_settle(open);
	struct grid grid;
	int result;

	if (grid_init(&grid, options->print_rows, options->print_columns, session->looks.is_ascii))
		return error_memory(error);
	result = session_draw(session, &grid, 0, error);
	if (!result && options->seeks_work) {
		session_seek_work(session);
		result = session_draw(session, &grid, 0, error);
	}
	if (!result && options->keys) {
		play(open, &grid, options->keys);
		session = open_runs_settle(open);
		grid.is_ascii = session->looks.is_ascii;
		result = session_draw(session, &grid, 0, error);
	}
	if (!result && session_is_refining(session)) {
		session_refine(session, VIEW_PRINT_REFINE_MS);
		result = session_draw(session, &grid, 0, error);
	}
	if (!result)
		put_picture(session, &grid, options);
	grid_fini(&grid);
	if (!result && fflush(stdout) != 0)
		result = error_unwritten(error);
	if (!result && session->layout.is_too_small)
		result = error_set(error, ERROR_USAGE,
			"--print %dx%d is too small for the timeline: say %dx%d or more",
			options->print_columns, options->print_rows, LAYOUT_MIN_COLUMNS, LAYOUT_MIN_ROWS);
	if (!result && session->damage[0])
		result = error_set(error, ERROR_RUN, "%s", session->damage);
	return result ? result : require_coverage(session, error);
}

/* Takes all keys that are waiting, so that a held key costs one picture and not one each. */
static bool take_keys_waiting(struct open_runs *open, int timeout_ms)
{
	struct session *session = open_runs_settle(open);
	uint32_t key = progress_keys_next(timeout_ms);
	bool has_any = false;

	for (; key != KEYS_NONE; key = progress_keys_next(0)) {
		has_any = true;
		progress_keys_begin(session, true);
		if (key == SCREEN_SIGNAL) {
			screen_close();
			screen_die();
		}
		if (key == KEYS_MOUSE) {
			struct mouse_event event = progress_keys_mouse();
			mouse_event(session, &event);
		} else if (key != KEYS_RESIZE)
			session_key(session, key);
		else
			session->is_redraw = true;
		if (session->is_done)
			break;
		session = open_runs_settle(open);
		session_settle(session);
	}
	return has_any;
}

static int draw(struct session *session, struct grid *grid, struct error *error)
{
	int rows, columns, result;
	struct error trouble;

	screen_size(&rows, &columns);
	if (rows != grid->rows || columns != grid->columns || grid->is_ascii != session->looks.is_ascii) {
		grid_fini(grid);
		if (grid_init(grid, rows, columns, session->looks.is_ascii))
			return error_memory(error);
	}
	progress_keys_begin(session, !session->is_unread);
	result = session_draw(session, grid, session->is_unread ? VIEW_READ_MS : APP_ANSWER_MS, &trouble);
	if (result) { /* what is damaged is said; the rest of the run can still be looked at */
		session->is_unread = false;
		session_say(session, "%s", trouble.text);
		grid_text(grid, rows - 2, 0, columns, session->message, GRID_ERROR);
	}
	screen_set_mouse(session->looks.has_mouse);
	screen_set_theme(session->looks.theme);
	session->looks.colours = screen_set_colours(session->looks.most_colours);
	screen_set_users(session->colours.user, session->colours.user_count);
	screen_show(grid, session->is_redraw);
	session->is_redraw = false;
	session->is_unread = session->is_unread || session->has_moved;
	session->has_moved = false;
	return 0;
}

/* Reads what the picture can do without until a key comes, but shows what there is now and then. */
static void refine(struct session *session)
{
	for (int ms = 0; ms < VIEW_REFINE_MS && session_is_refining(session) && !progress_keys_has_key();
		ms += VIEW_READ_MS)
		session_refine(session, VIEW_READ_MS);
}

static bool is_live(const struct session *session)
{
	return session->is_live || (session->compare && session->compare->other->is_live);
}

static int live_ms(const struct session *session)
{
	return session->looks.live_ms ? (int)session->looks.live_ms : SESSION_LIVE_MS;
}

static bool renew(struct session *session)
{
	bool is_changed = session->is_live && session_renew(session);

	if (session->compare && session->compare->other->is_live)
		is_changed = compare_renew(session->compare) || is_changed;
	return is_changed;
}

/* Once the first picture is there, if no key came before. */
static int seek_work(struct session *session, struct grid *grid, bool *is_wanted, struct error *error)
{
	if (!*is_wanted || session->is_unread)
		return 0;
	*is_wanted = false;
	session_seek_work(session);
	return draw(session, grid, error);
}

static int interact(struct open_runs *open, const char *keys, bool seeks_work, struct error *error)
{
	struct session *session = open_runs_settle(open);
	struct grid grid = {0};
	int result = draw(session, &grid, error);
	bool is_changed = false;

	if (!result)
		result = seek_work(session, &grid, &seeks_work, error);
	if (!result && keys)
		play(open, &grid, keys);
	session = open_runs_settle(open);
	if (keys && !result)
		result = draw(session, &grid, error);
	while (!result && !session->is_done) {
		bool is_refining = !session->is_unread && session_is_refining(session);
		bool is_busy = session->is_unread || is_refining;
		int timeout_ms = is_busy ? 0 : is_live(session) ? live_ms(session) : -1;
		is_changed = take_keys_waiting(open, timeout_ms);
		seeks_work = seeks_work && !is_changed;
		session = open_runs_settle(open);
		if (!is_changed && !session->is_unread)
			is_changed = renew(session);
		if (is_refining && !is_changed) {
			refine(session);
			is_changed = true;
		}
		if ((is_changed || session->is_unread) && !session->is_done)
			result = draw(session, &grid, error);
		if (!result && !session->is_done)
			result = seek_work(session, &grid, &seeks_work, error);
	}
	grid_fini(&grid);
	return result;
}

/* The window asked for, now that it is known where both runs end. */
static int take_time_of_both(struct session *session, struct select *select, struct error *error)
{
	struct view_state_limits limits;
	int result;

	compare_take_limits(session);
	limits = session_limits(session);
	result = select_bind_time(select, limits.begin_ns, limits.end_ns, error);
	if (result || !select_has_time(select))
		return result;
	session_take_window(session, select);
	session->state.cursor_ns = session->state.begin_ns;
	return 0;
}

/* Opens the second run, if one is named, and aligns it with the first. */
static int open_other(struct program_call *call, struct session *session, struct error *error)
{
	const struct options *options = call->own;
	const char *align = options->align;
	struct run *run;
	int result;

	if (!call->operand_count)
		return align ? error_set(error, ERROR_USAGE, "--align needs two runs: hpct-view A B") : 0;
	if (options->pids) /* the run of the look is the operand */
		return error_set(error, ERROR_USAGE,
			"-p %s takes no RUN: it shows what it records from now on", options->pids);
	result = names_run_open(&run, call->operands[0], &call->run_options, error);
	if (!result)
		result = compare_open(session, run, error);
	if (result)
		return result;
	if (align)
		compare_set_align(session, align);
	if (align && session->message[0])
		return error_set(error, ERROR_USAGE, "--align %s: %s", align, session->message);
	session_open_pane(session, &view_compare);
	return take_time_of_both(session, call->select, error);
}

/* What the options ask of the session. What the user's files said before is none of their faults: it stays.
 */
static int take_options(struct program_call *call, struct session *session, struct error *error)
{
	const struct options *options = call->own;
	char said[SESSION_MESSAGE];
	int result = 0;

	memcpy(said, session->message, sizeof(said));
	session->message[0] = '\0';
	if (options->lanes)
		result = add_lanes(session, options->lanes, error);
	else if (lanes_are_all(session->run))
		lanes_suggest(session);
	else
		lanes_suggest_spare(session);
	if (!result)
		result = open_other(call, session, error);
	if (!result)
		result = session_require_window(session, call->select, error);
	if (!session->message[0])
		memcpy(session->message, said, sizeof(said));
	return result;
}

static int view(struct program_call *call, struct error *error)
{
	static struct open_runs open;
	struct options *options = call->own;
	struct session_looks looks = {
		.has_mouse = true, .must_ascii = options->is_ascii || is_ascii_locale()};
	struct session *session;
	int result;

	looks.is_ascii = looks.must_ascii;
	result = session_open(&session, call->run, call->select, looks, error);
	if (result)
		return result;
	open_runs_init(&open, session, &call->run_options);
	config_read(session);
	result = take_options(call, session, error);
	if (result) {
		open_runs_fini(&open);
		return result;
	}
	options->seeks_work =
		!options->keys && !select_has_time(call->select) && !session->is_live && !session->compare;
	if (options->print_columns) {
		if (options->has_colours || (options->has_format && options->format != SCREENSHOT_TEXT))
			session->looks.colours = palette_tier(options->colours < 0 ? 256 : options->colours);
		result = print(&open, options, error);
	} else {
		if (call->is_newest && !session->message[0])
			session_say(session, "%s is the newest run here; R lists all", run_path(call->run));
		result = screen_open(options->colours, error);
		if (!result) {
			session->looks.colours = screen_colours();
			result = interact(&open, options->keys, options->seeks_work, error);
			screen_close();
		}
	}
	open_runs_fini(&open);
	return result;
}

static const struct program_option view_options[] = {
	{0, "print", "COLSxROWS", "draw one screen as text on standard output", take_print},
	{0, "keys", "STRING", "play these keys first: hjkl<Enter><C-r>...", take_keys},
	{0, "colors", "N", "at most 24bit, 256, 16, 8 or 0 colours (NO_COLOR: 0); --print shows them",
		take_colours},
	{0, "format", "FORMAT", "of --print: text (default), ansi (with --colors), svg or html", take_format},
	{0, "lanes", "NAMES", "figures over time below the rows: cpu_user,resident (`:lane`)", take_lanes},
	{0, "align", "AT", "two runs: begin (default), @MARK or @MARK#N stand below each other", take_align},
	{'p', "pid", "PID,...",
		"instead of a run: these processes from now on; q drops it, `:write RUN` keeps", take_pids},
	{0, "ascii", NULL, "no character beyond ASCII", take_ascii},
};

static const struct program program = {
	.name = "hpct-view",
	.about = "browse the timeline of a run in the terminal",
	.operands = "[RUN [B]]",
	.operands_max = 1,
	.uses = PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_BESIDE,
	.refused = "context op metric min top",
	.options = view_options,
	.option_count = sizeof(view_options) / sizeof(view_options[0]),
	.notes = "Keys: ? lists them. In --keys: <Enter> <Tab> <Esc> <Space> <BS> <Del> <Left> <Right> "
		 "<Up> <Down> <Home> <End> <PageUp> <PageDown> <lt> <C-x>; anything else is itself.\n",
	.work = view,
};

/* The processes are recorded while somebody looks, into a run that takes the operand's place. */
static int look(const char *pids, struct options *options, int argc, char **argv)
{
	char run[PATH_MAX], **words = calloc((size_t)argc + 2, sizeof(*words));
	struct error error = {.text = ""};
	pid_t recorder;
	int code;

	if (!words || stacks_now_pids_check(pids, &error)) {
		free(words);
		return error_report(&error, "hpct-view");
	}
	if (stacks_now_begin(pids, run, sizeof(run), &recorder, &error) < 0) {
		if (error.text[0])
			fprintf(stderr, "hpct-view: %s\n", error.text);
		free(words);
		return EXIT_NOW;
	}
	kept_run_begin();
	options->pids = pids;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[argc] = run;
	code = program_main(&program, options, argc + 1, words);
	stacks_now_end(recorder, run);
	free(words);
	if (kept_run_path() && stacks_now_keep(run, kept_run_path(), &error)) {
		fprintf(stderr, "hpct-view: %s\n", error.text);
		return code ? code : EXIT_UNKEPT;
	}
	stacks_now_remove(run);
	return code;
}

int main(int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR"), *pids = stacks_now_pids(&argc, argv);
	struct options options = {.colours = no_color && no_color[0] ? 0 : -1};

	setlocale(LC_CTYPE, "");
	return pids ? look(pids, &options, argc, argv) : program_main(&program, &options, argc, argv);
}
