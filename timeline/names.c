/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - puts together what the files of a module say about an offset: debug information first,
 * then symbols, PLT entries, unwind entries. Modules stay open between requests, since a run asks for the
 * same ones again as it goes on.
 */
#include "timeline/names.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/arena.h"
#include "store/store.h"
#include "timeline/demangle.h"
#include "timeline/dwarf.h"
#include "timeline/dwarf_package.h"
#include "timeline/names_gpu.h"
#include "timeline/names_loops.h"
#include "timeline/names_shared.h"
#include "timeline/symbols.h"

#define OPEN_MAX 64u /* modules kept open */

struct names_module {
	struct names_module *next; /* most recently used first */
	char *path, *real_path;
	uint32_t kind;
	enum names_level level;
	uint8_t build_id_bytes;
	uint8_t build_id[NAMES_BUILD_ID_MAX];

	struct module_files files;
	struct module_elf mini; /* opened when symbols are first needed */
	struct dwarf_code code;
	struct dwarf_module *dwarf;    /* NULL: no debug information */
	struct dwarf_package *package; /* NULL: none */
	struct names_gpu *gpu;	       /* NULL: code of a CPU */
	struct symbol_table symbols;
	bool has_symbols;
	struct names_shared *shared; /* NULL: nothing is kept */
	bool has_debug;		     /* looked for */
	bool wants_loops;
	uint64_t cpu_ns;
	struct loops *loops; /* NULL: none can be found */
	bool has_loops;
	struct loops_function extent; /* of what was named last without debug information */
	struct arena arena;
	char note[1024];
};

struct names {
	struct names_options options;
	struct names_module *modules;
	unsigned module_count;
};

int names_open(struct names **out, const struct names_options *options, struct error *error)
{
	struct names *names = calloc(1, sizeof *names);

	*out = names;
	if (!names)
		return error_memory(error);
	names->options = *options;
	return 0;
}

/* ---- modules ---- */

static void module_free(struct names_module *module)
{
	names_shared_close(module->shared);
	symbol_table_fini(&module->symbols);
	loops_close(module->loops);
	dwarf_module_close(module->dwarf);
	dwarf_package_close(module->package);
	names_gpu_close(module->gpu);
	module_elf_close(&module->mini);
	module_files_close(&module->files);
	arena_fini(&module->arena);
	free(module->path);
	free(module->real_path);
	free(module);
}

void names_close(struct names *names)
{
	struct names_module *module, *next;

	if (!names)
		return;
	for (module = names->modules; module; module = next) {
		next = module->next;
		module_free(module);
	}
	free(names);
}

static void module_note(struct names_module *module, const char *text)
{
	if (!module->note[0])
		snprintf(module->note, sizeof module->note, "%s", text);
}

static void code_read(struct dwarf_code *code, Elf *elf)
{
	size_t segments;

	if (!elf || elf_getphdrnum(elf, &segments))
		return;
	for (size_t i = 0; i < segments && code->count < sizeof code->range / sizeof *code->range; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			!(segment.p_flags & PF_X) || segment.p_memsz > UINT64_MAX - segment.p_vaddr)
			continue;
		code->range[code->count].begin = segment.p_vaddr;
		code->range[code->count++].end = segment.p_vaddr + segment.p_memsz;
	}
}

/* A GPU binary has no addresses for its sections and none of what else CPUs' files have. */
static void module_open_gpu(struct names_module *module)
{
	struct error error = {0};
	size_t size = 0;
	const char *bytes = module->files.binary.elf ? elf_rawfile(module->files.binary.elf, &size) : NULL;

	if (!bytes || !gpu_code_is(bytes, size))
		return;
	if (names_gpu_open(&module->gpu, bytes, size, module->level == NAMES_ALL, &error)) {
		module->has_loops = module->has_debug = true;
		module_note(module, error.text);
	}
}

static void module_open_files(
	struct names_module *module, const struct names_request *request, const struct module_search *search)
{
	struct error error = {0};

	if (module->level == NAMES_NONE || request->kind == STORE_MODULE_JIT)
		return;
	if (module_files_open(&module->files, request, search, &error)) {
		module_note(module, error.text);
		return;
	}
	module_note(module, module->files.note);
	module_open_gpu(module);
	code_read(&module->code, module->files.binary.elf);
	if (!module->code.count)
		code_read(&module->code, module->files.debug.elf);
}

/* Debug information that was split off may lie in one file beside the program. libdw looks for it in the
 * directory of the file that it reads: for the moment of its being opened that is the package's. */
static int dwarf_open_packaged(
	struct names_module *module, const struct module_elf *debug, struct error *error)
{
	char path[4096];
	int kept = -1, rc;

	snprintf(path, sizeof path, "%s.dwp", module->real_path[0] ? module->real_path : debug->path);
	if (debug->fd >= 0)
		module->package = dwarf_package_open(path);
	if (!module->package && debug->fd >= 0) {
		snprintf(path, sizeof path, "%s.dwp", debug->path);
		module->package = dwarf_package_open(path);
	}
	if (module->package) {
		kept = fcntl(debug->fd, F_DUPFD_CLOEXEC, 0);
		if (kept >= 0)
			dup3(dwarf_package_place(module->package), debug->fd, O_CLOEXEC);
	}
	rc = dwarf_module_open(&module->dwarf, debug->elf, module->files.alternate.elf, &module->code, error);
	if (kept >= 0) {
		dup3(kept, debug->fd, O_CLOEXEC);
		close(kept);
	}
	if (!rc)
		dwarf_module_set_package(module->dwarf, module->package);
	return rc;
}

/* Opened when something is not known yet: large files hold it compressed, which costs seconds. */
static void module_open_debug(struct names_module *module)
{
	struct error error = {0};
	const struct module_elf *debug;

	if (module->has_debug)
		return;
	module->has_debug = true;
	if (module->gpu)
		return;
	debug = module->files.debug.elf ? &module->files.debug : &module->files.binary;
	if (!debug->elf || module->level != NAMES_ALL || !module_elf_has_debug(debug->elf))
		return;
	if (dwarf_open_packaged(module, debug, &error))
		module_note(module, error.text);
	else if (dwarf_module_lacks_shared(module->dwarf))
		module_note(module,
			"the file that shares debug information between binaries (dwz) was not found");
	if (module->dwarf)
		dwarf_module_allow(module->dwarf, module->cpu_ns);
}

/* ---- answers found before ---- */

static void key_put_file(char *key, size_t key_bytes, const char *path)
{
	size_t used = strlen(key);
	struct stat status;

	if (!path || stat(path, &status))
		snprintf(key + used, key_bytes - used, "-\n");
	else
		snprintf(key + used, key_bytes - used, "%s %lld %lld.%09ld\n", path,
			(long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/* Answers stay true as long as they come from the same program and files. A binary without debug information
 * has
 * "-" for it: once that is installed, the key is another. */
static void module_open_shared(
	struct names_module *module, const struct names_request *request, const char *directory)
{
	struct names_request identity = *request;
	char key[16384] = "";
	bool is_damaged;
	size_t used;

	if (!directory || module->level != NAMES_ALL || !module->files.binary.elf)
		return;
	if (!identity.build_id_bytes)
		identity.build_id_bytes = module_elf_build_id(module->files.binary.elf, identity.build_id);
	key_put_file(key, sizeof key, "/proc/self/exe");
	key_put_file(key, sizeof key, module->files.debug.path);
	key_put_file(key, sizeof key, module->files.alternate.path);
	used = strlen(key);
	snprintf(key + used, sizeof key - used, "debug %d symbols %d loops %d\n",
		module_elf_has_debug(module->files.binary.elf),
		module_elf_has_symbols(module->files.binary.elf), module->wants_loops);
	module->shared = names_shared_open(directory, &identity, key, &is_damaged);
	if (is_damaged)
		module_note(module, "the names kept from earlier runs are damaged and were found anew");
}

static bool module_is(
	const struct names_module *module, const struct names_request *request, enum names_level level)
{
	return module->level == level && module->kind == request->kind &&
	       module->build_id_bytes == request->build_id_bytes &&
	       !memcmp(module->build_id, request->build_id, request->build_id_bytes) &&
	       !strcmp(module->path, request->path) && !strcmp(module->real_path, request->real_path);
}

static struct names_module *module_new(const struct names_request *request, enum names_level level)
{
	struct names_module *module = calloc(1, sizeof *module);

	if (!module)
		return NULL;
	module->path = strdup(request->path);
	module->real_path = strdup(request->real_path);
	module->kind = request->kind;
	module->level = level;
	module->build_id_bytes = request->build_id_bytes;
	memcpy(module->build_id, request->build_id, request->build_id_bytes);
	module->files.binary.fd = module->files.debug.fd = module->files.alternate.fd = module->mini.fd = -1;
	if (module->path && module->real_path)
		return module;
	module_free(module);
	return NULL;
}

static void names_drop_oldest(struct names *names)
{
	struct names_module **last = &names->modules;

	while (*last && (*last)->next)
		last = &(*last)->next;
	if (*last)
		module_free(*last);
	*last = NULL;
	names->module_count--;
}

int names_module(struct names *names, const struct names_request *request, enum names_level level,
	struct names_module **out, struct error *error)
{
	struct names_module **link = &names->modules, *module;

	while (*link && !module_is(*link, request, level))
		link = &(*link)->next;
	module = *link;
	if (module) {
		*link = module->next;
	} else {
		if (names->module_count == OPEN_MAX)
			names_drop_oldest(names);
		module = module_new(request, level);
		if (!module)
			return error_memory(error);
		module->wants_loops = !names->options.no_loops;
		module->cpu_ns = names->options.cpu_ns;
		module_open_files(module, request, &names->options.search);
		module_open_shared(module, request, names->options.shared);
		names->module_count++;
	}
	module->next = names->modules;
	names->modules = module;
	if (module->dwarf)
		dwarf_module_allow(module->dwarf, names->options.cpu_ns);
	if (module->gpu)
		names_gpu_allow(module->gpu, names->options.cpu_ns);
	if (module->loops)
		loops_allow(module->loops, names->options.cpu_ns);
	*out = module;
	return 0;
}

static bool debug_is_spent(const struct names_module *module)
{
	return (module->dwarf && dwarf_module_is_spent(module->dwarf)) ||
	       (module->gpu && names_gpu_is_spent(module->gpu));
}

const char *names_module_note(const struct names_module *module)
{
	if (debug_is_spent(module))
		return "reading the debug information took too long: the rest has names of symbols only";
	if (module->loops && loops_is_spent(module->loops) && !module->note[0])
		return "finding loops took too long: the rest has none";
	if (module->dwarf && dwarf_module_lacks_split(module->dwarf) && !module->note[0])
		return "its debug information is split off and a .dwo file was not found (nor a .dwp): "
		       "functions there have names of symbols only";
	return module->note;
}

/* ---- sources ---- */

static void answer_scope(struct names_answer *answer, enum names_source source, const char *name,
	const char *linkage, uint64_t start)
{
	answer->source = source;
	answer->scope_count = 1;
	answer->scopes[0] = (struct names_scope){
		.kind = NAMES_FUNCTION,
		.start = start,
		.name = name,
		.linkage = linkage,
		.file = "",
		.decl_file = "",
	};
}

static int module_symbols(struct names_module *module, struct error *error)
{
	Elf *files[3] = {module->files.binary.elf, module->files.debug.elf, NULL};

	if (module->has_symbols)
		return 0;
	module->has_symbols = true;
	if (files[0] && !files[1])
		module_elf_open_mini(&module->mini, files[0]);
	files[2] = module->mini.elf;
	for (unsigned i = 0; i < 3; i++)
		if (files[i] && symbol_table_add(&module->symbols, files[i]))
			return error_memory(error);
	return 0;
}

/* The symbol's name as people know it, in the module's memory; NULL: memory. */
static const char *symbol_name(struct names_module *module, const char *symbol)
{
	char name[DEMANGLE_MAX];

	demangle_symbol(symbol, name, sizeof name);
	return strcmp(name, symbol) ? arena_copy(&module->arena, name, strlen(name)) : symbol;
}

static void extent_set(struct names_module *module, uint64_t begin, uint64_t end)
{
	module->extent =
		(struct loops_function){.ranges = {{begin, end}}, .range_count = begin < end, .entry = begin};
}

static int answer_symbol(struct names_module *module, struct names_answer *answer,
	const struct symbol *symbol, struct error *error)
{
	const char *name = symbol_name(module, symbol->name);

	if (!name)
		return error_memory(error);
	answer_scope(answer, NAMES_FROM_SYMBOL, name, strcmp(name, symbol->name) ? symbol->name : "",
		symbol->start);
	extent_set(module, symbol->start, symbol->end);
	return 0;
}

static int find_plt(
	struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	Elf *elf = module->files.binary.elf;
	uint64_t begin;
	const char *symbol = elf ? plt_entry_find(elf, offset, &begin) : NULL, *name;

	if (!symbol)
		return 0;
	name = symbol_name(module, symbol);
	name = name ? arena_printf(&module->arena, "%s@plt", name) : NULL;
	if (!name)
		return error_memory(error);
	answer_scope(answer, NAMES_FROM_SYMBOL, name, "", begin);
	return 0;
}

/* Hand-written code often has symbols without a size: they are believed where an unwind entry begins at the
 * same place and covers the offset. */
static int find_entry(
	struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	Elf *elf = module->files.binary.elf;
	const struct symbol *symbol;
	uint64_t begin, end;

	if (!elf || !unwind_entry_find(elf, offset, &begin, &end)) {
		symbol = symbol_table_at(&module->symbols, offset);
		return symbol ? answer_symbol(module, answer, symbol, error) : 0;
	}
	symbol = symbol_table_at(&module->symbols, begin);
	if (symbol && symbol->end == symbol->start) {
		int rc = answer_symbol(module, answer, symbol, error);

		extent_set(module, begin, end);
		return rc;
	}
	answer_scope(answer, NAMES_FROM_FRAME, "", "", begin);
	extent_set(module, begin, end);
	return 0;
}

/* Without debug information: each source is asked only if those before it had nothing. */
static int find_without_debug(
	struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	const struct symbol *symbol;
	int rc = module_symbols(module, error);

	if (rc)
		return rc;
	symbol = symbol_table_find(&module->symbols, offset);
	if (symbol)
		return answer_symbol(module, answer, symbol, error);
	rc = find_plt(module, offset, answer, error);
	if (!rc && answer->source == NAMES_FROM_NOTHING)
		rc = find_entry(module, offset, answer, error);
	return rc;
}

/* C libraries call a function __libc_malloc in their sources and export it as malloc: people know the second.
 */
static int prefer_known_alias(struct names_module *module, struct names_scope *outermost, struct error *error)
{
	const struct symbol *symbol;
	int rc;

	if (outermost->name[0] != '_')
		return 0;
	rc = module_symbols(module, error);
	if (rc)
		return rc;
	symbol = symbol_table_at(&module->symbols, outermost->start);
	if (symbol && symbol->rank < 32 && strspn(symbol->name, "_") < strspn(outermost->name, "_")) {
		outermost->linkage = outermost->name;
		outermost->name = symbol->name;
	}
	return 0;
}

static int debug_chain(void *context, uint64_t address, struct names_scope *scopes, struct error *error)
{
	struct names_module *module = context;
	const char *file;
	uint32_t line;

	return dwarf_module_find(module->dwarf, address, scopes, &file, &line, error);
}

static int find_functions(
	struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	const char *file = "";
	uint32_t line = 0;
	int count = 0, rc;

	answer->offset = offset;
	answer_scope(answer, NAMES_FROM_NOTHING, "", "", offset);
	if (module->gpu)
		return names_gpu_find(module->gpu, offset, answer, error);
	if (!dwarf_code_has(&module->code, offset))
		return 0;
	if (module->dwarf)
		count = dwarf_module_find(module->dwarf, offset, answer->scopes, &file, &line, error);
	if (count < 0)
		return count;
	if (count > 0 && answer->scopes[0].name[0]) {
		answer->scope_count = (uint32_t)count;
		answer->source = NAMES_FROM_DEBUG;
		return prefer_known_alias(module, &answer->scopes[0], error);
	}
	answer_scope(answer, NAMES_FROM_NOTHING, "", "", offset);
	rc = find_without_debug(module, offset, answer, error);
	answer->scopes[0].file = file;
	answer->scopes[0].line = line;
	return rc;
}

/* ---- loops ---- */

static int module_loops_gpu(struct names_module *module, struct error *error)
{
	int rc;

	if (module->level != NAMES_ALL || !module->wants_loops)
		return 0;
	rc = loops_open_gpu(&module->loops, names_gpu_code(module->gpu));
	if (rc > 0)
		module_note(module, loops_lacks_gpu(names_gpu_code(module->gpu)));
	if (!rc)
		loops_allow(module->loops, module->cpu_ns);
	return rc < 0 ? error_memory(error) : 0;
}

static int module_loops(struct names_module *module, struct error *error)
{
	Elf *elf = module->files.binary.elf;
	int rc;

	if (module->has_loops)
		return 0;
	module->has_loops = true;
	if (module->gpu)
		return module_loops_gpu(module, error);
	if (!elf || module->level != NAMES_ALL || !module->wants_loops)
		return 0;
	rc = loops_open(&module->loops, elf);
	if (rc < 0)
		return error_memory(error);
	if (rc > 0)
		module_note(module, loops_lacks(elf));
	else
		loops_allow(module->loops, module->cpu_ns);
	return 0;
}

static void extent_of_debug(struct names_module *module, uint64_t offset)
{
	uint64_t ranges[CFG_RANGES_MAX][2];
	struct loops_function *extent = &module->extent;

	extent->range_count =
		dwarf_module_function(module->dwarf, offset, ranges, CFG_RANGES_MAX, &extent->entry);
	for (unsigned i = 0; i < extent->range_count; i++)
		extent->ranges[i] = (struct cfg_range){ranges[i][0], ranges[i][1]};
}

static int find_anew(
	struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	struct names_lines lines = {debug_chain, module};
	int rc;

	module_open_debug(module);
	module->extent.range_count = 0;
	rc = find_functions(module, offset, answer, error);
	if (!rc && answer->source != NAMES_FROM_NOTHING)
		rc = module_loops(module, error);
	if (rc || !module->loops)
		return rc;
	if (module->gpu)
		names_gpu_extent(module->gpu, offset, &module->extent);
	else if (answer->source == NAMES_FROM_DEBUG)
		extent_of_debug(module, offset);
	if (!module->extent.range_count)
		return 0;
	if (module->gpu)
		lines = names_gpu_lines(module->gpu);
	return names_loops_insert(module->loops, &module->extent,
		answer->source == NAMES_FROM_DEBUG ? &lines : NULL, answer, error);
}

/* A budget that ended says less than there is, and what was split off may be there the next time. */
static bool is_whole(const struct names_module *module, const struct names_answer *answer)
{
	return answer->source != NAMES_FROM_NOTHING && !debug_is_spent(module) &&
	       !(module->loops && loops_is_spent(module->loops));
}

int names_find(struct names_module *module, uint64_t offset, struct names_answer *answer, struct error *error)
{
	int rc;

	if (module->shared && names_shared_find(module->shared, offset, answer))
		return 0;
	rc = find_anew(module, offset, answer, error);
	if (!rc && module->shared && is_whole(module, answer))
		names_shared_add(module->shared, answer);
	return rc;
}

void names_module_keep(struct names_module *module)
{
	if (module->shared)
		names_shared_save(module->shared);
}
