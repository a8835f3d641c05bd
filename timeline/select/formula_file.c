/* SPDX-License-Identifier: Apache-2.0 */
/* formula_file.c - see formula_file.h. */
#include "timeline/select/formula_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/base/own_path.h"
#include "timeline/select/bookmark.h"

#define FILE_NAME "formulas"
#define LINES_MAX 1000u

/* Of the names that neither file has. S4 8.2.1: where measuring slows a program down, and not its operations
 * on GPUs, these are too small a part of its time. */
static const char *const built_in[] = {
	"undilated_gpu = 100 * $GPUOP * $dilation / @REALTIME",
	"undilated_time = $REALTIME / $dilation",
};

/* The text of the line, without blanks around it, if it is of that name. */
static const char *line_of(char *line, const char *name)
{
	size_t size = strcspn(line, "#\n"), name_size;
	char *sign;

	line[size] = '\0';
	while (size && strchr(" \t\r", line[size - 1]))
		line[--size] = '\0';
	line += strspn(line, " \t");
	sign = strchr(line, '=');
	name_size = sign ? (size_t)(sign - line) : 0;
	while (name_size && strchr(" \t", line[name_size - 1]))
		name_size--;
	return name_size && name_size == strlen(name) && strncmp(line, name, name_size) == 0 ? line : NULL;
}

static char *find_in(const char *path, const char *name)
{
	FILE *file = bookmark_file_open(path);
	char *line = NULL, *found = NULL;
	size_t room = 0;

	for (unsigned i = 0; file && i < LINES_MAX && !found && getline(&line, &room, file) >= 0; i++) {
		const char *text = line_of(line, name);

		found = text ? strdup(text) : NULL;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static char *find_built_in(const char *name)
{
	char line[256], *found = NULL;

	for (size_t i = 0; i < sizeof built_in / sizeof *built_in && !found; i++) {
		const char *text;

		snprintf(line, sizeof line, "%s", built_in[i]);
		text = line_of(line, name);
		found = text ? strdup(text) : NULL;
	}
	return found;
}

char *formula_file_find(const struct run *run, const char *name)
{
	char *path, *found = NULL;

	if (*run_path(run) && asprintf(&path, "%s/" FILE_NAME, run_path(run)) >= 0) {
		found = find_in(path, name);
		free(path);
	}
	path = found ? NULL : own_path(FILE_NAME);
	if (path)
		found = find_in(path, name);
	free(path);
	return found ? found : find_built_in(name);
}
