/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcrun_import.c - makes a run of a measurement directory of HPCToolkit, without hpcprof:
 *
 *   NAME.hpcrun      the call tree of a thread or GPU stream; its places are of modules, and get their names
 * as those of a recording: from the files, if they are here NAME.hpctrace    its trace. Without one the
 * profile's values stand one behind the other, as folded stacks do gpubins/, vdso/  code that is nowhere else
 *
 * A profile is read whole, a trace piece by piece. Names of files in them count for nothing but a module's
 * name: of the directory's own parts only the last component is used.
 */
#include "formats/hpctoolkit/hpcrun_import.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hpctoolkit/hpcrun_file.h"
#include "formats/hpctoolkit/hpctoolkit_line.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/code/gpu_code.h"
#include "timeline/debug/demangle.h"
#include "timeline/names/names_fill.h"

#define FILE_BYTES_MAX ((uint64_t)4 << 30)
#define CODE_BYTES_MAX ((uint64_t)1 << 30)
#define CODE_KEPT_MAX ((uint64_t)2 << 30) /* of all GPU binaries */
#define METRICS_MAX 4096u
#define DISORDER_MAX (1u << 20)
#define PIECE 4096u
#define TIME_MAX (UINT64_MAX / 4)
#define SUFFIX ".hpcrun"
#define TRACE_SUFFIX ".hpctrace"

struct element {
	uint64_t time_ns;
	uint32_t node;
};

struct metric {
	uint32_t id; /* in the run */
	double scale;
	bool is_real, is_time, is_used;
};

/* A GPU binary of the directory; all-zero but for `is_tried`: it is not to be had. */
struct code {
	uint8_t *bytes;
	struct gpu_code *code; /* NULL: it cannot be read */
	uint32_t module;       /* of the run */
	bool is_tried;
};

/* A module of the profile. */
struct module_of {
	uint32_t module; /* of the run; 0: none */
	uint32_t code;	 /* its number + 1; 0: no GPU binary */
};

struct hpcrun_import {
	struct format_input *input;
	struct import_run *run;
	const char *directory;
	uint32_t time_metric;
	uint64_t first_ns; /* of all traces, where profiles without one begin */
	bool has_trace;
	struct key_ids code_names; /* hashes of names of GPU binaries */
	struct code *codes;
	size_t code_room;
	uint64_t code_bytes; /* read */
	/* Of the profile that is read. */
	struct hpcrun_file file;
	struct key_ids nodes; /* by hpcrun's number */
	struct hpctoolkit_place *places;
	size_t place_room;
	struct module_of *modules; /* [hpcrun's number] */
	size_t module_room;
	struct metric *metrics;
	size_t metric_count, metric_room;
	uint64_t disorder, pid; /* of the trace's elements; pid UINT64_MAX: not told */
	uint32_t program;	/* text */
	/* Left out, and damaged. */
	uint64_t files, others, values, ranges, unknown, disordered;
	uint32_t damaged; /* files */
};

/* ---- files ---- */

static bool path_in(
	const struct hpcrun_import *from, const char *folder, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s%s", from->directory, folder, name) < PATH_MAX;
}

/* A regular file as a whole, in malloc'ed memory; NULL: it is none, or too large. */
static uint8_t *read_whole(const char *path, uint64_t most, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint8_t *bytes = NULL;
	struct stat status;

	*size = 0;
	if (file && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
		(uint64_t)status.st_size <= most)
		bytes = malloc((size_t)status.st_size);
	if (bytes)
		*size = fread(bytes, 1, (size_t)status.st_size, file);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return bytes;
}

bool hpcrun_is(const uint8_t *head, size_t size)
{
	const size_t magic = sizeof HPCRUN_MAGIC - 1;

	return size >= magic &&
	       (memcmp(head, HPCRUN_MAGIC, magic) == 0 || memcmp(head, HPCRUN_TRACE_MAGIC, magic) == 0);
}

bool hpcrun_import_is(const char *path)
{
	uint8_t head[sizeof HPCRUN_MAGIC];
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(head, 1, sizeof head, file) : 0;

	if (file)
		fclose(file);
	return hpcrun_is(head, size);
}

/* ---- modules ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* It lies in the run itself, as those that hpct-record finds. */
static void read_code(struct hpcrun_import *from, const char *path, struct code *code)
{
	struct store_writer *writer = import_run_writer(from->run);
	struct store_module module = {.kind = STORE_MODULE_GPU, .build_id_bytes = sizeof(uint64_t)};
	struct error ignored;
	size_t size;
	uint64_t key;

	code->is_tried = true;
	code->bytes = read_whole(path, CODE_BYTES_MAX, &size);
	if (!code->bytes)
		return;
	key = store_hash64(code->bytes, size, 0);
	for (unsigned i = 0; i < sizeof key; i++)
		module.build_id[i] = (uint8_t)(key >> (56 - 8 * i));
	module.path = import_name(from->run, last_part(path), strlen(last_part(path)));
	store_writer_blob(writer, key, code->bytes, size);
	code->module = store_writer_module(writer, &module);
	from->code_bytes += size;
	if (from->code_bytes > CODE_KEPT_MAX) { /* kernels of the rest are instructions */
		free(code->bytes);
		code->bytes = NULL;
		return;
	}
	if (gpu_code_is(code->bytes, size) && gpu_code_open(&code->code, code->bytes, size, &ignored))
		code->code = NULL;
}

/* Threads share them: each is read once. 0: it is not here; else its number + 1. */
static bool find_code(struct hpcrun_import *from, const char *name, uint32_t *found)
{
	struct store_hash hash = store_hash128(name, strlen(name));
	uint32_t number = key_ids_put(&from->code_names, &hash, NULL);
	char path[PATH_MAX];

	*found = 0;
	if (number == KEY_IDS_NONE ||
		!array_reserve_zero(&from->codes, &from->code_room, (size_t)number + 1, sizeof *from->codes))
		return false;
	if (!from->codes[number].is_tried && path_in(from, "gpubins/", name, path))
		read_code(from, path, &from->codes[number]);
	if (from->codes[number].module)
		*found = number + 1;
	return true;
}

static bool add_module(struct hpcrun_import *from, const char *path, struct module_of *to)
{
	struct store_module module = {.kind = STORE_MODULE_ELF};
	const char *name = last_part(path);
	char own[PATH_MAX];

	*to = (struct module_of){0};
	if (strstr(path, "gpubins/") && !find_code(from, name, &to->code))
		return false;
	if (to->code) {
		to->module = from->codes[to->code - 1].module;
		return true;
	}
	if (strstr(path, "vdso/") && path_in(from, "vdso/", name, own) && access(own, R_OK) == 0)
		path = own;
	else if (*path == '<') /* <vmlinux.HOST> */
		module.kind = STORE_MODULE_KERNEL;
	module.path = import_name(from->run, path, strlen(path));
	to->module = store_writer_module(import_run_writer(from->run), &module);
	return true;
}

static bool read_modules(struct hpcrun_import *from)
{
	uint64_t count = hpcrun_count(&from->file.modules, 4);
	struct hpcrun_module module;
	char path[PATH_MAX];

	while (hpcrun_module_next(&from->file.modules, &count, &module)) {
		snprintf(path, sizeof path, "%.*s",
			(int)(module.path.size < PATH_MAX ? module.path.size : PATH_MAX), module.path.bytes);
		if (!array_reserve_zero(&from->modules, &from->module_room, (size_t)module.id + 1,
			    sizeof *from->modules) ||
			!add_module(from, path, &from->modules[module.id]))
			return false;
	}
	return true;
}

/* ---- the call tree ---- */

/* A frame of hpcrun's own; what it does not name is told by its letters. */
static struct hpctoolkit_place enter_word(
	struct hpcrun_import *from, uint64_t word, struct hpctoolkit_place place)
{
	const char *name = hpcrun_word(word);
	char letters[11] = "<        >";
	uint32_t op;

	if (word == HPCRUN_WORD_PRIMARY || word == HPCRUN_WORD_MAIN)
		return place;
	if (word == HPCRUN_WORD_IDLE) {
		place.is_idle = true;
		return place;
	}
	for (unsigned i = 0; i < 8; i++)
		letters[1 + i] = (char)(word >> (56 - 8 * i));
	name = name ? name : letters;
	op = hpctoolkit_operation(name);
	place.op = op == STORE_OP_COUNT ? place.op : op;
	place.is_kernel = op == STORE_OP_KERNEL;
	place.context = import_frame(from->run, place.context, import_name(from->run, name, strlen(name)));
	return place;
}

/* A kernel has its name, as in hpct's own runs; only another place in it than its begin is an instruction. */
static bool enter_kernel(
	struct hpcrun_import *from, uint32_t code, uint64_t offset, struct hpctoolkit_place *place)
{
	const struct gpu_code *binary = code ? from->codes[code - 1].code : NULL;
	const struct gpu_function *function = binary ? gpu_code_at(binary, offset) : NULL;
	char name[DEMANGLE_MAX];

	if (!function || !place->is_kernel)
		return false;
	demangle_symbol(function->name, name, sizeof name);
	place->context = import_frame(from->run, place->context, import_name(from->run, name, strlen(name)));
	return offset == function->start;
}

static struct hpctoolkit_place enter(
	struct hpcrun_import *from, const struct hpcrun_node *node, struct hpctoolkit_place place)
{
	const struct module_of none = {0},
			       *of = node->module < from->module_room ? &from->modules[node->module] : &none;
	uint32_t parent, module = of->module;

	if (node->module == HPCRUN_MODULE_NONE)
		return enter_word(from, node->offset, place);
	if (node->module >= HPCRUN_MODULE_RANGES) {
		from->ranges++;
		return place;
	}
	if (enter_kernel(from, of->code, node->offset, &place))
		return place;
	parent = place.context ? place.context : STORE_CONTEXT_PROGRAM_ROOT;
	place.context =
		module ? store_writer_context(import_run_writer(from->run), parent, module, node->offset)
		       : store_writer_context(import_run_writer(from->run), parent, STORE_MODULE_RESERVED,
				 STORE_FRAME_UNKNOWN);
	return place;
}

static bool set_place(struct hpcrun_import *from, uint32_t node, const struct hpctoolkit_place *place)
{
	uint32_t number = key_ids_put(&from->nodes, &node, NULL);

	if (number == KEY_IDS_NONE ||
		!array_widen(&from->places, &from->place_room, number, sizeof *from->places))
		return false;
	from->places[number] = *place;
	from->places[number].is_known = true;
	return true;
}

static struct hpctoolkit_place place_of(const struct hpcrun_import *from, uint32_t node)
{
	uint32_t number = key_ids_find(&from->nodes, &node);

	return number == KEY_IDS_NONE ? (struct hpctoolkit_place){.op = STORE_OP_KERNEL}
				      : from->places[number];
}

/* Parents come before their children; one that does not is the root. */
static bool read_nodes(struct hpcrun_import *from)
{
	uint64_t count = hpcrun_count(&from->file.nodes, 8);
	struct hpcrun_node node;

	key_ids_clear(&from->nodes);
	while (hpcrun_node_next(&from->file.nodes, &count, &node)) {
		struct hpctoolkit_place place = place_of(from, node.parent);

		bool is_kernel = place.is_kernel;

		place.is_idle = false;
		place = enter(from, &node, place);
		place.is_kernel &= !is_kernel; /* of the frame right below <gpu kernel> alone */
		if (!set_place(from, node.id, &place))
			return false;
	}
	return true;
}

/* ---- whose it is ---- */

static bool is_fact(const struct hpcrun_fact *fact, const char *name)
{
	return fact->name.size == strlen(name) && memcmp(fact->name.bytes, name, fact->name.size) == 0;
}

static uint64_t number_of(const struct hpcrun_text *text)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text->size && i < 18; i++) {
		if (text->bytes[i] < '0' || text->bytes[i] > '9')
			return UINT64_MAX;
		number = number * 10 + (uint64_t)(text->bytes[i] - '0');
	}
	return text->size ? number : UINT64_MAX;
}

static void read_facts(struct hpcrun_import *from)
{
	uint64_t count = hpcrun_count(&from->file.facts, 4);
	struct hpcrun_fact fact;

	from->disorder = 0;
	from->pid = UINT64_MAX;
	from->program = 0;
	while (hpcrun_fact_next(&from->file.facts, &count, &fact)) {
		if (is_fact(&fact, "program-name"))
			from->program = import_name(from->run, fact.value.bytes, fact.value.size);
		else if (is_fact(&fact, "process-id"))
			from->pid = number_of(&fact.value);
		else if (is_fact(&fact, "trace-disorder"))
			from->disorder = number_of(&fact.value);
	}
}

static uint32_t find_process(struct hpcrun_import *from, const struct hpcrun_identity *identity)
{
	struct import_process *process;
	char key[96], host[32];
	uint32_t number;

	snprintf(key, sizeof key, "%" PRIx64 "/%" PRIu64 "/%" PRIu64, identity->ids[HPCRUN_NODE],
		identity->ids[HPCRUN_RANK], from->pid);
	number = import_process(from->run, key, strlen(key));
	if (number == IMPORT_NONE)
		return number;
	process = import_process_at(from->run, number);
	if (from->pid < IMPORT_NONE)
		process->pid = (uint32_t)from->pid;
	if (identity->has[HPCRUN_RANK] && identity->ids[HPCRUN_RANK] <= INT32_MAX)
		process->rank = (int32_t)identity->ids[HPCRUN_RANK];
	process->name = from->program;
	snprintf(host, sizeof host, "%08" PRIx64, identity->ids[HPCRUN_NODE]);
	if (identity->has[HPCRUN_NODE])
		process->host = import_name(from->run, host, strlen(host));
	return number;
}

static uint32_t find_stream(struct hpcrun_import *from)
{
	struct hpcrun_identity identity;
	uint32_t process, stream;
	char key[32];

	hpcrun_identity_read(&from->file.values, &identity);
	process = find_process(from, &identity);
	if (process == IMPORT_NONE)
		return process;
	if (identity.has[HPCRUN_STREAM] || identity.has[HPCRUN_CONTEXT])
		return import_queue(from->run, process, (uint32_t)identity.ids[HPCRUN_DEVICE],
			(uint32_t)identity.ids[HPCRUN_CONTEXT], (uint32_t)identity.ids[HPCRUN_STREAM]);
	snprintf(key, sizeof key, "thread %" PRIu64, identity.ids[HPCRUN_THREAD]);
	stream = import_thread(from->run, process, key, strlen(key));
	if (stream != IMPORT_NONE) {
		struct import_stream *to = import_stream_at(from->run, stream);

		to->is_numbered = true;
		to->s.thread = (uint32_t)identity.ids[HPCRUN_THREAD];
		to->s.name = import_name(from->run, key, strlen(key));
	}
	return stream;
}

/* ---- traces ---- */

/* Elements that are a little out of order come out in order: a heap, the earliest at [0]. */
struct heap {
	struct element *elements;
	size_t count, room;
};

static void heap_sink(struct heap *heap, struct element element)
{
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		child += child + 1 < heap->count &&
			 heap->elements[child + 1].time_ns < heap->elements[child].time_ns;
		if (heap->elements[child].time_ns >= element.time_ns)
			break;
		heap->elements[at] = heap->elements[child];
	}
	heap->elements[at] = element;
}

static void heap_put(struct heap *heap, struct element element)
{
	size_t at = heap->count++;

	for (; at > 0 && heap->elements[(at - 1) / 2].time_ns > element.time_ns; at = (at - 1) / 2)
		heap->elements[at] = heap->elements[(at - 1) / 2];
	heap->elements[at] = element;
}

static struct element heap_take(struct heap *heap)
{
	struct element first = heap->elements[0];

	heap->count--;
	if (heap->count)
		heap_sink(heap, heap->elements[heap->count]);
	return first;
}

static int take_element(
	struct hpcrun_import *from, struct hpctoolkit_line *line, struct element element, struct error *error)
{
	struct hpctoolkit_place place = place_of(from, element.node);

	from->unknown += !place.is_known;
	if (!from->has_trace || element.time_ns < from->first_ns)
		from->first_ns = element.time_ns;
	from->has_trace = true;
	if (line->has_last && element.time_ns < line->last_ns) {
		from->disordered++;
		return 0;
	}
	return hpctoolkit_line_take(line, element.time_ns, &place, error);
}

static int take_elements(struct hpcrun_import *from, struct hpctoolkit_line *line, struct heap *heap,
	const uint8_t *bytes, size_t size, struct error *error)
{
	struct store_input input = {bytes, bytes + size, false};
	int code = 0;

	while (code == 0 && (size_t)(input.end - input.at) >= HPCRUN_TRACE_ELEMENT_BYTES) {
		struct element element = {.time_ns = hpcrun_number(&input, 8)};

		element.node = (uint32_t)hpcrun_number(&input, 4);
		if (heap->count == heap->room)
			code = take_element(from, line, heap_take(heap), error);
		heap_put(heap, element);
	}
	return code;
}

static int read_elements(
	struct hpcrun_import *from, struct hpctoolkit_line *line, FILE *trace, struct error *error)
{
	uint8_t bytes[PIECE * HPCRUN_TRACE_ELEMENT_BYTES];
	size_t most = from->disorder < DISORDER_MAX ? (size_t)from->disorder : DISORDER_MAX, size;
	struct heap heap = {.elements = malloc((most + 1) * sizeof *heap.elements), .room = most + 1};
	int code = heap.elements ? 0 : error_memory(error);

	while (code == 0 && (size = fread(bytes, 1, sizeof bytes, trace)) > 0) {
		code = take_elements(from, line, &heap, bytes, size, error);
		from->damaged += size % HPCRUN_TRACE_ELEMENT_BYTES != 0;
	}
	while (code == 0 && heap.count)
		code = take_element(from, line, heap_take(&heap), error);
	free(heap.elements);
	return code;
}

static int read_trace(struct hpcrun_import *from, uint32_t stream, FILE *trace, struct error *error)
{
	struct import_stream *to = import_stream_at(from->run, stream);
	uint8_t head[HPCRUN_TRACE_HEAD_BYTES];
	struct hpctoolkit_line line;

	/* The lowest bit of the flags: elements are longer, of a version of long ago. */
	if (fread(head, 1, sizeof head, trace) < sizeof head ||
		memcmp(head, HPCRUN_TRACE_MAGIC "01.01b", HPCRUN_HEAD_BYTES) != 0 ||
		head[sizeof head - 1] & 1) {
		from->damaged++;
		return 0;
	}
	to->has_switches = to->s.kind == STORE_STREAM_CPU;
	to->metric = import_name(from->run, "time", 4);
	hpctoolkit_line_begin(&line, from->run, stream, from->time_metric);
	return read_elements(from, &line, trace, error);
}

/* ---- profiles without a trace ---- */

#define SECONDS " (sec)"

static bool add_metric(struct hpcrun_import *from, const struct hpcrun_metric *metric)
{
	const size_t tail = sizeof SECONDS - 1;
	size_t size = metric->name.size;
	bool is_time = size > tail && memcmp(metric->name.bytes + size - tail, SECONDS, tail) == 0;
	struct metric to = {.is_real = metric->is_real,
		.is_time = is_time,
		.scale = (double)metric->period * (is_time ? 1e9 : 1)};
	char name[256];

	size -= is_time ? tail : 0;
	snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name - 1),
		metric->name.bytes);
	if (!metric->is_derived)
		to.id = store_writer_metric(import_run_writer(from->run), name, is_time ? "ns" : "", false);
	to.is_used = !metric->is_derived;
	if (from->metric_count == METRICS_MAX)
		return true;
	if (!array_widen(&from->metrics, &from->metric_room, from->metric_count, sizeof *from->metrics))
		return false;
	from->metrics[from->metric_count++] = to;
	return true;
}

/* Which metric is the time of the line; the count of metrics: none. */
static size_t read_metrics(struct hpcrun_import *from, struct error *error, int *code)
{
	uint64_t count = hpcrun_count(&from->file.metrics, 4);
	struct hpcrun_metric metric;

	from->metric_count = 0;
	while (*code == 0 && hpcrun_metric_next(&from->file.metrics, &count, &metric))
		if (!add_metric(from, &metric))
			*code = error_memory(error);
	for (size_t i = 0; i < from->metric_count; i++)
		if (from->metrics[i].is_time && from->metrics[i].is_used)
			return i;
	return 0;
}

static uint64_t weight_of(const struct metric *metric, uint64_t bits)
{
	double value;

	if (!metric->is_real && metric->scale == 1)
		return bits;
	if (metric->is_real)
		memcpy(&value, &bits, sizeof value);
	else
		value = (double)bits;
	value = round(value * metric->scale);
	return value > 0 && value < (double)TIME_MAX ? (uint64_t)value : 0;
}

static int put_value(struct hpcrun_import *from, uint32_t stream, uint64_t at_ns, const struct metric *metric,
	uint32_t context, uint64_t weight, bool is_source, struct error *error)
{
	const struct import_record record = {.shape = IMPORT_SAMPLE,
		.begin_ns = at_ns,
		.stream = stream,
		.op = metric->id,
		.name = context,
		.bytes = weight,
		.is_source = is_source};

	return import_record(from->run, &record, error);
}

struct profile_line {
	uint32_t stream;
	size_t source; /* metric */
	uint64_t now_ns, spent_ns;
};

/* A node's values: one is its time. */
static int put_node(struct hpcrun_import *from, struct profile_line *line, const struct hpcrun_values *values,
	uint64_t i, struct error *error)
{
	uint64_t first, end, spent = 0;
	struct hpctoolkit_place place = place_of(from, hpcrun_values_owner(values, i, &first, &end));
	int code = 0;

	from->unknown += !place.is_known;
	for (uint64_t at = first; at < end && code == 0; at++) {
		uint16_t number;
		uint64_t bits = hpcrun_value_at(values, at, &number), weight;

		if (number >= from->metric_count || !from->metrics[number].is_used)
			continue;
		weight = weight_of(&from->metrics[number], bits);
		if (number == line->source)
			spent = weight < TIME_MAX - line->spent_ns ? weight : 0;
		code = put_value(from, line->stream, line->now_ns, &from->metrics[number], place.context,
			weight, number == line->source, error);
	}
	line->now_ns += spent;
	line->spent_ns += spent;
	return code;
}

static int read_profile(struct hpcrun_import *from, uint32_t stream, struct error *error)
{
	struct hpcrun_values values;
	struct profile_line line = {.stream = stream, .now_ns = from->first_ns};
	int code = 0;

	line.source = read_metrics(from, error, &code);
	if (code == 0 && !hpcrun_values_read(&from->file.values, &values)) {
		from->damaged++;
		return 0;
	}
	for (uint64_t i = 0; code == 0 && i < values.owner_count; i++)
		code = put_node(from, &line, &values, i, error);
	if (code == 0 && line.spent_ns && line.source < from->metric_count)
		code = put_value(from, stream, line.now_ns, &from->metrics[line.source], 0, 0, true, error);
	return code;
}

/* ---- a thread ---- */

/* `trace` NULL: it has none. */
static int read_file(struct hpcrun_import *from, FILE *trace, struct error *error)
{
	uint32_t stream;
	int code;

	if (!read_modules(from) || !read_nodes(from))
		return error_memory(error);
	read_facts(from);
	stream = find_stream(from);
	if (stream == IMPORT_NONE)
		return error_memory(error);
	if (!trace && import_stream_at(from->run, stream)->s.kind == STORE_STREAM_CPU)
		return read_profile(from, stream, error);
	code = trace ? read_trace(from, stream, trace, error) : 0; /* a queue's samples would have no time */
	from->values += hpcrun_count(&from->file.values, 8);
	return code;
}

static bool is_whole(const struct hpcrun_file *file)
{
	return !file->facts.bad && !file->modules.bad && !file->nodes.bad && !file->metrics.bad &&
	       !file->kinds.bad && !file->values.bad;
}

static int take_profile(struct hpcrun_import *from, const char *path, FILE *trace, struct error *error)
{
	size_t size;
	uint8_t *bytes = read_whole(path, FILE_BYTES_MAX, &size);
	int code = 0;

	if (from->module_room)
		memset(from->modules, 0, from->module_room * sizeof *from->modules);
	if (!bytes || !hpcrun_file_open(&from->file, bytes, size)) {
		from->others++;
	} else {
		from->files++;
		code = read_file(from, trace, error);
		from->damaged += !is_whole(&from->file);
	}
	free(bytes);
	return code;
}

/* The profile if it has a trace, or if it has none. */
static int take_file(struct hpcrun_import *from, const char *name, bool with_trace, struct error *error)
{
	char path[PATH_MAX], beside[PATH_MAX + sizeof TRACE_SUFFIX];
	FILE *trace;
	int code = 0;

	if (!path_in(from, "", name, path))
		return 0;
	snprintf(beside, sizeof beside, "%.*s" TRACE_SUFFIX, (int)(strlen(path) - strlen(SUFFIX)), path);
	trace = fopen(beside, "re");
	if (with_trace == (trace != NULL))
		code = take_profile(from, path, trace, error);
	if (trace)
		fclose(trace);
	return code;
}

static int is_profile(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return size > strlen(SUFFIX) && strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) == 0;
}

static int fill(struct hpcrun_import *from, struct error *error)
{
	struct store_bytes *list = &from->input->left_out;
	struct dirent **names;
	int count = scandir(from->directory, &names, is_profile, alphasort), code = 0;

	if (count < 0)
		return error_set(error, ERROR_RUN, "cannot read %s: %s", from->directory, strerror(errno));
	from->time_metric = store_writer_metric(import_run_writer(from->run), "time", "ns", false);
	for (int is_first = 1; is_first >= 0; is_first--)
		for (int i = 0; i < count && code == 0; i++)
			code = take_file(from, names[i]->d_name, is_first, error);
	while (count-- > 0)
		free(names[count]);
	free(names);
	if (code == 0 && !from->files)
		return error_set(error, ERROR_RUN,
			"%s has no profile of hpcrun that is whole and of version 4: is it a measurement "
			"directory?",
			from->directory);
	format_left_out(list, from->values, "metric values of threads that have a trace, and of queues");
	format_left_out(list, from->ranges, "groups of PC samples");
	format_left_out(list, from->unknown, "times in contexts that the tree does not have");
	format_left_out(list, from->disordered, "times out of order");
	format_left_out(list, from->others, "profiles that are cut short, or not of version 4");
	return code;
}

/* ---- the whole ---- */

static int import_from(struct hpcrun_import *from, const char *path, struct error *error)
{
	const struct names_options names = {0};
	struct format_input *input = from->input;
	struct names_fill found;
	int code = import_run_begin(&from->run, path, "hpctoolkit", error);

	if (code < 0)
		return code;
	code = fill(from, error);
	if (code < 0) {
		import_run_abort(from->run);
		return code;
	}
	code = import_run_end(from->run, &input->left_out, error);
	if (code == 0 && input->finds_names)
		names_fill(path, &names, &found, NULL, NULL); /* while the files are there */
	if (code < 0 || !(from->damaged + from->others))
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN, "%s is damaged or cut short: what could be read is in %s",
		from->directory, path);
}

int hpcrun_import(struct format_input *input, const char *path, struct error *error)
{
	struct hpcrun_import from = {.input = input};
	const char *slash = strrchr(input->path, '/');
	char *directory = slash ? strndup(input->path, (size_t)(slash - input->path)) : strdup(".");
	int code;

	if (!directory)
		return error_memory(error);
	from.directory = *directory ? directory : "/";
	key_ids_init(&from.nodes, sizeof(uint32_t));
	key_ids_init(&from.code_names, sizeof(struct store_hash));
	code = import_from(&from, path, error);
	key_ids_fini(&from.nodes);
	free(from.places);
	free(from.modules);
	for (size_t i = 0; i < from.code_room; i++) {
		gpu_code_close(from.codes[i].code);
		free(from.codes[i].bytes);
	}
	free(from.codes);
	key_ids_fini(&from.code_names);
	free(from.metrics);
	free(directory);
	return code;
}
