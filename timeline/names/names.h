/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - addresses to names: opens the files of modules and searches, best first, their debug
 * information, symbols, PLT and unwind entries. It reads untrusted files with large libraries, so it runs in
 * a separate process (timeline/names/names_worker.h); otherwise only tests call it.
 */
#ifndef TIMELINE_NAMES_H
#define TIMELINE_NAMES_H

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"
#include "timeline/debug/debug_files.h"

/* How much of a file is read. When a module's reader fails, the request is repeated one level lower. */
enum names_level { NAMES_ALL, NAMES_SYMBOLS, NAMES_NONE };

struct names_options {
	struct debug_files_search search;
	uint64_t cpu_ns;    /* per request; addresses left then get names from symbols. 0: no limit */
	uint64_t ahead_ns;  /* CPU time, at the end, for prefetching neighbours (names_prefetch()) */
	bool no_loops;	    /* functions and inlined calls only */
	const char *shared; /* directory of the cache shared between runs
			       (timeline/names/names_library_cache.h); NULL: none */
	unsigned jobs;	    /* processes for many names (timeline/names/names_pool.h); 0: by processors */
	/* -- of the worker (timeline/names/names_worker.h); 0: defaults for interactive use -- */
	uint64_t memory_bytes;
	unsigned silent_s; /* longest silence allowed */
};

struct names;
struct names_module;

/* What `options` points to must outlive it. Reads nothing yet: errors are of memory. One thread. */
int names_open(struct names **names, const struct names_options *options, struct error *error);
void names_close(struct names *names);
/* The same before exit(): does not free memory piece by piece. */
void names_end(struct names *names);

/* The request's module, opened now or before; valid until the next names_module(). A module that cannot be
 * opened is returned too: names_module_note() tells why. Negative: no memory. */
int names_module(struct names *names, const struct symbol_request *request, enum names_level level,
	struct names_module **module, struct error *error);
/* One sentence about what is missing, "" when nothing is. */
const char *names_module_note(const struct names_module *module);
/* Saves answers for other runs, if enough are new. */
void names_module_keep(struct names_module *module);
/* The same for any number of new answers. */
void names_module_keep_all(struct names_module *module);
/* True when forked copies of this process may answer in parallel. Opens the module's debug information. */
bool names_module_is_forkable(struct names_module *module);
/* After all answers: finds their neighbours' names for other runs, if a cache is used. */
void names_prefetch(struct names *names);
/* A sort key: requests with close keys are cheapest one after another. */
uint64_t names_module_place(struct names_module *module, uint64_t offset);
/* The answer for one offset; `module` in it is unchanged. Strings live as long as the module. */
int names_find(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error);

#endif
