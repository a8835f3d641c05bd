/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_set.c - commands of the prompt that change the profile: columns, formulas, filters, streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/select/formula_file.h"
#include "tui/models/config.h"
#include "tui/models/profile_page.h"

/* The view scrolls to a column that the user made, moved or shows again. */
static void show_column(struct profile_page *page, size_t column)
{
	page->seen = column;
	page->seen_sort = page->outline.sort;
}

/* `asked`: what was asked for and is none of them, "" for nothing. */
static void list_columns(struct session *session, const struct outline *outline, const char *asked)
{
	char text[SESSION_MESSAGE];
	size_t used = 0;

	text[0] = '\0';
	if (*asked && outline->column_count)
		used = (size_t)snprintf(text, sizeof(text), "'%.40s' is no column; there are ", asked);
	for (size_t i = 0; i < outline->column_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s$%zu %s%s%s", i ? "   " : "", i,
			outline->columns[i].name, outline->columns[i].text[0] ? " = " : "",
			outline->columns[i].text);
	session_say(session, "%s", text[0] ? text : "no columns yet: 6 opens the profile");
}

/* A column by its number, as its heading shows it, with or without '$'; -1 after saying what there is. */
static int parse_column(struct session *session, const struct outline *outline, const char *value)
{
	char *end;
	unsigned long column;

	value += *value == '$';
	column = strtoul(value, &end, 10);
	if (end != value && !*end && column < outline->column_count)
		return (int)column;
	list_columns(session, outline, value);
	return -1;
}

static void derive(struct session *session, struct profile_page *page, const char *value)
{
	const char *sign = strchr(value, '='), *formula;
	char name[OUTLINE_NAME];
	size_t size;
	struct error error;

	for (size = (size_t)(sign - value); size && value[size - 1] == ' '; size--)
		;
	snprintf(name, sizeof(name), "%.*s", (int)size, value);
	formula = sign + 1 + strspn(sign + 1, " ");
	profile_page_take(session, page);
	if (outline_derive(&page->outline, name[0] ? name : formula, formula, false, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	for (size_t i = 0; i < page->outline.column_count; i++)
		if (strcmp(page->outline.columns[i].name, name[0] ? name : formula) == 0)
			show_column(page, i);
}

void profile_set_metric(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	char *kept = page && *value && !strchr(value, '=') ? formula_file_find(session->run, value) : NULL;

	if (page && (kept || strchr(value, '=')))
		derive(session, page, kept ? kept : value);
	else
		session_say(session, ":metric NAME = FORMULA, such as: waste = $0 - 2 * $1 / @1; headings "
				     "show $n; :metric "
				     "NAME of one that is kept");
	free(kept);
}

void profile_set_columns(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	int column;

	if (!page)
		return;
	profile_page_take(session, page);
	column = parse_column(session, &page->outline, value);
	if (column < 0)
		return;
	page->outline.columns[column].is_hidden = !page->outline.columns[column].is_hidden;
	if (!page->outline.columns[column].is_hidden)
		show_column(page, (size_t)column);
}

/* "N REST": the column, and the rest in *rest; -1 after saying what there is. */
static int parse_column_and(
	struct session *session, struct profile_page *page, const char *value, const char **rest)
{
	char number[16];
	size_t size = strcspn(value, " ");

	profile_page_take(session, page);
	snprintf(number, sizeof(number), "%.*s", (int)size, value);
	*rest = value + size + strspn(value + size, " ");
	return parse_column(session, &page->outline, number);
}

void profile_set_rename(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	const char *title;
	int column = page ? parse_column_and(session, page, value, &title) : -1;

	if (column >= 0)
		snprintf(page->outline.columns[column].title, OUTLINE_NAME, "%s", title);
}

void profile_set_move(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	const char *place;
	int column = page ? parse_column_and(session, page, value, &place) : -1;
	char *end;
	long at;

	if (column < 0)
		return;
	at = strtol(place, &end, 10);
	if (end == place || *end || at < 0 || page->outline.columns[column].is_hidden) {
		session_say(session, ":move N PLACE puts a column that is shown there; 0 is the first");
		return;
	}
	outline_move(&page->outline, (size_t)column, (size_t)at);
	show_column(page, (size_t)column);
}

void profile_set_width(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	char *end;
	unsigned long cells = strtoul(value, &end, 10);

	if (!page || end == value || *end || cells > 1000)
		session_say(session, ":width N gives the names N cells; 0: what the columns leave");
	else
		page->name_cells = (int)cells;
}

/* One number and nothing else: what the user wrote is given to printf. */
static bool is_format(const char *format)
{
	const char *at = format + strcspn(format, "%");

	if (strlen(format) >= OUTLINE_FORMAT || !*at)
		return false;
	at++;
	at += strspn(at, "+ #0-");
	at += strspn(at, "0123456789") <= 2 ? strspn(at, "0123456789") : 0;
	if (*at == '.')
		at += 1 + (strspn(at + 1, "0123456789") <= 2 ? strspn(at + 1, "0123456789") : 0);
	return *at && strchr("efgEG", *at) && !strchr(at, '%');
}

void profile_set_format(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	const char *format;
	int column = page ? parse_column_and(session, page, value, &format) : -1;

	if (column < 0)
		return;
	if (*format && !is_format(format))
		session_say(session, ":format N FORMAT, such as %%.3e or %%.2f s; without one, its own");
	else
		snprintf(page->outline.columns[column].format, OUTLINE_FORMAT, "%s", format);
}

void profile_set_percent(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	int column = page ? parse_column(session, &page->outline, value) : -1;

	if (column >= 0)
		page->outline.columns[column].has_percent = !page->outline.columns[column].has_percent;
}

static void list_filters(struct session *session, const struct profile_page *page)
{
	char text[SESSION_MESSAGE];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < page->filter_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu %s %s%s", i ? "   " : "", i,
			frame_filter_kind_name(page->filters[i].kind), page->filters[i].glob,
			page->filters[i].is_off ? " (off)" : "");
	session_say(session, "%s",
		text[0] ? text
			: ":hide self|below|all PATTERN takes functions out; :hide N switches one off or on; "
			  ":hide keep keeps them for all runs");
}

void profile_set_hide(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	char *end;
	size_t at = strtoul(value, &end, 10);

	if (!page)
		return;
	if (strcmp(value, "keep") == 0) {
		config_keep_filters(session);
	} else if (end != value && !*end && at < page->filter_count) {
		page->filters[at].is_off = !page->filters[at].is_off;
		page->filter_changes++;
	} else if (!profile_page_hide(page, value)) {
		list_filters(session, page);
	}
}

void profile_set_threads(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);

	if (page)
		snprintf(page->threads, sizeof(page->threads), "%s", value);
}

void profile_set_hot(struct session *session, const char *value)
{
	struct profile_page *page = profile_page_of(session);
	char *end;
	double percent = strtod(value, &end);

	if (!page || end == value || (*end && strcmp(end, "%") != 0) || !(percent > 0 && percent <= 100))
		session_say(session, ":hot needs a percentage, such as 50%%");
	else
		page->hot_share = percent / 100;
}
