/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - parses the user's files line by line. Reports a wrong line and skips it.
 */
#include "tui/models/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tui/models/profile_page.h"
#include "tui/models/settings.h"
#include "tui/screen/colours.h"

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

bool config_path(char *path, const char *name, bool makes_parents)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int size = -1;

	if (config && config[0] == '/')
		size = snprintf(path, CONFIG_PATH, "%s/hpct/%s", config, name);
	else if (home && home[0] == '/')
		size = snprintf(path, CONFIG_PATH, "%s/.config/hpct/%s", home, name);
	if (size <= 0 || size >= CONFIG_PATH)
		return false;
	if (makes_parents)
		make_directories(path);
	return true;
}

/* NULL: it is not there, or cannot be written. */
static FILE *open_file(const char *name, bool is_written)
{
	char path[CONFIG_PATH];

	return config_path(path, name, is_written) ? fopen(path, is_written ? "we" : "re") : NULL;
}

bool config_key(const char *line)
{
	uint32_t key, as;
	size_t size = keys_parse(line, &key);

	if (!size || line[size] != ' ')
		return false;
	line += size + strspn(line + size, " ");
	size = keys_parse(line, &as);
	return size && !line[size] && keys_rebind(key, as);
}

bool config_colour(struct session *session, const char *line)
{
	const char *what = line + strlen(line);

	/* WHAT is the last word, or "context N" */
	while (what > line && what[-1] != ' ')
		what--;
	if (what - line > 8 && strncmp(what - 8, "context ", 8) == 0)
		what -= 8;
	return what > line && colours_add(&session->colours, line, (size_t)(what - line), what);
}

bool config_filter(struct session *session, const char *line)
{
	bool is_off = strncmp(line, "off ", 4) == 0;
	struct profile_page *page = profile_page_of(session);
	size_t count = page ? page->filter_count : 0;

	if (!page || !profile_page_hide(page, line + (is_off ? 4 : 0)))
		return false;
	page->filters[count].is_off = is_off;
	return true;
}

void config_keep_filters(struct session *session)
{
	const struct profile_page *page = profile_page_of(session);
	FILE *file = page ? open_file("filters", true) : NULL;
	char path[CONFIG_PATH];

	for (size_t i = 0; file && i < page->filter_count; i++)
		fprintf(file, "%s%s %s\n", page->filters[i].is_off ? "off " : "",
			frame_filter_kind_name(page->filters[i].kind), page->filters[i].glob);
	if (!file || fclose(file) != 0 || !config_path(path, "filters", false))
		session_say(session, "your file 'filters' cannot be written");
	else
		session_say(session, "%zu filters kept in %s", page->filter_count, path);
}

void config_keep_settings(struct session *session)
{
	FILE *file = open_file("settings", true);
	char value[SETTINGS_VALUE];

	for (size_t i = 0; file && i < settings_count(); i++) {
		settings_get(session, i, value);
		if (!settings_is_usual(session, i))
			fprintf(file, "%s %s\n", settings_name(i), value);
	}
	if (!file || fclose(file) != 0)
		session_say(
			session, "your file 'settings' cannot be written: it holds until the view is closed");
}

static bool read_line(struct session *session, const char *name, const char *line)
{
	return strcmp(name, "keys") == 0       ? config_key(line)
	       : strcmp(name, "filters") == 0  ? config_filter(session, line)
	       : strcmp(name, "settings") == 0 ? settings_set(session, line)
					       : config_colour(session, line);
}

static void read_lines(struct session *session, const char *name)
{
	FILE *file = open_file(name, false);
	char line[512];

	for (int number = 1; file && fgets(line, sizeof(line), file); number++) {
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (!read_line(session, name, line))
			session_say(session, "line %d of your file '%s' is not understood", number, name);
	}
	if (file)
		fclose(file);
}

void config_read(struct session *session)
{
	read_lines(session, "settings");
	read_lines(session, "keys");
	read_lines(session, "colours");
	read_lines(session, "filters");
}
