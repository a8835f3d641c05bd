/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_export.c - exports the profile of a selection for pprof: one sample per call path, one value per
 * metric. Without --metric those are the recorded metrics (of a run without samples REALTIME), and GPUTIME,
 * the time of GPU operations by the path that launched them.
 */
#include "formats/pprof/pprof_export.h"

#include <stdlib.h>
#include <zlib.h>

#include "formats/base/selected_weights.h"
#include "formats/pprof/pprof.pb-c.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/sum/state_metrics.h"

#define METRICS_MAX 64u

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
	struct key_ids strings, functions, mappings, locations, contexts;
	struct list texts, function_list, mapping_list, location_list, samples;
	uint32_t metrics[METRICS_MAX]; /* of the run; GPU time: UINT32_MAX */
	size_t metric_count;
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

static void put_path(struct pprof *pprof, Hpct__Pprof__Sample *sample, uint32_t context)
{
	const struct run_context *at = run_context(pprof->run, context);
	uint32_t scope = at->scope, line = at->line, count = 0;

	if (scope != UINT32_MAX) {
		uint32_t cut = run_scope_at(pprof->run, scope, select_depth(pprof->select));

		for (; scope != cut; scope = run_scope(pprof->run, scope)->parent)
			line = run_scope(pprof->run, scope)->call_line;
	}
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

static Hpct__Pprof__Sample *find_sample(struct pprof *pprof, uint32_t context)
{
	bool is_new;
	uint32_t number = key_ids_put(&pprof->contexts, &context, &is_new);
	Hpct__Pprof__Sample *sample;

	pprof->failed |= number == KEY_IDS_NONE;
	if (number == KEY_IDS_NONE || !is_new)
		return number == KEY_IDS_NONE ? NULL : pprof->samples.items[number];
	sample = MESSAGE(pprof, Hpct__Pprof__Sample, hpct__pprof__sample);
	if (!list_add(pprof, &pprof->samples, sample))
		return NULL;
	sample->n_value = pprof->metric_count;
	sample->value = arena_calloc(&pprof->arena, pprof->metric_count, sizeof *sample->value);
	pprof->failed |= !sample->value;
	put_path(pprof, sample, context);
	return sample;
}

static size_t metric_at(struct pprof *pprof, uint32_t metric)
{
	size_t at = 0;

	while (at < pprof->metric_count && pprof->metrics[at] != metric)
		at++;
	if (at == pprof->metric_count && at < METRICS_MAX)
		pprof->metrics[pprof->metric_count++] = metric;
	return at;
}

static bool is_counted(const struct pprof *pprof, const struct window_weight *weight)
{
	bool is_state = weight->metric >= run_metric_count(pprof->run);

	return (is_state || select_wants_metric(pprof->select, weight->metric)) &&
	       select_wants_context(pprof->select, weight->context);
}

static void put_weights(struct pprof *pprof, const struct window *window)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count && !pprof->failed; i++) {
		bool is_real = weights[i].metric < run_metric_count(pprof->run) &&
			       run_metric_is_real(pprof->run, weights[i].metric);
		Hpct__Pprof__Sample *sample;

		if (!is_counted(pprof, &weights[i]))
			continue;
		sample = find_sample(pprof, weights[i].context);
		if (sample && sample->value)
			sample->value[metric_at(pprof, weights[i].metric)] +=
				is_real ? (int64_t)weights[i].real : (int64_t)weights[i].weight;
	}
}

static void put_gpu_times(struct pprof *pprof, const struct window *window)
{
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count && !pprof->failed; i++) {
		Hpct__Pprof__Sample *sample;

		if (!extent_state_is_busy(times[i].state) ||
			!select_wants_context(pprof->select, times[i].context) ||
			!select_wants_op(pprof->select, times[i].op))
			continue;
		sample = find_sample(pprof, times[i].context);
		if (sample && sample->value)
			sample->value[metric_at(pprof, UINT32_MAX)] += (int64_t)times[i].time_ns;
	}
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
	uint32_t known = run_metric_count(pprof->run);

	profile->sample_type = arena_calloc(&pprof->arena, pprof->metric_count, sizeof *profile->sample_type);
	pprof->failed |= !profile->sample_type;
	for (size_t i = 0; i < pprof->metric_count && !pprof->failed; i++) {
		uint32_t metric = pprof->metrics[i];

		profile->sample_type[profile->n_sample_type++] =
			metric == UINT32_MAX ? value_type(pprof, "GPUTIME", "ns")
			: metric >= known
				? value_type(pprof, state_metrics_name((enum state_metric)(metric - known)),
					  "ns")
				: value_type(pprof, run_metric_name(pprof->run, metric),
					  run_metric_unit(pprof->run, metric));
	}
}

/* Which metrics there are is known before the first sample, since each sample has a value of each. */
static void find_metrics(struct pprof *pprof, const struct window *weights, const struct window *gpu)
{
	size_t count;
	const struct window_weight *weight = window_weights(weights, &count);

	for (size_t i = 0; i < count; i++)
		if (is_counted(pprof, &weight[i]))
			metric_at(pprof, weight[i].metric);
	if (!gpu)
		return;
	window_times(gpu, &count);
	if (count > 0)
		metric_at(pprof, UINT32_MAX);
}

static int gpu_times(
	struct window **window, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = window_new(window, run, error);

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(run, streams[i])->s.kind == STORE_STREAM_GPU)
			rc = window_add_time(
				*window, streams[i], select_begin_ns(select), select_end_ns(select), error);
	return rc;
}

static bool has_weights(const struct window *window)
{
	size_t count;

	window_weights(window, &count);
	return count > 0;
}

static int sum(struct window **weights, struct window **gpu, struct run *run, const struct select *select,
	struct error *error)
{
	bool has_metric = select_has_metric(select);
	int rc = selected_weights(weights, run, select, select_state_metrics(select), error);

	*gpu = NULL;
	if (rc == 0 && !has_metric && !has_weights(*weights)) {
		window_free(*weights);
		rc = selected_weights(weights, run, select, 1u << STATE_METRIC_REALTIME, error);
	}
	if (rc == 0 && !has_metric)
		rc = gpu_times(gpu, run, select, error);
	return rc;
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

static bool is_zero(const Hpct__Pprof__Sample *sample)
{
	for (size_t i = 0; i < sample->n_value; i++)
		if (sample->value[i])
			return false;
	return true;
}

/* A thread's opening sample weighs nothing: pprof would have nothing to show of it. */
static void drop_zeros(struct list *samples)
{
	size_t kept = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (!is_zero(samples->items[i]))
			samples->items[kept++] = samples->items[i];
	samples->count = kept;
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
	key_ids_fini(&pprof->contexts);
	arena_fini(&pprof->arena);
}

static int put_all(struct pprof *pprof, const struct window *weights, const struct window *gpu, FILE *out,
	struct error *error)
{
	hpct__pprof__profile__init(&pprof->profile);
	key_ids_init(&pprof->strings, sizeof(struct store_hash));
	key_ids_init(&pprof->functions, sizeof(uint32_t));
	key_ids_init(&pprof->mappings, sizeof(struct store_hash));
	key_ids_init(&pprof->locations, 2 * sizeof(uint32_t));
	key_ids_init(&pprof->contexts, sizeof(uint32_t));
	name_of(pprof, ""); /* text 0 */
	find_metrics(pprof, weights, gpu);
	put_weights(pprof, weights);
	if (gpu)
		put_gpu_times(pprof, gpu);
	put_types(pprof);
	put_facts(pprof);
	if (!pprof->failed)
		drop_zeros(&pprof->samples);
	put_lists(pprof);
	return pprof->failed ? error_memory(error) : write_profile(pprof, out, error);
}

int pprof_export(struct run *run, const struct select *select, FILE *out, struct error *error)
{
	struct pprof pprof = {.run = run, .select = select};
	struct window *weights = NULL, *gpu = NULL;
	int rc = sum(&weights, &gpu, run, select, error);

	if (rc == 0) {
		rc = put_all(&pprof, weights, gpu, out, error);
		rc = rc < 0 ? rc : pprof.samples.count == 0;
		pprof_fini(&pprof);
	}
	window_free(weights);
	window_free(gpu);
	return rc;
}
