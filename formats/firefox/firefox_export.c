/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_export.c - exports a run for the Firefox Profiler, as its processed profile: a thread per stream,
 * whose samples last ("tracing-ms": own times), operations as markers, values as counters.
 *
 *   {"meta": {...}, "threads": [{"samples": {"stack": [..], "time": [..], "weight": [..]},
 *                                "stackTable": {"prefix": [..], "frame": [..]}, "stringArray": [..]}, ...
 *
 * The format has a table a column. Columns of samples and markers grow in temporary files, the tables of
 * distinct stacks in memory, until their thread ends.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/format.h"
#include "formats/base/trace_walk.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/json.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/coverage.h"
#include "timeline/slice/slice.h"

#define PROFILE_VERSION 48 /* of the processed format; later readers know how to bring it up to date */
#define GECKO_VERSION 30   /* of what the browser writes; no reader looks at it here */
#define SORT_BYTES ((uint64_t)64 << 20)
#define NO_STACK UINT32_MAX

enum category { CATEGORY_OTHER, CATEGORY_CPU, CATEGORY_GPU, CATEGORY_WAITING };

enum column {
	SAMPLE_STACK,
	SAMPLE_TIME,
	SAMPLE_WEIGHT,
	MARKER_NAME,
	MARKER_BEGIN,
	MARKER_END,
	MARKER_PHASE,
	MARKER_DATA,
	COLUMNS
};

struct stack_key {
	uint32_t prefix, frame; /* prefix: NO_STACK: the outermost */
};

/* Frame of a thread: a function of the run, or a state. */
struct frame {
	uint32_t function; /* or STACK_STATE + state */
	uint32_t name;
	uint32_t resource; /* of its module; UINT32_MAX: none */
};

struct counter_key {
	struct store_hash stream;
	uint32_t metric, zero;
};

struct counter {
	char *name;
	const char *unit;
	uint32_t process; /* its pid is in the table of processes */
};

/* For the sort: by counter and time. */
struct counter_value {
	uint32_t counter, zero;
	uint64_t time_ns;
	double value;
};

struct process {
	char *name, *pid;
	uint32_t main_thread; /* number of its first thread; UINT32_MAX: none yet */
};

struct firefox {
	struct run *run;
	const struct select *select;
	FILE *out;
	struct error *error; /* of what fails below the walk */
	int code;
	struct process *processes; /* [process - 1] */
	size_t process_room;
	uint32_t process_count, thread_count;
	bool has_record;
	/* The thread that is open. */
	const struct run_stream *stream; /* NULL: none */
	uint32_t process, lane;
	char *title;
	struct key_ids strings, frames, stacks, modules;
	struct store_bytes string_text; /* JSON of all strings, behind each other */
	struct frame *frame_list;
	size_t frame_room;
	uint32_t *module_names; /* [resource] string */
	size_t module_room;
	FILE *columns[COLUMNS];
	uint64_t sample_count, marker_count;
	uint32_t *open; /* stacks of the calls that are open, outermost first */
	size_t open_count, open_room;
	uint64_t since_ns; /* the innermost has been on top since then */
	/* ---- */
	struct key_ids counter_ids;
	struct counter *counters;
	size_t counter_room;
	struct external_sort *values;
	struct store_bytes text;
};

/* ---- pieces of JSON ---- */

static void put_text(struct firefox *file, FILE *out, const char *text, size_t size)
{
	file->text.size = 0;
	json_put_string(&file->text, text, size);
	fwrite(file->text.data, 1, file->text.size, out);
}

static void put_name(struct firefox *file, FILE *out, const char *text)
{
	put_text(file, out, text, strlen(text));
}

static uint64_t since_origin(const struct firefox *file, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(file->run);

	return time_ns > origin_ns ? time_ns - origin_ns : 0;
}

/* Milliseconds; six decimals hold every ns. */
static void put_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned)(ns % 1000000));
}

static void comma(FILE *out, uint64_t before)
{
	if (before)
		putc(',', out);
}

/* ---- tables of the thread ---- */

static bool find_string(struct firefox *file, const char *text, size_t size, uint32_t *number)
{
	struct store_hash hash = store_hash128(text, size);
	bool is_new;

	*number = key_ids_put(&file->strings, &hash, &is_new);
	if (is_new) {
		if (*number)
			store_bytes_put(&file->string_text, ",", 1);
		json_put_string(&file->string_text, text, size);
	}
	return *number != KEY_IDS_NONE && !file->string_text.failed;
}

static bool find_module(struct firefox *file, const char *module, uint32_t *number)
{
	struct store_hash hash = store_hash128(module, strlen(module));
	bool is_new;

	*number = UINT32_MAX;
	if (!module[0])
		return true;
	*number = key_ids_put(&file->modules, &hash, &is_new);
	if (*number == KEY_IDS_NONE ||
		!array_widen(&file->module_names, &file->module_room, *number, sizeof *file->module_names))
		return false;
	return !is_new || find_string(file, module, strlen(module), &file->module_names[*number]);
}

/* Which: a function of the run, or STACK_STATE + state. */
static bool find_frame(struct firefox *file, uint32_t which, uint32_t *number)
{
	struct frame frame = {.function = which, .resource = UINT32_MAX};
	bool is_new, ok;
	char state[64];

	*number = key_ids_put(&file->frames, &which, &is_new);
	if (*number == KEY_IDS_NONE ||
		!array_widen(&file->frame_list, &file->frame_room, *number, sizeof *file->frame_list))
		return false;
	if (!is_new)
		return true;
	if (which >= STACK_STATE) {
		snprintf(state, sizeof state, "[%s]",
			extent_state_word((enum extent_state)(which - STACK_STATE)));
		ok = find_string(file, state, strlen(state), &frame.name);
	} else {
		const struct run_function *function = run_function(file->run, which);

		ok = find_string(file, function->name, function->name_bytes, &frame.name) &&
		     find_module(file, function->module, &frame.resource);
	}
	file->frame_list[*number] = frame;
	return ok;
}

static bool find_stack(struct firefox *file, uint32_t prefix, uint32_t which, uint32_t *stack)
{
	struct stack_key key = {.prefix = prefix};

	if (!find_frame(file, which, &key.frame))
		return false;
	*stack = key_ids_put(&file->stacks, &key, NULL);
	return *stack != KEY_IDS_NONE;
}

/* ---- the thread's end ---- */

static int copy_column(struct firefox *file, enum column column, const char *name)
{
	char block[65536];
	FILE *from = file->columns[column];
	size_t size;

	fprintf(file->out, "\"%s\":[", name);
	if (from) {
		if (fflush(from) || ferror(from))
			return -1;
		rewind(from);
		while ((size = fread(block, 1, sizeof block, from)) > 0)
			fwrite(block, 1, size, file->out);
		if (ferror(from))
			return -1;
		rewind(from);
		if (ftruncate(fileno(from), 0))
			return -1;
	}
	fputs("],", file->out);
	return 0;
}

static void put_constants(FILE *out, const char *name, const char *value, uint64_t count)
{
	fprintf(out, "\"%s\":[", name);
	for (uint64_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("],", out);
}

static int put_samples(struct firefox *file)
{
	int code;

	fputs("\"samples\":{\"weightType\":\"tracing-ms\",", file->out);
	code = copy_column(file, SAMPLE_STACK, "stack") + copy_column(file, SAMPLE_TIME, "time") +
	       copy_column(file, SAMPLE_WEIGHT, "weight");
	fprintf(file->out, "\"length\":%" PRIu64 "},\n", file->sample_count);
	return code;
}

static int put_markers(struct firefox *file)
{
	int code;

	fputs("\"markers\":{", file->out);
	code = copy_column(file, MARKER_NAME, "name") + copy_column(file, MARKER_BEGIN, "startTime") +
	       copy_column(file, MARKER_END, "endTime") + copy_column(file, MARKER_PHASE, "phase") +
	       copy_column(file, MARKER_DATA, "data");
	put_constants(file->out, "category", file->stream->s.kind == STORE_STREAM_GPU ? "2" : "1",
		file->marker_count);
	fprintf(file->out, "\"length\":%" PRIu64 "},\n", file->marker_count);
	return code;
}

static int category_of(const struct firefox *file, const struct frame *frame)
{
	if (frame->function >= STACK_STATE)
		return CATEGORY_WAITING;
	return file->stream->s.kind == STORE_STREAM_GPU ? CATEGORY_GPU : CATEGORY_CPU;
}

/* A frame and a function of the format for each frame here. */
static void put_frames(struct firefox *file)
{
	uint32_t count = file->frames.count;
	FILE *out = file->out;

	fputs("\"frameTable\":{\"category\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%d", i ? "," : "", category_of(file, &file->frame_list[i]));
	fputs("],\"func\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", i);
	fputs("],", out);
	put_constants(out, "address", "-1", count);
	put_constants(out, "inlineDepth", "0", count);
	put_constants(out, "subcategory", "0", count);
	put_constants(out, "nativeSymbol", "null", count);
	put_constants(out, "innerWindowID", "0", count);
	put_constants(out, "implementation", "null", count);
	put_constants(out, "line", "null", count);
	put_constants(out, "column", "null", count);
	fprintf(out, "\"length\":%" PRIu32 "},\n", count);
}

static bool put_functions(struct firefox *file)
{
	uint32_t count = file->frames.count;
	FILE *out = file->out;
	bool ok = true;

	fputs("\"funcTable\":{\"name\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", file->frame_list[i].name);
	fputs("],\"resource\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRId32, i ? "," : "", (int32_t)file->frame_list[i].resource);
	fputs("],\"fileName\":[", out);
	for (uint32_t i = 0; i < count && ok; i++) {
		uint32_t which = file->frame_list[i].function, string;
		const char *name = which < STACK_STATE ? run_function(file->run, which)->file : "";

		comma(out, i);
		if (*name && (ok = find_string(file, name, strlen(name), &string)))
			fprintf(out, "%" PRIu32, string);
		else
			fputs("null", out);
	}
	fputs("],\"lineNumber\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t which = file->frame_list[i].function;
		uint32_t line = which < STACK_STATE ? run_function(file->run, which)->line : 0;

		comma(out, i);
		if (line)
			fprintf(out, "%" PRIu32, line);
		else
			fputs("null", out);
	}
	fputs("],", out);
	put_constants(out, "columnNumber", "null", count);
	put_constants(out, "isJS", "false", count);
	put_constants(out, "relevantForJS", "false", count);
	fprintf(out, "\"length\":%" PRIu32 "},\n", count);
	return ok;
}

static void put_stacks(struct firefox *file)
{
	uint32_t count = file->stacks.count;
	FILE *out = file->out;

	fputs("\"stackTable\":{\"prefix\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_key *key = key_ids_key(&file->stacks, i);

		comma(out, i);
		if (key->prefix == NO_STACK)
			fputs("null", out);
		else
			fprintf(out, "%" PRIu32, key->prefix);
	}
	fputs("],\"frame\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "",
			((const struct stack_key *)key_ids_key(&file->stacks, i))->frame);
	fputs("],\"category\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_key *key = key_ids_key(&file->stacks, i);

		fprintf(out, "%s%d", i ? "," : "", category_of(file, &file->frame_list[key->frame]));
	}
	fputs("],", out);
	put_constants(out, "subcategory", "0", count);
	fprintf(out, "\"length\":%" PRIu32 "},\n", count);
}

/* Modules are libraries; those of a name alone, which no address of a frame asks for. */
static void put_modules(struct firefox *file)
{
	uint32_t count = file->modules.count;
	FILE *out = file->out;

	fputs("\"resourceTable\":{\"name\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", file->module_names[i]);
	fputs("],", out);
	put_constants(out, "lib", "null", count);
	put_constants(out, "host", "null", count);
	put_constants(out, "type", "1", count);
	fprintf(out, "\"length\":%" PRIu32 "},\n", count);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":"
	      "0},\n",
		out);
}

static void put_thread_facts(struct firefox *file)
{
	const struct store_stream *s = &file->stream->s;
	const struct process *process = &file->processes[file->process - 1];
	bool is_main = process->main_thread == file->thread_count;
	FILE *out = file->out;

	fputs(file->thread_count ? ",\n{\"name\":" : "\n{\"name\":", out);
	put_name(file, out, file->title);
	fprintf(out, ",\"isMainThread\":%s,\"processType\":\"default\",\"processName\":",
		is_main ? "true" : "false");
	put_name(file, out, process->name);
	fputs(",\"pid\":", out);
	put_name(file, out, process->pid);
	if (s->kind == STORE_STREAM_CPU && s->tid)
		fprintf(out, ",\"tid\":%" PRIu32, s->tid);
	else
		fprintf(out, ",\"tid\":\"%s %" PRIu32 "\"", s->kind == STORE_STREAM_GPU ? "queue" : "thread",
			file->lane);
	fputs(",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":", out);
	put_ms(out, since_origin(file, s->begin_ns));
	fputs(",\"unregisterTime\":", out);
	if (s->end_ns == STORE_OPEN_NS)
		fputs("null", out);
	else
		put_ms(out, since_origin(file, s->end_ns));
	fputs(",\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n", out);
}

static bool end_thread(struct firefox *file)
{
	int code;
	bool ok;

	if (!file->stream)
		return true;
	put_thread_facts(file);
	code = put_samples(file) + put_markers(file);
	put_frames(file);
	ok = put_functions(file);
	put_stacks(file);
	put_modules(file);
	fputs("\"stringArray\":[", file->out);
	if (file->string_text.size)
		fwrite(file->string_text.data, 1, file->string_text.size, file->out);
	fputs("]}", file->out);
	file->has_record |= file->sample_count || file->marker_count;
	file->thread_count++;
	file->stream = NULL;
	if (code)
		file->code = error_set(file->error, ERROR_IO,
			"a temporary file cannot be written or read; set TMPDIR to a directory with room");
	return ok && code == 0;
}

static bool begin_thread(struct firefox *file, const struct trace_place *place, const char *title)
{
	struct process *process = &file->processes[place->process - 1];

	if (!end_thread(file))
		return false;
	file->stream = place->stream;
	file->process = place->process;
	file->lane = place->lane;
	file->sample_count = file->marker_count = 0;
	file->open_count = 0;
	key_ids_clear(&file->strings);
	key_ids_clear(&file->frames);
	key_ids_clear(&file->stacks);
	key_ids_clear(&file->modules);
	file->string_text.size = 0;
	if (process->main_thread == UINT32_MAX)
		process->main_thread = file->thread_count;
	free(file->title);
	file->title = strdup(title);
	return file->title != NULL;
}

/* ---- the walk ---- */

static FILE *column(struct firefox *file, enum column which)
{
	if (!file->columns[which] && file->code == 0)
		file->code =
			format_scratch_file("the columns of a thread", &file->columns[which], file->error);
	return file->columns[which];
}

static bool put_process(void *own, const struct trace_place *place, const char *name)
{
	struct firefox *file = own;
	const struct store_stream *s = &place->stream->s;
	struct process process = {.name = strdup(name), .main_thread = UINT32_MAX};

	if (asprintf(&process.pid, "%" PRIu32 ".%" PRIu32 " %s", s->pid, s->generation, place->stream->host) <
		0)
		process.pid = NULL;
	if (!process.name || !process.pid ||
		!array_widen(&file->processes, &file->process_room, file->process_count,
			sizeof *file->processes)) {
		free(process.name);
		free(process.pid);
		return false;
	}
	file->processes[file->process_count++] = process;
	return true;
}

/* What lies beside a CPU thread's line are markers of that thread, and a queue is one thread, also where its
 * operations overlap. */
static bool put_lane(void *own, const struct trace_place *place, const char *name)
{
	struct firefox *file = own;

	return (file->stream == place->stream && !place->is_line) || begin_thread(file, place, name);
}

static bool put_sample(struct firefox *file, uint32_t stack, uint64_t begin_ns, uint64_t end_ns)
{
	FILE *stacks = column(file, SAMPLE_STACK), *times = column(file, SAMPLE_TIME),
	     *weights = column(file, SAMPLE_WEIGHT);

	if (!stacks || !times || !weights)
		return false;
	comma(stacks, file->sample_count);
	comma(times, file->sample_count);
	comma(weights, file->sample_count);
	fprintf(stacks, "%" PRIu32, stack);
	put_ms(times, since_origin(file, begin_ns));
	put_ms(weights, end_ns - begin_ns);
	file->sample_count++;
	return true;
}

static bool put_call(
	void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct firefox *file = own;
	uint32_t top = file->open_count ? file->open[file->open_count - 1] : NO_STACK, stack;
	uint32_t which = frame >= STACK_STATE ? frame : run_scope(file->run, frame)->function;

	(void)place;
	if (top != NO_STACK && time_ns > file->since_ns && !put_sample(file, top, file->since_ns, time_ns))
		return false;
	file->since_ns = time_ns;
	if (!is_begin) {
		file->open_count--;
		return true;
	}
	if (!find_stack(file, top, which, &stack) ||
		!array_widen(&file->open, &file->open_room, file->open_count, sizeof *file->open))
		return false;
	file->open[file->open_count++] = stack;
	return true;
}

/* ---- operations ---- */

static bool put_payload(struct firefox *file, const struct trace_span *span, const char *path)
{
	FILE *out = column(file, MARKER_DATA);
	uint64_t bytes = span->batch->bytes[span->row], link = span->batch->link[span->row];
	size_t size;
	const char *attributes = batch_attributes(file->run, span->batch, span->row, &size);

	if (!out)
		return false;
	comma(out, file->marker_count);
	fputs("{\"type\":\"operation\",\"op\":", out);
	put_name(file, out, span->op);
	fputs(",\"path\":", out);
	put_name(file, out, path);
	if (bytes)
		fprintf(out, ",\"bytes\":%" PRIu64, bytes);
	if (link)
		fprintf(out, ",\"link\":%" PRIu64, link);
	if (size) {
		fputs(",\"attributes\":", out);
		put_text(file, out, attributes, size);
	}
	fputs("}\n", out);
	return true;
}

static bool put_marker(struct firefox *file, const struct trace_span *span, const char *path)
{
	FILE *names = column(file, MARKER_NAME), *begins = column(file, MARKER_BEGIN),
	     *ends = column(file, MARKER_END), *phases = column(file, MARKER_PHASE);
	uint32_t name;

	if (!names || !begins || !ends || !phases || !put_payload(file, span, path) ||
		!find_string(file, span->name, span->name_size, &name))
		return false;
	comma(names, file->marker_count);
	comma(begins, file->marker_count);
	comma(ends, file->marker_count);
	comma(phases, file->marker_count);
	fprintf(names, "%" PRIu32, name);
	put_ms(begins, since_origin(file, span->begin_ns));
	if (span->is_mark)
		fputs("null", ends);
	else
		put_ms(ends, since_origin(file, span->end_ns));
	fputs(span->is_mark ? "0" : "1", phases); /* a moment, an interval */
	file->marker_count++;
	return true;
}

/* Of a queue an operation is a sample of its path, too. */
static bool put_operation(struct firefox *file, const struct trace_span *span)
{
	uint32_t scope = run_context(file->run, span->batch->context[span->row])->scope, stack = NO_STACK;
	size_t count = 0;

	if (scope != UINT32_MAX)
		scope = run_scope_at(file->run, scope, select_depth(file->select));
	for (; scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(file->run, scope)->parent) {
		if (!array_widen(&file->open, &file->open_room, count, sizeof *file->open))
			return false;
		file->open[count++] = run_scope(file->run, scope)->function;
	}
	while (count > 0)
		if (!find_stack(file, stack, file->open[--count], &stack))
			return false;
	return stack == NO_STACK || put_sample(file, stack, span->begin_ns, span->end_ns);
}

static bool put_span(void *own, const struct trace_span *span)
{
	struct firefox *file = own;
	bool is_gpu = span->place->stream->s.kind == STORE_STREAM_GPU, ok;
	struct arena arena = {0};
	const char *path;

	path = run_context_path(
		file->run, span->batch->context[span->row], select_depth(file->select), &arena);
	ok = path && put_marker(file, span, path) &&
	     (!is_gpu || span->end_ns <= span->begin_ns || put_operation(file, span));
	arena_fini(&arena);
	return ok;
}

/* ---- values ---- */

static int compare_values(const void *left, const void *right)
{
	const struct counter_value *a = left, *b = right;

	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static bool find_counter(struct firefox *file, const struct trace_place *place,
	const struct trace_value *value, uint32_t *number)
{
	const char *text = place->stream->text, *name = run_metric_name(file->run, value->metric);
	struct counter_key key = {.stream = store_hash128(text, strlen(text)), .metric = value->metric};
	bool is_new;

	*number = key_ids_put(&file->counter_ids, &key, &is_new);
	if (*number == KEY_IDS_NONE)
		return false;
	if (!is_new)
		return true;
	if (!array_widen(&file->counters, &file->counter_room, *number, sizeof *file->counters))
		return false;
	file->counters[*number] = (struct counter){.unit = value->unit, .process = place->process};
	if (asprintf(&file->counters[*number].name, *value->of ? "%s %s" : "%s", name, value->of) < 0)
		file->counters[*number].name = NULL;
	return file->counters[*number].name != NULL;
}

static bool put_value(void *own, const struct trace_place *place, const struct trace_value *value)
{
	struct firefox *file = own;
	struct counter_value of = {.time_ns = value->time_ns, .value = (double)value->amount};

	if (value->is_real)
		memcpy(&of.value, &value->amount, sizeof of.value);
	if (!(of.value > -1e300 && of.value < 1e300))
		return true; /* not a number: JSON has no word for it */
	if (!find_counter(file, place, value, &of.counter))
		return false;
	if (!file->values)
		file->code =
			external_sort_new(&file->values, sizeof of, compare_values, SORT_BYTES, file->error);
	if (file->code == 0)
		file->code = external_sort_put(file->values, &of, file->error);
	return file->code == 0;
}

static void begin_counter(struct firefox *file, uint32_t number, bool is_first)
{
	const struct counter *counter = &file->counters[number];
	const struct process *process = &file->processes[counter->process - 1];
	uint32_t thread = process->main_thread == UINT32_MAX ? 0 : process->main_thread;
	FILE *out = file->out;

	fputs(is_first ? "\n{\"name\":" : ",\n{\"name\":", out);
	put_name(file, out, counter->name);
	fprintf(out, ",\"category\":\"%s\",\"description\":",
		strcmp(counter->unit, "B") == 0 || strcmp(counter->unit, "bytes") == 0 ? "Memory" : "hpct");
	put_name(file, out, counter->unit);
	fprintf(out, ",\"pid\":");
	/* Figures of the host have a process of their own without threads: they are shown at the first one.
	 */
	for (uint32_t i = 0; process->main_thread == UINT32_MAX && i < file->process_count; i++)
		if (file->processes[i].main_thread == 0)
			process = &file->processes[i];
	put_name(file, out, process->pid);
	fprintf(out, ",\"mainThreadIndex\":%" PRIu32 ",\"samples\":{", thread);
}

/* The format counts what came since the value before. */
static void put_counter_value(
	struct firefox *file, const struct counter_value *value, double before, uint64_t count)
{
	FILE *times = column(file, SAMPLE_TIME), *counts = column(file, SAMPLE_WEIGHT);

	if (!times || !counts)
		return;
	comma(times, count);
	comma(counts, count);
	put_ms(times, since_origin(file, value->time_ns));
	fprintf(counts, "%.17g", value->value - before);
}

static void end_counter(struct firefox *file, uint64_t count)
{
	if (copy_column(file, SAMPLE_TIME, "time") + copy_column(file, SAMPLE_WEIGHT, "count") &&
		file->code == 0)
		file->code = error_set(file->error, ERROR_IO, "a temporary file cannot be written or read");
	fprintf(file->out, "\"length\":%" PRIu64 "}}", count);
}

static int put_counters(struct firefox *file)
{
	const struct counter_value *value;
	uint32_t counter = UINT32_MAX;
	uint64_t count = 0;
	double before = 0;
	int code = file->values ? external_sort_rewind(file->values, file->error) : 0;

	if (!file->values || !file->thread_count)
		return code;
	while (code == 0 && (value = external_sort_next(file->values, &code, file->error))) {
		if (value->counter != counter) {
			if (counter != UINT32_MAX)
				end_counter(file, count);
			begin_counter(file, value->counter, counter == UINT32_MAX);
			count = 0;
			before = 0;
		}
		counter = value->counter;
		put_counter_value(file, value, before, count++);
		before = value->value;
	}
	if (counter != UINT32_MAX)
		end_counter(file, count);
	return code < 0 ? code : file->code;
}

/* ---- the whole ---- */

static const char categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"CPU\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"GPU\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Waiting\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}]";

static const char marker_schema[] =
	"[{\"name\":\"operation\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	"\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.path}\",\"data\":["
	"{\"key\":\"op\",\"label\":\"Operation\",\"format\":\"string\",\"searchable\":true},"
	"{\"key\":\"path\",\"label\":\"Path\",\"format\":\"string\",\"searchable\":true},"
	"{\"key\":\"bytes\",\"label\":\"Bytes\",\"format\":\"bytes\"},"
	"{\"key\":\"link\",\"label\":\"Launch\",\"format\":\"integer\",\"searchable\":true},"
	"{\"key\":\"attributes\",\"label\":\"Attributes\",\"format\":\"string\",\"searchable\":true}]}]";

static void put_meta(struct firefox *file)
{
	const char *command = run_meta(file->run, "command");
	FILE *out = file->out;

	fputs("{\"meta\":{\"product\":", out);
	put_name(file, out, command && *command ? command : run_path(file->run));
	fputs(",\"startTime\":", out);
	put_ms(out, run_wall_ns(file->run));
	fprintf(out,
		",\"interval\":1,\"version\":%d,\"preprocessedProfileVersion\":%d,\"processType\":0,"
		"\"stackwalk\":1,"
		"\"debug\":false,\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
		"\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"importedFrom\":\"hpct " HPCT_VERSION "\","
		"\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0},\n\"categories\":%s,\n"
		"\"markerSchema\":%s},\n\"libs\":[],\"pages\":[],\"threads\":[",
		GECKO_VERSION, PROFILE_VERSION, categories, marker_schema);
}

static int put_all(struct firefox *file, struct error *error)
{
	static const struct trace_walk_ops ops = {.process = put_process,
		.lane = put_lane,
		.call = put_call,
		.span = put_span,
		.value = put_value};
	int rc;

	put_meta(file);
	rc = trace_walk(file->run, file->select, &ops, file, error);
	if (rc == 0 && !end_thread(file))
		rc = file->code < 0 ? file->code : error_memory(error);
	fputs("],\n\"counters\":[", file->out);
	if (rc == 0)
		rc = put_counters(file);
	fputs("]}\n", file->out);
	if (rc == 0 && file->text.failed)
		rc = error_memory(error);
	if (rc == 0 && ferror(file->out))
		rc = error_unwritten(error);
	return rc < 0 ? rc : !file->has_record;
}

static void firefox_fini(struct firefox *file)
{
	for (uint32_t i = 0; i < file->process_count; i++) {
		free(file->processes[i].name);
		free(file->processes[i].pid);
	}
	for (uint32_t i = 0; i < file->counter_ids.count && i < file->counter_room; i++)
		free(file->counters[i].name);
	for (size_t i = 0; i < COLUMNS; i++)
		if (file->columns[i])
			fclose(file->columns[i]);
	key_ids_fini(&file->strings);
	key_ids_fini(&file->frames);
	key_ids_fini(&file->stacks);
	key_ids_fini(&file->modules);
	key_ids_fini(&file->counter_ids);
	external_sort_free(file->values);
	store_bytes_fini(&file->string_text);
	store_bytes_fini(&file->text);
	free(file->processes);
	free(file->title);
	free(file->frame_list);
	free(file->module_names);
	free(file->open);
	free(file->counters);
}

static int firefox_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct error below = {0};
	struct firefox file = {.run = run, .select = select, .out = output->out, .error = &below};
	int rc = coverage_require(run, select, error);

	if (rc < 0)
		return rc;
	key_ids_init(&file.strings, sizeof(struct store_hash));
	key_ids_init(&file.frames, sizeof(uint32_t));
	key_ids_init(&file.stacks, sizeof(struct stack_key));
	key_ids_init(&file.modules, sizeof(struct store_hash));
	key_ids_init(&file.counter_ids, sizeof(struct counter_key));
	rc = put_all(&file, error);
	if (rc < 0 && file.code < 0)
		*error = below;
	firefox_fini(&file);
	return rc;
}

const struct format format_firefox = {
	.name = "firefox", .about = "profiler.firefox.com", .put = firefox_put, .lacks = FORMAT_LACKS_PC};
