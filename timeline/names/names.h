/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - addresses to names: opens the files of modules and asks, best first, their debug
 * information, symbols, PLT and unwind entries. It reads untrusted files with big libraries, so it runs
 * inside a process of its own (timeline/names/names_worker.h); nobody else calls it but tests.
 */
#ifndef TIMELINE_NAMES_H
#define TIMELINE_NAMES_H

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"
#include "timeline/debug/debug_files.h"

/* How much of a file is believed. A module whose reader failed is asked again one level lower. */
enum names_level { NAMES_ALL, NAMES_SYMBOLS, NAMES_NONE };

struct names_options {
	struct debug_files_search search;
	uint64_t cpu_ns;    /* of one request; what is left then is named by symbols. 0: no limit */
	uint64_t ahead_ns;  /* CPU time, at the end, for what lies around what was asked (names_prefetch()) */
	bool no_loops;	    /* functions and inlined calls only */
	const char *shared; /* directory of answers shared between runs
			       (timeline/names/names_library_cache.h); NULL: none */
	unsigned jobs; /* processes at once, for many names (timeline/names/names_pool.h); 0: by processors */
	/* -- of the worker (timeline/names/names_worker.h); 0: what suits people who wait for names -- */
	uint64_t memory_bytes;
	unsigned silent_s; /* so long it may send nothing */
};

struct names;
struct names_module;

/* What `options` point at must outlive it. Reads nothing yet: the error is of memory. One thread. */
int names_open(struct names **names, const struct names_options *options, struct error *error);
void names_close(struct names *names);
/* The same for a process that ends, which need not give back its memory piece by piece. */
void names_end(struct names *names);

/* The module that a request speaks of, opened or still open from before; valid until the next names_module().
 * What cannot be opened is a module too: names_module_note() says why. Negative: memory. */
int names_module(struct names *names, const struct symbol_request *request, enum names_level level,
	struct names_module **module, struct error *error);
/* One sentence about what is missing, "" when nothing is. */
const char *names_module_note(const struct names_module *module);
/* Keeps what was found for other runs, if enough is new. */
void names_module_keep(struct names_module *module);
/* The same, however little it is. */
void names_module_keep_all(struct names_module *module);
/* Whether copies of this process may ask it side by side. Opens its debug information. */
bool names_module_is_forkable(struct names_module *module);
/* When all is answered: what lies around it, for other runs, if any are to have it. */
void names_prefetch(struct names *names);
/* Offsets of the same place cost least when they are asked for one after the other. */
uint64_t names_module_place(struct names_module *module, uint64_t offset);
/* The answer for one offset; `module` in it stays as it was. Strings live as long as the module. */
int names_find(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error);

#endif
