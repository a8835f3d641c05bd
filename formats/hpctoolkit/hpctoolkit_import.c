/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpctoolkit_import.c - makes a run of a database of HPCToolkit (version 4, as its own text on the formats
 * has it), a directory:
 *
 *   meta.db      the context tree: functions become frames; loops, lines, instructions lie in their function
 *   profile.db   which thread or GPU stream a trace is of
 *   trace.db     (time, context) of each: samples that hold, times off the core, operations of queues
 *
 * The first two are read whole, a trace line piece by piece. No offset in them is trusted. A measurement
 * directory goes to hpcrun_import.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/hpctoolkit/hpcrun_import.h"
#include "formats/hpctoolkit/hpctoolkit_line.h"
#include "store/base/array.h"

#define FILE_BYTES_MAX ((uint64_t)4 << 30)
#define CONTEXTS_MAX ((uint32_t)1 << 26)
#define KINDS_MAX 64u
#define ELEMENT_BYTES 12u /* u64 time, u32 context */
#define CONTEXT_BYTES 32u /* and as many words as it says */
#define PIECE 4096u

static const char magic[] = "HPCTOOLKIT";

/* A file in memory. */
struct image {
	uint8_t *bytes;
	size_t size;
};

/* What an identifier of a thread says, by its name. */
enum id_kind { ID_OTHER, ID_NODE, ID_RANK, ID_THREAD, ID_GPU_CONTEXT, ID_GPU_STREAM };

struct open_list {
	uint64_t at, end; /* contexts of the tree that are still to be read */
	struct hpctoolkit_place parent;
};

struct hpctoolkit {
	struct format_input *input;
	struct import_run *run;
	struct image meta, profile;
	FILE *trace;
	uint64_t trace_size, trace_read; /* bytes; of all lines */
	enum id_kind kinds[KINDS_MAX];
	struct hpctoolkit_place *places; /* [ctxId] */
	size_t place_room;
	struct open_list *open;
	size_t open_count, open_room;
	uint32_t metric;
	uint64_t parts, values, unknown; /* left out */
	bool is_damaged;
};

/* ---- bytes ---- */

static uint64_t number_at(const struct image *image, uint64_t at, unsigned size)
{
	uint64_t value = 0;

	if (at > image->size || size > image->size - at)
		return 0;
	for (unsigned i = size; i-- > 0;)
		value = value << 8 | image->bytes[at + i];
	return value;
}

/* "" where there is none. */
static const char *text_at(const struct image *image, uint64_t at)
{
	if (!at || at >= image->size || !memchr(image->bytes + at, '\0', image->size - at))
		return "";
	return (const char *)image->bytes + at;
}

/* Where the header says that a section begins. */
static uint64_t section_at(const struct image *image, unsigned section)
{
	return number_at(image, 0x18 + 0x10 * (uint64_t)section, 8);
}

static int read_image(
	struct hpctoolkit *from, const char *name, const char *kind, struct image *image, struct error *error)
{
	const char *path = from->input->path, *slash = strrchr(path, '/');
	char whole[PATH_MAX];
	FILE *file;
	long size;

	snprintf(whole, sizeof whole, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
	file = fopen(whole, "re");
	if (!file)
		return error_set(error, ERROR_RUN,
			"cannot read %s: %s; a database of HPCToolkit is a whole directory", whole,
			strerror(errno));
	size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
	rewind(file);
	image->bytes = size > 0 && (uint64_t)size < FILE_BYTES_MAX ? malloc((size_t)size) : NULL;
	image->size = image->bytes ? fread(image->bytes, 1, (size_t)size, file) : 0;
	fclose(file);
	if (image->size < 0x30 || memcmp(image->bytes, magic, 10) != 0 ||
		memcmp(image->bytes + 10, kind, 4) != 0 || image->bytes[14] != 4)
		return error_set(
			error, ERROR_RUN, "%s is no %s of HPCToolkit's version 4, or damaged", whole, name);
	return 0;
}

/* ---- the context tree ---- */

static uint32_t add_frame(struct hpctoolkit *from, uint32_t parent, const char *name)
{
	return import_frame(from->run, parent, import_name(from->run, name, strlen(name)));
}

/* The name, else the place in the module. */
static struct hpctoolkit_place enter_function(
	struct hpctoolkit *from, uint64_t function, struct hpctoolkit_place place)
{
	const char *name = text_at(&from->meta, number_at(&from->meta, function, 8)), *module, *slash;
	char text[512];
	uint32_t op = hpctoolkit_operation(name);

	if (op != STORE_OP_COUNT)
		place.op = op;
	if (!*name) {
		module = text_at(
			&from->meta, number_at(&from->meta, number_at(&from->meta, function + 8, 8) + 8, 8));
		slash = strrchr(module, '/');
		snprintf(text, sizeof text, "%.400s+0x%" PRIx64, slash ? slash + 1 : module,
			number_at(&from->meta, function + 0x10, 8));
		name = *module ? text : "<unknown>";
	}
	place.context = add_frame(from, place.context, name);
	return place;
}

static bool set_place(struct hpctoolkit *from, uint64_t id, struct hpctoolkit_place place)
{
	/* Contexts are numbered in turn, and none takes less than a byte of the file. Records of others are
	 * counted as unknown. */
	if (id >= CONTEXTS_MAX || id > from->meta.size)
		return true;
	if (!array_reserve_zero(&from->places, &from->place_room, (size_t)id + 1, sizeof *from->places))
		return false;
	place.is_known = true;
	from->places[id] = place;
	return true;
}

static bool open_children(struct hpctoolkit *from, uint64_t context, struct hpctoolkit_place parent)
{
	uint64_t size = number_at(&from->meta, context, 8), at = number_at(&from->meta, context + 8, 8);

	if (!size || !at)
		return true;
	if (at > from->meta.size || size > from->meta.size - at) {
		from->is_damaged = true;
		return true;
	}
	if (!array_widen(&from->open, &from->open_room, from->open_count, sizeof *from->open))
		return false;
	from->open[from->open_count++] = (struct open_list){at, at + size, parent};
	return true;
}

/* A context of the tree, and its children for later. */
static bool take_context(struct hpctoolkit *from, uint64_t at, struct hpctoolkit_place place)
{
	const struct image *meta = &from->meta;
	bool is_function = number_at(meta, at + 0x16, 1) == 0,
	     has_function = number_at(meta, at + 0x14, 1) & 1;

	if (is_function && has_function)
		place = enter_function(from, number_at(meta, at + 0x20, 8), place);
	else if (is_function)
		place.context = add_frame(from, place.context, "<unknown>");
	else
		from->parts++;
	return set_place(from, number_at(meta, at + 0x10, 4), place) && open_children(from, at, place);
}

/* Threads begin where hpct has them begin. */
static bool take_entry(struct hpctoolkit *from, uint64_t at)
{
	struct hpctoolkit_place place = {.op = STORE_OP_KERNEL};
	uint64_t kind = number_at(&from->meta, at + 0x14, 2);

	if (kind != 1)
		place.context = add_frame(from, 0, kind == 2 ? "<thread root>" : "<partial>");
	return set_place(from, number_at(&from->meta, at + 0x10, 4), place) && open_children(from, at, place);
}

static bool read_tree(struct hpctoolkit *from)
{
	const struct image *meta = &from->meta;
	uint64_t section = section_at(meta, 3), at = number_at(meta, section, 8),
		 count = number_at(meta, section + 8, 2);
	uint64_t size = number_at(meta, section + 0x0a, 1), seen = 0;

	for (uint64_t i = 0; i < count && size; i++)
		if (!take_entry(from, at + i * size))
			return false;
	while (from->open_count) {
		struct open_list *list = &from->open[from->open_count - 1];
		uint64_t context = list->at;

		/* A tree has no more contexts than its file has room for: a damaged one may go in circles. */
		if (list->at + CONTEXT_BYTES > list->end || ++seen > meta->size / CONTEXT_BYTES) {
			from->is_damaged |= list->at < list->end;
			from->open_count--;
			continue;
		}
		list->at += CONTEXT_BYTES + 8 * number_at(meta, context + 0x17, 1);
		if (!take_context(from, context, list->parent))
			return false;
	}
	return true;
}

/* ---- threads ---- */

static void read_kinds(struct hpctoolkit *from)
{
	static const char *const names[] = {[ID_NODE] = "NODE",
		[ID_RANK] = "RANK",
		[ID_THREAD] = "THREAD",
		[ID_GPU_CONTEXT] = "GPUCONTEXT",
		[ID_GPU_STREAM] = "GPUSTREAM"};
	uint64_t section = section_at(&from->meta, 1), at = number_at(&from->meta, section, 8);
	uint64_t count = number_at(&from->meta, section + 8, 1);

	for (uint64_t i = 0; i < count && i < KINDS_MAX; i++)
		for (unsigned kind = ID_NODE; kind <= ID_GPU_STREAM; kind++)
			if (strcmp(text_at(&from->meta, number_at(&from->meta, at + 8 * i, 8)),
				    names[kind]) == 0)
				from->kinds[i] = kind;
}

struct identity {
	uint64_t ids[ID_GPU_STREAM + 1];
	bool has[ID_GPU_STREAM + 1];
};

static struct identity read_identity(const struct hpctoolkit *from, uint64_t at)
{
	const struct image *profile = &from->profile;
	struct identity identity = {.ids = {0}};
	uint64_t count = at ? number_at(profile, at, 2) : 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t id = at + 8 + 0x10 * i, number = number_at(profile, id, 1);
		enum id_kind kind = number < KINDS_MAX ? from->kinds[number] : ID_OTHER;

		identity.has[kind] = true;
		identity.ids[kind] =
			kind == ID_NODE ? number_at(profile, id + 8, 8) : number_at(profile, id + 4, 4);
	}
	return identity;
}

static uint32_t find_process(struct hpctoolkit *from, const struct identity *identity)
{
	struct import_process *process;
	char key[64], host[32];
	uint32_t number;

	snprintf(key, sizeof key, "%" PRIx64 "/%" PRIu64, identity->ids[ID_NODE], identity->ids[ID_RANK]);
	number = import_process(from->run, key, strlen(key));
	if (number == IMPORT_NONE)
		return number;
	process = import_process_at(from->run, number);
	if (identity->has[ID_RANK] && identity->ids[ID_RANK] <= INT32_MAX)
		process->rank = (int32_t)identity->ids[ID_RANK];
	snprintf(host, sizeof host, "%08" PRIx64, identity->ids[ID_NODE]);
	if (identity->has[ID_NODE])
		process->host = import_name(from->run, host, strlen(host));
	return number;
}

static uint32_t find_stream(struct hpctoolkit *from, uint64_t profile)
{
	uint64_t section = section_at(&from->profile, 0), at = number_at(&from->profile, section, 8);
	uint64_t size = number_at(&from->profile, section + 0x0c, 1);
	struct identity identity =
		read_identity(from, number_at(&from->profile, at + profile * size + 0x20, 8));
	uint32_t process = find_process(from, &identity), stream;
	char key[32];

	if (process == IMPORT_NONE)
		return process;
	if (identity.has[ID_GPU_STREAM] || identity.has[ID_GPU_CONTEXT])
		return import_queue(from->run, process, 0, (uint32_t)identity.ids[ID_GPU_CONTEXT],
			(uint32_t)identity.ids[ID_GPU_STREAM]);
	snprintf(key, sizeof key, "thread %" PRIu64, identity.ids[ID_THREAD]);
	stream = import_thread(from->run, process, key, strlen(key));
	if (stream != IMPORT_NONE) {
		struct import_stream *to = import_stream_at(from->run, stream);

		to->is_numbered = to->has_switches = true;
		to->s.thread = (uint32_t)identity.ids[ID_THREAD];
		to->s.name = import_name(from->run, key, strlen(key));
		to->metric = import_name(from->run, "time", 4);
	}
	return stream;
}

static void count_values(struct hpctoolkit *from)
{
	uint64_t section = section_at(&from->profile, 0), at = number_at(&from->profile, section, 8);
	uint64_t count = number_at(&from->profile, section + 8, 4),
		 size = number_at(&from->profile, section + 0x0c, 1);

	for (uint64_t i = 0; i < count && size && at + i * size < from->profile.size; i++)
		if (!(number_at(&from->profile, at + i * size + 0x28, 4) & 1))
			from->values += number_at(&from->profile, at + i * size, 8);
}

/* ---- traces ---- */

static struct hpctoolkit_place place_of(struct hpctoolkit *from, uint32_t id)
{
	struct hpctoolkit_place none = {.op = STORE_OP_KERNEL, .is_idle = id == 0};

	if (id < from->place_room && from->places[id].is_known)
		return from->places[id];
	from->unknown += id != 0;
	return none;
}

static int read_line(
	struct hpctoolkit *from, uint64_t profile, uint64_t at, uint64_t end, struct error *error)
{
	struct hpctoolkit_line line;
	uint32_t stream = find_stream(from, profile);
	uint8_t bytes[PIECE * ELEMENT_BYTES];
	struct image image = {.bytes = bytes};
	int code = 0;

	if (stream == IMPORT_NONE)
		return error_memory(error);
	hpctoolkit_line_begin(&line, from->run, stream, from->metric);
	if (end < at || at > from->trace_size || fseeko(from->trace, (off_t)at, SEEK_SET) != 0) {
		from->is_damaged = true;
		return 0;
	}
	while (at < end && code == 0) {
		size_t wanted = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;

		image.size = fread(bytes, 1, wanted, from->trace);
		for (size_t i = 0; i + ELEMENT_BYTES <= image.size && code == 0; i += ELEMENT_BYTES) {
			const struct hpctoolkit_place place =
				place_of(from, (uint32_t)number_at(&image, i + 8, 4));

			code = hpctoolkit_line_take(&line, number_at(&image, i, 8), &place, error);
		}
		at += image.size;
		from->trace_read += image.size;
		/* Lines that overlap are none: else a small file would be read for ever. */
		if (image.size < wanted || from->trace_read > from->trace_size) {
			from->is_damaged = true;
			break;
		}
	}
	return code;
}

static int read_traces(struct hpctoolkit *from, struct error *error)
{
	uint8_t bytes[0x30];
	struct image image = {bytes, sizeof bytes};
	uint64_t section, traces, count, size;
	int code = 0;

	rewind(from->trace);
	if (fread(bytes, 1, sizeof bytes, from->trace) < 0x20 || memcmp(bytes, magic, 10) != 0 ||
		memcmp(bytes + 10, "trce", 4) != 0 || bytes[14] != 4)
		return error_set(
			error, ERROR_RUN, "%s is no trace of HPCToolkit's version 4", from->input->name);
	section = section_at(&image, 0);
	if (section > from->trace_size || fseeko(from->trace, (off_t)section, SEEK_SET) != 0 ||
		fread(bytes, 1, 0x20, from->trace) < 0x20)
		return error_set(error, ERROR_RUN, "%s is damaged: it has no traces", from->input->name);
	traces = number_at(&image, 0, 8);
	count = number_at(&image, 8, 4);
	size = number_at(&image, 0x0c, 1);
	for (uint64_t i = 0; i < count && code == 0; i++) {
		if (size < 0x18 || traces + i * size > from->trace_size ||
			fseeko(from->trace, (off_t)(traces + i * size), SEEK_SET) != 0 ||
			fread(bytes, 1, 0x18, from->trace) < 0x18) {
			from->is_damaged = true;
			break;
		}
		code = read_line(from, number_at(&image, 0, 4), number_at(&image, 8, 8),
			number_at(&image, 0x10, 8), error);
		format_input_progress(from->input);
	}
	return code;
}

/* ---- the whole ---- */

static int fill(struct hpctoolkit *from, struct error *error)
{
	struct store_bytes *list = &from->input->left_out;
	int code = read_image(from, "meta.db", "meta", &from->meta, error);

	code = code ? code : read_image(from, "profile.db", "prof", &from->profile, error);
	if (code)
		return code;
	if (fseeko(from->trace, 0, SEEK_END) == 0)
		from->trace_size = (uint64_t)ftello(from->trace);
	from->metric = store_writer_metric(import_run_writer(from->run), "time", "ns", false);
	read_kinds(from);
	if (!read_tree(from))
		return error_memory(error);
	code = read_traces(from, error);
	count_values(from);
	format_left_out(list, from->values, "metric values of profiles");
	format_left_out(list, from->parts, "loops, lines and instructions of call paths");
	format_left_out(list, from->unknown, "times in contexts that the tree does not have");
	return code;
}

static int import_from(struct hpctoolkit *from, const char *path, struct error *error)
{
	struct format_input *input = from->input;
	int code = import_run_begin(&from->run, path, "hpctoolkit", error);

	if (code < 0)
		return code;
	code = fill(from, error);
	if (code < 0) {
		import_run_abort(from->run);
		return code;
	}
	code = import_run_end(from->run, &input->left_out, error);
	if (code < 0 || !from->is_damaged)
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN, "%s is damaged or cut short: what could be read is in %s",
		input->name, path);
}

static int hpctoolkit_import(struct format_input *input, const char *path, struct error *error)
{
	struct hpctoolkit from = {.input = input};
	int code;

	if (!input->path)
		return error_set(error, ERROR_USAGE,
			"HPCToolkit's databases and measurements are directories: name one, or a file in it");
	if (hpcrun_import_is(input->path))
		return hpcrun_import(input, path, error);
	code = format_plain_file(input, &from.trace, error);
	if (code == 0)
		code = import_from(&from, path, error);
	if (from.trace)
		fclose(from.trace);
	free(from.meta.bytes);
	free(from.profile.bytes);
	free(from.places);
	free(from.open);
	return code;
}

static bool hpctoolkit_is(const uint8_t *head, size_t size)
{
	return hpcrun_is(head, size) ||
	       (size > 14 && memcmp(head, magic, 10) == 0 && memcmp(head + 10, "trce", 4) == 0);
}

const struct format format_hpctoolkit = {.name = "hpctoolkit",
	.about = "databases of hpcprof, measurements of hpcrun",
	.take = hpctoolkit_import,
	.is = hpctoolkit_is,
	.anchor = "trace.db *.hpcrun"};
