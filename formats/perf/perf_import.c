/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_import.c - imports what perf record wrote, in two passes over the records, which are not in order of
 * time:
 *
 *   pass 1   processes, their memory and names
 *   pass 2   samples (-g: with their call paths; --call-graph dwarf: unwound here), switches
 * (--switch-events) as blocked and runnable time
 *
 * Names are found as those of any run are: by module and offset, when a reader asks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "formats/base/format.h"
#include "formats/base/import_run.h"
#include "formats/perf/perf_file.h"
#include "formats/perf/perf_kernel.h"
#include "formats/perf/perf_maps.h"
#include "formats/perf/perf_unwind.h"
#include "timeline/names/names_fill.h"

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID /* before Linux 5.12's headers */
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif
#define THREADS 4096u /* remembered; a power of 2 */
#define CHAIN_MAX 4096u
#define RECORD_AUXTRACE 71u

struct perf_import {
	struct format_input *input;
	struct import_run *run;
	struct perf_file *file;
	struct perf_maps *maps;
	struct perf_kernel *kernel;
	struct perf_unwind *unwind; /* NULL: no sample has a stack yet, or they are of another machine */
	bool is_other_machine;
	struct {
		uint32_t tid, pid, stream;
		bool is_known;
	} threads[THREADS];
	uint32_t metrics[PERF_EVENTS_MAX], host;
	uint64_t period_ns;
	bool has_switches;
	/* What cannot be held. */
	uint64_t lost, damaged, stacks, outer, unplaced, traces, unnamed;
	bool is_out_of_memory;
};

/* ---- processes and threads ---- */

static uint32_t find_stream(struct perf_import *import, uint32_t pid, uint32_t tid)
{
	uint32_t at = (tid ^ pid * 31) & (THREADS - 1), process, stream;
	char text[16];

	if (import->threads[at].is_known && import->threads[at].tid == tid && import->threads[at].pid == pid)
		return import->threads[at].stream;
	snprintf(text, sizeof text, "%u", pid);
	process = import_process(import->run, text, strlen(text));
	if (process == IMPORT_NONE)
		return IMPORT_NONE;
	import_process_at(import->run, process)->host = import->host;
	snprintf(text, sizeof text, "%u", tid);
	stream = import_thread(import->run, process, text, strlen(text));
	if (stream == IMPORT_NONE)
		return IMPORT_NONE;
	import->threads[at].tid = tid;
	import->threads[at].pid = pid;
	import->threads[at].stream = stream;
	import->threads[at].is_known = true;
	return stream;
}

/* A name counts from now on; a run has one per thread, the last. */
static bool take_comm(struct perf_import *import, const struct perf_record *record)
{
	uint32_t pid, tid, stream, name, process;
	struct perf_trailer trailer;
	size_t size;
	char text[16];

	if (record->size < 9)
		return true;
	pid = store_load32(record->body);
	tid = store_load32(record->body + 4);
	size = strnlen((const char *)record->body + 8, record->size - 8);
	name = import_name(import->run, (const char *)record->body + 8, size);
	/* Where records tell no time, maps have none either: the image is not parted from that before. */
	if (record->header.misc & PERF_RECORD_MISC_COMM_EXEC &&
		perf_trailer_read(import->file, record, &trailer) &&
		!perf_maps_exec(import->maps, pid, trailer.time_ns))
		return false;
	snprintf(text, sizeof text, "%u", pid);
	process = import_process(import->run, text, strlen(text));
	stream = process == IMPORT_NONE ? IMPORT_NONE : find_stream(import, pid, tid);
	if (stream == IMPORT_NONE)
		return false;
	import_stream_at(import->run, stream)->s.name = name;
	if (pid == tid)
		import_process_at(import->run, process)->name = name;
	return true;
}

/* ---- pass 1: memory ---- */

static bool add_map(struct perf_import *import, const struct perf_record *record, const struct perf_map *map,
	size_t path_at)
{
	struct perf_map whole = *map;
	struct perf_trailer trailer;
	char path[4096];

	if (path_at >= record->size)
		return true;
	snprintf(path, sizeof path, "%.*s",
		(int)strnlen((const char *)record->body + path_at, record->size - path_at),
		(const char *)record->body + path_at);
	perf_trailer_read(import->file, record, &trailer);
	whole.time_ns = trailer.time_ns;
	whole.path = path;
	whole.begin = store_load64(record->body + 8);
	whole.end = whole.begin + store_load64(record->body + 16);
	whole.file_offset = store_load64(record->body + 24);
	whole.pid = store_load32(record->body);
	return perf_maps_add(import->maps, &whole);
}

/* pid, tid, address, length, offset, path; MMAP2: before the path device, inode, generation or a build id;
 * then protection and flags. */
static bool take_map(struct perf_import *import, const struct perf_record *record)
{
	struct perf_map map = {0};
	bool has_more = record->header.type == PERF_RECORD_MMAP2;

	if (record->size < 32 || (has_more && record->size < 64) ||
		record->header.misc & PERF_RECORD_MISC_MMAP_DATA)
		return true;
	if (has_more && record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID && record->body[32] <= 20) {
		map.build_id_bytes = record->body[32];
		map.build_id = record->body + 36;
	}
	return add_map(import, record, &map, has_more ? 64 : 32);
}

static bool take_fork(struct perf_import *import, const struct perf_record *record)
{
	if (record->size < 24)
		return true;
	return perf_maps_fork(import->maps, store_load32(record->body), store_load32(record->body + 4),
		store_load64(record->body + 16));
}

static int read_memory(struct perf_import *import, struct error *error)
{
	struct perf_record record;
	bool ok = true;
	int code;

	while (ok && (code = perf_file_next(import->file, &record, error)) > 0) {
		switch (record.header.type) {
		case PERF_RECORD_MMAP:
		case PERF_RECORD_MMAP2:
			ok = take_map(import, &record);
			break;
		case PERF_RECORD_COMM:
			ok = take_comm(import, &record);
			break;
		case PERF_RECORD_FORK:
			ok = take_fork(import, &record);
			break;
		case PERF_RECORD_SWITCH:
		case PERF_RECORD_SWITCH_CPU_WIDE:
			import->has_switches = true;
			break;
		default:
			break;
		}
	}
	perf_maps_sort(import->maps);
	return ok ? code : error_memory(error);
}

/* ---- pass 2: samples ---- */

/* Callers hold the return address - 1, which lies in the call; the innermost frame the exact place. */
static uint32_t add_frame(struct perf_import *import, const struct perf_sample *sample, uint32_t parent,
	uint64_t address, bool is_kernel)
{
	struct store_writer *writer = import_run_writer(import->run);
	uint64_t offset;
	uint32_t module;

	if (perf_maps_find(import->maps, is_kernel ? PERF_MAPS_KERNEL : sample->pid, sample->time_ns, address,
		    &module, &offset)) {
		if (is_kernel && !perf_kernel_add(import->kernel, module, offset, address))
			import->is_out_of_memory = true;
		return store_writer_context(writer, parent, module, offset);
	}
	import->unplaced++;
	return store_writer_context(writer, parent, STORE_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
}

static bool is_marker(uint64_t address)
{
	return address >= (uint64_t)PERF_CONTEXT_MAX;
}

static bool is_kernel_mode(uint16_t misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* It has no registers of a user, and no stack. */
static bool is_kernel_thread(const struct perf_sample *sample)
{
	return sample->registers_abi == 0 && !sample->stack;
}

struct chain_part {
	uint64_t address;
	bool is_kernel, is_exact;
};

/* The call chain without its markers, innermost first. */
static size_t read_chain(const struct perf_sample *sample, uint16_t misc, struct chain_part parts[CHAIN_MAX])
{
	bool is_kernel = is_kernel_mode(misc), is_exact = true;
	size_t count = 0;

	for (uint64_t i = 0; i < sample->chain_count && count < CHAIN_MAX; i++) {
		uint64_t address = store_load64(sample->chain + i * 8);

		if (!is_marker(address)) {
			parts[count++] = (struct chain_part){address, is_kernel, is_exact};
			is_exact = false;
			continue;
		}
		is_kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
		is_exact = true;
	}
	if (!count && sample->ip)
		parts[count++] = (struct chain_part){sample->ip, is_kernel_mode(misc), true};
	return count;
}

/* The user's frames by the copy of the stack, below the root; 0: it has none. */
static uint32_t unwind(struct perf_import *import, const struct perf_sample *sample, uint32_t root)
{
	const struct perf_unwind_frame *frames;
	bool is_partial;
	size_t count;

	if (!sample->stack || import->is_other_machine)
		return 0;
	if (!import->unwind)
		import->unwind = perf_unwind_new(import->maps);
	count = import->unwind ? perf_unwind_walk(import->unwind, sample, &frames, &is_partial) : 0;
	if (!count)
		return 0;
	import->outer += is_partial;
	if (is_partial)
		root = store_writer_context(
			import_run_writer(import->run), root, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
	while (count-- > 0)
		root = add_frame(import, sample, root, frames[count].address, false);
	return root;
}

static uint32_t context_of(struct perf_import *import, const struct perf_sample *sample, uint16_t misc)
{
	static struct chain_part parts[CHAIN_MAX];
	size_t count = read_chain(sample, misc, parts);
	uint32_t root = sample->pid == sample->tid ? STORE_CONTEXT_PROGRAM_ROOT : STORE_CONTEXT_THREAD_ROOT;
	uint32_t unwound = unwind(import, sample, root), context = unwound ? unwound : root;

	import->stacks += sample->has_stack && !unwound && !is_kernel_thread(sample);
	while (count-- > 0)
		if (!unwound || parts[count].is_kernel)
			context = add_frame(import, sample, context,
				parts[count].address - !parts[count].is_exact, parts[count].is_kernel);
	return context;
}

static int take_sample(struct perf_import *import, const struct perf_record *record, struct error *error)
{
	struct perf_sample sample;
	struct import_record to = {.shape = IMPORT_SAMPLE};
	size_t event;

	if (!perf_sample_read(import->file, record, &sample)) {
		import->damaged++;
		return 0;
	}
	event = (size_t)(sample.event - import->file->events);
	to.stream = find_stream(import, sample.pid, sample.tid);
	if (to.stream == IMPORT_NONE)
		return error_memory(error);
	to.begin_ns = sample.time_ns;
	to.name = context_of(import, &sample, record->header.misc);
	to.op = import->metrics[event];
	to.bytes = sample.period;
	to.is_source = event == 0;
	return import_record(import->run, &to, error);
}

/* A thread leaves its core until it comes back; a preempted one would go on if it could. */
static int put_switch(
	struct perf_import *import, uint16_t misc, const struct perf_trailer *trailer, struct error *error)
{
	bool is_out = misc & PERF_RECORD_MISC_SWITCH_OUT,
	     is_preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	struct import_record record = {.begin_ns = trailer->time_ns,
		.shape = is_out ? IMPORT_BEGIN : IMPORT_END,
		.op = is_preempted ? STORE_OP_RUNNABLE : STORE_OP_BLOCKED};

	if (trailer->tid == 0) /* the kernel's idle thread */
		return 0;
	record.stream = find_stream(import, trailer->pid, trailer->tid);
	return record.stream == IMPORT_NONE ? error_memory(error)
					    : import_record(import->run, &record, error);
}

static int take_switch(struct perf_import *import, const struct perf_record *record, struct error *error)
{
	struct perf_trailer trailer;

	return perf_trailer_read(import->file, record, &trailer)
		       ? put_switch(import, record->header.misc, &trailer, error)
		       : 0;
}

static int take_record(struct perf_import *import, const struct perf_record *record, struct error *error)
{
	switch (record->header.type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(import, record, error);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(import, record, error);
	case PERF_RECORD_LOST:
		import->lost += record->size >= 16 ? store_load64(record->body + 8) : 1;
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		import->lost += record->size >= 8 ? store_load64(record->body) : 1;
		return 0;
	case RECORD_AUXTRACE:
		import->traces++;
		return 0;
	default:
		return 0;
	}
}

static int read_samples(struct perf_import *import, struct error *error)
{
	struct perf_record record;
	int code = perf_file_rewind(import->file, error), next = 0;

	while (code == 0 && (next = perf_file_next(import->file, &record, error)) > 0)
		code = take_record(import, &record, error);
	return code ? code : next;
}

/* ---- the whole ---- */

/* cpu-clock and task-clock count nanoseconds; a rate tells the time between samples. */
static void add_metrics(struct perf_import *import)
{
	for (size_t i = 0; i < import->file->event_count; i++) {
		const struct perf_event *event = &import->file->events[i];
		bool is_clock = event->attr.type == PERF_TYPE_SOFTWARE &&
				event->attr.config <= PERF_COUNT_SW_TASK_CLOCK;

		import->metrics[i] = store_writer_metric(
			import_run_writer(import->run), event->name, is_clock ? "ns" : "", false);
		if (i == 0 && event->attr.freq && event->attr.sample_freq)
			import->period_ns = 1000000000 / event->attr.sample_freq;
		else if (i == 0 && is_clock)
			import->period_ns = event->attr.sample_period;
	}
}

static void end_streams(struct perf_import *import)
{
	const char *name = import->file->events[0].name;
	uint32_t metric = import_name(import->run, name, strlen(name));

	for (uint32_t i = 0; i < import_stream_count(import->run); i++) {
		struct import_stream *stream = import_stream_at(import->run, i);

		stream->metric = metric;
		stream->period_ns = import->period_ns;
		stream->has_switches = import->has_switches;
	}
}

static void say_left_out(const struct perf_import *import, struct store_bytes *list)
{
	format_left_out(list, import->stacks,
		"samples' copies of the stack (--call-graph dwarf), of another kind of machine than this one "
		"or of "
		"32 bits");
	format_left_out(list, import->outer,
		"samples' outermost callers, where the copy of the stack ends or code has no unwind tables");
	format_left_out(list, import->file->damaged_count,
		"compressed blocks of records (-z) that are damaged, or come behind one");
	format_left_out(list, import->traces, "blocks of hardware traces");
	format_left_out(list, import->lost, "records that perf itself lost");
	format_left_out(list, import->damaged, "samples that are damaged, or have no time or thread");
	format_left_out(list, import->unplaced, "frames' places, where no file was mapped");
	format_left_out(list, import->unnamed,
		"places in the kernel that have no name: its list of symbols is neither this machine's nor "
		"in perf's cache of build ids");
	format_left_out(list, perf_maps_missing(import->maps),
		"files' names of functions: the files are not here, or are others than those that ran");
}

static int fill(struct perf_import *import, FILE *in, struct error *error)
{
	int code = perf_file_open(&import->file, in, import->input->name, error);
	const struct perf_file *file = import->file;
	struct utsname machine;

	if (code < 0)
		return code;
	import->maps = perf_maps_new(import_run_writer(import->run));
	for (size_t i = 0; import->maps && i < file->build_id_count; i++)
		if (!perf_maps_build_id(import->maps, file->build_ids[i].path, file->build_ids[i].bytes,
			    file->build_ids[i].size))
			return error_memory(error);
	import->kernel = perf_kernel_new();
	if (!import->maps || !import->kernel)
		return error_memory(error);
	import->is_other_machine =
		uname(&machine) == 0 && file->machine && strcmp(file->machine, machine.machine) != 0;
	if (file->host)
		import->host = import_name(import->run, file->host, strlen(file->host));
	add_metrics(import);
	code = read_memory(import, error);
	if (code == 0)
		code = read_samples(import, error);
	if (code < 0)
		return code;
	if (import->is_out_of_memory)
		return error_memory(error);
	if (import->input->finds_names)
		import->unnamed = perf_kernel_name(
			import->kernel, import_run_writer(import->run), perf_maps_kernel(import->maps));
	end_streams(import);
	say_left_out(import, &import->input->left_out);
	return 0;
}

static int import_from(struct perf_import *import, FILE *in, const char *path, struct error *error)
{
	struct format_input *input = import->input;
	const struct names_options names = {0};
	struct names_fill found;
	uint64_t count = 0;
	bool is_cut = false;
	int code = import_run_begin(&import->run, path, "perf", error);

	if (code < 0)
		return code;
	code = fill(import, in, error);
	if (import->file) {
		count = import->file->record_count;
		is_cut = import->file->is_cut;
	}
	perf_unwind_free(import->unwind);
	perf_maps_free(import->maps);
	perf_kernel_free(import->kernel);
	perf_file_close(import->file);
	if (code < 0) {
		import_run_abort(import->run);
		return code;
	}
	code = import_run_end(import->run, &input->left_out, error);
	if (code == 0 && input->finds_names)
		names_fill(path, &names, &found, NULL, NULL); /* while the files are there */
	if (code < 0 || !is_cut)
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN,
		"%s is cut short, or perf did not end: the %" PRIu64
		" records that are whole are in %s; record anew "
		"for the rest",
		input->name, count, path);
}

static int perf_import(struct format_input *input, const char *path, struct error *error)
{
	struct perf_import *import = calloc(1, sizeof *import);
	FILE *in = NULL;
	int code;

	if (!import)
		return error_memory(error);
	import->input = input;
	code = format_plain_file(input, &in, error);
	if (code == 0)
		code = import_from(import, in, path, error);
	if (in)
		fclose(in);
	free(import);
	return code;
}

static bool perf_is(const uint8_t *head, size_t size)
{
	return size >= 16 && (memcmp(head, "PERFILE2", 8) == 0 || memcmp(head, "2ELIFREP", 8) == 0);
}

const struct format format_perf = {
	.name = "perf", .about = "perf record", .take = perf_import, .is = perf_is};
