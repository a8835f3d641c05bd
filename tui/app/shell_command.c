/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_command.c - see shell_command.h. What no option expresses (hidden rows, derived metrics) is noted
 * after the command.
 */
#include "tui/app/shell_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/base/shell_word.h"
#include "timeline/stats/stats.h"
#include "tui/code/code_page.h"
#include "tui/models/advice_page.h"
#include "tui/models/blame_page.h"
#include "tui/models/compare.h"
#include "tui/models/flame_page.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

/* " --streams 'EXPR'", or nothing where it is empty. */
static void put_option(char *out, size_t size_bytes, const char *option, const char *value)
{
	size_t used = (size_t)snprintf(out, size_bytes, "%s", value[0] ? option : "");

	if (value[0])
		shell_word_quoted(out + used, size_bytes - used, value);
}

/* Nothing where it is all of them; `expression` is freed. */
static void put_streams(char *out, size_t size_bytes, char *expression)
{
	put_option(out, size_bytes, " --streams ", expression ? expression : "");
	free(expression);
}

/* The run, as a word. */
struct place {
	char word[SESSION_MESSAGE];
};

static const char *put_run(struct place *place, const struct session *session)
{
	return shell_word(place->word, sizeof(place->word), run_path(session->run));
}

static void show_stats(struct session *session)
{
	char window[96], streams[SESSION_MESSAGE], depth[SESSION_DEPTH];
	struct place run;

	session_put_window(window, sizeof(window), session);
	put_streams(streams, sizeof(streams), session_streams_expression(session));
	session_depth_option(session, depth);
	session_say(session, "hpct stats %s --time %s --depth %s --by %s%s%s", put_run(&run, session), window,
		depth, stats_by_name((enum stats_by)session->stats.by), streams,
		profile_page_hidden(session) ? "   (:hide is the view's own)" : "");
}

/* A's streams are not B's, and no option gives each run its own window: notes the difference. */
static void show_profile(struct session *session)
{
	struct profile_page *page = profile_page_of(session);
	bool is_merged = profile_page_is_merged(session);
	char window[96], other[96] = "", note[192] = "", streams[SESSION_MESSAGE] = "";
	struct place run, merged = {""};

	if (!page)
		return;
	session_put_window(window, sizeof(window), session);
	if (is_merged && !page->is_whole)
		session_put_window(other, sizeof(other), session->compare->other);
	if (page->threads[0])
		put_option(streams, sizeof(streams), " --streams ", page->threads);
	else if (!page->is_whole && !is_merged)
		put_streams(streams, sizeof(streams), profile_page_expression(session, page));
	if (other[0])
		snprintf(note, sizeof(note), "   (here of all rows, and of B %s)", other);
	else if (profile_page_hidden(session))
		strcpy(note, "   (:hide is the view's own)");
	session_say(session, "hpct profile %s%s%s --view %s%s%s%s%s", put_run(&run, session),
		is_merged ? " --merge " : "",
		is_merged ? put_run(&merged, session->compare->other) : merged.word,
		profile_view_name(page->kind), page->is_whole ? "" : " --time ", page->is_whole ? "" : window,
		streams, note);
}

static void show_blame(struct session *session, bool is_gaps)
{
	struct blame_page *page = blame_page_of(session);
	char window[96], streams[SESSION_MESSAGE], what[64], depth[SESSION_DEPTH], depth_option[40];
	struct place run;

	if (!page)
		return;
	session_put_window(window, sizeof(window), session);
	put_streams(streams, sizeof(streams), blame_page_expression(session));
	session_depth_option(session, depth);
	snprintf(depth_option, sizeof(depth_option), " --depth %s", depth);
	if (is_gaps)
		snprintf(what, sizeof(what), "--gaps --min %lluns", (unsigned long long)page->min_ns);
	else if (page->of == BLAME_LATE)
		strcpy(what, "--late");
	else if (page->of == BLAME_CAUSES) {
		strcpy(what, "--of waiting --by cause");
		depth_option[0] = '\0'; /* it changes nothing */
	} else
		snprintf(what, sizeof(what), "--of %s --by %s", blame_page_name_of(page->of),
			blame_page_name_by(page->by));
	session_say(session, "hpct blame %s %s --time %s%s%s", put_run(&run, session), what, window,
		depth_option, streams);
}

static void show_flame(struct session *session)
{
	struct flame_page *page = flame_page_of(session);
	const char *option;
	char window[96], metric[SESSION_TEXT] = "", streams[SESSION_MESSAGE];
	struct place run, other;

	if (!page)
		return;
	if (page->before) {
		session_say(session, "hpct diff %s %s --by path", put_run(&run, session),
			put_run(&other, session->compare->other));
		return;
	}
	option = flame_page_option(page);
	if (option)
		shell_word(metric, sizeof(metric), option);
	put_option(streams, sizeof(streams), " --streams ", session->filter);
	session_put_window(window, sizeof(window), session);
	session_say(session, "hpct profile %s --flame%s%s%s --time %s%s", put_run(&run, session),
		page->is_bottom_up ? " --view bottom-up" : "", option ? " --metric " : "", metric, window,
		streams);
}

static void show_advice(struct session *session, const char *option, const char *kernel)
{
	char window[96], word[SESSION_MESSAGE];
	struct place run;

	session_put_window(window, sizeof(window), session);
	put_option(word, sizeof(word), " --kernel ", kernel);
	session_say(session, "hpct advise %s%s --time %s%s", put_run(&run, session), option, window, word);
}

/* The stretches themselves: the list is of columns. */
static void show_waits(struct session *session)
{
	char window[96], streams[SESSION_MESSAGE];
	struct place run;

	session_put_window(window, sizeof(window), session);
	put_streams(streams, sizeof(streams), session_streams_expression(session));
	session_say(session, "hpct slice %s --op blocked,sync --min %lluns --time %s%s",
		put_run(&run, session), (unsigned long long)session_columns_ns(session, 1), window, streams);
}

static void show_alike(struct session *session)
{
	char window[96], streams[SESSION_MESSAGE];
	struct place run;

	session_put_window(window, sizeof(window), session);
	put_streams(streams, sizeof(streams), session_streams_expression(session));
	session_say(
		session, "hpct stats %s --by cluster --time %s%s", put_run(&run, session), window, streams);
}

void shell_command_show(struct session *session)
{
	const struct view *view = session->full ? session->full : session->pane;
	struct place run;

	if (view == &view_profile)
		show_profile(session);
	else if (view == &view_blame || view == &view_gaps)
		show_blame(session, view == &view_gaps);
	else if (view == &view_flame)
		show_flame(session);
	else if (view == &view_advice)
		show_advice(session, "", session->advice ? session->advice->kernel : "");
	else if (view == &view_code)
		show_advice(session, " --annotate",
			session->code && session->code->listing.name ? session->code->listing.name : "");
	else if (view == &view_jumps)
		show_waits(session);
	else if (view == &view_alike)
		show_alike(session);
	else if (session->full == &view_info)
		session_say(session, "hpct info %s", put_run(&run, session));
	else
		show_stats(session);
}
