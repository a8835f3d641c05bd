/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_modules.c - hpct-info --modules: the files of the run's code, how much of each has names, lines and
 * loops, and what is missing.
 */
#include "timeline/stats/info.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/base/content_id.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/stats/info_internal.h"
#include "timeline/sum/window.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *info_module_kind(enum store_module_kind kind)
{
	static const char *const names[] = {[STORE_MODULE_ELF] = "elf",
		[STORE_MODULE_TEXT] = "text",
		[STORE_MODULE_VDSO] = "vdso",
		[STORE_MODULE_KERNEL] = "kernel",
		[STORE_MODULE_JIT] = "jit",
		[STORE_MODULE_GPU] = "gpu",
		[STORE_MODULE_PYTHON] = "python"};

	return (unsigned)kind < COUNT(names) ? names[kind] : "unknown";
}

struct module_offset {
	uint32_t module;
	uint64_t offset;
};

static int place_compare(const void *left, const void *right)
{
	const struct module_offset *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* What cannot be read is not what is lacking: an error. */
static int known_add(struct info_frames *known, struct store_reader *reader, struct names_run_cache *later,
	const struct module_offset *place, struct error *error)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	uint32_t modules;
	const struct store_module *module = &store_reader_modules(reader, &modules)[place->module];
	int count = names_run_cache_find(
		later, module, store_reader_text(reader, module->path, NULL), place->offset, scopes);

	if (count <= 0)
		count = store_reader_symbol(reader, place->module, place->offset, scopes, error);
	if (count < 0)
		return count;
	known->frames++;
	known->named += count > 0 && scopes[0].name;
	known->lines += count > 0 && scopes[count - 1].line;
	for (int i = 0; i < count; i++)
		if (scopes[i].kind == STORE_SCOPE_LOOP) {
			known->loops++;
			break;
		}
	return 0;
}

/* The frames of a store's contexts, in order; the caller frees them. NULL: memory. */
static struct module_offset *places_collect(struct store_reader *reader, uint32_t modules, size_t *count)
{
	uint32_t contexts_count;
	const struct store_context *contexts = store_reader_contexts(reader, &contexts_count);
	struct module_offset *places = malloc(((size_t)contexts_count + 1) * sizeof *places);

	*count = 0;
	for (uint32_t i = STORE_CONTEXT_FIRST; places && i < contexts_count; i++)
		if (contexts[i].module != STORE_MODULE_RESERVED && contexts[i].module < modules)
			places[(*count)++] = (struct module_offset){contexts[i].module, contexts[i].offset};
	if (*count)
		qsort(places, *count, sizeof *places, place_compare);
	return places;
}

/* Of every module of a store, each frame once. */
static int known_collect(struct info_frames *known, struct store_reader *reader, uint32_t modules,
	struct names_run_cache *later, struct error *error)
{
	size_t count;
	struct module_offset *places = places_collect(reader, modules, &count);
	int rc = places ? 0 : error_memory(error);

	for (size_t i = 0; rc == 0 && i < count; i++)
		if (!i || place_compare(&places[i - 1], &places[i]))
			rc = known_add(&known[places[i].module], reader, later, &places[i], error);
	free(places);
	return rc;
}

/* ---- partial stacks ---- */

/* Samples of a store's streams, by context of the run; the caller frees them. */
static int samples_collect(struct run *run, unsigned store, uint64_t **samples, struct error *error)
{
	uint32_t *streams = calloc((size_t)run_stream_count(run) + 1, sizeof *streams), count = 0;
	struct window *window = NULL;
	int rc = streams ? window_new(&window, run, error) : error_memory(error);

	for (uint32_t i = 0; rc == 0 && i < run_stream_count(run); i++)
		if (run_stream_peek_unnamed(run, i)->store == store)
			streams[count++] = i;
	if (rc == 0)
		rc = window_add_weights(window, streams, count, 0, STORE_OPEN_NS, error);
	*samples = calloc((size_t)run_context_count(run) + 1, sizeof **samples);
	if (rc == 0 && !*samples)
		rc = error_memory(error);
	if (rc == 0) {
		size_t rows;
		const struct window_weight *weights = window_weights(window, &rows);

		for (size_t i = 0; i < rows; i++)
			(*samples)[weights[i].context] += weights[i].samples;
	}
	if (window)
		window_free(window);
	free(streams);
	return rc;
}

/* The module of the outermost frame is where the walk ended. A parent's id is below its child's. */
static int partial_collect(
	struct info_frames *known, struct run *run, unsigned store, uint32_t modules, struct error *error)
{
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(run_store(run, store), &count);
	uint32_t *ends_in = calloc((size_t)count + 1, sizeof *ends_in); /* 0: its path is whole */
	uint64_t *samples = NULL;
	int rc = ends_in ? samples_collect(run, store, &samples, error) : error_memory(error);

	for (uint32_t i = STORE_CONTEXT_FIRST; rc == 0 && i < count; i++) {
		const struct store_context *parent = &contexts[contexts[i].parent];
		bool is_end =
			parent->module == STORE_MODULE_RESERVED && parent->offset == STORE_FRAME_PARTIAL;

		ends_in[i] = is_end && contexts[i].module < modules ? contexts[i].module
								    : ends_in[contexts[i].parent];
		if (ends_in[i])
			known[ends_in[i]].partial += samples[run_context_of(run, store, i)];
	}
	free(samples);
	free(ends_in);
	return rc;
}

/* What installing something would add. */
const char *info_module_lacks(const struct store_module *module, const struct info_frames *known)
{
	if (module->kind != STORE_MODULE_ELF || !known->frames)
		return "";
	if (content_id_is_of_memory(module->build_id, module->build_id_bytes))
		return "a build id: the file had changed or was out of reach when it was recorded";
	if (!known->named)
		return "the file or its symbols";
	if (!known->lines)
		return "debug information";
	return known->lines < known->named ? "debug information, in part" : "";
}

void info_build_id(char text[INFO_BUILD_ID_MAX], const struct store_module *module)
{
	unsigned size = content_id_is(module->build_id, module->build_id_bytes) ? 0 : module->build_id_bytes;

	text[0] = '\0';
	for (unsigned i = 0; i < size && i < sizeof module->build_id; i++)
		snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
}

static void put_module(struct report *report, const struct run *run, struct store_reader *reader,
	const struct store_module *module, const struct info_frames *known)
{
	char build_id[INFO_BUILD_ID_MAX];
	const char *path;
	size_t size;

	info_build_id(build_id, module);
	path = store_reader_text(reader, module->path, &size);
	report_string(report, info_module_kind(module->kind));
	report_text(report, path, size);
	report_string(report, build_id);
	info_put_optional(report, info_from_origin(run, module->load_ns), module->load_ns != 0);
	info_put_optional(report, info_from_origin(run, module->unload_ns), module->unload_ns != 0);
	report_number(report, known->frames);
	report_number(report, known->named);
	report_number(report, known->lines);
	report_number(report, known->loops);
	report_string(report, info_module_lacks(module, known));
	report_number(report, known->partial);
	report_row(report);
}

int info_modules_each(struct run *run,
	bool (*each)(void *own, struct store_reader *reader, const struct store_module *module,
		const struct info_frames *frames),
	void *own, struct error *error)
{
	struct names_run_cache *later = NULL;
	int rc = names_run_cache_open(&later, run_path(run), error);

	for (unsigned store = 0; rc == 0 && store < run_store_count(run); store++) {
		struct store_reader *reader = run_store(run, store);
		uint32_t count;
		const struct store_module *modules = store_reader_modules(reader, &count);
		struct info_frames *known = calloc((size_t)count + 1, sizeof *known);

		rc = known ? known_collect(known, reader, count, later, error) : error_memory(error);
		if (rc == 0)
			rc = partial_collect(known, run, store, count, error);
		for (uint32_t i = STORE_MODULE_RESERVED + 1; rc == 0 && i < count; i++)
			if (!each(own, reader, &modules[i], &known[i]))
				rc = error_memory(error);
		free(known);
	}
	names_run_cache_close(later);
	return rc;
}

struct printing {
	struct report *report;
	const struct run *run;
};

static bool print_module(void *own, struct store_reader *reader, const struct store_module *module,
	const struct info_frames *frames)
{
	const struct printing *printing = own;

	put_module(printing->report, printing->run, reader, module, frames);
	return true;
}

int info_print_modules(struct run *run, enum report_format format, FILE *out, struct error *error)
{
	static const struct report_column columns[] = {{"kind", REPORT_TEXT}, {"path", REPORT_TEXT},
		{"build_id", REPORT_TEXT}, {"load_ns", REPORT_DURATION}, {"unload_ns", REPORT_DURATION},
		{"frames", REPORT_NUMBER}, {"named", REPORT_NUMBER}, {"lines", REPORT_NUMBER},
		{"in_loops", REPORT_NUMBER}, {"lacks", REPORT_TEXT}, {"partial", REPORT_NUMBER}};
	struct report *report = NULL;
	int rc = report_open(&report, out, format, "hpct-info", columns, COUNT(columns), error), closed;

	if (rc < 0)
		return rc;
	rc = info_modules_each(run, print_module, &(struct printing){report, run}, error);
	closed = report_close(report, rc == 0 ? error : NULL);
	return rc ? rc : closed;
}
