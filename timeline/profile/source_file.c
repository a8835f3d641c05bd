/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_file.c - finds and splits source files; they are untrusted, like the names that lead to them: reads
 * only regular files of limited size.
 */
#include "timeline/profile/source_file.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/regular_file.h"

#define WALK_FILES_MAX 200000u /* of a directory with all below it */
#define WALK_DESCRIPTORS 16

static void source_file_close(struct source_file *source)
{
	free(source->text);
	free(source->begins);
	source->text = NULL;
	source->begins = NULL;
	source->line_count = 0;
	source->is_kept = false;
	source->found[0] = source->asked[0] = source->looked[0] = '\0';
}

void source_file_fini(struct source_file *source)
{
	source_file_close(source);
	source->map_count = source->directory_count = 0;
}

int source_file_map(struct source_file *source, const char *from, const char *to)
{
	struct source_map *map = &source->maps[source->map_count];

	if (source->map_count == SOURCE_MAPS || strlen(from) >= SOURCE_PATH || strlen(to) >= SOURCE_PATH)
		return -1;
	strcpy(map->from, from);
	strcpy(map->to, to);
	source->map_count++;
	source_file_close(source);
	return 0;
}

int source_file_include(struct source_file *source, const char *directory)
{
	if (source->directory_count == SOURCE_MAPS || strlen(directory) >= SOURCE_PATH)
		return -1;
	strcpy(source->directories[source->directory_count++], directory);
	source_file_close(source);
	return 0;
}

/* ---- one place ---- */

static char *read_all(int fd, size_t size)
{
	char *text = malloc(size + 1);
	size_t used = 0;

	while (text && used < size) {
		ssize_t got = read(fd, text + used, size - used);

		if (got <= 0)
			break;
		used += (size_t)got;
	}
	if (text)
		text[used] = '\0';
	return text;
}

static void looked_at(struct source_file *source, const char *place)
{
	size_t used = strlen(source->looked);

	snprintf(source->looked + used, sizeof(source->looked) - used, "%s%s", used ? ", " : "", place);
}

static bool try_path(struct source_file *source, const char *path)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);

	if (fd >= 0 && status.st_size >= 0 && status.st_size <= SOURCE_BYTES_MAX) {
		source->text = read_all(fd, (size_t)status.st_size);
		if (source->text)
			snprintf(source->found, sizeof(source->found), "%s", path);
	}
	if (fd >= 0)
		close(fd);
	looked_at(source, path);
	return source->text != NULL;
}

static bool try_maps(struct source_file *source, const char *path)
{
	char mapped[2 * SOURCE_PATH];

	for (size_t i = source->map_count; i-- > 0;) { /* the newest first */
		size_t size = strlen(source->maps[i].from);

		if (strncmp(path, source->maps[i].from, size) != 0)
			continue;
		snprintf(mapped, sizeof(mapped), "%s%s", source->maps[i].to, path + size);
		if (try_path(source, mapped))
			return true;
	}
	return false;
}

/* What was compiled, as it was when the run ended. */
static bool try_kept(struct source_file *source, const char *path)
{
	struct error error;
	void *bytes = NULL;
	size_t size = 0;

	for (unsigned i = 0; source->run && i < run_store_count(source->run) && !source->text; i++) {
		if (store_reader_blob(
			    run_store(source->run, i), store_source_key(path), &bytes, &size, &error) != 1)
			continue;
		source->text = size <= SOURCE_BYTES_MAX ? malloc(size + 1) : NULL;
		if (source->text) {
			memcpy(source->text, bytes, size);
			source->text[size] = '\0';
			snprintf(source->found, sizeof(source->found), "%s", path);
			source->is_kept = true;
		}
		free(bytes);
	}
	return source->text != NULL;
}

/* What is left of the path below the directory when its first directories go. */
static bool try_tails(struct source_file *source, const char *directory, const char *path)
{
	char place[2 * SOURCE_PATH];
	const char *tail = path;

	while ((tail = strchr(tail, '/'))) {
		tail += strspn(tail, "/");
		if (!*tail || strncmp(tail, "../", 3) == 0)
			continue;
		snprintf(place, sizeof(place), "%s%s%s", directory, *directory ? "/" : "", tail);
		if (try_path(source, place))
			return true;
	}
	return false;
}

/* ---- all below a directory ---- */

/* nftw() has no room for it. */
static struct walk {
	const char *wanted, *base;
	char best[SOURCE_PATH];
	size_t score;
	unsigned files;
} walk;

/* How many of the paths' last parts are the same. */
static size_t parts_alike(const char *a, const char *b)
{
	size_t i = strlen(a), k = strlen(b), parts = 0;

	while (i && k && a[i - 1] == b[k - 1]) {
		i--;
		k--;
		parts += a[i] == '/';
	}
	return parts + ((!i && (!k || b[k - 1] == '/')) || (!k && i && a[i - 1] == '/'));
}

/* Of files that match equally well, the first by name: directory order is arbitrary. */
static int walk_file(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	size_t score;

	(void)status;
	if (walk.files++ == WALK_FILES_MAX)
		return 1;
	if (kind != FTW_F || strcmp(path + at->base, walk.base) != 0 || strlen(path) >= sizeof(walk.best))
		return 0;
	score = parts_alike(walk.wanted, path);
	if (score > walk.score || (score == walk.score && strcmp(path, walk.best) < 0)) {
		walk.score = score;
		strcpy(walk.best, path);
	}
	return 0;
}

static bool try_all_below(struct source_file *source, const char *directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	char place[2 * SOURCE_PATH + 2];

	walk = (struct walk){.wanted = path, .base = slash ? slash + 1 : path};
	nftw(directory, walk_file, WALK_DESCRIPTORS, FTW_PHYS);
	if (walk.score && try_path(source, walk.best))
		return true;
	snprintf(place, sizeof(place), "%s/+", directory);
	looked_at(source, place);
	return false;
}

static bool is_deep(const char *directory)
{
	size_t size = strlen(directory);

	return size > 2 && !strcmp(directory + size - 2, "/+");
}

bool source_file_walks(const struct source_file *source)
{
	for (size_t i = 0; i < source->directory_count; i++)
		if (is_deep(source->directories[i]))
			return true;
	return false;
}

static bool try_directories(struct source_file *source, const char *path)
{
	char place[2 * SOURCE_PATH];

	for (size_t i = 0; i < source->directory_count; i++) {
		size_t size = strlen(source->directories[i]);
		bool with_all = is_deep(source->directories[i]);

		snprintf(place, sizeof(place), "%.*s", (int)(with_all ? size - 2 : size),
			source->directories[i]);
		if (with_all ? try_all_below(source, place, path) : try_tails(source, place, path))
			return true;
		if (!with_all && path[0] != '/') {
			snprintf(place, sizeof(place), "%s/%s", source->directories[i], path);
			if (try_path(source, place))
				return true;
		}
	}
	return false;
}

static bool find_file(struct source_file *source, const char *path)
{
	return try_maps(source, path) || try_kept(source, path) || try_path(source, path) ||
	       try_tails(source, "", path) || try_directories(source, path);
}

/* ---- its lines ---- */

static void split_lines(struct source_file *source)
{
	uint32_t count = 1;
	size_t size = strlen(source->text); /* a NUL ends the text */

	for (size_t i = 0; i < size; i++)
		count += source->text[i] == '\n';
	source->begins = calloc((size_t)count + 2, sizeof(*source->begins));
	if (!source->begins)
		return;
	source->line_count = 0;
	for (size_t i = 0; i < size; i++)
		if (source->text[i] == '\n')
			source->begins[++source->line_count] = i + 1;
	if (size && source->text[size - 1] != '\n')
		source->begins[++source->line_count] = size + 1;
}

bool source_file_open(struct source_file *source, const char *path)
{
	if (strcmp(source->asked, path) == 0 && path[0])
		return source->found[0] != '\0';
	source_file_close(source);
	if (!path[0] || strlen(path) >= SOURCE_PATH)
		return false;
	strcpy(source->asked, path);
	if (find_file(source, path))
		split_lines(source);
	return source->found[0] != '\0';
}

const char *source_file_line(const struct source_file *source, uint32_t line, size_t *size_bytes)
{
	*size_bytes = 0;
	if (line == 0 || line > source->line_count)
		return "";
	*size_bytes = source->begins[line] - source->begins[line - 1] - 1;
	return source->text + source->begins[line - 1];
}
