/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_copies.c - see source_copies.h. The paths come from untrusted debug information: reads only regular
 * files, without blocking, and within limits; counts files left out.
 */
#include "record/names/source_copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/base/regular_file.h"

void source_copies_fini(struct source_copies *sources)
{
	free(sources->is_known);
	free(sources->waiting);
	*sources = (struct source_copies){0};
}

/* True if it is new. */
static bool known_add(struct source_copies *sources, uint32_t text)
{
	uint8_t bit = (uint8_t)(1u << text % 8);

	if (text / 8 >= sources->known_capacity) {
		uint32_t room = 2 * (text / 8) + 1024;
		uint8_t *grown = realloc(sources->is_known, room);

		if (!grown)
			return false;
		memset(grown + sources->known_capacity, 0, room - sources->known_capacity);
		sources->is_known = grown;
		sources->known_capacity = room;
	}
	if (sources->is_known[text / 8] & bit)
		return false;
	sources->is_known[text / 8] |= bit;
	return true;
}

void source_copies_mention(struct source_copies *sources, uint32_t text)
{
	if (!sources->is_wanted || !text || text == UINT32_MAX || !known_add(sources, text))
		return;
	if (!array_widen((void **)&sources->waiting, &sources->waiting_capacity, sources->waiting_count,
		    sizeof *sources->waiting))
		return;
	sources->waiting[sources->waiting_count++] = text;
}

static void file_put(
	struct source_copies *sources, struct store_writer *writer, const char *path, int fd, size_t size)
{
	char *bytes = malloc(size + 1);
	size_t used = 0;

	while (bytes && used < size) {
		ssize_t got = read(fd, bytes + used, size - used);

		if (got <= 0)
			break;
		used += (size_t)got;
	}
	if (bytes) {
		store_writer_blob(writer, store_source_key(path), bytes, used);
		sources->bytes += used;
		sources->kept++;
	}
	free(bytes);
}

static void file_keep(struct source_copies *sources, struct store_writer *writer, const char *path)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);

	if (fd < 0)
		sources->missing++;
	else if (status.st_size < 0 || status.st_size > (off_t)SOURCE_COPIES_FILE_BYTES_MAX ||
		 sources->bytes + (uint64_t)status.st_size > SOURCE_COPIES_BYTES_MAX ||
		 sources->kept == SOURCE_COPIES_FILES_MAX)
		sources->left_out++;
	else
		file_put(sources, writer, path, fd, (size_t)status.st_size);
	if (fd >= 0)
		close(fd);
}

void source_copies_keep(struct source_copies *sources, struct store_writer *writer)
{
	char text[128];

	if (!sources->is_wanted)
		return;
	for (uint32_t i = 0; i < sources->waiting_count; i++) {
		const char *path = store_writer_text_at(writer, sources->waiting[i], NULL);

		if (path && path[0] == '/')
			file_keep(sources, writer, path);
		else if (path && path[0])
			sources->missing++;
	}
	sources->waiting_count = 0;
	snprintf(text, sizeof(text), "%u kept, %llu bytes; %u not found, %u beyond the limits", sources->kept,
		(unsigned long long)sources->bytes, sources->missing, sources->left_out);
	store_writer_meta(writer, "sources", text);
}
