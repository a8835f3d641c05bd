/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - parses the user's files line by line; what is wrong is said once and passed over.
 */
#include "tui/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/colours.h"

static FILE *open_file(const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[4096];
	int size = -1;

	if (config && config[0] == '/')
		size = snprintf(path, sizeof(path), "%s/hpct/%s", config, name);
	else if (home && home[0] == '/')
		size = snprintf(path, sizeof(path), "%s/.config/hpct/%s", home, name);
	return size > 0 && size < (int)sizeof(path) ? fopen(path, "re") : NULL;
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

static void read_lines(struct session *session, const char *name)
{
	FILE *file = open_file(name);
	bool is_keys = strcmp(name, "keys") == 0;
	char line[512];

	for (int number = 1; file && fgets(line, sizeof(line), file); number++) {
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (!(is_keys ? config_key(line) : config_colour(session, line)))
			session_say(session, "line %d of your file '%s' is not understood", number, name);
	}
	if (file)
		fclose(file);
}

void config_read(struct session *session)
{
	read_lines(session, "keys");
	read_lines(session, "colours");
}
