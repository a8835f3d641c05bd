/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - finds and splits source files; they are as little trusted as the names that lead to them: only
 * regular files of a sane size are read.
 */
#include "tui/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/hash.h"

static void forget_file(struct source *source)
{
	free(source->text);
	free(source->begins);
	free(source->inclusive_ns);
	free(source->exclusive_ns);
	source->text = NULL;
	source->begins = NULL;
	source->inclusive_ns = source->exclusive_ns = NULL;
	source->line_count = 0;
	source->found[0] = source->asked[0] = source->looked[0] = '\0';
	source->begin_ns = source->end_ns = source->streams = 0;
	source->first = 1;
}

void source_fini(struct source *source)
{
	forget_file(source);
	source->map_count = 0;
}

int source_map(struct source *source, const char *from, const char *to)
{
	struct source_map *map = &source->maps[source->map_count];

	if (source->map_count == SOURCE_MAPS || strlen(from) >= SOURCE_PATH || strlen(to) >= SOURCE_PATH)
		return -1;
	strcpy(map->from, from);
	strcpy(map->to, to);
	source->map_count++;
	forget_file(source);
	return 0;
}

/* ---- the file ---- */

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

static bool try_path(struct source *source, const char *path)
{
	size_t used = strlen(source->looked);
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 0 &&
		status.st_size <= SOURCE_BYTES_MAX) {
		source->text = read_all(fd, (size_t)status.st_size);
		if (source->text)
			snprintf(source->found, sizeof(source->found), "%s", path);
	}
	if (fd >= 0)
		close(fd);
	snprintf(source->looked + used, sizeof(source->looked) - used, "%s%s", used ? ", " : "", path);
	return source->text != NULL;
}

static bool try_maps(struct source *source, const char *path)
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

/* The path, then what is left of it below the working directory when its first directories go. */
static bool find_file(struct source *source, const char *path)
{
	const char *tail = path;

	if (try_maps(source, path) || try_path(source, path))
		return true;
	while ((tail = strchr(tail, '/'))) {
		tail += strspn(tail, "/");
		if (*tail && strncmp(tail, "../", 3) != 0 && try_path(source, tail))
			return true;
	}
	return false;
}

static void split_lines(struct source *source)
{
	uint32_t count = 1;
	size_t size = strlen(source->text); /* a NUL ends it: no text goes on behind one */

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

bool source_open(struct source *source, const char *path)
{
	if (strcmp(source->asked, path) == 0 && path[0])
		return source->found[0] != '\0';
	forget_file(source);
	if (!path[0] || strlen(path) >= SOURCE_PATH)
		return false;
	strcpy(source->asked, path);
	if (find_file(source, path))
		split_lines(source);
	return source->found[0] != '\0';
}

const char *source_line(const struct source *source, uint32_t line, size_t *size_bytes)
{
	*size_bytes = 0;
	if (line == 0 || line > source->line_count)
		return "";
	*size_bytes = source->begins[line] - source->begins[line - 1] - 1;
	return source->text + source->begins[line - 1];
}

/* ---- time by line ---- */

/* Each line of the file that the path passes counts once, however often it recurs. */
static void add_entry(struct source *source, const struct run *run, const struct tile_entry *entry)
{
	const struct run_context *context = run_context(run, entry->context);
	const char *file = context->file;
	uint32_t line = context->line, counted[64];
	size_t count = 0, i;
	bool is_leaf = true;

	for (uint32_t scope = context->scope; scope != UINT32_MAX; scope = run_scope(run, scope)->parent) {
		if (line && line <= source->line_count && strcmp(file, source->asked) == 0) {
			for (i = 0; i < count && counted[i] != line; i++)
				;
			if (i == count)
				source->inclusive_ns[line] += entry->time_ns;
			if (i == count && count < 64)
				counted[count++] = line;
			if (is_leaf)
				source->exclusive_ns[line] += entry->time_ns;
		}
		is_leaf = false;
		file = run_scope(run, scope)->call_file;
		line = run_scope(run, scope)->call_line;
	}
}

void source_add_up(struct source *source, struct frame *frame, const uint32_t *streams, uint32_t stream_count)
{
	uint64_t key = store_hash64(streams, stream_count * sizeof(*streams), 7);

	if (source->inclusive_ns && source->begin_ns == frame->begin_ns && source->end_ns == frame->end_ns &&
		source->streams == key)
		return;
	free(source->inclusive_ns);
	free(source->exclusive_ns);
	source->inclusive_ns = calloc((size_t)source->line_count + 1, sizeof(uint64_t));
	source->exclusive_ns = calloc((size_t)source->line_count + 1, sizeof(uint64_t));
	source->begin_ns = frame->begin_ns;
	source->end_ns = frame->end_ns;
	source->streams = key;
	for (uint32_t s = 0; s < stream_count && source->inclusive_ns && source->exclusive_ns; s++) {
		const struct frame_line *line = frame_line(frame, streams[s]);
		for (uint32_t e = 0; line && e < line->first[frame->columns.count]; e++)
			if (line->entries[e].context && line->entries[e].context < frame->context_count)
				add_entry(source, frame->run, &line->entries[e]);
	}
}
