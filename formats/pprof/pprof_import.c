/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_import.c - see pprof_import.h. Of several kinds of values the first that is a time makes the run's
 * time, else the last, which pprof shows by itself.
 */
#include "formats/pprof/pprof_import.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/base/stack_import.h"
#include "formats/pprof/pprof.pb-c.h"
#include "store/base/array.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define TYPES_MAX 64u
#define DEPTH_MAX 4096u
#define IDS_MAX ((uint64_t)1 << 26)

typedef Hpct__Pprof__Profile profile_type;

struct pprof_import {
	struct format_input *input;
	profile_type *profile;
	struct stack_import stacks;
	/* Ids of the file count from anywhere: [id] position + 1. One from IDS_MAX on is not known. */
	uint32_t *locations, *functions;
	size_t location_room, function_room;
	uint32_t metrics[TYPES_MAX];
	uint64_t scales[TYPES_MAX]; /* to ns */
	size_t source;
	uint64_t labels, negative, places, lines;
};

/* ---- the message ---- */

static int read_bytes(struct format_input *input, uint8_t **bytes, size_t *size, struct error *error)
{
	size_t room = 0, got;

	*bytes = NULL;
	*size = 0;
	do {
		if (!array_reserve(bytes, &room, *size + ((size_t)1 << 16), 1))
			return error_memory(error);
		got = fread(*bytes + *size, 1, room - *size, input->in);
		*size += got;
		if (*size > FILE_BYTES_MAX)
			return error_set(error, ERROR_RUN,
				"%s is larger than 1 GiB: it is no profile of pprof", input->name);
	} while (got > 0);
	if (ferror(input->in)) /* a part of a message may read like a whole one */
		return error_set(error, ERROR_IO, "cannot read %s: %s", input->name, strerror(errno));
	return 0;
}

static const ProtobufCBinaryData *text_of(const struct pprof_import *import, int64_t number)
{
	static const ProtobufCBinaryData none = {0, NULL};

	return number >= 0 && (uint64_t)number < import->profile->n_string_table
		       ? &import->profile->string_table[number]
		       : &none;
}

static bool put_id(uint32_t **ids, size_t *room, uint64_t id, size_t position)
{
	if (id >= IDS_MAX || position >= UINT32_MAX)
		return true; /* places of it stay unknown */
	if (!array_reserve_zero(ids, room, (size_t)id + 1, sizeof **ids))
		return false;
	(*ids)[id] = (uint32_t)position + 1;
	return true;
}

static bool index_ids(struct pprof_import *import)
{
	const profile_type *profile = import->profile;
	bool ok = true;

	for (size_t i = 0; i < profile->n_location && ok; i++) {
		const Hpct__Pprof__Location *location = profile->location[i];

		ok = put_id(&import->locations, &import->location_room, location->id, i);
		for (size_t at = 0; at < location->n_line; at++)
			import->lines += location->line[at]->line != 0;
	}
	for (size_t i = 0; i < profile->n_function && ok; i++)
		ok = put_id(&import->functions, &import->function_room, profile->function[i]->id, i);
	return ok;
}

/* ---- stacks ---- */

static uint32_t add_address(
	struct pprof_import *import, const Hpct__Pprof__Location *location, uint32_t parent)
{
	char name[32];

	snprintf(name, sizeof name, "0x%llx", (unsigned long long)location->address);
	import->places++;
	return import_frame(import->stacks.run, parent, import_name(import->stacks.run, name, strlen(name)));
}

static uint32_t add_location(struct pprof_import *import, uint64_t id, uint32_t parent)
{
	const profile_type *profile = import->profile;
	const Hpct__Pprof__Location *location;

	if (id >= import->location_room || !import->locations[id]) {
		import->places++;
		return parent;
	}
	location = profile->location[import->locations[id] - 1];
	if (location->n_line == 0)
		return add_address(import, location, parent);
	for (size_t i = location->n_line; i-- > 0;) { /* the outermost stands last */
		uint64_t function = location->line[i]->function_id;
		const ProtobufCBinaryData *name;

		if (function >= import->function_room || !import->functions[function]) {
			import->places++;
			continue;
		}
		name = text_of(import, profile->function[import->functions[function] - 1]->name);
		parent = import_frame(import->stacks.run, parent,
			import_name(import->stacks.run, (const char *)name->data, name->len));
	}
	return parent;
}

static int take_sample(struct pprof_import *import, const Hpct__Pprof__Sample *sample, struct error *error)
{
	uint32_t context = 0;
	int code = 0;

	for (size_t i = sample->n_location_id < DEPTH_MAX ? sample->n_location_id : DEPTH_MAX; i-- > 0;)
		context = add_location(import, sample->location_id[i], context);
	import->labels += sample->n_label;
	for (size_t pass = 0; pass < 2 && code == 0; pass++)
		for (size_t i = 0; i < sample->n_value && i < import->profile->n_sample_type &&
				   i < TYPES_MAX && code == 0;
			i++) {
			uint64_t weight;

			if ((i == import->source) != (pass == 1))
				continue;
			if (sample->value[i] < 0 || __builtin_mul_overflow((uint64_t)sample->value[i],
							    import->scales[i], &weight)) {
				import->negative++;
				continue;
			}
			if (pass == 1)
				code = stack_import_add(&import->stacks, context, weight, error);
			else if (weight)
				code = stack_import_also(
					&import->stacks, import->metrics[i], context, weight, error);
		}
	return code;
}

/* ---- what is measured ---- */

/* ns in one of the unit; 0: no time. */
static uint64_t unit_ns(const ProtobufCBinaryData *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"nanoseconds", 1}, {"ns", 1}, {"microseconds", 1000}, {"us", 1000},
		{"milliseconds", 1000000}, {"ms", 1000000}, {"seconds", 1000000000}, {"s", 1000000000}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (unit->len == strlen(units[i].name) && memcmp(unit->data, units[i].name, unit->len) == 0)
			return units[i].ns;
	return 0;
}

static bool begin_metrics(struct pprof_import *import, struct import_run *run)
{
	const profile_type *profile = import->profile;
	size_t count = profile->n_sample_type < TYPES_MAX ? profile->n_sample_type : TYPES_MAX;
	char name[128], unit[32];

	import->source = count - 1;
	for (size_t i = count; i-- > 0;)
		if (unit_ns(text_of(import, profile->sample_type[i]->unit)))
			import->source = i;
	for (size_t i = 0; i < count; i++) {
		const ProtobufCBinaryData *type = text_of(import, profile->sample_type[i]->type);
		const ProtobufCBinaryData *of = text_of(import, profile->sample_type[i]->unit);
		uint64_t ns = unit_ns(of);

		import->scales[i] = ns ? ns : 1;
		snprintf(name, sizeof name, "%.*s", type->len < 100 ? (int)type->len : 100,
			type->data ? (char *)type->data : "");
		snprintf(unit, sizeof unit, "%.*s", of->len < 30 ? (int)of->len : 30,
			of->data ? (char *)of->data : "");
		if (ns)
			snprintf(unit, sizeof unit, "ns");
		else if (strcmp(unit, "count") == 0)
			unit[0] = '\0';
		if (i == import->source && !stack_import_begin(&import->stacks, run, name, unit))
			return false;
		import->metrics[i] = store_writer_metric(import_run_writer(run), name, unit, false);
	}
	return true;
}

/* ---- the whole ---- */

static int fill(struct pprof_import *import, struct import_run *run, struct error *error)
{
	const profile_type *profile = import->profile;
	struct store_bytes *left_out = &import->input->left_out;
	int code = 0;

	if (!begin_metrics(import, run) || !index_ids(import))
		return error_memory(error);
	for (size_t i = 0; i < profile->n_sample && code == 0; i++)
		code = take_sample(import, profile->sample[i], error);
	if (code == 0)
		code = stack_import_end(&import->stacks, error);
	format_left_out(left_out, import->labels, "labels of samples");
	format_left_out(
		left_out, import->negative, "values below 0, as a difference of profiles has, or too large");
	format_left_out(left_out, import->places, "frames' names, which the profile does not have");
	format_left_out(left_out, import->lines, "lines of source files");
	return code;
}

static int unpack(struct pprof_import *import, struct error *error)
{
	struct format_input *input = import->input;
	uint8_t *bytes;
	size_t size;
	int code = read_bytes(input, &bytes, &size, error);

	if (code == 0) {
		import->profile = hpct__pprof__profile__unpack(NULL, size, bytes);
		if (!import->profile || import->profile->n_sample_type == 0 ||
			import->profile->n_string_table == 0)
			code = error_set(error, ERROR_RUN,
				"%s is no profile of pprof, or damaged: its protobuf cannot be read; write "
				"it again",
				input->name);
	}
	free(bytes);
	return code;
}

int pprof_import(struct format_input *input, const char *path, struct error *error)
{
	struct pprof_import import = {.input = input};
	struct import_run *run;
	int code = import_run_begin(&run, path, "pprof", error);

	if (code < 0)
		return code;
	code = unpack(&import, error);
	if (code == 0)
		code = fill(&import, run, error);
	if (code < 0)
		import_run_abort(run);
	else
		code = import_run_end(run, &input->left_out, error);
	if (import.profile)
		hpct__pprof__profile__free_unpacked(import.profile, NULL);
	free(import.locations);
	free(import.functions);
	return code;
}

/* A message whose first field is a short value type, its positions and units as small numbers. */
bool pprof_is(const uint8_t *head, size_t size)
{
	return size > 6 && head[0] == 0x0a && head[1] >= 2 && head[1] <= 12 && head[2] == 0x08 &&
	       (size_t)head[1] + 2 < size &&
	       (head[head[1] + 2] == 0x0a || head[head[1] + 2] == 0x12 || head[head[1] + 2] == 0x1a);
}
