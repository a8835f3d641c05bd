/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_name.c - the name of a function. The mangled name is best, because it is complete; entries without
 * one (C, local classes, inlined parts of anonymous namespaces) are qualified by the entries around their
 * declaration.
 */
#include "timeline/debug/dwarf_name.h"

#include <dwarf.h>
#include <string.h>

#include "timeline/debug/demangle.h"

#define ORIGIN_MAX 16  /* abstract origins and specifications in a row */
#define QUALIFY_MAX 32 /* entries around a declaration */

/* What the entries behind one function say together. */
struct origin {
	const char *linkage, *name;
	Dwarf_Die last; /* the declaration: its surroundings qualify the name */
};

static const char *attribute_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static bool die_refer(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formref_die(&attribute, to);
}

static struct origin origin_find(const Dwarf_Die *die)
{
	struct origin origin = {NULL, NULL, *die};
	Dwarf_Die next;

	for (unsigned i = 0; i < ORIGIN_MAX; i++) {
		Dwarf_Die *at = &origin.last;

		if (!origin.linkage)
			origin.linkage = attribute_text(at, DW_AT_linkage_name);
		if (!origin.linkage)
			origin.linkage = attribute_text(at, DW_AT_MIPS_linkage_name);
		if (!origin.name)
			origin.name = attribute_text(at, DW_AT_name);
		if (!die_refer(at, DW_AT_abstract_origin, &next) &&
			!die_refer(at, DW_AT_specification, &next))
			break;
		origin.last = next;
	}
	return origin;
}

/* The name of a type or namespace around `inner`; compilers leave that of a lambda's type out. */
static const char *place_name(struct dwarf_module *module, Dwarf_Die *die, const char *inner)
{
	const char *name = attribute_text(die, DW_AT_name);
	int line;

	if (name && name[0])
		return name;
	if (dwarf_tag(die) == DW_TAG_namespace)
		return "(anonymous namespace)";
	if (strncmp(inner, "operator()", 10))
		return "{unnamed}";
	if (dwarf_decl_line(die, &line))
		return "{lambda}";
	return arena_printf(&module->arena, "{lambda:%d}", line);
}

static bool entry_at(Dwarf_Die *unit_die, Dwarf_Off offset, Dwarf_Die *die)
{
	/* Offsets of a split or shared unit count in its own file, so go by distance from the unit's entry.
	 */
	Dwarf_Die found = *unit_die;
	Dwarf_Off from = dwarf_dieoffset(unit_die);

	if (offset < from)
		return false;
	memset(&found, 0, sizeof found);
	found.cu = unit_die->cu;
	found.addr = (char *)unit_die->addr + (offset - from);
	*die = found;
	return true;
}

static const char *function_name(struct dwarf_module *module, const Dwarf_Die *die, unsigned depth);

/* "outer::inner::" + name, from the places around the entry `die`. */
static const char *qualify(struct dwarf_module *module, Dwarf_Die *die, const char *name, unsigned depth)
{
	Dwarf_Die unit_die, outer;
	struct dwarf_unit *unit;
	uint32_t place;
	const char *prefix, *around;

	if (depth >= QUALIFY_MAX || !dwarf_diecu(die, &unit_die, NULL, NULL))
		return name;
	unit = dwarf_module_unit(module, &unit_die, NULL);
	if (!unit)
		return NULL;
	place = dwarf_unit_place(unit, dwarf_dieoffset(die));
	if (place == DWARF_NONE || unit->places[place].parent == DWARF_NONE)
		return name;
	if (!entry_at(&unit->die, unit->places[unit->places[place].parent].offset, &outer))
		return name;
	if (dwarf_tag(&outer) == DW_TAG_subprogram) {
		prefix = function_name(module, &outer, depth + 1);
	} else {
		around = place_name(module, &outer, name);
		prefix = around ? qualify(module, &outer, around, depth + 1) : NULL;
	}
	return prefix ? arena_printf(&module->arena, "%s::%s", prefix, name) : NULL;
}

/* NULL: no memory. */
static const char *function_name(struct dwarf_module *module, const Dwarf_Die *die, unsigned depth)
{
	struct origin origin = origin_find(die);
	char name[DEMANGLE_MAX];

	if (origin.linkage && demangle_symbol(origin.linkage, name, sizeof name))
		return arena_copy(&module->arena, name, strlen(name));
	if (!origin.name || !origin.name[0])
		return origin.linkage ? origin.linkage : "";
	if (strchr(origin.name, '.') && !strpbrk(origin.name, "<(")) {
		demangle_symbol(origin.name, name, sizeof name);
		origin.name = arena_copy(&module->arena, name, strlen(name));
		if (!origin.name)
			return NULL;
	}
	return qualify(module, &origin.last, origin.name, depth);
}

/* The file that an attribute names by its number in the unit's table; "" when it names none.
 * (dwarf_decl_file() asserts that the table can be read.) NULL: memory. */
static const char *attribute_file(struct dwarf_module *module, Dwarf_Attribute *attribute)
{
	Dwarf_Die unit_die;
	Dwarf_Files *files;
	Dwarf_Word index;
	size_t count;

	if (!attribute || dwarf_formudata(attribute, &index) ||
		!dwarf_cu_die(attribute->cu, &unit_die, NULL, NULL, NULL, NULL, NULL, NULL) ||
		dwarf_getsrcfiles(&unit_die, &files, &count) || index >= count)
		return "";
	return dwarf_module_path(module, &unit_die, dwarf_filesrc(files, index, NULL, NULL));
}

static uint32_t call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line;

	if (!dwarf_attr(die, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) ||
		line > UINT32_MAX)
		return 0;
	return (uint32_t)line;
}

int dwarf_scope_resolve(struct dwarf_module *module, struct dwarf_scope *scope)
{
	Dwarf_Attribute attribute;
	const char *linkage;
	int line = 0;

	if (scope->is_resolved)
		return 0;
	linkage = origin_find(&scope->die).linkage;
	scope->linkage = linkage ? linkage : "";
	scope->name = function_name(module, &scope->die, 0);
	scope->decl_file =
		attribute_file(module, dwarf_attr_integrate(&scope->die, DW_AT_decl_file, &attribute));
	scope->call_file = attribute_file(module, dwarf_attr(&scope->die, DW_AT_call_file, &attribute));
	if (!scope->name || !scope->decl_file || !scope->call_file)
		return -1;
	if (scope->decl_file[0] && !dwarf_decl_line(&scope->die, &line) && line > 0)
		scope->decl_line = (uint32_t)line;
	if (scope->call_file[0])
		scope->call_line = call_line(&scope->die);
	scope->is_resolved = true;
	return 0;
}
