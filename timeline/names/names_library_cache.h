/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_library_cache.h - caches answers by build id, shared between runs: the names of a library's code do
 * not change from one recording to the next. One file for each module,
 *
 *   DIRECTORY/names/BB/UILD-ID   magic | u32 size, key | ANSWER frames | u64 checksum
 *
 * (frames of store/catalog/symbol_protocol.h), replaced as a whole, so that any number of processes may read
 * and write it at once: the last writer wins, and adds what the others had. The key describes how the answers
 * were found (this program, which debug files); with another key they are found again. Deleting all of it
 * costs only time.
 */
#ifndef TIMELINE_NAMES_LIBRARY_CACHE_H
#define TIMELINE_NAMES_LIBRARY_CACHE_H

#include "store/catalog/symbol_protocol.h"

struct names_library_cache;

/* Opens a module's cache; it is empty if there is no such file or its key differs. NULL: no memory, or no
 * build id. *is_damaged: the file exists but is unusable. One thread. */
struct names_library_cache *names_library_cache_open(
	const char *directory, const struct symbol_request *request, const char *key, bool *is_damaged);
void names_library_cache_close(struct names_library_cache *shared); /* saves */
/* The answer for an offset; strings live as long as `shared`. False: not cached. `module` is unchanged. */
bool names_library_cache_find(
	struct names_library_cache *shared, uint64_t offset, struct symbol_answer *answer);
/* Adds an answer that was not cached; a later save writes it. */
void names_library_cache_add(struct names_library_cache *shared, const struct symbol_answer *answer);
/* Writes the file if enough is new, so that the total cost of saves stays proportional. */
void names_library_cache_save(struct names_library_cache *shared);
void names_library_cache_save_all(struct names_library_cache *shared); /* if anything is new */

#endif
