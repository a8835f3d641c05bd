/* SPDX-License-Identifier: Apache-2.0 */
/* function_homes.c - see function_homes.h. */
#include "timeline/profile/function_homes.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/path.h"

enum level { LEVEL_NAME, LEVEL_FILE, LEVEL_FOLDER };

struct place {
	uint64_t home; /* as the level has it */
	uint32_t name, profile, level, unused;
};

static bool is_function(const struct profile_row *row)
{
	return row->kind == PROFILE_FUNCTION || row->kind == PROFILE_INLINE;
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return store_hash64(text, strlen(text), seed);
}

/* "x/a.c" of "/src/x/a.c". */
static const char *with_folder(const char *path)
{
	const char *at = path_base(path);

	while (at > path && at[-1] == '/')
		at--;
	while (at > path && at[-1] != '/')
		at--;
	return at;
}

static const char *file_of(const struct profile_row *row)
{
	return row->home ? row->home : "";
}

/* Without debug information only the module is known. */
static uint64_t hash_home(const struct profile_row *row, enum level level)
{
	const char *place = *file_of(row) ? file_of(row) : row->module;

	switch (level) {
	case LEVEL_NAME:
		return 0;
	case LEVEL_FILE:
		return hash_text(path_base(place), 1);
	default:
		return hash_text(with_folder(place), hash_text(path_base(row->module), 2));
	}
}

/* Functions of which a run knows this are one. */
static uint64_t hash_whole(const struct profile_row *row)
{
	return hash_text(file_of(row), hash_text(row->module, 3));
}

/* Takes a place in at the levels from its name's on, until one tells it from others. */
static bool put_place(
	struct function_homes *homes, const struct profile_row *row, uint32_t name, uint32_t profile)
{
	uint64_t whole = hash_whole(row);

	for (uint32_t level = LEVEL_NAME; level < LEVEL_FOLDER; level++) {
		struct place place = {hash_home(row, (enum level)level), name, profile, level, 0};
		bool is_new;
		uint32_t at = key_ids_put(&homes->places, &place, &is_new);

		if (at == KEY_IDS_NONE ||
			!array_widen(&homes->whole, &homes->whole_capacity, at, sizeof *homes->whole))
			return false;
		if (is_new)
			homes->whole[at] = whole;
		else if (homes->whole[at] != whole && homes->levels[name] <= level)
			homes->levels[name] = (uint8_t)(level + 1);
	}
	return true;
}

static bool put_row(struct function_homes *homes, const struct profile_row *row, uint32_t profile)
{
	struct store_hash hash = store_hash128(row->name, row->name_bytes);
	bool is_new;
	uint32_t name = key_ids_put(&homes->names, &hash, &is_new);

	if (name == KEY_IDS_NONE ||
		!array_widen(&homes->levels, &homes->level_capacity, name, sizeof *homes->levels))
		return false;
	if (is_new)
		homes->levels[name] = LEVEL_NAME;
	return put_place(homes, row, name, profile);
}

int function_homes_init(struct function_homes *homes, const struct profile *profiles, size_t count)
{
	bool is_ok = true;

	*homes = (struct function_homes){0};
	key_ids_init(&homes->names, sizeof(struct store_hash));
	key_ids_init(&homes->places, sizeof(struct place));
	for (uint32_t p = 0; p < count; p++)
		for (size_t i = 0; i < profiles[p].count && is_ok; i++)
			if (is_function(&profiles[p].rows[i]))
				is_ok = put_row(homes, &profiles[p].rows[i], p);
	return is_ok ? 0 : -1;
}

void function_homes_fini(struct function_homes *homes)
{
	key_ids_fini(&homes->names);
	key_ids_fini(&homes->places);
	free(homes->levels);
	free(homes->whole);
}

uint64_t function_homes_hash(const struct function_homes *homes, const struct profile_row *row)
{
	struct store_hash hash = store_hash128(row->name, row->name_bytes);
	uint32_t name = is_function(row) ? key_ids_find(&homes->names, &hash) : KEY_IDS_NONE;

	return name == KEY_IDS_NONE ? 0 : hash_home(row, (enum level)homes->levels[name]);
}
