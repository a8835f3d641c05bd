/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - writes the files of `:csv` and of the key `y`, and shows their paths.
 */
#include "tui/app/export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/user_cache.h"
#include "timeline/stats/stats.h"
#include "tui/models/profile_page.h"
#include "tui/models/stats_page.h"
#include "tui/screen/label.h"
#include "tui/views/views.h"

#define EXPORT_PATH 4096

/* One CSV field (RFC 4180): quoted where needed, a comma before all but the first. */
static void put_field(FILE *out, const char *text, bool is_first)
{
	if (!is_first)
		putc(',', out);
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

/* The lines on the screen and below it, with the columns that are not hidden. */
static bool write_profile(struct session *session, FILE *out)
{
	struct profile_page *page = profile_page_of(session);
	const struct outline *outline = page ? &page->outline : NULL;
	size_t order[OUTLINE_COLUMNS], count;

	if (!page || !profile_page_take(session, page))
		return false;
	count = outline_shown(outline, order);
	fputs("level,kind,scope,module,file,line", out);
	for (size_t i = 0; i < count; i++)
		put_field(out, outline_title(&outline->columns[order[i]]), false);
	fputs("\r\n", out);
	for (size_t i = 0; i < outline->line_count; i++) {
		const struct profile_row *row = &outline->profile.rows[outline->lines[i].row];
		fprintf(out, "%u,%s", outline->lines[i].level, profile_kind_name(row->kind));
		put_field(out, row->name, false);
		put_field(out, row->module, false);
		put_field(out, row->file, false);
		fprintf(out, ",%u", row->line);
		for (size_t c = 0; c < count; c++) {
			double value = outline_value(outline, outline->lines[i].row, order[c]);
			fputs(isnan(value) ? "," : "", out);
			if (!isnan(value))
				fprintf(out, ",%.15g", value);
		}
		fputs("\r\n", out);
	}
	return true;
}

/* All lines of the statistics, with a heading. False: memory is out. */
static bool write_stats(struct session *session, FILE *out)
{
	struct stats_page page;

	if (!stats_page_take(session, &page))
		return false;
	fprintf(out, "%s,state,time_ns,records\r\n", stats_by_name((enum stats_by)session->stats.by));
	for (size_t i = 0; i < page.count; i++) {
		char scratch[LABEL_BYTES];
		struct arena arena = {0};
		const char *key = stats_page_key(session, &page.lines[i], scratch, &arena);
		put_field(out, key ? key : "", true);
		put_field(out, extent_state_name(page.lines[i].state), false);
		fprintf(out, ",%llu,%llu\r\n", (unsigned long long)page.lines[i].time_ns,
			(unsigned long long)page.lines[i].records);
		arena_fini(&arena);
	}
	stats_page_fini(&page);
	return true;
}

int export_close(FILE *out)
{
	bool has_failed = ferror(out) != 0;
	int error = fclose(out) ? errno : 0;

	return has_failed && !error ? ENOSPC : error; /* of an earlier write errno may be gone */
}

void export_say_unwritten(struct session *session, const char *path, int why)
{
	session_say(session, "cannot write %s: %s; choose another %s", path, strerror(why),
		why == EEXIST ? "name" : "place");
}

void export_csv(struct session *session, const char *path)
{
	bool is_profile = session->full == &view_profile, is_there;
	int why;
	FILE *out;

	if (!*path) {
		session_say(
			session, ":csv FILE writes the profile (where it has the screen) or the statistics");
		return;
	}
	out = fopen(path, "wxe"); /* nothing is overwritten */
	if (!out) {
		export_say_unwritten(session, path, errno);
		return;
	}
	is_there = is_profile ? write_profile(session, out) : write_stats(session, out);
	why = export_close(out);
	if (why || !is_there)
		unlink(path); /* half a table is none, and would be in the way of the next */
	if (!is_there)
		session_say(session, "cannot write %s: nothing to write", path);
	else if (why)
		export_say_unwritten(session, path, why);
	else
		session_say(session, "%s: the %s as CSV", path, is_profile ? "profile" : "statistics");
}

/* ---- copy ---- */

/* Profile: the row with its visible metrics. */
static bool put_profile(struct session *session, char *out, size_t size_bytes)
{
	struct profile_page *page = profile_page_of(session);
	uint32_t row =
		page && !page->trouble[0] ? outline_find_hash(&page->outline, page->cursor) : UINT32_MAX;
	size_t order[OUTLINE_COLUMNS], count, used;

	if (row == UINT32_MAX)
		return false;
	used = (size_t)snprintf(out, size_bytes, "%s", page->outline.profile.rows[row].name);
	count = outline_shown(&page->outline, order);
	for (size_t i = 0; i < count && used < size_bytes; i++)
		used += (size_t)snprintf(out + used, size_bytes - used, "\t%.15g",
			outline_value(&page->outline, row, order[i]));
	return true;
}

static bool put_cell(struct session *session, char *out, size_t size_bytes)
{
	const struct frame_line *line;
	struct cell cell;

	if (!session_cell(session, &line, &cell))
		return false;
	snprintf(out, size_bytes, "%s",
		cell.function == UINT32_MAX ? extent_state_name((enum extent_state)cell.state)
					    : run_function(session->run, cell.function)->name);
	return true;
}

static bool put_copied_path(char *path)
{
	char *directory = store_user_cache_directory();
	bool is_known = directory && snprintf(path, EXPORT_PATH, "%s/copied", directory) < EXPORT_PATH;

	free(directory);
	if (is_known)
		store_user_cache_make(path);
	return is_known;
}

void export_copy(struct session *session)
{
	char text[LABEL_BYTES], path[EXPORT_PATH];
	bool is_there;
	FILE *out;

	if (session->full == &view_profile)
		is_there = put_profile(session, text, sizeof(text));
	else if (session->focus == &view_stats)
		is_there = stats_page_name(session, text, sizeof(text));
	else
		is_there = put_cell(session, text, sizeof(text));
	if (!is_there) {
		session_say(session, "there is nothing to copy here");
		return;
	}
	out = put_copied_path(path) ? fopen(path, "we") : NULL;
	if (!out || (fprintf(out, "%s\n", text), fclose(out) != 0))
		session_say(session, "cannot keep it, but here it is: %s", text);
	else
		session_say(session, "in %s: %s", path, text);
}
