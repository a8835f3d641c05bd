/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_import.c - events to records:
 *
 *   X, B E                      calls of a thread; what nests in time is a call path
 *   cuda_runtime, hip_runtime   launches and synchronizations, by the call's name
 *   kernel, gpu_memcpy, ...     operations of a queue, joined with their launch by "correlation"
 *   b n e, S T p F              ranges of the thread where they begin
 *   i I R                       marks
 *   C, Kineto's [memory]        values, one metric per series
 *
 * Kineto's queues lie in "processes" of their own, one per device; they belong to the process that launches.
 */
#include "formats/chrome/chrome_import.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/import_run.h"
#include "formats/chrome/chrome_reader.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"

#define ASYNC_BYTES ((uint64_t)64 << 20)
#define ATTRIBUTES_MAX ((size_t)1024)

/* A pid and tid of the file. */
struct lane {
	uint32_t stream, queue; /* IMPORT_NONE: no event is there yet */
	uint32_t name;		/* text id; 0: none */
};

/* Begin, step or end of an asynchronous event. */
struct async_point {
	struct store_hash key;
	uint64_t time_ns, serial;
	uint32_t stream, name, attributes;
	char kind; /* b, n, e */
};

struct chrome_import {
	struct import_run *run;
	struct format_input *input;
	struct key_ids lane_keys; /* hash of pid and tid */
	struct lane *lanes;
	size_t lane_room;
	struct external_sort *asyncs;
	struct async_point *open; /* asyncs of one key */
	size_t open_room;
	uint64_t serial;
	struct store_bytes attributes;
	uint32_t op_call, op_memory_bytes;
	/* What cannot be held. */
	uint64_t flows, objects, dumps, samples, timeless, unknown, flawed, async_ends, texts, cut;
};

/* ---- texts of an event ---- */

/* Of literals: their sizes are the compiler's to count. */
#define is_text(given, wanted) \
	((given).size == sizeof(wanted) - 1 && memcmp((given).text, wanted, sizeof(wanted) - 1) == 0)

static bool has_text(struct chrome_text text, const char *part)
{
	return memmem(text.text, text.size, part, strlen(part)) != NULL;
}

static bool ends_in(struct chrome_text text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size && memcmp(text.text + text.size - size, end, size) == 0;
}

static const struct chrome_arg *find_arg(const struct chrome_event *event, const char *key)
{
	size_t size = strlen(key);

	for (size_t i = 0; i < event->arg_count; i++)
		if (event->args[i].key.size == size && memcmp(event->args[i].key.text, key, size) == 0)
			return &event->args[i];
	return NULL;
}

static uint64_t number_of(struct chrome_text text, uint64_t otherwise)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (text.text[i] < '0' || text.text[i] > '9' || i > 17)
			return otherwise;
		number = number * 10 + (uint64_t)(text.text[i] - '0');
	}
	return text.size ? number : otherwise;
}

static uint64_t arg_number(const struct chrome_event *event, const char *key, uint64_t otherwise)
{
	const struct chrome_arg *arg = find_arg(event, key);

	return arg ? number_of(arg->value, otherwise) : otherwise;
}

static uint32_t name_of(struct chrome_import *import, struct chrome_text text)
{
	return import_name(import->run, text.text, text.size);
}

/* ---- attributes ---- */

/* Names that a run's own operations have; NULL: left out, since each event has another value, and memory
 * would grow with them, or since it is told in another way. */
#define NAMED(from, to)                    \
	{                                  \
		from, sizeof(from) - 1, to \
	}
static const struct {
	const char *from;
	size_t size;
	const char *to;
} argument_names[] = {NAMED("External id", NULL), NAMED("correlation", NULL), NAMED("device", NULL),
	NAMED("context", NULL), NAMED("stream", NULL), NAMED("bytes", NULL), NAMED("queued", NULL),
	NAMED("Ev Idx", NULL), NAMED("Record function id", NULL), NAMED("Python id", NULL),
	NAMED("Python parent id", NULL), NAMED("Python module id", NULL), NAMED("Sequence number", NULL),
	NAMED("Fwd thread id", NULL), NAMED("External Id", NULL), NAMED("memory bandwidth (GB/s)", NULL),
	NAMED("cbid", NULL), NAMED("registers per thread", "registers"), NAMED("shared memory", "shared")};

static bool find_argument_name(struct chrome_text key, struct chrome_text *name)
{
	*name = key;
	for (size_t i = 0; i < sizeof argument_names / sizeof *argument_names; i++) {
		const char *to = argument_names[i].to;

		if (key.size != argument_names[i].size ||
			memcmp(key.text, argument_names[i].from, key.size) != 0)
			continue;
		if (to)
			*name = (struct chrome_text){to, strlen(to)};
		return to != NULL;
	}
	return true;
}

static void put_attribute(struct chrome_import *import, const char *key, struct chrome_text value)
{
	import_attribute_put(&import->attributes, key, strlen(key), value.text, value.size);
}

/* Text id of the arguments as attributes, behind what stands in import->attributes already. */
static uint32_t attributes_of(struct chrome_import *import, const struct chrome_event *event)
{
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct chrome_arg *arg = &event->args[i];
		struct chrome_text name;

		if (!find_argument_name(arg->key, &name) || !arg->value.size)
			continue;
		if (import->attributes.size + name.size + arg->value.size > ATTRIBUTES_MAX) {
			import->texts++;
			continue;
		}
		import_attribute_put(
			&import->attributes, name.text, name.size, arg->value.text, arg->value.size);
	}
	return import_attributes(import->run, &import->attributes);
}

/* ---- lanes ---- */

static struct lane *find_lane(struct chrome_import *import, const struct chrome_event *event)
{
	struct store_hash key = store_hash128(event->pid.text, event->pid.size);
	uint32_t number;
	bool is_new;

	key.high ^= store_hash64(event->tid.text, event->tid.size, 7);
	number = key_ids_put(&import->lane_keys, &key, &is_new);
	if (number == KEY_IDS_NONE ||
		!array_widen(&import->lanes, &import->lane_room, number, sizeof *import->lanes))
		return NULL;
	if (is_new)
		import->lanes[number] = (struct lane){IMPORT_NONE, IMPORT_NONE, 0};
	return &import->lanes[number];
}

static bool is_apart(const struct chrome_event *event)
{
	return is_text(event->category, "Trace") || event->phase == 'i' || event->phase == 'I';
}

static uint32_t find_thread(struct chrome_import *import, const struct chrome_event *event)
{
	struct lane *lane = find_lane(import, event);
	uint32_t process;

	if (!lane)
		return IMPORT_NONE;
	if (lane->stream != IMPORT_NONE)
		return lane->stream;
	/* Kineto: "Spans", "Traces", "". */
	process = number_of(event->pid, UINT64_MAX) == UINT64_MAX && is_apart(event)
			  ? IMPORT_OWNER
			  : import_process(import->run, event->pid.text, event->pid.size);
	if (process != IMPORT_NONE)
		lane->stream = import_thread(import->run, process, event->tid.text, event->tid.size);
	return lane->stream;
}

/* Kineto names device, context and stream; others a lane of their process. */
static uint32_t find_queue(struct chrome_import *import, const struct chrome_event *event)
{
	struct lane *lane = find_lane(import, event);
	const struct chrome_arg *stream = find_arg(event, "stream");
	uint32_t process = IMPORT_OWNER;
	uint64_t queue = stream ? number_of(stream->value, 0) : number_of(event->tid, 0);

	if (!lane)
		return IMPORT_NONE;
	if (!stream)
		process = import_process(import->run, event->pid.text, event->pid.size);
	if (process == IMPORT_NONE)
		return IMPORT_NONE;
	lane->queue = import_queue(import->run, process, (uint32_t)arg_number(event, "device", 0),
		(uint32_t)arg_number(event, "context", 0), (uint32_t)queue);
	return lane->queue;
}

static void name_lanes(struct chrome_import *import)
{
	for (uint32_t i = 0; i < import->lane_keys.count; i++) {
		const struct lane *lane = &import->lanes[i];

		if (lane->name && lane->stream != IMPORT_NONE)
			import_stream_at(import->run, lane->stream)->s.name = lane->name;
		if (lane->name && lane->queue != IMPORT_NONE)
			import_stream_at(import->run, lane->queue)->s.name = lane->name;
	}
}

/* ---- calls and operations ---- */

static int put(struct chrome_import *import, struct import_record *record, struct error *error)
{
	if (record->stream == IMPORT_NONE)
		return error_memory(error);
	return import_record(import->run, record, error);
}

static uint32_t op_of(struct chrome_import *import, struct chrome_text name)
{
	uint32_t op = name.size ? store_writer_op(import_run_writer(import->run), name.text, name.size)
				: import->op_call;

	/* A category that reads like a state is none. */
	return store_op_is_state(op) || op == STORE_OP_NONE ? import->op_call : op;
}

/* Of the many calls of a GPU's runtime those that launch, and those that wait. */
static uint32_t runtime_op(struct chrome_import *import, const struct chrome_event *event, uint64_t link)
{
	if (has_text(event->name, "Synchronize") || has_text(event->name, "WaitEvent"))
		return STORE_OP_SYNC;
	if (link && (has_text(event->name, "Launch") || has_text(event->name, "emcpy") ||
			    has_text(event->name, "emset")))
		return STORE_OP_LAUNCH;
	return op_of(import, event->category);
}

/* What hpct-export --to chrome wrote of a thread's states. */
static bool take_state(const struct chrome_event *event, struct import_record *record)
{
	uint32_t op = is_text(event->category, "state") ? store_op_find(event->name.text, event->name.size)
							: STORE_OP_COUNT;

	if (op != STORE_OP_BLOCKED && op != STORE_OP_RUNNABLE && op != STORE_OP_SYNC)
		return false;
	record->op = op;
	record->name = 0;
	return true;
}

static int put_call(struct chrome_import *import, const struct chrome_event *event, enum import_shape shape,
	struct error *error)
{
	bool is_runtime = ends_in(event->category, "_runtime") || ends_in(event->category, "_driver");
	struct import_record record = {.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns + event->dur_ns,
		.shape = shape,
		.stream = find_thread(import, event)};

	if (shape == IMPORT_END)
		return put(import, &record, error);
	record.name = name_of(import, event->name);
	if (is_runtime) {
		record.link = arg_number(event, "correlation", 0);
		record.op = runtime_op(import, event, record.link);
		record.link = record.op == STORE_OP_LAUNCH ? record.link : 0;
	} else if (!take_state(event, &record)) {
		record.op = op_of(import, event->category);
	}
	if (record.stream != IMPORT_NONE && (is_runtime || is_text(event->category, "cpu_op")))
		import_run_owner(import->run, import_stream_at(import->run, record.stream)->process);
	record.attributes = attributes_of(import, event);
	return put(import, &record, error);
}

static const struct {
	const char *from, *to;
} copy_kinds[] = {{"HtoD", "H2D"}, {"DtoH", "D2H"}, {"DtoD", "D2D"}, {"PtoP", "P2P"}, {"HtoH", "H2H"},
	{"HostToDevice", "H2D"}, {"DeviceToHost", "D2H"}, {"DeviceToDevice", "D2D"}};

static void put_copy_kind(struct chrome_import *import, const struct chrome_event *event)
{
	for (size_t i = 0; i < sizeof copy_kinds / sizeof *copy_kinds; i++)
		if (has_text(event->name, copy_kinds[i].from)) {
			put_attribute(import, "kind", (struct chrome_text){copy_kinds[i].to, 3});
			return;
		}
}

static int put_operation(
	struct chrome_import *import, const struct chrome_event *event, uint32_t op, struct error *error)
{
	struct import_record record = {.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns + event->dur_ns,
		.shape = op == STORE_OP_RANGE ? IMPORT_APART : IMPORT_CALL,
		.op = op,
		.bytes = arg_number(event, "bytes", 0),
		.link = op == STORE_OP_RANGE ? 0 : arg_number(event, "correlation", 0),
		.stream = find_queue(import, event)};

	if (op == STORE_OP_COPY)
		put_copy_kind(import, event);
	else if (op == STORE_OP_RANGE)
		put_attribute(import, "name", event->name);
	else
		record.name = name_of(import, event->name);
	record.attributes = attributes_of(import, event);
	return put(import, &record, error);
}

/* Kineto's span of the whole trace is of no thread. */
static int put_range(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	struct import_record record = {.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns + event->dur_ns,
		.shape = IMPORT_APART,
		.op = STORE_OP_RANGE,
		.stream = find_thread(import, event)};

	put_attribute(import, "name", event->name);
	record.attributes = attributes_of(import, event);
	return put(import, &record, error);
}

/* Kineto's words until PyTorch 1.9, by those of today. Others may have categories of these names, too: an
 * argument that Kineto's events have tells. */
static struct chrome_text category_of(const struct chrome_event *event)
{
	static const struct {
		const char *old, *argument, *now;
	} words[] = {{"Kernel", "stream", "kernel"}, {"Memcpy", "stream", "gpu_memcpy"},
		{"Memset", "stream", "gpu_memset"}, {"Runtime", "cbid", "cuda_runtime"},
		{"Operator", "External id", "cpu_op"}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (event->category.size == strlen(words[i].old) &&
			memcmp(event->category.text, words[i].old, event->category.size) == 0 &&
			find_arg(event, words[i].argument))
			return (struct chrome_text){words[i].now, strlen(words[i].now)};
	return event->category;
}

static int put_plain(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	if (is_text(event->category, "kernel"))
		return put_operation(import, event, STORE_OP_KERNEL, error);
	if (is_text(event->category, "gpu_memcpy"))
		return put_operation(import, event, STORE_OP_COPY, error);
	if (is_text(event->category, "gpu_memset"))
		return put_operation(import, event, STORE_OP_SET, error);
	if (is_text(event->category, "gpu_user_annotation") || is_text(event->category, "cuda_sync"))
		return put_operation(import, event, STORE_OP_RANGE, error);
	if (is_text(event->category, "Trace"))
		return put_range(import, event, error);
	return put_call(import, event, IMPORT_CALL, error);
}

static int put_whole(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	struct chrome_event plain = *event;

	plain.category = category_of(event);
	return put_plain(import, &plain, error);
}

/* ---- moments and values ---- */

static int put_mark(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	struct import_record record = {.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns,
		.shape = IMPORT_APART,
		.op = STORE_OP_MARK,
		.stream = find_thread(import, event)};

	put_attribute(import, "name", event->name);
	record.attributes = attributes_of(import, event);
	return put(import, &record, error);
}

static int put_value(struct chrome_import *import, const struct chrome_event *event, const char *metric,
	const char *unit, struct chrome_text value, struct error *error)
{
	struct import_record record = {
		.begin_ns = event->ts_ns, .shape = IMPORT_VALUE, .stream = find_thread(import, event)};
	char text[64] = {0}, *end;
	double real;

	memcpy(text, value.text, value.size < sizeof text ? value.size : sizeof text - 1);
	real = strtod(text, &end);
	if (end == text || *end) {
		import->flawed++;
		return 0;
	}
	/* One metric, one kind of number: those of a counter may change from whole to real. */
	record.op = store_writer_metric(import_run_writer(import->run), metric, unit, true);
	memcpy(&record.bytes, &real, sizeof real);
	return put(import, &record, error);
}

static int put_counter(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	char metric[512];
	int code = 0;

	for (size_t i = 0; i < event->arg_count && code == 0; i++) {
		const struct chrome_arg *arg = &event->args[i];
		bool is_named =
			event->arg_count == 1 && (is_text(arg->key, "value") || is_text(arg->key, ""));

		snprintf(metric, sizeof metric, "%.*s%s%.*s%s%.*s", (int)event->name.size, event->name.text,
			is_named ? "" : ":", is_named ? 0 : (int)arg->key.size, arg->key.text,
			event->id.size ? ":" : "", (int)event->id.size, event->id.text);
		code = put_value(import, event, metric, "", arg->value, error);
	}
	return code;
}

/* [memory] tells each allocation and what is allocated then. */
static int put_memory(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	static const char *const totals[] = {"Total Allocated", "Total Reserved"};
	uint64_t device = arg_number(event, "Device Id", UINT64_MAX);
	char metric[64];
	int code = 0;

	for (size_t i = 0; i < sizeof totals / sizeof *totals && code == 0; i++) {
		const struct chrome_arg *arg = find_arg(event, totals[i]);

		if (device == UINT64_MAX)
			snprintf(metric, sizeof metric, "%s", totals[i]);
		else
			snprintf(metric, sizeof metric, "%s:gpu%" PRIu64, totals[i], device);
		if (arg)
			code = put_value(import, event, metric, "bytes", arg->value, error);
	}
	return code;
}

/* ---- asynchronous events ---- */

static int async_compare(const void *left, const void *right)
{
	const struct async_point *a = left, *b = right;
	int order = store_hash_compare(a->key, b->key);

	if (order == 0)
		order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
	return order ? order : (a->serial > b->serial) - (a->serial < b->serial);
}

static int put_async(
	struct chrome_import *import, const struct chrome_event *event, char kind, struct error *error)
{
	struct async_point point = {.key = store_hash128(event->id.text, event->id.size),
		.time_ns = event->ts_ns,
		.serial = import->serial++,
		.stream = find_thread(import, event),
		.kind = kind};

	if (point.stream == IMPORT_NONE)
		return error_memory(error);
	point.key.high ^= store_hash64(event->category.text, event->category.size, 1);
	point.key.low ^= store_hash64(event->scope.text, event->scope.size, 2);
	if (kind != 'e') {
		put_attribute(import, "name", event->name);
		point.attributes = attributes_of(import, event);
	}
	return external_sort_put(import->asyncs, &point, error);
}

static int end_async(
	struct chrome_import *import, const struct async_point *from, uint64_t end_ns, struct error *error)
{
	struct import_record record = {.begin_ns = from->time_ns,
		.end_ns = end_ns,
		.shape = IMPORT_APART,
		.op = from->kind == 'n' ? STORE_OP_MARK : STORE_OP_RANGE,
		.stream = from->stream,
		.attributes = from->attributes};

	return put(import, &record, error);
}

/* Points of one key: begins wait in a stack. One without an end is as long as what is known of it. */
static int pair_asyncs(struct chrome_import *import, struct error *error)
{
	struct store_hash key = {0};
	const struct async_point *next;
	size_t count = 0;
	uint64_t last_ns = 0;
	int code = external_sort_rewind(import->asyncs, error);

	while (code == 0 && (next = external_sort_next(import->asyncs, &code, error))) {
		if (store_hash_compare(key, next->key) != 0)
			while (count && code == 0)
				code = end_async(import, &import->open[--count], last_ns, error);
		key = next->key;
		last_ns = next->time_ns;
		if (code == 0 && next->kind == 'n') {
			code = end_async(import, next, next->time_ns, error);
		} else if (code == 0 && next->kind == 'b') {
			if (!array_widen(&import->open, &import->open_room, count, sizeof *import->open))
				return error_memory(error);
			import->open[count++] = *next;
		} else if (code == 0 && count) {
			code = end_async(import, &import->open[--count], next->time_ns, error);
		} else {
			import->async_ends++;
		}
	}
	while (count && code == 0)
		code = end_async(import, &import->open[--count], last_ns, error);
	return code;
}

/* ---- events ---- */

static int take_name(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	const struct chrome_arg *name = find_arg(event, "name");
	uint32_t process;
	struct lane *lane;

	if (!name || !name->value.size)
		return 0;
	if (is_text(event->name, "thread_name")) {
		lane = find_lane(import, event);
		if (!lane)
			return error_memory(error);
		lane->name = name_of(import, name->value);
	} else if (is_text(event->name, "process_name")) {
		process = import_process(import->run, event->pid.text, event->pid.size);
		if (process == IMPORT_NONE)
			return error_memory(error);
		import_process_at(import->run, process)->name = name_of(import, name->value);
	}
	return 0;
}

static int take_moment(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	return is_text(event->name, "[memory]") ? put_memory(import, event, error)
						: put_mark(import, event, error);
}

static int take_flow(struct chrome_import *import, const struct chrome_event *event)
{
	/* Kineto draws from launches to operations; both have the arrow's id as their correlation. */
	if (!is_text(event->category, "ac2g") &&
		!(is_text(event->category, "async") && is_text(event->name, "launch")))
		import->flows += event->phase == 's';
	return 0;
}

static int take_timed(struct chrome_import *import, const struct chrome_event *event, struct error *error)
{
	switch (event->phase) {
	case 'X':
		return put_whole(import, event, error);
	case 'B':
		return put_call(import, event, IMPORT_BEGIN, error);
	case 'E':
		return put_call(import, event, IMPORT_END, error);
	case 'b':
	case 'S':
		return put_async(import, event, 'b', error);
	case 'n':
	case 'T':
	case 'p':
		return put_async(import, event, 'n', error);
	case 'e':
	case 'F':
		return put_async(import, event, 'e', error);
	case 'i':
	case 'I':
	case 'R':
		return take_moment(import, event, error);
	case 'C':
		return put_counter(import, event, error);
	default:
		import->unknown++;
		return 0;
	}
}

static int take_event(void *own, const struct chrome_event *event, struct error *error)
{
	struct chrome_import *import = own;

	import->attributes.size = 0;
	import->cut += event->cut_count;
	switch (event->phase) {
	case 'M':
		return take_name(import, event, error);
	case 's':
	case 't':
	case 'f':
		return take_flow(import, event);
	case 'N':
	case 'O':
	case 'D':
		import->objects++;
		return 0;
	case 'v':
	case 'V':
		import->dumps++;
		return 0;
	case 'P':
		import->samples++;
		return 0;
	case 'c':
	case '(':
	case ')':
		return 0; /* clocks of other files, contexts of other events: nothing happens there */
	default:
		break;
	}
	if (event->has_flaw || !event->has_time) {
		import->timeless++;
		return 0;
	}
	return take_timed(import, event, error);
}

static void take_rank(void *own, int32_t rank)
{
	struct chrome_import *import = own;

	import_run_rank(import->run, rank);
}

static void show_progress(void *own)
{
	const struct chrome_import *import = own;

	format_input_progress(import->input);
}

/* ---- the whole ---- */

static void say_left_out(const struct chrome_import *import, struct store_bytes *list)
{
	format_left_out(list, import->timeless, "events without a time that a run can hold");
	format_left_out(list, import->flows, "flow arrows other than those of launches");
	format_left_out(list, import->objects, "object snapshots");
	format_left_out(list, import->dumps, "memory dumps");
	format_left_out(list, import->samples, "stack samples");
	format_left_out(list, import->unknown, "events of unknown phases");
	format_left_out(list, import->flawed, "values that are no numbers");
	format_left_out(list, import->async_ends, "ends of asynchronous events whose begin is missing");
	format_left_out(list, import->texts, "arguments that are too long");
	format_left_out(list, import->cut, "ends of texts that are too long or too many");
}

static void import_fini(struct chrome_import *import)
{
	external_sort_free(import->asyncs);
	key_ids_fini(&import->lane_keys);
	free(import->lanes);
	free(import->open);
	store_bytes_fini(&import->attributes);
}

static int fill(struct chrome_import *import, struct chrome_reader_end *end, struct error *error)
{
	const struct chrome_reader_ops ops = {
		.event = take_event, .rank = take_rank, .progress = show_progress, .own = import};
	int code = external_sort_new(
		&import->asyncs, sizeof(struct async_point), async_compare, ASYNC_BYTES, error);

	import->op_call = store_writer_op(import_run_writer(import->run), "call", 4);
	key_ids_init(&import->lane_keys, sizeof(struct store_hash));
	if (code == 0)
		code = chrome_read(import->input->in, import->input->name, &ops, end, error);
	if (code == 0 && end->is_damaged && end->events == 0)
		code = error_set(error, ERROR_RUN, "%s is damaged or cut short before its first event: %s",
			import->input->name, end->why);
	if (code == 0)
		code = pair_asyncs(import, error);
	if (code == 0)
		name_lanes(import);
	if (code == 0)
		say_left_out(import, &import->input->left_out);
	return code;
}

int chrome_import(struct format_input *input, const char *path, struct error *error)
{
	struct chrome_import import = {.input = input};
	struct chrome_reader_end end;
	int code = import_run_begin(&import.run, path, "chrome", error);

	if (code < 0)
		return code;
	code = fill(&import, &end, error);
	import_fini(&import);
	if (code < 0) {
		import_run_abort(import.run);
		return code;
	}
	code = import_run_end(import.run, &input->left_out, error);
	if (code < 0 || !end.is_damaged)
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN,
		"%s is damaged or cut short at byte %" PRIu64 " (%s): the %" PRIu64
		" events before it are in %s; write the file again for the rest",
		input->name, end.bytes, end.why, end.events, path);
}

bool chrome_is(const uint8_t *head, size_t size)
{
	while (size && strchr(" \t\r\n", *head)) {
		head++;
		size--;
	}
	if (size < 2)
		return false;
	return (head[0] == '{' && memmem(head, size, "\"traceEvents\"", 13)) ||
	       ((head[0] == '[' || head[0] == '{') && memmem(head, size, "\"ph\"", 4));
}
