/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_export.c - exports the profile of a selection for pprof: the sums of path_sums.h, one sample per call
 * path, one value per metric.
 */
#include "formats/pprof/pprof_export.h"

#include <stdlib.h>
#include <zlib.h>

#include "formats/base/path_sums.h"
#include "formats/pprof/pprof.pb-c.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"

/* A message list in the making; the items are the arena's. */
struct list {
	void **items;
	size_t count, room;
};

struct pprof {
	struct run *run;
	const struct select *select;
	struct arena arena;
	Hpct__Pprof__Profile profile;
	struct key_ids strings, functions, mappings, locations;
	struct list texts, function_list, mapping_list, location_list, samples;
	struct path_sums sums;
	bool failed;
};

static bool list_add(struct pprof *pprof, struct list *list, void *item)
{
	if (!item || !array_widen(&list->items, &list->room, list->count, sizeof *list->items)) {
		pprof->failed = true;
		return false;
	}
	list->items[list->count++] = item;
	return true;
}

static int64_t text_of(struct pprof *pprof, const char *text, size_t size)
{
	struct store_hash hash = store_hash128(text, size);
	bool is_new;
	uint32_t number = key_ids_put(&pprof->strings, &hash, &is_new);
	ProtobufCBinaryData *data;

	if (number == KEY_IDS_NONE)
		pprof->failed = true;
	if (number == KEY_IDS_NONE || !is_new)
		return number == KEY_IDS_NONE ? 0 : (int64_t)number;
	data = arena_alloc(&pprof->arena, sizeof *data);
	if (data)
		*data = (ProtobufCBinaryData){size, (uint8_t *)arena_copy(&pprof->arena, text, size)};
	pprof->failed |= data && !data->data;
	list_add(pprof, &pprof->texts, data);
	return (int64_t)number;
}

static int64_t name_of(struct pprof *pprof, const char *text)
{
	return text_of(pprof, text, strlen(text));
}

/* A message of the arena, made ready by its own init. */
#define MESSAGE(pprof, type, prefix)                                     \
	({                                                               \
		type *made = arena_alloc(&(pprof)->arena, sizeof *made); \
		if (made)                                                \
			prefix##__init(made);                            \
		made;                                                    \
	})

/* ---- places ---- */

/* Ids count from 1; 0: none. */
static uint64_t find_mapping(struct pprof *pprof, const char *module)
{
	struct store_hash hash = store_hash128(module, strlen(module));
	Hpct__Pprof__Mapping *mapping;
	bool is_new;
	uint32_t number;

	if (!module[0])
		return 0;
	number = key_ids_put(&pprof->mappings, &hash, &is_new);
	pprof->failed |= number == KEY_IDS_NONE;
	if (is_new) {
		mapping = MESSAGE(pprof, Hpct__Pprof__Mapping, hpct__pprof__mapping);
		if (!list_add(pprof, &pprof->mapping_list, mapping))
			return 0;
		mapping->id = number + 1;
		mapping->filename = name_of(pprof, module);
		mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers =
			mapping->has_inline_frames = true;
	}
	return number + 1;
}

static uint64_t find_function(struct pprof *pprof, uint32_t function)
{
	const struct run_function *from = run_function(pprof->run, function);
	Hpct__Pprof__Function *to;
	bool is_new;
	uint32_t number = key_ids_put(&pprof->functions, &function, &is_new);

	pprof->failed |= number == KEY_IDS_NONE;
	if (is_new) {
		to = MESSAGE(pprof, Hpct__Pprof__Function, hpct__pprof__function);
		if (!list_add(pprof, &pprof->function_list, to))
			return 0;
		to->id = number + 1;
		to->name = text_of(pprof, from->name, from->name_bytes);
		to->system_name = name_of(pprof, ""); /* as it would read a name like it: to be cut */
		to->filename = name_of(pprof, from->file);
		to->start_line = from->line;
	}
	return number + 1;
}

/* A line of a function, in whatever path. */
static uint64_t find_location(struct pprof *pprof, uint32_t function, uint32_t line)
{
	const uint32_t key[2] = {function, line};
	bool is_new;
	uint32_t number = key_ids_put(&pprof->locations, key, &is_new);
	Hpct__Pprof__Location *location;
	Hpct__Pprof__Line *text;

	pprof->failed |= number == KEY_IDS_NONE;
	if (!is_new)
		return number + 1;
	location = MESSAGE(pprof, Hpct__Pprof__Location, hpct__pprof__location);
	text = MESSAGE(pprof, Hpct__Pprof__Line, hpct__pprof__line);
	if (!list_add(pprof, &pprof->location_list, location) || !text)
		return 0;
	text->function_id = find_function(pprof, function);
	text->line = line;
	location->id = number + 1;
	location->mapping_id = find_mapping(pprof, run_function(pprof->run, function)->module);
	location->n_line = 1;
	location->line = arena_alloc(&pprof->arena, sizeof *location->line);
	if (!location->line) {
		pprof->failed = true;
		return 0;
	}
	location->line[0] = text;
	return number + 1;
}

/* ---- samples ---- */

static void put_path(struct pprof *pprof, Hpct__Pprof__Sample *sample, uint32_t path)
{
	uint32_t line, scope = path_sums_leaf(&pprof->sums, path, &line), count = 0;

	for (uint32_t up = scope; up != UINT32_MAX; up = run_scope(pprof->run, up)->parent)
		count++;
	sample->location_id = arena_alloc(&pprof->arena, (count + 1) * sizeof *sample->location_id);
	if (!sample->location_id) {
		pprof->failed = true;
		return;
	}
	for (; scope != UINT32_MAX; scope = run_scope(pprof->run, scope)->parent) {
		if (scope != RUN_SCOPE_PROGRAM_ROOT || count == 1)
			sample->location_id[sample->n_location_id++] =
				find_location(pprof, run_scope(pprof->run, scope)->function, line);
		line = run_scope(pprof->run, scope)->call_line;
	}
}

static void put_sample(struct pprof *pprof, uint32_t path)
{
	Hpct__Pprof__Sample *sample = MESSAGE(pprof, Hpct__Pprof__Sample, hpct__pprof__sample);
	size_t count = pprof->sums.metric_count;

	if (!list_add(pprof, &pprof->samples, sample))
		return;
	sample->n_value = count;
	sample->value = arena_calloc(&pprof->arena, count, sizeof *sample->value);
	pprof->failed |= !sample->value;
	for (size_t i = 0; i < count && sample->value; i++)
		sample->value[i] = (int64_t)pprof->sums.values[(size_t)path * count + i];
	put_path(pprof, sample, path);
}

/* ---- what is measured ---- */

static Hpct__Pprof__ValueType *value_type(struct pprof *pprof, const char *name, const char *unit)
{
	Hpct__Pprof__ValueType *type = MESSAGE(pprof, Hpct__Pprof__ValueType, hpct__pprof__value_type);

	if (!type) {
		pprof->failed = true;
		return NULL;
	}
	type->type = name_of(pprof, name);
	type->unit = name_of(pprof, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit[0] ? unit : "count");
	return type;
}

static void put_types(struct pprof *pprof)
{
	Hpct__Pprof__Profile *profile = &pprof->profile;
	size_t count = pprof->sums.metric_count;

	profile->sample_type = arena_calloc(&pprof->arena, count, sizeof *profile->sample_type);
	pprof->failed |= !profile->sample_type;
	for (size_t i = 0; i < count && !pprof->failed; i++)
		profile->sample_type[profile->n_sample_type++] =
			value_type(pprof, path_sums_name(&pprof->sums, i), path_sums_unit(&pprof->sums, i));
}

/* ---- the file ---- */

static void put_facts(struct pprof *pprof)
{
	Hpct__Pprof__Profile *profile = &pprof->profile;
	uint64_t origin_ns = run_origin_ns(pprof->run), begin_ns = select_begin_ns(pprof->select);
	const char *command = run_meta(pprof->run, "command");
	uint32_t count;
	const uint32_t *streams = select_streams(pprof->select, &count);

	if (run_wall_ns(pprof->run) && begin_ns >= origin_ns)
		profile->time_nanos = (int64_t)(run_wall_ns(pprof->run) + (begin_ns - origin_ns));
	profile->duration_nanos = (int64_t)(select_end_ns(pprof->select) - begin_ns);
	for (uint32_t i = 0; i < count && !profile->period; i++) {
		const struct run_stream *stream = run_stream_read(pprof->run, streams[i]);

		if (!stream->period_ns || !stream->metric[0])
			continue;
		profile->period = (int64_t)stream->period_ns;
		profile->period_type = value_type(pprof, stream->metric, "ns");
	}
	if (!command || !*command)
		return;
	profile->comment = arena_alloc(&pprof->arena, sizeof *profile->comment);
	if (profile->comment)
		profile->comment[profile->n_comment++] = name_of(pprof, command);
}

/* Lists into the message; its texts are values, not pointers. */
static void put_lists(struct pprof *pprof)
{
	Hpct__Pprof__Profile *profile = &pprof->profile;

	profile->n_sample = pprof->samples.count;
	profile->sample = (Hpct__Pprof__Sample **)pprof->samples.items;
	profile->n_mapping = pprof->mapping_list.count;
	profile->mapping = (Hpct__Pprof__Mapping **)pprof->mapping_list.items;
	profile->n_location = pprof->location_list.count;
	profile->location = (Hpct__Pprof__Location **)pprof->location_list.items;
	profile->n_function = pprof->function_list.count;
	profile->function = (Hpct__Pprof__Function **)pprof->function_list.items;
	profile->string_table =
		arena_alloc(&pprof->arena, (pprof->texts.count + 1) * sizeof *profile->string_table);
	if (!profile->string_table) {
		pprof->failed = true;
		return;
	}
	profile->n_string_table = pprof->texts.count;
	for (size_t i = 0; i < pprof->texts.count; i++)
		profile->string_table[i] = *(const ProtobufCBinaryData *)pprof->texts.items[i];
}

struct gzip_out {
	ProtobufCBuffer base;
	z_stream z;
	FILE *out;
};

static void deflate_some(struct gzip_out *to, const uint8_t *bytes, size_t size, int flush)
{
	uint8_t block[16384];

	to->z.next_in = (uint8_t *)bytes;
	to->z.avail_in = (unsigned)size;
	do {
		to->z.next_out = block;
		to->z.avail_out = sizeof block;
		deflate(&to->z, flush);
		fwrite(block, 1, sizeof block - to->z.avail_out, to->out);
	} while (to->z.avail_out == 0);
}

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	deflate_some((struct gzip_out *)buffer, bytes, size, Z_NO_FLUSH);
}

static int write_profile(const struct pprof *pprof, FILE *out, struct error *error)
{
	struct gzip_out to = {.base.append = append, .out = out};

	if (deflateInit2(&to.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return error_memory(error);
	protobuf_c_message_pack_to_buffer(&pprof->profile.base, &to.base);
	deflate_some(&to, NULL, 0, Z_FINISH);
	deflateEnd(&to.z);
	return ferror(out) ? error_unwritten(error) : 0;
}

static void pprof_fini(struct pprof *pprof)
{
	struct list *const lists[] = {&pprof->texts, &pprof->function_list, &pprof->mapping_list,
		&pprof->location_list, &pprof->samples};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]->items);
	key_ids_fini(&pprof->strings);
	key_ids_fini(&pprof->functions);
	key_ids_fini(&pprof->mappings);
	key_ids_fini(&pprof->locations);
	path_sums_fini(&pprof->sums);
	arena_fini(&pprof->arena);
}

static int put_all(struct pprof *pprof, FILE *out, struct error *error)
{
	hpct__pprof__profile__init(&pprof->profile);
	key_ids_init(&pprof->strings, sizeof(struct store_hash));
	key_ids_init(&pprof->functions, sizeof(uint32_t));
	key_ids_init(&pprof->mappings, sizeof(struct store_hash));
	key_ids_init(&pprof->locations, 2 * sizeof(uint32_t));
	name_of(pprof, ""); /* text 0 */
	for (uint32_t i = 0; i < pprof->sums.contexts.count && !pprof->failed; i++)
		if (!path_sums_is_zero(&pprof->sums, i))
			put_sample(pprof, i);
	put_types(pprof);
	put_facts(pprof);
	put_lists(pprof);
	return pprof->failed ? error_memory(error) : write_profile(pprof, out, error);
}

int pprof_export(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct pprof pprof = {.run = run, .select = select};
	int rc = path_sums_make(&pprof.sums, run, select, error);

	if (rc == 0)
		rc = put_all(&pprof, output->out, error);
	rc = rc < 0 ? rc : pprof.samples.count == 0;
	pprof_fini(&pprof);
	return rc;
}
