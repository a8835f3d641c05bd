/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_fill.c - names a finished run: collects the frames of all its stores without a name or line, sends
 * requests to workers module by module, and writes a new cache with the answers and the old cache's entries.
 *
 *   stores --wants--> (module, offsets) --names_pool--> answers --> cache.mdb.PID --rename--> cache.mdb
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/read/reader.h"
#include "store/write/writer.h"
#include "timeline/names/names_fill.h"
#include "timeline/names/names_missing.h"
#include "timeline/names/names_pool.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/run/names_run_cache_file.h"
#include "timeline/run/run_find.h"

#define BINARIES_MAX 32u /* of GPUs, held in memory for the workers at once */

struct fill {
	const struct names_options *options;
	struct names_fill *result;
	void (*note)(const char *sentence);
	struct names_run_cache *old;
	struct store_writer *writer;
	struct names_pool *pool;
	/* -- the current store -- */
	struct store_reader *reader;
	struct names_missing *wants;
	size_t want_count;
	uint64_t *offsets; /* of the wants */
	struct names_task *tasks;
	struct fill_module *modules;
	size_t task_count, module_count;
	unsigned binary_count; /* of GPUs, open */
};

/* One that something is asked about. */
struct fill_module {
	struct fill *fill;
	uint32_t module_out; /* in the cache */
	int binary;	     /* a GPU's: of a file that has no name but `path`; -1: none */
	char path[64];
};

/* ---- what is missing ---- */

static bool scopes_are_whole(const struct store_scope *scopes, int count)
{
	return count > 0 && scopes[0].name && scopes[count - 1].line;
}

static uint32_t module_put(struct fill *fill, const struct store_module *module, const char *path)
{
	struct store_module copy = *module;

	copy.path = store_writer_text(fill->writer, path, strlen(path));
	copy.load_ns = copy.unload_ns = 0;
	return store_writer_module(fill->writer, &copy);
}

static uint32_t text_copy(struct fill *fill, uint32_t text)
{
	size_t size = 0;
	const char *bytes = names_run_cache_text(fill->old, text, &size);

	return store_writer_text(fill->writer, bytes, size);
}

/* What the old cache knows goes to the new one. True when that is all one can wish for. */
static bool keep_old(struct fill *fill, const struct store_module *module, const char *path, uint64_t offset)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	int count = names_run_cache_find(fill->old, module, path, offset, scopes);

	for (int i = 0; i < count; i++) {
		scopes[i].name = text_copy(fill, scopes[i].name);
		scopes[i].file = text_copy(fill, scopes[i].file);
		scopes[i].decl_file = text_copy(fill, scopes[i].decl_file);
	}
	if (count)
		store_writer_symbol(
			fill->writer, module_put(fill, module, path), offset, scopes, (size_t)count);
	return scopes_are_whole(scopes, count);
}

/* Leaves the frames that neither the store nor the old cache knows all about. */
static void wants_reduce(struct fill *fill)
{
	uint32_t module_count;
	const struct store_module *modules = store_reader_modules(fill->reader, &module_count);
	struct store_scope scopes[STORE_SCOPE_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < fill->want_count; i++) {
		struct names_missing want = fill->wants[i];
		const struct store_module *module = &modules[want.module];
		int count = store_reader_symbol(fill->reader, want.module, want.offset, scopes, NULL);

		if (scopes_are_whole(scopes, count) ||
			keep_old(fill, module, store_reader_text(fill->reader, module->path, NULL),
				want.offset))
			continue;
		fill->wants[kept++] = want;
	}
	fill->want_count = kept;
	fill->result->missing += kept;
}

/* ---- what is found ---- */

static uint32_t text_put(struct fill *fill, const char *text)
{
	return store_writer_text(fill->writer, text, strlen(text));
}

/* Kept if it says more than the store does: a name, or a line for a name. */
static int take(void *context, const struct symbol_answer *answer)
{
	const struct fill_module *module = context;
	struct fill *fill = module->fill;
	struct store_scope scopes[STORE_SCOPE_MAX];
	int before = store_reader_symbol(fill->reader, answer->module, answer->offset, scopes, NULL);
	bool had_name = before > 0 && scopes[0].name;

	if (!answer->scopes[0].name[0] || (had_name && !answer->scopes[answer->scope_count - 1].line))
		return 0;
	for (uint32_t i = 0; i < answer->scope_count; i++) {
		const struct names_scope *from = &answer->scopes[i];

		scopes[i] = (struct store_scope){.kind = from->kind,
			.name = text_put(fill, from->name),
			.file = text_put(fill, from->file),
			.line = from->line,
			.decl_file = text_put(fill, from->decl_file),
			.decl_line = from->decl_line,
			.start = from->start};
	}
	store_writer_symbol(fill->writer, module->module_out, answer->offset, scopes, answer->scope_count);
	fill->result->found++;
	return 0;
}

/* A GPU binary's bytes are in the store: a file without a name that the worker opens by our descriptor. -1:
 * they are not there. */
static int binary_open(struct fill *fill, const struct store_module *module, struct error *error)
{
	uint64_t key = store_gpu_module_key(module->build_id, module->build_id_bytes);
	void *bytes;
	size_t size;
	int fd = -1;

	if (store_reader_blob(fill->reader, key, &bytes, &size, error) <= 0)
		return -1;
	fd = memfd_create("hpct-gpu", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	free(bytes);
	return fd;
}

/* The module's wants as one task, or as several where there are more than one may have. */
static void tasks_add(struct fill *fill, size_t begin, size_t end, struct error *error)
{
	uint32_t module_count;
	uint32_t number = fill->wants[begin].module;
	const struct store_module *from = &store_reader_modules(fill->reader, &module_count)[number];
	const char *path = store_reader_text(fill->reader, from->path, NULL);
	struct fill_module *module = &fill->modules[fill->module_count++];
	struct symbol_request request = {.module = number,
		.kind = from->kind,
		.build_id_bytes = from->build_id_bytes,
		.path = path,
		.real_path = path};

	memcpy(request.build_id, from->build_id, sizeof from->build_id);
	*module =
		(struct fill_module){.fill = fill, .module_out = module_put(fill, from, path), .binary = -1};
	if (from->kind == STORE_MODULE_GPU) {
		module->binary = binary_open(fill, from, error);
		snprintf(module->path, sizeof module->path, "/proc/%d/fd/%d", (int)getpid(), module->binary);
		request.path = module->binary >= 0 ? module->path : "";
		fill->binary_count += module->binary >= 0;
	}
	for (size_t at = begin; at < end; at += NAMES_OFFSETS_MAX) {
		struct names_task *task = &fill->tasks[fill->task_count++];

		*task = (struct names_task){.request = request, .take = take, .context = module};
		task->request.offsets = fill->offsets + at;
		task->request.offset_count =
			end - at < NAMES_OFFSETS_MAX ? (uint32_t)(end - at) : NAMES_OFFSETS_MAX;
	}
}

/* Every sentence once, though several tasks of a module may have it. */
static void tasks_note(const struct fill *fill)
{
	const char *last = "";

	for (size_t i = 0; i < fill->task_count && fill->note; i++) {
		if (fill->tasks[i].note[0] && strcmp(fill->tasks[i].note, last) != 0)
			fill->note(fill->tasks[i].note);
		last = fill->tasks[i].note[0] ? fill->tasks[i].note : last;
	}
}

static int tasks_ask(struct fill *fill, struct error *error)
{
	int rc = names_pool_ask(fill->pool, fill->tasks, fill->task_count, error);

	if (!rc)
		tasks_note(fill);
	for (size_t i = 0; i < fill->module_count; i++)
		if (fill->modules[i].binary >= 0)
			close(fill->modules[i].binary);
	fill->result->modules += fill->module_count;
	fill->task_count = fill->module_count = fill->binary_count = 0;
	return rc;
}

static int ask_all(struct fill *fill, struct error *error)
{
	size_t begin = 0;
	int rc = 0;

	for (size_t i = 0; i < fill->want_count; i++)
		fill->offsets[i] = fill->wants[i].offset;
	for (size_t i = 1; i <= fill->want_count && !rc; i++) {
		if (i < fill->want_count && fill->wants[i].module == fill->wants[begin].module)
			continue;
		tasks_add(fill, begin, i, error);
		begin = i;
		if (i == fill->want_count || fill->binary_count == BINARIES_MAX)
			rc = tasks_ask(fill, error);
	}
	return rc;
}

static int fill_store(struct fill *fill, struct error *error)
{
	int rc;

	free(fill->wants);
	rc = names_missing_collect(fill->reader, &fill->wants, &fill->want_count, error);
	if (rc)
		return rc;
	wants_reduce(fill);
	fill->offsets = calloc(fill->want_count + 1, sizeof *fill->offsets);
	fill->tasks = calloc(fill->want_count + 1, sizeof *fill->tasks);
	fill->modules = calloc(fill->want_count + 1, sizeof *fill->modules);
	rc = fill->offsets && fill->tasks && fill->modules ? ask_all(fill, error) : error_memory(error);
	free(fill->offsets);
	free(fill->tasks);
	free(fill->modules);
	return rc;
}

static int fill_stores(struct fill *fill, const char *run_path, struct error *error)
{
	char **names, *path;
	size_t count;
	int rc = run_find_stores(run_path, &names, &count, error);

	if (rc)
		return rc;
	for (size_t i = 0; i < count && !rc; i++) {
		if (asprintf(&path, "%s/%s", run_path, names[i]) < 0) {
			rc = error_memory(error);
			break;
		}
		rc = store_reader_open(&fill->reader, path, error);
		rc = rc ? rc : fill_store(fill, error);
		if (fill->reader)
			store_reader_close(fill->reader);
		fill->reader = NULL;
		free(path);
	}
	run_find_free(names, count);
	return rc;
}

/* ---- the new cache ---- */

/* The directory of the user's caches may not be there yet. */
static void directory_make(const char *path)
{
	char *directory = strdup(path), *slash = directory ? strrchr(directory, '/') : NULL;

	if (slash) {
		*slash = '\0';
		mkdir(directory, 0700);
	}
	free(directory);
}

static void file_remove(const char *path)
{
	char *lock;

	unlink(path);
	if (asprintf(&lock, "%s-lock", path) < 0)
		return;
	unlink(lock);
	free(lock);
}

/* Fills a new file and puts it in the old one's place: readers see the one or the other. */
static int fill_into(struct fill *fill, const char *run_path, const char *cache_path, const char *new_path,
	struct error *error)
{
	int rc = store_writer_create(&fill->writer, new_path, error);
	bool is_worth;

	if (rc)
		return rc;
	rc = fill_stores(fill, run_path, error);
	is_worth = !rc && (fill->old || fill->result->found);
	if (is_worth)
		rc = store_writer_close(fill->writer, error);
	else
		store_writer_abort(fill->writer);
	if (!rc && is_worth && rename(new_path, cache_path))
		rc = error_set(error, ERROR_IO, "cannot put %s in place: %s", cache_path, strerror(errno));
	file_remove(new_path);
	return rc;
}

static int run_check(const char *run_path, struct error *error)
{
	char **names;
	size_t count;
	int rc = run_find_stores(run_path, &names, &count, error);

	if (!rc)
		run_find_free(names, count);
	return rc;
}

int names_fill(const char *run_path, const struct names_options *options, struct names_fill *result,
	void (*note)(const char *sentence), struct error *error)
{
	struct fill fill = {.options = options, .result = result, .note = note};
	char *cache_path, *new_path = NULL;
	int rc = run_check(run_path, error);

	memset(result, 0, sizeof *result);
	if (rc)
		return rc;
	cache_path = names_run_cache_path(run_path, true);
	if (!cache_path)
		return error_set(error, ERROR_IO,
			"%s is read-only, and there is no cache directory; name one in XDG_CACHE_HOME",
			run_path);
	directory_make(cache_path);
	if (asprintf(&new_path, "%s.%d", cache_path, (int)getpid()) < 0) {
		free(cache_path);
		return error_memory(error);
	}
	rc = names_run_cache_open(&fill.old, run_path, error);
	rc = rc ? rc : names_pool_open(&fill.pool, options, options->jobs, error);
	rc = rc ? rc : fill_into(&fill, run_path, cache_path, new_path, error);
	names_pool_close(fill.pool);
	names_run_cache_close(fill.old);
	free(fill.wants);
	free(new_path);
	free(cache_path);
	return rc;
}

int names_run_open(struct run **run, const char *path, const struct run_options *options, struct error *error)
{
	struct names_options names = {0};
	struct names_fill found;
	char *there = NULL;
	int code;

	*run = NULL;
	if (!options || options->no_cache || (!options->debug_path_count && !options->debuginfod))
		return run_open(run, path, options, error);
	names.search = (struct debug_files_search){
		options->debug_paths, options->debug_path_count, options->debuginfod};
	code = run_find(path, &there, error);
	if (!code)
		code = names_fill(there, &names, &found, NULL, error);
	if (!code)
		code = run_open(run, there, options, error);
	free(there);
	return code;
}
