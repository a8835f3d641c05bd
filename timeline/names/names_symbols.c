/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_symbols.c - names without debug information: symbols, PLT entries, unwind entries, in this order
 * until one has the address.
 */
#include <string.h>

#include "timeline/debug/demangle.h"
#include "timeline/names/names_internal.h"

void symbol_answer_function(struct symbol_answer *answer, enum names_source source, const char *name,
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

static int answer_symbol(struct names_module *module, struct symbol_answer *answer,
	const struct symbol *symbol, struct error *error)
{
	const char *name = symbol_name(module, symbol->name);

	if (!name)
		return error_memory(error);
	symbol_answer_function(answer, NAMES_FROM_SYMBOL, name,
		strcmp(name, symbol->name) ? symbol->name : "", symbol->start);
	extent_set(module, symbol->start, symbol->end);
	return 0;
}

static int find_plt(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
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
	symbol_answer_function(answer, NAMES_FROM_SYMBOL, name, "", begin);
	return 0;
}

static bool is_stripped(const struct names_module *module)
{
	return !module_elf_has_symbols(module->files.binary.elf) && !module->files.debug.elf &&
	       !module->mini.elf;
}

static const char *start_name(struct names_module *module, uint64_t begin)
{
	Elf *elf = module->files.binary.elf;

	if (!module->has_main)
		module->main = is_stripped(module) ? elf_main_find(elf) : 0;
	module->has_main = true;
	return module->main && begin == module->main ? "main" : "";
}

/* Neither symbol nor unwind entry: in a stripped file, what direct calls lead to, if no unwind entry lies
 * between. */
static int find_called(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	Elf *elf = module->files.binary.elf;
	uint64_t begin, end, entry, entry_end, fde;
	int found;

	if (!elf || !is_stripped(module))
		return 0;
	found = code_starts_find(&module->starts, elf, offset, &begin, &end);
	if (found < 0)
		return error_memory(error);
	if (!found || (unwind_entry_place(elf, offset, &entry, &fde) && entry >= begin) ||
		(unwind_entry_find(elf, begin, &entry, &entry_end)))
		return 0;
	symbol_answer_function(answer, NAMES_FROM_FRAME, start_name(module, begin), "", begin);
	extent_set(module, begin, end);
	return 0;
}

/* Hand-written code often has symbols without a size: they are believed where an unwind entry begins at the
 * same place and covers the offset. */
static int find_entry(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	Elf *elf = module->files.binary.elf;
	const struct symbol *symbol;
	uint64_t begin, end;

	if (!elf || !unwind_entry_find(elf, offset, &begin, &end)) {
		symbol = symbol_table_at(&module->symbols, offset);
		return symbol ? answer_symbol(module, answer, symbol, error)
			      : find_called(module, offset, answer, error);
	}
	symbol = symbol_table_at(&module->symbols, begin);
	if (symbol && symbol->end == symbol->start) {
		int rc = answer_symbol(module, answer, symbol, error);

		extent_set(module, begin, end);
		return rc;
	}
	symbol_answer_function(answer, NAMES_FROM_FRAME, start_name(module, begin), "", begin);
	extent_set(module, begin, end);
	return 0;
}

/* Without debug information: each source is asked only if those before it had nothing. */
int names_symbols_find(
	struct names_module *module, uint64_t offset, struct symbol_answer *answer, struct error *error)
{
	const struct symbol *symbol;
	int rc = module_symbols(module, error);

	if (rc)
		return rc;
	symbol = symbol_table_find(&module->symbols, offset, &answer->stretch);
	if (symbol)
		return answer_symbol(module, answer, symbol, error);
	symbol_stretch_cut(&answer->stretch, offset, offset + 1);
	rc = find_plt(module, offset, answer, error);
	if (!rc && answer->source == NAMES_FROM_NOTHING)
		rc = find_entry(module, offset, answer, error);
	return rc;
}

/* C libraries call a function __libc_malloc in their sources and export it as malloc: people know the second.
 */
int names_symbols_prefer(struct names_module *module, struct names_scope *outermost, struct error *error)
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
