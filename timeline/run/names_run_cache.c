/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run_cache.c - reads the cache of names found after the recording, and finds its path.
 */
#include "timeline/run/names_run_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/hash.h"
#include "store/base/user_cache.h"
#include "store/read/reader.h"
#include "timeline/run/names_run_cache_file.h"

struct names_run_cache {
	struct store_reader *reader;
	const struct store_module *modules;
	uint32_t module_count;
	uint32_t last; /* last module used: frames come module by module */
};

/* $XDG_CACHE_HOME/hpct/RUN-HASH.mdb */
static char *user_path(const char *run_path)
{
	char *real = realpath(run_path, NULL), *directory = store_user_cache_directory(), *path = NULL;
	const char *slash = real ? strrchr(real, '/') : NULL;
	unsigned long long hash = real ? store_hash64(real, strlen(real), 0) : 0;

	if (slash && directory && asprintf(&path, "%s/%s-%016llx.mdb", directory, slash + 1, hash) < 0)
		path = NULL;
	free(directory);
	free(real);
	return path;
}

char *names_run_cache_path(const char *run_path, bool for_writing)
{
	char *path = NULL;

	if (asprintf(&path, "%s/cache" STORE_SUFFIX, run_path) < 0)
		return NULL;
	if (access(for_writing ? run_path : path, for_writing ? W_OK : R_OK) == 0)
		return path;
	free(path);
	return user_path(run_path);
}

int names_run_cache_open(struct names_run_cache **out, const char *run_path, struct error *error)
{
	char *path = names_run_cache_path(run_path, false);
	struct names_run_cache *cache = calloc(1, sizeof *cache);

	*out = NULL;
	if (!cache) {
		free(path);
		return error_memory(error);
	}
	if (path && access(path, R_OK) == 0 && !store_reader_open(&cache->reader, path, NULL)) {
		cache->modules = store_reader_modules(cache->reader, &cache->module_count);
		*out = cache;
	} else {
		free(cache);
	}
	free(path);
	return 0;
}

void names_run_cache_close(struct names_run_cache *cache)
{
	if (!cache)
		return;
	store_reader_close(cache->reader);
	free(cache);
}

/* The same file: by build id, else by kind and path. */
static bool module_equal(
	const struct names_run_cache *cache, uint32_t id, const struct store_module *module, const char *path)
{
	const struct store_module *own = &cache->modules[id];

	if (own->build_id_bytes || module->build_id_bytes)
		return own->build_id_bytes == module->build_id_bytes &&
		       !memcmp(own->build_id, module->build_id, module->build_id_bytes);
	return own->kind == module->kind && !strcmp(store_reader_text(cache->reader, own->path, NULL), path);
}

static uint32_t module_find(
	struct names_run_cache *cache, const struct store_module *module, const char *path)
{
	if (cache->last && module_equal(cache, cache->last, module, path))
		return cache->last;
	for (uint32_t id = 1; id < cache->module_count; id++)
		if (module_equal(cache, id, module, path))
			return cache->last = id;
	return 0;
}

int names_run_cache_find(struct names_run_cache *cache, const struct store_module *module, const char *path,
	uint64_t offset, struct store_scope *scopes)
{
	uint32_t id = cache ? module_find(cache, module, path) : 0;
	int count = id ? store_reader_symbol(cache->reader, id, offset, scopes, NULL) : 0;

	return count > 0 ? count : 0;
}

const struct store_reader *names_run_cache_reader(const struct names_run_cache *cache)
{
	return cache->reader;
}

const char *names_run_cache_text(const struct names_run_cache *cache, uint32_t text, size_t *size_bytes)
{
	return store_reader_text(cache->reader, text, size_bytes);
}
