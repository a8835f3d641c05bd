/* SPDX-License-Identifier: Apache-2.0 */
/* names_missing.c - see names_missing.h. */
#include "timeline/names/names_missing.h"

#include <stdlib.h>

static bool module_has_file(const struct store_module *module)
{
	return module->kind == STORE_MODULE_ELF || module->kind == STORE_MODULE_VDSO ||
	       module->kind == STORE_MODULE_GPU;
}

static int compare(const void *left, const void *right)
{
	const struct names_missing *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

int names_missing_collect(
	const struct store_reader *reader, struct names_missing **wants, size_t *count, struct error *error)
{
	uint32_t context_count, module_count;
	const struct store_context *contexts = store_reader_contexts(reader, &context_count);
	const struct store_module *modules = store_reader_modules(reader, &module_count);
	struct names_missing *all = malloc((context_count + 1) * sizeof *all);
	size_t found = 0, kept = 0;

	*wants = all;
	*count = 0;
	if (!all)
		return error_memory(error);
	for (uint32_t i = STORE_CONTEXT_FIRST; i < context_count; i++)
		if (contexts[i].module != STORE_MODULE_RESERVED && contexts[i].module < module_count &&
			module_has_file(&modules[contexts[i].module]))
			all[found++] = (struct names_missing){contexts[i].module, contexts[i].offset};
	qsort(all, found, sizeof *all, compare);
	for (size_t i = 0; i < found; i++)
		if (!kept || compare(&all[kept - 1], &all[i]))
			all[kept++] = all[i];
	*count = kept;
	return 0;
}
