/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_library_cache.c - see names_library_cache.h. Reads the file as a whole; it is untrusted, so it needs
 * a matching checksum, and each answer in it is parsed before use.
 */
#include "timeline/names/names_library_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/user_cache.h"
#include "timeline/base/key_ids.h"

#define MAGIC "hpctnam2"
#define MAGIC_BYTES 8u
#define CHECKSUM_BYTES 8u
#define FILE_MAX (128u << 20)
#define PATH_BYTES 4096
#define TURN_MS 200

/* One answer, in a file or added. */
struct cached_answer {
	struct symbol_stretch stretch;
	const uint8_t *frame;
	size_t size;
};

struct cached_answers {
	struct cached_answer *list; /* by the stretches' begins */
	size_t count, capacity;
};

struct names_library_cache {
	char path[PATH_BYTES];
	const char *key;
	uint8_t *file;		      /* as it was read */
	size_t frames_at, file_bytes; /* of its frames: begin, end */
	struct cached_answers old;    /* in it */
	struct store_bytes added;     /* frames found since */
	struct key_ids begins;	      /* of their stretches */
	size_t saved_count;
};

/* ---- the file ---- */

/* 1: its frames are in [*begin, *end); 0: it has another key; -1: damaged. */
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

static bool place_add(struct cached_answers *places, const struct cached_answer *place)
{
	if (!array_widen(&places->list, &places->capacity, places->count, sizeof *places->list))
		return false;
	places->list[places->count++] = *place;
	return true;
}

static int place_compare(const void *left, const void *right)
{
	const struct cached_answer *a = left, *b = right;

	if (a->stretch.begin != b->stretch.begin)
		return a->stretch.begin < b->stretch.begin ? -1 : 1;
	return 0;
}

/* Adds the frames in [at, end); false: they are malformed. Their content is checked on use. */
static bool places_read(struct cached_answers *places, const uint8_t *at, const uint8_t *end)
{
	static struct symbol_answer answer; /* the reader has one thread */
	bool is_sorted = true;

	while (at < end) {
		uint32_t type;
		ssize_t size = symbol_frame_peek(at, (size_t)(end - at), &type, NULL);

		if (size <= 0 || symbol_answer_parse_stretch(at, (size_t)size, &answer, NULL) ||
			!place_add(places, &(struct cached_answer){answer.stretch, at, (size_t)size}))
			return false;
		is_sorted &= places->count < 2 || place_compare(&places->list[places->count - 2],
							  &places->list[places->count - 1]) <= 0;
		at += (size_t)size;
	}
	if (!is_sorted)
		qsort(places->list, places->count, sizeof *places->list, place_compare);
	return true;
}

/* The answer that holds there. NULL: none is known. */
static const struct cached_answer *places_find(const struct cached_answers *places, uint64_t offset)
{
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->list[middle].stretch.begin <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < places->list[low - 1].stretch.end ? &places->list[low - 1] : NULL;
}

static void places_fini(struct cached_answers *places)
{
	free(places->list);
	*places = (struct cached_answers){0};
}

/* What is in the file, if it is this one's: 1, 0 or -1 as file_open(). */
static int file_read(struct names_library_cache *shared)
{
	int found = 0;

	shared->file = store_user_cache_read(shared->path, FILE_MAX, &shared->file_bytes);
	if (shared->file)
		found = file_open(shared->file, shared->file_bytes, shared->key, &shared->frames_at,
			&shared->file_bytes);
	if (found > 0 && !places_read(&shared->old, shared->file + shared->frames_at,
				 shared->file + shared->file_bytes))
		found = -1;
	if (found <= 0) {
		places_fini(&shared->old);
		free(shared->file);
		shared->file = NULL;
	}
	return found;
}

static bool path_set(char path[PATH_BYTES], const char *directory, const struct symbol_request *request)
{
	char hex[2 * NAMES_BUILD_ID_MAX + 1] = "";

	for (unsigned i = 0; i < request->build_id_bytes; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", request->build_id[i]);
	return snprintf(path, PATH_BYTES, "%s/names/%.2s/%s", directory, hex, hex + 2) < PATH_BYTES;
}

struct names_library_cache *names_library_cache_open(
	const char *directory, const struct symbol_request *request, const char *key, bool *is_damaged)
{
	struct names_library_cache *shared;

	*is_damaged = false;
	if (request->build_id_bytes < 8)
		return NULL;
	shared = calloc(1, sizeof *shared);
	if (!shared)
		return NULL;
	key_ids_init(&shared->begins, sizeof(uint64_t));
	shared->key = strdup(key);
	if (!shared->key || !path_set(shared->path, directory, request)) {
		names_library_cache_close(shared);
		return NULL;
	}
	*is_damaged = file_read(shared) < 0;
	return shared;
}

bool names_library_cache_find(
	struct names_library_cache *shared, uint64_t offset, struct symbol_answer *answer)
{
	const struct cached_answer *place = places_find(&shared->old, offset);
	uint32_t module = answer->module;
	bool ok = place && !symbol_answer_parse(place->frame, place->size, answer, NULL);

	answer->module = module;
	answer->offset = offset;
	return ok;
}

void names_library_cache_add(struct names_library_cache *shared, const struct symbol_answer *answer)
{
	uint64_t begin = answer->offset < answer->stretch.end ? answer->stretch.begin : answer->offset;
	bool is_new;

	if (shared->added.size > FILE_MAX / 2)
		return;
	if (key_ids_put(&shared->begins, &begin, &is_new) != KEY_IDS_NONE && is_new)
		symbol_answer_put(&shared->added, answer, NULL);
}

/* ---- saving ---- */

/* What the file holds now, which others may have written since, and what was added here, in order. False:
 * memory. */
static bool file_build(
	const struct names_library_cache *shared, struct names_library_cache *now, struct store_bytes *out)
{
	uint32_t key_bytes = (uint32_t)strlen(shared->key);
	struct cached_answers added = {0};
	uint64_t checksum;
	size_t old_count = now->old.count;
	bool ok = places_read(&added, shared->added.data, shared->added.data + shared->added.size);

	for (size_t i = 0; ok && i < added.count; i++) {
		const struct cached_answer *known =
			places_find(&(struct cached_answers){now->old.list, old_count, old_count},
				added.list[i].stretch.begin);

		ok = known || place_add(&now->old, &added.list[i]);
	}
	places_fini(&added);
	if (!ok)
		return false;
	if (now->old.count > old_count)
		qsort(now->old.list, now->old.count, sizeof *now->old.list, place_compare);
	store_bytes_put(out, MAGIC, MAGIC_BYTES);
	store_bytes_put(out, &key_bytes, sizeof key_bytes);
	store_bytes_put(out, shared->key, key_bytes);
	for (size_t i = 0; i < now->old.count; i++)
		store_bytes_put(out, now->old.list[i].frame, now->old.list[i].size);
	checksum = store_hash64(out->data, out->size, 0);
	store_bytes_put(out, &checksum, sizeof checksum);
	return !out->failed && out->size <= FILE_MAX;
}

/* Takes a lock, so that no writer loses what another adds; proceeds without it after a timeout: a file is
 * complete in any case. Closing the descriptor unlocks. */
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

static void save(struct names_library_cache *shared)
{
	struct names_library_cache now = {.key = shared->key};
	struct store_bytes out = {0};
	int turn;

	store_user_cache_make(shared->path);
	turn = turn_take(shared->path);
	memcpy(now.path, shared->path, sizeof now.path);
	file_read(&now);
	if (file_build(shared, &now, &out))
		store_user_cache_replace(shared->path, &out);
	if (turn >= 0)
		close(turn);
	shared->saved_count = shared->begins.count;
	store_bytes_fini(&out);
	places_fini(&now.old);
	free(now.file);
}

void names_library_cache_save(struct names_library_cache *shared)
{
	size_t fresh = shared->begins.count - shared->saved_count;

	if (fresh && fresh * 4 >= shared->old.count + shared->saved_count)
		save(shared);
}

void names_library_cache_save_all(struct names_library_cache *shared)
{
	if (shared->begins.count > shared->saved_count)
		save(shared);
}

void names_library_cache_close(struct names_library_cache *shared)
{
	if (!shared)
		return;
	names_library_cache_save_all(shared);
	key_ids_fini(&shared->begins);
	store_bytes_fini(&shared->added);
	places_fini(&shared->old);
	free(shared->file);
	free((char *)shared->key);
	free(shared);
}
