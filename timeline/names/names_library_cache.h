/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_library_cache.h - answers found before, kept by build id and shared between runs: what a library's
 * code is called does not change from one recording to the next. One file for each module,
 *
 *   DIRECTORY/names/BB/UILD-ID   magic | u32 size, key | ANSWER frames (store/catalog/symbol_protocol.h) |
 * u64 checksum
 *
 * replaced as a whole, so that any number of processes may read and write it at once: the last one wins, and
 * adds what the others had. The key says what the answers were found with (this program, which debug files);
 * with another key they are found anew. Deleting all of it costs time only.
 */
#ifndef TIMELINE_NAMES_LIBRARY_CACHE_H
#define TIMELINE_NAMES_LIBRARY_CACHE_H

#include "store/catalog/symbol_protocol.h"

struct names_library_cache;

/* Opens the answers of a module, none when there is no such file or its key differs. NULL: memory, or no
 * build id. *is_damaged: the file is there and worth nothing. One thread. */
struct names_library_cache *names_library_cache_open(
	const char *directory, const struct symbol_request *request, const char *key, bool *is_damaged);
void names_library_cache_close(struct names_library_cache *shared); /* saves */
/* The answer to an offset; strings live as long as `shared`. False: not there. `module` stays as it was. */
bool names_library_cache_find(
	struct names_library_cache *shared, uint64_t offset, struct symbol_answer *answer);
/* Adds one that was not there; it is written by one of the next saves. */
void names_library_cache_add(struct names_library_cache *shared, const struct symbol_answer *answer);
/* Writes if enough is new: the cost of all saves together stays in proportion. */
void names_library_cache_save(struct names_library_cache *shared);
void names_library_cache_save_all(struct names_library_cache *shared); /* if anything is */

#endif
