/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - opens a run directory: finds its stores, puts their clocks on one line, and lets each table
 * (streams, contexts, scopes) catch up, now and at every renewal. Nothing here costs by records. A store that
 * is a copy of one that is there already, under another name, is refused: everything would count twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/fd_limit.h"
#include "store/base/hash.h"
#include "timeline/run/run_find.h"
#include "timeline/run/run_internal.h"
#include "timeline/run/run_kernels.h"

/* What a recording has from its begin to its end. A collector writes one store: with its number they name it.
 */
static const char *const facts[] = {
	"host", "boot", "launch", "origin_ns", "wall_ns", "command", "recorder", "collector_pid"};
#define FACT_COUNT (sizeof facts / sizeof *facts)

static const char *fact(const struct run_part *part, size_t i)
{
	const char *value = store_reader_meta(part->reader, facts[i]);

	return value ? value : "";
}

static uint64_t run_part_origin_hash(const struct run_part *part)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < FACT_COUNT; i++)
		hash = store_hash64(fact(part, i), strlen(fact(part, i)), hash);
	return hash;
}

static bool has_same_facts(const struct run_part *a, const struct run_part *b)
{
	for (size_t i = 0; i < FACT_COUNT; i++)
		if (strcmp(fact(a, i), fact(b, i)) != 0)
			return false;
	return true;
}

static bool is_same_stream(const struct run_part *a, const struct run_part *b, uint32_t stream)
{
	const struct store_stream *x = store_reader_stream_peek(a->reader, stream);
	const struct store_stream *y = store_reader_stream_peek(b->reader, stream);

	if (x->kind != y->kind || x->rank != y->rank || x->pid != y->pid || x->generation != y->generation ||
		x->thread != y->thread || x->device != y->device || x->context != y->context ||
		x->queue != y->queue || x->begin_ns != y->begin_ns || x->end_ns != y->end_ns)
		return false;
	return !memcmp(x->count, y->count, sizeof x->count) &&
	       !strcmp(store_reader_text_peek(a->reader, x->host),
		       store_reader_text_peek(b->reader, y->host));
}

/* Where no collector is named (slices, imports) stores of different streams or windows may say the same of
 * themselves. */
static bool has_same_streams(const struct run_part *a, const struct run_part *b)
{
	uint32_t count = store_reader_stream_count(a->reader);

	if (count != store_reader_stream_count(b->reader))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_same_stream(a, b, i))
			return false;
	return count > 0;
}

/* True when two stores are the same recording: by their facts (hash kept in the part) and, if those name no
 * collector, by their streams. */
static bool run_part_is_duplicate(const struct run_part *a, const struct run_part *b)
{
	if (a->origin_hash != b->origin_hash || !has_same_facts(a, b))
		return false;
	return *fact(a, FACT_COUNT - 1) || has_same_streams(a, b);
}

#define DESCRIPTORS_OF_A_STORE 4u /* at most */
#define DESCRIPTORS_BESIDE 64u

/* ---- strings ---- */

static bool text_equal(const void *element, const void *key)
{
	const struct run_text *a = element, *b = key;

	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

const char *run_intern(struct run *run, const char *bytes, size_t size_bytes)
{
	struct run_text text = {bytes, (uint32_t)size_bytes};
	uint64_t hash = store_hash64(bytes, size_bytes, 0);
	struct run_text *element;
	uint32_t id;

	if (!size_bytes || size_bytes >= UINT32_MAX)
		return "";
	id = intern_table_find(&run->texts, hash, text_equal, &text);
	if (id != INTERN_TABLE_NONE)
		return ((struct run_text *)intern_table_at(&run->texts, id))->bytes;
	text.bytes = arena_copy(&run->arena, bytes, size_bytes);
	element = text.bytes ? intern_table_add(&run->texts, &id) : NULL;
	if (!element)
		return "";
	*element = text;
	/* Without memory it is not indexed: the next equal one gets a copy of its own. */
	(void)intern_table_index(&run->texts, id, hash);
	return text.bytes;
}

const char *run_intern_text(struct run *run, unsigned part, uint32_t text)
{
	size_t size = 0;
	const char *bytes = store_reader_text(run->parts[part].reader, text, &size);

	return run_intern(run, bytes, size);
}

/* ---- stores ---- */

/* A copy beside its original would be counted with it. */
static int refuse_duplicate(const struct run *run, const struct run_part *part, struct error *error)
{
	for (unsigned i = 0; i < run->part_count; i++)
		if (run_part_is_duplicate(&run->parts[i], part))
			return error_set(error, ERROR_RUN,
				"%s holds one recording twice, as %s and as %s: move one of them out of it",
				run->path, run->parts[i].name, part->name);
	return 0;
}

static int part_open(struct run *run, const char *name, struct error *error)
{
	struct run_part *part;
	int code;

	if (!array_resize(&run->parts, run->part_count + 1, sizeof *run->parts))
		return error_memory(error);
	part = &run->parts[run->part_count];
	*part = (struct run_part){0};
	if (asprintf(&part->path, "%s/%s", run->path, name) < 0)
		return error_memory(error);
	part->name = part->path + strlen(run->path) + 1;
	code = store_reader_open(&part->reader, part->path, error);
	if (code) {
		free(part->path);
		return code;
	}
	part->origin_hash = run_part_origin_hash(part);
	if (refuse_duplicate(run, part, error)) {
		store_reader_close(part->reader);
		free(part->path);
		return -(int)ERROR_RUN;
	}
	run->part_count++;
	part->shift_ns = run_part_shift(&run->parts[0], part);
	return 0;
}

static bool has_part(const struct run *run, const char *name)
{
	for (unsigned i = 0; i < run->part_count; i++)
		if (!strcmp(run->parts[i].name, name))
			return true;
	return false;
}

/* Opens the stores that are not open yet. */
static int parts_open(struct run *run, bool *changed, struct error *error)
{
	char **names;
	size_t count;
	int code = run_find_stores(run->path, &names, &count, error);

	if (code)
		return code;
	fd_limit_raise(count * DESCRIPTORS_OF_A_STORE + DESCRIPTORS_BESIDE);
	for (size_t i = 0; i < count && !code; i++) {
		if (has_part(run, names[i]))
			continue;
		code = part_open(run, names[i], error);
		*changed = true;
	}
	run_find_free(names, count);
	return code;
}

/* ---- the whole ---- */

static int catch_up(struct run *run, struct error *error)
{
	int code = run_contexts_renew(run, error);

	if (!code)
		code = run_ids_renew(run, error);
	if (!code)
		code = run_streams_renew(run, error);
	if (!code)
		run_times(run);
	return code;
}

static int copy_options(struct run *run, const struct run_options *options, struct error *error)
{
	if (!options)
		return 0;
	run->options = *options;
	run->debug_paths = calloc(options->debug_path_count + 1, sizeof *run->debug_paths);
	if (!run->debug_paths)
		return error_memory(error);
	for (size_t i = 0; i < options->debug_path_count; i++) {
		run->debug_paths[i] = strdup(options->debug_paths[i]);
		if (!run->debug_paths[i])
			return error_memory(error);
	}
	run->options.debug_paths = (const char *const *)run->debug_paths;
	return 0;
}

static void init_tables(struct run *run)
{
	intern_table_init(&run->texts, sizeof(struct run_text));
	intern_table_init(&run->streams, sizeof(struct run_line_state));
	intern_table_init(&run->lines, sizeof(struct run_line));
	intern_table_init(&run->contexts, sizeof(struct run_node));
	intern_table_init(&run->modules, sizeof(struct run_module));
	intern_table_init(&run->metrics, sizeof(struct run_metric));
	intern_table_init(&run->ops, sizeof(struct run_text));
}

int run_open(struct run **run, const char *path, const struct run_options *options, struct error *error)
{
	struct run *r = calloc(1, sizeof *r);
	bool changed;
	int code;

	*run = NULL;
	if (!r)
		return error_memory(error);
	init_tables(r);
	code = run_scopes_init(r, error);
	if (!code)
		code = copy_options(r, options, error);
	if (!code)
		code = run_find(path, &r->path, error);
	if (!code)
		code = parts_open(r, &changed, error);
	if (!code && !r->options.no_cache)
		code = names_run_cache_open(&r->names, r->path, error);
	if (!code)
		code = catch_up(r, error);
	if (code) {
		run_close(r);
		return code;
	}
	*run = r;
	return 0;
}

static void part_close(struct run_part *part)
{
	store_reader_close(part->reader);
	free(part->contexts);
	free(part->modules);
	free(part->metrics);
	free(part->path);
}

void run_close(struct run *run)
{
	if (!run)
		return;
	for (unsigned i = 0; i < run->part_count; i++)
		part_close(&run->parts[i]);
	for (size_t i = 0; run->debug_paths && i < run->options.debug_path_count; i++)
		free(run->debug_paths[i]);
	intern_table_fini(&run->texts);
	intern_table_fini(&run->streams);
	intern_table_fini(&run->lines);
	free(run->places);
	free(run->met);
	store_bytes_fini(&run->identity);
	intern_table_fini(&run->contexts);
	intern_table_fini(&run->modules);
	intern_table_fini(&run->functions);
	intern_table_fini(&run->scopes);
	intern_table_fini(&run->frames);
	intern_table_fini(&run->frame_lines);
	intern_table_fini(&run->loops);
	intern_table_fini(&run->metrics);
	intern_table_fini(&run->ops);
	arena_fini(&run->arena);
	names_run_cache_close(run->names);
	run_kernels_free(run->kernels);
	free(run->passing);
	free(run->symbol);
	free(run->debug_paths);
	free(run->parts);
	free(run->path);
	free(run);
}

int run_renew(struct run *run, bool *changed, struct error *error)
{
	bool any = false;
	int code = 0;

	for (unsigned i = 0; i < run->part_count && !code; i++) {
		bool one = false;

		code = store_reader_renew(run->parts[i].reader, &one, error);
		any |= one;
	}
	if (!code)
		code = parts_open(run, &any, error);
	if (!code && any) {
		run_scopes_renew(run);
		code = catch_up(run, error);
	} else if (!code) {
		run_times(run);
	}
	if (changed)
		*changed = any;
	return code;
}

/* ---- what it says ---- */

const char *run_path(const struct run *run)
{
	return run->path;
}

const char *run_meta(const struct run *run, const char *key)
{
	return store_reader_meta(run->parts[0].reader, key);
}

uint64_t run_origin_ns(const struct run *run)
{
	return run->origin_ns;
}

uint64_t run_begin_ns(const struct run *run)
{
	return run->begin_ns;
}

uint64_t run_end_ns(const struct run *run)
{
	return run->end_ns;
}

bool run_sums_rollups(const struct run *run)
{
	return !run->options.no_rollups;
}

bool run_is_live(const struct run *run)
{
	return run->is_live;
}

uint64_t run_mem_bytes(const struct run *run, unsigned parts, uint64_t most)
{
	uint64_t share = run->options.mem_bytes / parts;

	return run->options.mem_bytes && share < most ? share : most;
}

uint64_t run_wall_ns(const struct run *run)
{
	return run->wall_ns;
}

uint64_t run_bytes(const struct run *run)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < run->part_count; i++)
		bytes += store_reader_bytes(run->parts[i].reader);
	return bytes;
}

unsigned run_store_count(const struct run *run)
{
	return run->part_count;
}

const char *run_store_path(const struct run *run, unsigned store)
{
	return run->parts[store].path;
}

struct store_reader *run_store(const struct run *run, unsigned store)
{
	return store < run->part_count ? run->parts[store].reader : NULL;
}
