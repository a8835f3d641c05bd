/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run_cache.h - names found after the recording: a store of modules and symbols only, RUN/cache.mdb,
 * or in the user's cache directory if the run is read-only. It is replaced as a whole, never changed in
 * place, and deleting it loses nothing that cannot be found again.
 */
#ifndef TIMELINE_NAMES_RUN_CACHE_H
#define TIMELINE_NAMES_RUN_CACHE_H

#include "store/base/error.h"
#include "store/store.h"

struct names_run_cache;

/* NULL in *cache and 0 if there is none, or it is damaged. Negative: no memory. One thread. */
int names_run_cache_open(struct names_run_cache **cache, const char *run_path, struct error *error);
void names_run_cache_close(struct names_run_cache *cache);
/* Reads a frame's scopes (at most STORE_SCOPE_MAX), like store_reader_symbol() but with text ids of the
 * cache; returns their number, 0: none. They are better than those in the run's own stores. `path` is the
 * module's. A NULL cache is empty. */
int names_run_cache_find(struct names_run_cache *cache, const struct store_module *module, const char *path,
	uint64_t offset, struct store_scope *scopes);
/* The reader that the text ids belong to. */
struct store_reader;
const struct store_reader *names_run_cache_reader(const struct names_run_cache *cache);
const char *names_run_cache_text(const struct names_run_cache *cache, uint32_t text, size_t *size_bytes);

#endif
