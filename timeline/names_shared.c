/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_shared.c - see names_shared.h. The file is read as a whole; it may hold anything, so it counts only
 * with a matching checksum, and each answer in it is parsed before it is believed.
 */
#include "timeline/names_shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/cached.h"
#include "store/hash.h"
#include "timeline/numbering.h"

#define MAGIC "hpctnam1"
#define MAGIC_BYTES 8u
#define CHECKSUM_BYTES 8u
#define FILE_MAX (128u << 20)
#define PATH_BYTES 4096
#define TURN_MS 200

struct place {
	const uint8_t *frame;
	size_t size;
};

struct names_shared {
	char path[PATH_BYTES];
	const char *key;
	uint8_t *file;		      /* as it was read */
	size_t frames_at, file_bytes; /* of its frames: begin, end */
	struct numbering offsets;     /* of uint64_t */
	struct place *places;	      /* [number] */
	size_t place_room;
	struct store_bytes added; /* frames found since */
	uint32_t old_count, saved_count;
};

/* ---- the file ---- */

/* 1: its frames lie in [*begin, *end); 0: of another key; -1: damaged. */
static int file_open(const uint8_t *file, size_t size, const char *key, size_t *begin, size_t *end)
{
	uint64_t checksum;
	uint32_t key_bytes;

	if (size < MAGIC_BYTES + 4 + CHECKSUM_BYTES || memcmp(file, MAGIC, MAGIC_BYTES) != 0)
		return -1;
	memcpy(&checksum, file + size - CHECKSUM_BYTES, sizeof checksum);
	if (checksum != store_hash64(file, size - CHECKSUM_BYTES, 0))
		return -1;
	memcpy(&key_bytes, file + MAGIC_BYTES, sizeof key_bytes);
	*begin = MAGIC_BYTES + 4 + (size_t)key_bytes;
	*end = size - CHECKSUM_BYTES;
	if (*begin > *end)
		return -1;
	return key_bytes == strlen(key) && !memcmp(file + MAGIC_BYTES + 4, key, key_bytes);
}

/* ---- answers ---- */

static bool place_add(struct names_shared *shared, uint64_t offset, const uint8_t *frame, size_t size)
{
	bool is_new;
	uint32_t number = numbering_put(&shared->offsets, &offset, &is_new);

	if (number == NUMBERING_NONE)
		return false;
	if (number == shared->place_room) {
		size_t room = shared->place_room ? 2 * shared->place_room : 256;
		struct place *places = reallocarray(shared->places, room, sizeof *places);

		if (!places)
			return false;
		shared->places = places;
		shared->place_room = room;
	}
	shared->places[number] = (struct place){frame, size};
	return true;
}

/* The frames of a file, each that is whole and well; false: one is not. */
static bool places_read(struct names_shared *shared)
{
	static struct names_answer answer; /* the reader has one thread */
	size_t at = shared->frames_at;

	while (at < shared->file_bytes) {
		uint32_t type;
		ssize_t size = names_frame_peek(shared->file + at, shared->file_bytes - at, &type, NULL);

		if (size <= 0 || type != NAMES_ANSWER ||
			names_answer_parse(shared->file + at, (size_t)size, &answer, NULL))
			return false;
		if (!place_add(shared, answer.offset, shared->file + at, (size_t)size))
			return false;
		at += (size_t)size;
	}
	return true;
}

/* The file's path, whose directories are made. */
static bool path_make(char path[PATH_BYTES], const char *directory, const struct names_request *request)
{
	char hex[2 * NAMES_BUILD_ID_MAX + 1] = "";

	for (unsigned i = 0; i < request->build_id_bytes; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", request->build_id[i]);
	if (snprintf(path, PATH_BYTES, "%s/names/%.2s/%s", directory, hex, hex + 2) >= PATH_BYTES)
		return false;
	store_cached_make(path);
	return true;
}

struct names_shared *names_shared_open(
	const char *directory, const struct names_request *request, const char *key, bool *is_damaged)
{
	struct names_shared *shared;
	int found;

	*is_damaged = false;
	if (request->build_id_bytes < 8)
		return NULL;
	shared = calloc(1, sizeof *shared);
	if (!shared)
		return NULL;
	numbering_init(&shared->offsets, sizeof(uint64_t));
	shared->key = strdup(key);
	if (!shared->key || !path_make(shared->path, directory, request)) {
		names_shared_close(shared);
		return NULL;
	}
	shared->file = store_cached_read(shared->path, FILE_MAX, &shared->file_bytes);
	found = shared->file ? file_open(shared->file, shared->file_bytes, key, &shared->frames_at,
				       &shared->file_bytes)
			     : 0;
	if (found > 0)
		found = places_read(shared) ? 1 : -1;
	*is_damaged = found < 0;
	if (found <= 0) {
		numbering_fini(&shared->offsets);
		numbering_init(&shared->offsets, sizeof(uint64_t));
		free(shared->file);
		shared->file = NULL;
		shared->frames_at = shared->file_bytes = 0;
	}
	shared->old_count = shared->saved_count = shared->offsets.count;
	return shared;
}

bool names_shared_find(struct names_shared *shared, uint64_t offset, struct names_answer *answer)
{
	uint32_t number = numbering_find(&shared->offsets, &offset), module = answer->module;
	bool ok;

	if (number == NUMBERING_NONE || number >= shared->old_count)
		return false;
	ok = !names_answer_parse(shared->places[number].frame, shared->places[number].size, answer, NULL);
	answer->module = module;
	return ok;
}

void names_shared_add(struct names_shared *shared, const struct names_answer *answer)
{
	bool is_new;
	uint32_t number;

	if (shared->added.size > FILE_MAX / 2)
		return;
	number = numbering_put(&shared->offsets, &answer->offset, &is_new);
	if (number != NUMBERING_NONE && is_new)
		names_answer_put(&shared->added, answer, NULL);
}

/* ---- saving ---- */

static bool frame_is_new(struct names_shared *now, const uint8_t *frame, size_t size)
{
	static struct names_answer answer;

	return !names_answer_parse(frame, size, &answer, NULL) &&
	       numbering_find(&now->offsets, &answer.offset) == NUMBERING_NONE;
}

/* What the file holds now, which others may have written since, and what was added here. */
static void file_build(struct names_shared *shared, struct names_shared *now, struct store_bytes *out)
{
	uint32_t key_bytes = (uint32_t)strlen(shared->key), type;
	uint64_t checksum;
	size_t at = 0;

	store_bytes_put(out, MAGIC, MAGIC_BYTES);
	store_bytes_put(out, &key_bytes, sizeof key_bytes);
	store_bytes_put(out, shared->key, key_bytes);
	if (now->file)
		store_bytes_put(out, now->file + now->frames_at, now->file_bytes - now->frames_at);
	while (at < shared->added.size) {
		const uint8_t *frame = shared->added.data + at;
		ssize_t size = names_frame_peek(frame, shared->added.size - at, &type, NULL);

		if (size <= 0)
			break;
		if (frame_is_new(now, frame, (size_t)size))
			store_bytes_put(out, frame, (size_t)size);
		at += (size_t)size;
	}
	checksum = store_hash64(out->data, out->size, 0);
	store_bytes_put(out, &checksum, sizeof checksum);
}

/* Writers take turns, so that none loses what another adds meanwhile; who waits too long goes ahead: a file
 * is whole in any case. Closing the descriptor ends the turn. */
static int turn_take(const char *path)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	char directory[PATH_BYTES];
	int fd;

	snprintf(directory, sizeof directory, "%s", path);
	*strrchr(directory, '/') = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < TURN_MS && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&nap, NULL);
	return fd;
}

static void save(struct names_shared *shared)
{
	int turn = turn_take(shared->path);
	struct names_shared now = {.key = shared->key};
	struct store_bytes out = {0};
	size_t size;

	numbering_init(&now.offsets, sizeof(uint64_t));
	now.file = store_cached_read(shared->path, FILE_MAX, &size);
	if (now.file && (file_open(now.file, size, shared->key, &now.frames_at, &now.file_bytes) <= 0 ||
				!places_read(&now))) {
		free(now.file);
		now.file = NULL;
		numbering_fini(&now.offsets);
		numbering_init(&now.offsets, sizeof(uint64_t));
	}
	file_build(shared, &now, &out);
	if (!out.failed && out.size <= FILE_MAX)
		store_cached_replace(shared->path, &out);
	if (turn >= 0)
		close(turn);
	shared->saved_count = shared->offsets.count;
	store_bytes_fini(&out);
	numbering_fini(&now.offsets);
	free(now.places);
	free(now.file);
}

void names_shared_save(struct names_shared *shared)
{
	uint32_t fresh = shared->offsets.count - shared->saved_count;

	if (fresh && (uint64_t)fresh * 4 >= shared->saved_count)
		save(shared);
}

void names_shared_save_all(struct names_shared *shared)
{
	if (shared->offsets.count > shared->saved_count)
		save(shared);
}

void names_shared_close(struct names_shared *shared)
{
	if (!shared)
		return;
	names_shared_save_all(shared);
	numbering_fini(&shared->offsets);
	store_bytes_fini(&shared->added);
	free(shared->places);
	free(shared->file);
	free((char *)shared->key);
	free(shared);
}
