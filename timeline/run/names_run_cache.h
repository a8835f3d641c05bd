/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run_cache.h - names that were found after the recording: a store that holds modules and symbols
 * and nothing else, RUN/cache.mdb, or in the user's cache directory when the run is read-only. It is
 * replaced as a whole, never written in place, and deleting it loses nothing that cannot be found again.
 */
#ifndef TIMELINE_NAMES_RUN_CACHE_H
#define TIMELINE_NAMES_RUN_CACHE_H

#include "store/base/error.h"
#include "store/store.h"

struct names_run_cache;

/* NULL in *cache and 0 when there is none; a damaged one counts as none. Negative: memory. One thread. */
int names_run_cache_open(struct names_run_cache **cache, const char *run_path, struct error *error);
void names_run_cache_close(struct names_run_cache *cache);
/* Scopes of a frame into `scopes` (STORE_SCOPE_MAX), as store_reader_symbol() gives them but for text ids of
 * the cache; their number, 0: not there. What is there is better than what the run's own stores say. `path`
 * is the module's. A NULL cache has nothing. */
int names_run_cache_find(struct names_run_cache *cache, const struct store_module *module, const char *path,
	uint64_t offset, struct store_scope *scopes);
/* Where the text ids are from. */
struct store_reader;
const struct store_reader *names_run_cache_reader(const struct names_run_cache *cache);
const char *names_run_cache_text(const struct names_run_cache *cache, uint32_t text, size_t *size_bytes);

#endif
