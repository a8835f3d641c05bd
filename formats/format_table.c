/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_table.c - see format_table.h. Guessing asks in the table's order.
 */
#include "formats/format_table.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

static const struct format *const formats[] = {&format_tsv, &format_gpu_samples, &format_chrome,
	&format_speedscope, &format_firefox, &format_callgrind, &format_svg, &format_svg_chart, &format_html,
#ifdef HPCT_HAS_SQLITE
	&format_nsys,
#endif
#ifdef HPCT_HAS_OTF2
	&format_otf2,
#endif
#ifdef HPCT_HAS_PROTOBUF
	&format_pprof, &format_perfetto,
#endif
	&format_perf, &format_csv, &format_prometheus, &format_hpctoolkit, &format_folded, NULL};

static bool goes(const struct format *format, enum format_way way)
{
	if (way == FORMAT_TAKES)
		return format->take != NULL;
	return format->put && (way == FORMAT_PUTS || format->takes_state_metrics);
}

const struct format *format_find(const char *name, enum format_way way)
{
	for (size_t i = 0; formats[i]; i++)
		if (goes(formats[i], way) && strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* The first by name of a directory's files that match. */
static bool find_pattern(DIR *directory, const char *path, const char *pattern, char *file)
{
	char name[NAME_MAX + 1] = "";
	const struct dirent *entry;

	rewinddir(directory);
	while ((entry = readdir(directory)))
		if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0 &&
			(!*name || strcmp(entry->d_name, name) < 0))
			snprintf(name, sizeof name, "%s", entry->d_name);
	return *name && snprintf(file, PATH_MAX, "%s/%s", path, name) < PATH_MAX;
}

/* Of the first of these patterns, with spaces between, that a file matches. */
static bool find_file(DIR *directory, const char *path, const char *patterns, char *file)
{
	char pattern[32];

	for (; *patterns; patterns += strspn(patterns, " ")) {
		size_t size = strcspn(patterns, " ");

		snprintf(pattern, sizeof pattern, "%.*s", (int)size, patterns);
		if (find_pattern(directory, path, pattern, file))
			return true;
		patterns += size;
	}
	return false;
}

const struct format *format_directory(const struct format *only, const char *path, char *file)
{
	const struct format *found = NULL;
	DIR *directory = opendir(path);

	for (size_t i = 0; directory && formats[i] && !found; i++)
		if (formats[i]->anchor && (!only || only == formats[i]) &&
			find_file(directory, path, formats[i]->anchor, file))
			found = formats[i];
	if (directory)
		closedir(directory);
	return found;
}

const struct format *format_guess(const uint8_t *head, size_t size)
{
	if (size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
		head += 3;
		size -= 3;
	}
	for (size_t i = 0; formats[i]; i++)
		if (goes(formats[i], FORMAT_TAKES) && formats[i]->is && formats[i]->is(head, size))
			return formats[i];
	return NULL;
}

static size_t count_of(enum format_way way)
{
	size_t count = 0;

	for (size_t i = 0; formats[i]; i++)
		count += goes(formats[i], way);
	return count;
}

void format_names(char out[FORMAT_TEXT_MAX], enum format_way way)
{
	size_t left = count_of(way), size = 0;

	out[0] = '\0';
	for (size_t i = 0; formats[i] && size < FORMAT_TEXT_MAX; i++) {
		if (!goes(formats[i], way))
			continue;
		left--;
		size += (size_t)snprintf(out + size, FORMAT_TEXT_MAX - size, "%s%s", formats[i]->name,
			left > 1    ? ", "
			: left == 1 ? " or "
				    : "");
	}
}

void format_help(char out[FORMAT_TEXT_MAX], enum format_way way)
{
	size_t size = 0;

	out[0] = '\0';
	for (size_t i = 0; formats[i] && size < FORMAT_TEXT_MAX; i++)
		if (goes(formats[i], way))
			size += (size_t)snprintf(out + size, FORMAT_TEXT_MAX - size, "%s%s: %s",
				size ? "; " : "", formats[i]->name, formats[i]->about);
}
