/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - combines the sources for an offset: debug information first, then symbols, then loops. Modules
 * stay open between requests, because a run requests the same ones again. At the end it finds the neighbours
 * of requested addresses for other runs.
 */
#include "timeline/names/names.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store.h"
#include "timeline/names/names_internal.h"

/* Notes an offset that was not in the cache. */
static void names_module_missed(struct names_module *module, uint64_t offset)
{
	if (module->missed_count < NAMES_MISSED_MAX)
		module->missed[module->missed_count++] = offset;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* False: time is up. */
static bool range_find(struct names_module *module, uint64_t begin, uint64_t end, uint64_t until_ns)
{
	static struct symbol_answer answer; /* the worker has one thread */

	while (begin < end) {
		if (cpu_ns() >= until_ns || names_find(module, begin, &answer, NULL))
			return false;
		begin = answer.stretch.end > begin ? answer.stretch.end : begin + 1;
	}
	return true;
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

/* The function that has the offset, by debug information or else by symbols and unwind entries; false: none.
 */
static bool function_find(struct names_module *module, uint64_t offset, struct loops_function *function)
{
	static struct symbol_answer answer; /* the worker has one thread */

	module->extent.range_count = 0;
	if (module->dwarf)
		extent_of_debug(module, offset);
	answer.stretch = (struct symbol_stretch){0, UINT64_MAX};
	answer.source = NAMES_FROM_NOTHING; /* else functions without symbols are not looked for */
	answer.scope_count = 0;
	if (!module->extent.range_count && names_symbols_find(module, offset, &answer, NULL))
		return false;
	*function = module->extent;
	return function->range_count > 0;
}

static bool module_find(struct names_module *module, uint64_t until_ns)
{
	uint64_t entries[NAMES_MISSED_MAX] = {0};
	unsigned entry_count = 0, missed = module->missed_count, at;

	module->missed_count = NAMES_MISSED_MAX; /* these do not count */
	for (unsigned i = 0; i < missed; i++) {
		struct loops_function function;

		if (!function_find(module, module->missed[i], &function))
			continue;
		for (at = 0; at < entry_count && entries[at] != function.entry; at++)
			;
		if (at < entry_count)
			continue;
		entries[entry_count++] = function.entry;
		for (unsigned range = 0; range < function.range_count; range++)
			if (!range_find(module, function.ranges[range].begin, function.ranges[range].end,
				    until_ns))
				return false;
	}
	return true;
}

/* Finds the other names of such functions, within a CPU time. */
static void names_prefetch_modules(struct names_module *modules, uint64_t budget_ns)
{
	uint64_t until_ns = cpu_ns() + budget_ns;

	for (struct names_module *module = modules; module; module = module->next)
		if (module->shared && !module->gpu && !module_find(module, until_ns))
			break;
}

#define OPEN_MAX 64u /* modules kept open */

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

void names_close(struct names *names)
{
	struct names_module *module, *next;

	if (!names)
		return;
	for (module = names->modules; module; module = next) {
		next = module->next;
		names_module_free(module);
	}
	free(names);
}

void names_end(struct names *names)
{
	for (struct names_module *module = names->modules; module; module = module->next) {
		names_module_keep_all(module);
		dwp_close(module->package); /* which is a directory */
	}
}

void names_prefetch(struct names *names)
{
	names_prefetch_modules(names->modules, names->options.ahead_ns);
}

static bool module_is(
	const struct names_module *module, const struct symbol_request *request, enum names_level level)
{
	return module->level == level && module->kind == request->kind &&
	       module->build_id_bytes == request->build_id_bytes &&
	       !memcmp(module->build_id, request->build_id, request->build_id_bytes) &&
	       !strcmp(module->path, request->path) && !strcmp(module->real_path, request->real_path);
}

static void names_drop_oldest(struct names *names)
{
	struct names_module **last = &names->modules;

	while (*last && (*last)->next)
		last = &(*last)->next;
	if (*last)
		names_module_free(*last);
	*last = NULL;
	names->module_count--;
}

int names_module(struct names *names, const struct symbol_request *request, enum names_level level,
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
		module = names_module_new(request, level, &names->options);
		if (!module)
			return error_memory(error);
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

/* ---- functions ---- */

static int debug_chain(void *context, uint64_t address, struct names_scope *scopes, struct error *error)
{
	struct names_module *module = context;
	struct dwarf_spot spot = {.stretch = {0, UINT64_MAX}};

	return dwarf_module_find(module->dwarf, address, scopes, &spot, error);
}

static int find_functions(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	struct dwarf_spot spot = {.file = "", .stretch = {0, UINT64_MAX}};
	int count = 0, rc;

	answer->offset = offset;
	answer->stretch = (struct symbol_stretch){offset, offset + 1};
	symbol_answer_function(answer, NAMES_FROM_NOTHING, "", "", offset);
	if (module->gpu)
		return names_gpu_find(module->gpu, offset, answer, error);
	if (!dwarf_code_has(&module->code, offset))
		return 0;
	dwarf_code_cut(&module->code, offset, &spot.stretch);
	if (module->dwarf)
		count = dwarf_module_find(module->dwarf, offset, answer->scopes, &spot, error);
	if (count < 0)
		return count;
	answer->stretch = spot.stretch;
	if (count > 0 && answer->scopes[0].name[0]) {
		answer->scope_count = (uint32_t)count;
		answer->source = NAMES_FROM_DEBUG;
		return names_symbols_prefer(module, &answer->scopes[0], error);
	}
	symbol_answer_function(answer, NAMES_FROM_NOTHING, "", "", offset);
	rc = names_symbols_find(module, offset, answer, error);
	answer->scopes[0].file = spot.file;
	answer->scopes[0].line = spot.line;
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
		names_module_lacks(module, loops_lacks_gpu(names_gpu_code(module->gpu)));
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
	if (rc > 0) {
		names_module_lacks(module, loops_lacks(elf));
		module->lacks_decoder = loops_may_come(elf);
	} else {
		loops_allow(module->loops, module->cpu_ns);
	}
	return 0;
}

static int find_anew(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	struct names_lines lines = {debug_chain, module};
	int rc;

	names_module_open_debug(module);
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

/* A budget that ended says less than there is, and a decoder that was not found may be there the next time.
 * That there is no name is as true the next time as a name is, and costs as much to find: the loader's first
 * frame, which is on every path that begins ahead of main, has none. */
static bool is_whole(const struct names_module *module)
{
	return !module->lacks_decoder && !debug_is_spent(module) &&
	       !(module->loops && loops_is_spent(module->loops));
}

int names_find(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	int rc;

	if (module->shared && names_library_cache_find(module->shared, offset, answer))
		return 0;
	rc = find_anew(module, offset, answer, error);
	if (!rc && module->shared && is_whole(module)) {
		names_library_cache_add(module->shared, answer);
		names_module_missed(module, offset);
	}
	return rc;
}

void names_module_keep(struct names_module *module)
{
	if (module->shared)
		names_library_cache_save(module->shared);
}

void names_module_keep_all(struct names_module *module)
{
	if (module->shared)
		names_library_cache_save_all(module->shared);
}

/* A package's units appear as files of one directory, one after the other. */
bool names_module_is_forkable(struct names_module *module)
{
	names_module_open_debug(module);
	return !module->gpu && !module->package;
}

uint64_t names_module_place(struct names_module *module, uint64_t offset)
{
	return module->dwarf ? dwarf_module_place(module->dwarf, offset) : 0;
}
