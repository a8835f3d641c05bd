/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_internal.h - one module, shared by names.c, which answers, names_open.c, which finds and opens its
 * files, and names_symbols.c, for code without debug information.
 */
#ifndef TIMELINE_NAMES_INTERNAL_H
#define TIMELINE_NAMES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/arena.h"
#include "store/catalog/symbol_protocol.h"
#include "timeline/debug/code_starts.h"
#include "timeline/debug/dwarf.h"
#include "timeline/debug/dwp.h"
#include "timeline/debug/symbols.h"
#include "timeline/names/names.h"
#include "timeline/names/names_gpu.h"
#include "timeline/names/names_library_cache.h"
#include "timeline/names/names_loops.h"

#define NAMES_MISSED_MAX 256u

struct names_module {
	struct names_module *next; /* most recently used first */
	char *path, *real_path;
	uint32_t kind;
	enum names_level level;
	uint8_t build_id_bytes;
	uint8_t build_id[NAMES_BUILD_ID_MAX];

	struct debug_files files;
	struct module_elf mini; /* opened when symbols are first needed */
	struct module_elf unpacked,
		unpacked_alternate; /* read instead of compressed sections; else not open */
	struct dwarf_code code;
	struct dwarf_module *dwarf; /* NULL: no debug information */
	struct dwp *package;	    /* NULL: none */
	struct names_gpu *gpu;	    /* NULL: CPU code */
	struct symbol_table symbols;
	bool has_symbols;
	bool has_main;
	uint64_t main; /* of a stripped program, see elf_main_find(); 0: not told */
	struct code_starts starts;
	const char *kept;		    /* directory of caches for other runs; NULL: none */
	struct names_library_cache *shared; /* NULL: this module has no cache */
	bool has_debug;			    /* debug information has been searched for */
	bool wants_loops;
	uint64_t cpu_ns;
	struct loops *loops; /* NULL: no loops can be found */
	bool has_loops;
	bool lacks_decoder;		   /* the decoder is not installed now */
	uint64_t missed[NAMES_MISSED_MAX]; /* offsets that were in no cache */
	unsigned missed_count;
	struct loops_function extent; /* of the last function named without debug information */
	struct arena arena;
	char note[1024];
};

/* ---- names_open.c ---- */

/* Opens its files and notes what is missing; NULL: no memory. */
struct names_module *names_module_new(
	const struct symbol_request *request, enum names_level level, const struct names_options *options);
void names_module_free(struct names_module *module);
/* Opens the debug information at the first call: decompressing that of large files takes seconds. */
void names_module_open_debug(struct names_module *module);
/* Notes what is missing; keeps the first sentence. */
void names_module_lacks(struct names_module *module, const char *text);

/* ---- names_symbols.c ---- */

/* Makes an answer of one function. */
void symbol_answer_function(struct symbol_answer *answer, enum names_source source, const char *name,
	const char *linkage, uint64_t start);
/* Answers from symbols, PLT and unwind entries, without debug information; sets the module's extent. 0 or
 * negative: no memory. */
int names_symbols_find(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error);
/* Chooses the best known name of the outermost function, if it has several. */
int names_symbols_prefer(struct names_module *module, struct names_scope *outermost, struct error *error);

#endif
