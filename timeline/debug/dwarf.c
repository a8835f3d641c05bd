/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.c - debug information of one file: finds the unit of an address, indexes it once (dwarf_unit.c), and
 * reads scopes and lines from it. libdw decodes; all its results may be wrong, because the file may be
 * damaged.
 */
#include "timeline/debug/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#include "store/base/array.h"
#include "timeline/debug/dwarf_name.h"
#include "timeline/debug/dwp.h"

#define STEPS_MAX 200000000u /* entries read, whatever the time: about a minute's work */

int dwarf_module_open(struct dwarf_module **out, Elf *elf, Elf *alternate, const struct dwarf_code *code,
	struct error *error)
{
	struct dwarf_module *module = calloc(1, sizeof *module);
	Dwarf *shared;

	*out = NULL;
	if (!module)
		return error_memory(error);
	module->code = *code;
	module->budget.steps_left = STEPS_MAX;
	key_ids_init(&module->path_ids, sizeof(const char *));
	key_ids_init(&module->unit_ids, sizeof(void *));
	module->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!module->dwarf) {
		free(module);
		return error_set(
			error, ERROR_IO, "no debug information that can be read: %s", dwarf_errmsg(-1));
	}
	shared = alternate ? dwarf_begin_elf(alternate, DWARF_C_READ, NULL) : NULL;
	module->alternate = shared;
	if (shared)
		dwarf_setalt(module->dwarf, shared);
	*out = module;
	return 0;
}

void dwarf_module_close(struct dwarf_module *module)
{
	if (!module)
		return;
	for (size_t i = 0; i < module->unit_capacity; i++) {
		if (module->units[i])
			dwarf_unit_fini(module->units[i]);
		free(module->units[i]);
	}
	free(module->units);
	free(module->unit_ranges);
	free(module->paths);
	key_ids_fini(&module->path_ids);
	key_ids_fini(&module->unit_ids);
	arena_fini(&module->arena);
	dwarf_end(module->dwarf);
	dwarf_end(module->alternate);
	free(module);
}

void dwarf_module_set_package(struct dwarf_module *module, struct dwp *package)
{
	module->package = package;
}

void dwarf_module_allow(struct dwarf_module *module, uint64_t cpu_ns)
{
	parse_budget_allow(&module->budget, STEPS_MAX, cpu_ns);
}

bool dwarf_module_is_spent(const struct dwarf_module *module)
{
	return module->budget.spent;
}

bool dwarf_module_lacks_shared(struct dwarf_module *module)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(module->dwarf, &name, &id) > 0 && !dwarf_getalt(module->dwarf);
}

bool dwarf_module_lacks_split(const struct dwarf_module *module)
{
	return module->lacks_split;
}

/* ---- units by identity ---- */

struct dwarf_unit *dwarf_module_unit(
	struct dwarf_module *module, const Dwarf_Die *unit_die, const Dwarf_Die *skeleton)
{
	uint32_t number = key_ids_put(&module->unit_ids, &unit_die->cu, NULL);
	struct dwarf_unit *unit;

	if (number == KEY_IDS_NONE || !array_reserve_zero(&module->units, &module->unit_capacity,
					      (size_t)number + 1, sizeof(struct dwarf_unit *)))
		return NULL;
	if (module->units[number])
		return module->units[number];
	unit = calloc(1, sizeof *unit);
	if (!unit)
		return NULL;
	unit->die = *unit_die;
	unit->skeleton = skeleton ? *skeleton : *unit_die;
	if (dwarf_unit_index(unit, &module->code, &module->budget)) {
		dwarf_unit_fini(unit);
		free(unit);
		return NULL;
	}
	module->units[number] = unit;
	return unit;
}

/* Lets libdw find a unit's split half in a package. */
static void package_show(struct dwarf_module *module, const Dwarf_Die *listed)
{
	Dwarf_Die die = *listed;
	Dwarf_Attribute attribute;
	const char *name = NULL;
	uint64_t id;
	uint8_t type;

	if (dwarf_cu_info(listed->cu, NULL, &type, NULL, NULL, &id, NULL, NULL) || type != DW_UT_skeleton)
		return;
	if (dwarf_attr(&die, DW_AT_dwo_name, &attribute) || dwarf_attr(&die, DW_AT_GNU_dwo_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (name)
		dwp_show(module->package, id, name);
}

struct dwarf_unit *dwarf_module_listed(struct dwarf_module *module, const Dwarf_Die *listed)
{
	Dwarf_Die split;
	uint8_t type = 0;
	int rc;

	memset(&split, 0, sizeof split);
	if (module->package)
		package_show(module, listed);
	rc = dwarf_cu_info(listed->cu, NULL, &type, NULL, &split, NULL, NULL, NULL);
	if (module->package)
		dwp_hide(module->package);
	if (!rc && type == DW_UT_skeleton && split.addr)
		return dwarf_module_unit(module, &split, listed);
	module->lacks_split |= type == DW_UT_skeleton;
	return dwarf_module_unit(module, listed, listed);
}

/* ---- paths ---- */

const char *dwarf_module_path(struct dwarf_module *module, Dwarf_Die *unit_die, const char *path)
{
	uint32_t number;
	Dwarf_Attribute attribute;
	const char *directory, *plain = path;

	if (!path || !path[0] || path[0] == '/')
		return path ? path : "";
	number = key_ids_put(&module->path_ids, &path, NULL);
	if (number == KEY_IDS_NONE || !array_reserve_zero(&module->paths, &module->path_capacity,
					      (size_t)number + 1, sizeof(const char *)))
		return NULL;
	if (module->paths[number])
		return module->paths[number];
	directory = dwarf_formstring(dwarf_attr(unit_die, DW_AT_comp_dir, &attribute));
	while (!strncmp(plain, "./", 2))
		plain += 2;
	module->paths[number] =
		directory && directory[0] ? arena_printf(&module->arena, "%s/%s", directory, plain) : path;
	return module->paths[number];
}

/* ---- the answer ---- */

/* The chain from `innermost` up, outermost first; of one too deep the innermost and the outer ones. */
static unsigned chain_collect(const struct dwarf_unit *unit, uint32_t innermost, uint32_t *chain)
{
	unsigned depth = 0, kept = 0;

	for (uint32_t scope = innermost; scope != DWARF_NONE; scope = unit->scopes[scope].parent)
		depth++;
	for (uint32_t scope = innermost; scope != DWARF_NONE; scope = unit->scopes[scope].parent) {
		unsigned from_outside = --depth;

		if (from_outside < NAMES_SCOPE_MAX - 1 || scope == innermost) {
			unsigned at = from_outside < NAMES_SCOPE_MAX - 1 ? from_outside : NAMES_SCOPE_MAX - 1;

			chain[at] = scope;
			kept = kept ? kept : at + 1;
		}
	}
	return kept;
}

static void scope_fill(
	struct names_scope *to, const struct dwarf_scope *from, uint64_t start, bool is_outermost)
{
	*to = (struct names_scope){
		.kind = is_outermost ? NAMES_FUNCTION : NAMES_INLINE,
		.start = start,
		.name = from->name,
		.linkage = from->linkage,
		.decl_file = from->decl_file,
		.decl_line = from->decl_line,
		.file = "",
	};
}

static uint64_t function_start(struct dwarf_scope *function)
{
	Dwarf_Addr entry;

	return dwarf_entrypc(&function->die, &entry) ? function->low : entry;
}

/* An inlined call whose function is described in a file that is not here says nothing; its caller stands
 * where it was inlined all the same. */
static unsigned drop_nameless(struct names_scope *scopes, unsigned count)
{
	unsigned kept = 1;

	for (unsigned i = 1; i < count; i++)
		if (scopes[i].name[0])
			scopes[kept++] = scopes[i];
	return kept;
}

int dwarf_module_find(struct dwarf_module *module, uint64_t address, struct names_scope *scopes,
	struct dwarf_spot *spot, struct error *error)
{
	uint32_t chain[NAMES_SCOPE_MAX], innermost;
	struct dwarf_unit *unit;
	uint64_t start = 0;
	unsigned count;

	spot->file = "";
	spot->line = 0;
	if (!dwarf_code_has(&module->code, address))
		return 0;
	if (dwarf_module_unit_at(module, address, &unit, &spot->stretch))
		return error_memory(error);
	if (!unit)
		return 0;
	if (dwarf_unit_line(module, unit, address, spot))
		return error_memory(error);
	innermost = dwarf_unit_find(unit, address, &spot->stretch);
	if (innermost == DWARF_NONE)
		return 0;
	count = chain_collect(unit, innermost, chain);
	for (unsigned i = 0; i < count; i++) {
		struct dwarf_scope *scope = &unit->scopes[chain[i]];

		if (dwarf_scope_resolve(module, scope))
			return error_memory(error);
		start = i ? start : function_start(scope);
		scope_fill(&scopes[i], scope, start, i == 0);
		if (i) {
			scopes[i - 1].file = scope->call_file;
			scopes[i - 1].line = scope->call_line;
		}
	}
	scopes[count - 1].file = spot->file;
	scopes[count - 1].line = spot->line;
	return (int)drop_nameless(scopes, count);
}

unsigned dwarf_module_function(
	struct dwarf_module *module, uint64_t address, uint64_t (*ranges)[2], unsigned max, uint64_t *entry)
{
	struct symbol_stretch any = {0, UINT64_MAX};
	struct dwarf_unit *unit;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	uint32_t scope;
	unsigned count = 0;

	if (!dwarf_code_has(&module->code, address) || dwarf_module_unit_at(module, address, &unit, &any) ||
		!unit)
		return 0;
	scope = dwarf_unit_find(unit, address, &any);
	while (scope != DWARF_NONE && unit->scopes[scope].parent != DWARF_NONE)
		scope = unit->scopes[scope].parent;
	if (scope == DWARF_NONE)
		return 0;
	while (count < max && parse_budget_step(&module->budget) &&
		(at = dwarf_ranges(&unit->scopes[scope].die, at, &base, &low, &high)) > 0) {
		if (low >= high || !dwarf_code_has(&module->code, low))
			continue;
		ranges[count][0] = low;
		ranges[count++][1] = high;
	}
	*entry = function_start(&unit->scopes[scope]);
	return count;
}
