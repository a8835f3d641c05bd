/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_modules.c - hpct-info --modules: what files the code came from, how much of what was seen in each has
 * names, lines and loops, and what is missing.
 */
#include "timeline/info.h"

#include <stdio.h>
#include <stdlib.h>

#include "timeline/info_parts.h"
#include "timeline/names_cache.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *module_kind(enum store_module_kind kind)
{
	static const char *const names[] = {[STORE_MODULE_ELF] = "elf",
		[STORE_MODULE_TEXT] = "text",
		[STORE_MODULE_VDSO] = "vdso",
		[STORE_MODULE_KERNEL] = "kernel",
		[STORE_MODULE_JIT] = "jit",
		[STORE_MODULE_GPU] = "gpu"};

	return (unsigned)kind < COUNT(names) ? names[kind] : "unknown";
}

/* Frames of one module that the run's paths go through, and what is known of them. */
struct known {
	uint64_t frames, named, lines, loops;
};

struct place {
	uint32_t module;
	uint64_t offset;
};

static int place_compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void known_add(struct known *known, struct store_reader *reader, struct names_cache *later,
	const struct place *place)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	uint32_t modules;
	const struct store_module *module = &store_reader_modules(reader, &modules)[place->module];
	int count = names_cache_find(
		later, module, store_reader_text(reader, module->path, NULL), place->offset, scopes);

	if (count <= 0)
		count = store_reader_symbol(reader, place->module, place->offset, scopes, NULL);
	known->frames++;
	known->named += count > 0 && scopes[0].name;
	known->lines += count > 0 && scopes[count - 1].line;
	for (int i = 0; i < count; i++)
		if (scopes[i].kind == STORE_SCOPE_LOOP) {
			known->loops++;
			break;
		}
}

/* Of every module of a store, each frame once; NULL: memory. */
static struct known *known_collect(struct store_reader *reader, struct names_cache *later)
{
	uint32_t context_count, module_count;
	const struct store_context *contexts = store_reader_contexts(reader, &context_count);
	struct known *known;
	struct place *places = malloc(((size_t)context_count + 1) * sizeof *places);
	size_t count = 0;

	store_reader_modules(reader, &module_count);
	known = calloc((size_t)module_count + 1, sizeof *known);
	for (uint32_t i = STORE_CONTEXT_FIRST; places && i < context_count; i++)
		if (contexts[i].module != STORE_MODULE_RESERVED && contexts[i].module < module_count)
			places[count++] = (struct place){contexts[i].module, contexts[i].offset};
	if (count)
		qsort(places, count, sizeof *places, place_compare);
	for (size_t i = 0; known && i < count; i++)
		if (!i || place_compare(&places[i - 1], &places[i]))
			known_add(&known[places[i].module], reader, later, &places[i]);
	if (!places) {
		free(known);
		known = NULL;
	}
	free(places);
	return known;
}

/* What installing something would add. */
static const char *lacking(const struct store_module *module, const struct known *known)
{
	if (module->kind != STORE_MODULE_ELF || !known->frames)
		return "";
	if (!known->named)
		return "the file or its symbols";
	if (!known->lines)
		return "debug information";
	return known->lines < known->named ? "debug information, in part" : "";
}

static void put_module(struct report *report, const struct run *run, struct store_reader *reader,
	const struct store_module *module, const struct known *known)
{
	char build_id[2 * sizeof module->build_id + 1] = "";
	const char *path;
	size_t size;

	for (unsigned i = 0; i < module->build_id_bytes && i < sizeof module->build_id; i++)
		snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
	path = store_reader_text(reader, module->path, &size);
	report_string(report, module_kind(module->kind));
	report_text(report, path, size);
	report_string(report, build_id);
	info_put_optional(report, info_from_origin(run, module->load_ns), module->load_ns != 0);
	info_put_optional(report, info_from_origin(run, module->unload_ns), module->unload_ns != 0);
	report_number(report, known->frames);
	report_number(report, known->named);
	report_number(report, known->lines);
	report_number(report, known->loops);
	report_string(report, lacking(module, known));
	report_row(report);
}

int info_print_modules(struct run *run, enum report_format format, FILE *out, struct error *error)
{
	static const struct report_column columns[] = {{"kind", REPORT_TEXT}, {"path", REPORT_TEXT},
		{"build_id", REPORT_TEXT}, {"load_ns", REPORT_DURATION}, {"unload_ns", REPORT_DURATION},
		{"frames", REPORT_NUMBER}, {"named", REPORT_NUMBER}, {"lines", REPORT_NUMBER},
		{"in_loops", REPORT_NUMBER}, {"lacks", REPORT_TEXT}};
	struct report *report = NULL;
	struct names_cache *later = NULL;
	int rc = report_open(&report, out, format, "hpct-info", columns, COUNT(columns), error);

	if (rc < 0)
		return rc;
	rc = names_cache_open(&later, run_path(run), error);
	for (unsigned store = 0; rc == 0 && store < run_store_count(run); store++) {
		struct store_reader *reader = run_store(run, store);
		uint32_t count;
		const struct store_module *modules = store_reader_modules(reader, &count);
		struct known *known = known_collect(reader, later);

		for (uint32_t i = STORE_MODULE_RESERVED + 1; known && i < count; i++)
			put_module(report, run, reader, &modules[i], &known[i]);
		if (!known)
			rc = error_memory(error);
		free(known);
	}
	names_cache_close(later);
	return rc ? rc : report_close(report, error);
}
