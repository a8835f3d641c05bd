/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_nest.c - sorted records into the store. A call that begins inside another one of its thread and ends
 * inside it is its callee; one that begins inside and ends later is none: the outer one is forgotten as a
 * caller, and keeps its times. A launch hands its call path to the operations with its link.
 */
#include "formats/base/import_run_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/array.h"

#define COMMIT_BYTES ((size_t)64 << 20)
/* Times beyond it (2001) count from 1970: no machine runs for so long. */
#define EPOCH_LEAST_NS 1000000000000000000u
#define JOIN_BYTES ((uint64_t)128 << 20)

/* ---- streams ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Threads of a process: the main one, whose tid is the pid, then by tid. */
static int stream_compare(const void *left, const void *right, void *own)
{
	const struct import_run *run = own;
	uint32_t number_a = *(const uint32_t *)left, number_b = *(const uint32_t *)right;
	const struct import_stream *a = &run->streams[number_a], *b = &run->streams[number_b];
	int order = compare(a->process, b->process);
	uint32_t pid;

	order = order ? order : compare(a->s.kind, b->s.kind);
	if (order || a->s.kind != STORE_STREAM_CPU)
		return order ? order : compare(number_a, number_b);
	pid = run->processes[a->process].pid;
	order = (int)a->is_owners - (int)b->is_owners;
	order = order ? order : (int)(b->key == pid) - (int)(a->key == pid);
	order = order ? order : compare(a->key, b->key);
	return order ? order : compare(number_a, number_b);
}

static bool find_process(struct import_run *run, uint32_t *process)
{
	if (*process != IMPORT_OWNER)
		return true;
	if (run->owner == IMPORT_NONE)
		run->owner = run->process_keys.count > 0 ? 0 : import_process(run, "0", 1);
	*process = run->owner;
	return run->owner != IMPORT_NONE;
}

/* Pids for processes that have only a name: above all others. */
static void number_processes(struct import_run *run)
{
	uint32_t next = 1;

	for (uint32_t i = 0; i < run->process_keys.count; i++)
		if (run->processes[i].pid != IMPORT_NONE && run->processes[i].pid >= next)
			next = run->processes[i].pid + 1;
	for (uint32_t i = 0; i < run->process_keys.count; i++) {
		struct import_process *process = &run->processes[i];

		if (process->is_named)
			continue;
		process->rank = process->rank < 0 ? run->rank : process->rank;
		if (process->pid == IMPORT_NONE)
			process->pid = next < UINT32_MAX - 1 ? next++ : 0;
	}
}

static bool begin_stream(struct import_run *run, uint32_t number, uint32_t thread)
{
	struct import_stream *stream = &run->streams[number];
	const struct import_process *process = &run->processes[stream->process];

	stream->s.host = process->host;
	stream->s.rank = process->rank;
	stream->s.pid = process->pid;
	stream->s.generation = process->generation;
	if (!stream->is_numbered)
		stream->s.thread = thread;
	if (stream->s.kind == STORE_STREAM_CPU && thread == 0 && !stream->s.name)
		stream->s.name = process->name;
	run->places[number].id = store_writer_stream(run->writer, &stream->s);
	return run->places[number].id != UINT32_MAX;
}

/* What is of the owner, but of none of its threads, lies in the first one. */
static bool is_owners(const struct import_run *run, const uint32_t *order, uint32_t at)
{
	const struct import_stream *stream = &run->streams[order[at]];

	return stream->is_owners && at > 0 && run->streams[order[at - 1]].process == stream->process &&
	       stream->s.kind == STORE_STREAM_CPU;
}

static int begin_streams(struct import_run *run, struct error *error)
{
	uint32_t count = run->stream_keys.count, thread = 0, first = 0;
	uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
	bool ok = order != NULL;

	run->places = calloc((size_t)count + 1, sizeof *run->places);
	ok = ok && run->places;
	for (uint32_t i = 0; i < count && ok; i++) {
		run->streams[i].is_owners = run->streams[i].process == IMPORT_OWNER;
		ok = find_process(run, &run->streams[i].process);
		order[i] = i;
		run->places[i].same = i;
	}
	number_processes(run);
	if (ok && count > 0)
		qsort_r(order, count, sizeof *order, stream_compare, run);
	for (uint32_t i = 0; i < count && ok; i++) {
		bool goes_on = i > 0 && run->streams[order[i]].process == run->streams[order[i - 1]].process;

		thread = goes_on ? thread + 1 : 0;
		if (thread == 0)
			first = order[i];
		if (is_owners(run, order, i))
			run->places[order[i]].same = first;
		else
			ok = begin_stream(run, order[i], thread);
	}
	free(order);
	return ok ? 0 : error_memory(error);
}

static void put_attribute(struct store_bytes *to, struct import_run *run, const char *key, uint32_t text)
{
	size_t size;
	const char *value = text ? store_writer_text_at(run->writer, text, &size) : NULL;

	if (value)
		import_attribute_put(to, key, strlen(key), value, size);
}

static void put_number(struct store_bytes *to, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, number);
	if (number)
		import_attribute_put(to, key, strlen(key), text, strlen(text));
}

/* Of a queue the whole trace is known, of a thread the time from its first record on. */
static bool end_stream(struct import_run *run, uint32_t number, struct store_bytes *text)
{
	const struct import_stream *from = &run->streams[number];
	const struct stream_place *place = &run->places[number];
	bool is_cpu = from->s.kind == STORE_STREAM_CPU;
	struct store_record record = {.what = STORE_OP_MONITORED};
	struct store_stream *to;

	record.begin_ns = is_cpu && place->is_known ? place->first_ns : run->first_ns;
	record.end_ns = is_cpu && place->is_known ? place->last_ns : run->last_ns;
	text->size = 0;
	if (is_cpu && from->s.thread == 0)
		put_attribute(text, run, "command", run->processes[from->process].name);
	put_attribute(text, run, "name", from->s.name);
	put_attribute(text, run, "device", from->s.device_name);
	put_number(text, "tid", from->s.tid);
	put_attribute(text, run, "metric", from->metric);
	put_number(text, "period_ns", from->period_ns);
	put_number(text, "switches", from->has_switches);
	record.attributes = store_writer_text(run->writer, (const char *)text->data, text->size);
	if (from->s.kind != STORE_STREAM_GAUGES) /* these have no time */
		store_writer_append(run->writer, place->id, STORE_SPANS, &record, 1);
	to = store_writer_stream_edit(run->writer, place->id);
	if (!to || text->failed)
		return false;
	to->begin_ns = record.begin_ns;
	to->end_ns = record.end_ns;
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		to->complete_ns[track] = record.end_ns;
	return true;
}

static int end_streams(struct import_run *run, struct error *error)
{
	struct store_bytes text = {0};
	bool ok = true;

	for (uint32_t i = 0; i < run->stream_keys.count && ok; i++)
		if (run->places[i].same == i)
			ok = end_stream(run, i, &text);
	store_bytes_fini(&text);
	store_writer_meta_number(run->writer, "origin_ns", run->records_count ? run->first_ns : 0);
	if (run->records_count && (run->wall_ns || run->first_ns > EPOCH_LEAST_NS))
		store_writer_meta_number(run->writer, "wall_ns", run->first_ns + run->wall_ns);
	if (run->process_keys.count > 0 && run->processes[0].name) {
		size_t size;

		store_writer_meta(run->writer, "command",
			store_writer_text_at(run->writer, run->processes[0].name, &size));
	}
	return ok ? 0 : error_memory(error);
}

/* ---- records ---- */

static int append(struct import_run *run, uint32_t stream, enum store_track track,
	const struct store_record *record, struct error *error)
{
	struct stream_place *place = &run->places[run->places[stream].same];

	if (!place->is_known || record->begin_ns < place->first_ns)
		place->first_ns = record->begin_ns;
	if (!place->is_known || record->end_ns > place->last_ns)
		place->last_ns = record->end_ns;
	place->is_known = true;
	store_writer_append(run->writer, place->id, track, record, 1);
	return store_writer_pending_bytes(run->writer) < COMMIT_BYTES
		       ? 0
		       : store_writer_commit(run->writer, error);
}

static int append_span(
	struct import_run *run, const struct import_record *from, uint32_t context, struct error *error)
{
	const struct store_record record = {.begin_ns = from->begin_ns,
		.end_ns = from->end_ns,
		.bytes = from->bytes,
		.link = from->link,
		.context = context,
		.what = from->op,
		.attributes = from->attributes};

	return append(run, from->stream, STORE_SPANS, &record, error);
}

static int append_point(struct import_run *run, const struct import_record *from, struct error *error)
{
	const struct store_record record = {.begin_ns = from->begin_ns,
		.end_ns = from->begin_ns,
		.amount = from->bytes,
		.context = from->name,
		.what = from->op,
		.flags = from->is_source ? STORE_RECORD_EXTENT : 0};

	return append(run, from->stream, from->shape == IMPORT_SAMPLE ? STORE_SAMPLES : STORE_VALUES, &record,
		error);
}

/* ---- calls that nest ---- */

static int join_later(struct import_run *run, const struct import_record *record, uint32_t context,
	bool is_operation, struct error *error)
{
	const struct joined_record joined = {.r = *record,
		.serial = run->records_count++,
		.process = run->streams[record->stream].process,
		.context = context,
		.is_operation = is_operation};

	return external_sort_put(run->joined, &joined, error);
}

static int put_call(
	struct import_run *run, const struct import_record *record, uint32_t context, struct error *error)
{
	int rc = append_span(run, record, context, error);

	return rc == 0 && record->link ? join_later(run, record, context, false, error) : rc;
}

static bool is_over(const struct open_call *call, const struct import_record *next)
{
	bool has_length = next->shape == IMPORT_BEGIN || next->end_ns > next->begin_ns;

	if (call->r.shape == IMPORT_BEGIN)
		return false;
	return call->r.end_ns < next->end_ns || (call->r.end_ns <= next->begin_ns && has_length);
}

static int open_call(struct import_run *run, const struct import_record *record, struct error *error)
{
	struct open_call *call;

	while (run->open_count && is_over(&run->open[run->open_count - 1], record))
		run->open_count--;
	if (!array_widen(&run->open, &run->open_room, run->open_count, sizeof *run->open))
		return error_memory(error);
	call = &run->open[run->open_count];
	call->r = *record;
	call->context = run->open_count ? call[-1].context : 0;
	if (record->name)
		call->context = import_frame(run, call->context, record->name);
	run->open_count++;
	return record->shape == IMPORT_BEGIN ? 0 : put_call(run, record, call->context, error);
}

/* The innermost call that waits for its end; whole calls inside it have their own. */
static int close_call(struct import_run *run, const struct import_record *end, struct error *error)
{
	size_t count = run->open_count;
	struct open_call *call;

	while (count && run->open[count - 1].r.shape != IMPORT_BEGIN)
		count--;
	if (!count) {
		run->ends_alone += end->op == STORE_OP_NONE;
		return 0;
	}
	call = &run->open[count - 1];
	run->open_count = count - 1;
	call->r.end_ns = end->begin_ns;
	return put_call(run, &call->r, call->context, error);
}

/* Calls that the trace does not see end last as long as it does; of a wait nobody knows. */
static int end_calls(struct import_run *run, struct error *error)
{
	int rc = 0;

	for (; run->open_count && rc == 0; run->open_count--) {
		struct open_call *call = &run->open[run->open_count - 1];

		if (call->r.shape != IMPORT_BEGIN || store_op_is_state(call->r.op))
			continue;
		call->r.end_ns = run->last_ns;
		rc = put_call(run, &call->r, call->context, error);
	}
	return rc;
}

static int take_record(struct import_run *run, const struct import_record *record, struct error *error)
{
	bool is_gpu = run->streams[record->stream].s.kind != STORE_STREAM_CPU;

	switch (record->shape) {
	case IMPORT_SAMPLE:
	case IMPORT_VALUE:
		return append_point(run, record, error);
	case IMPORT_APART:
		return append_span(run, record, record->name ? import_frame(run, 0, record->name) : 0, error);
	case IMPORT_PLACED:
		return append_span(run, record, record->name, error);
	case IMPORT_END:
		return close_call(run, record, error);
	default:
		return is_gpu && record->shape == IMPORT_CALL ? join_later(run, record, 0, true, error)
							      : open_call(run, record, error);
	}
}

static int nest(struct import_run *run, struct error *error)
{
	const struct sorted_record *record;
	uint32_t stream = IMPORT_NONE;
	int rc = external_sort_rewind(run->records, error);

	while (rc == 0 && (record = external_sort_next(run->records, &rc, error))) {
		if (record->r.stream != stream)
			rc = end_calls(run, error);
		stream = record->r.stream;
		if (rc == 0)
			rc = take_record(run, &record->r, error);
	}
	return rc == 0 ? end_calls(run, error) : rc;
}

/* ---- launches and what they launched ---- */

static int joined_compare(const void *left, const void *right)
{
	const struct joined_record *a = left, *b = right;
	int order = compare(a->process, b->process);

	order = order ? order : compare(a->r.link, b->r.link);
	order = order ? order : (int)a->is_operation - (int)b->is_operation;
	return order ? order : compare(a->serial, b->serial);
}

/* What it compares first. */
static void joined_key(const void *entry, uint64_t key[2])
{
	const struct joined_record *record = entry;

	key[0] = record->process;
	key[1] = record->r.link;
}

static uint64_t frame_of(uint32_t op)
{
	switch (op) {
	case STORE_OP_KERNEL:
		return STORE_FRAME_GPU_KERNEL;
	case STORE_OP_COPY:
		return STORE_FRAME_GPU_COPY;
	case STORE_OP_SET:
		return STORE_FRAME_GPU_SET;
	case STORE_OP_SYNC:
		return STORE_FRAME_GPU_SYNC;
	default:
		return STORE_FRAME_COUNT;
	}
}

static int put_operation(
	struct import_run *run, const struct import_record *record, uint32_t launch, struct error *error)
{
	uint64_t frame = frame_of(record->op);
	uint32_t context = launch ? launch : STORE_CONTEXT_PROGRAM_ROOT;

	if (frame != STORE_FRAME_COUNT)
		context = store_writer_context(run->writer, context, STORE_MODULE_RESERVED, frame);
	if (frame == STORE_FRAME_GPU_KERNEL || frame == STORE_FRAME_COUNT)
		context = import_frame(run, context, record->name);
	return append_span(run, record, context, error);
}

static int join(struct import_run *run, struct error *error)
{
	const struct joined_record *record;
	uint32_t process = IMPORT_NONE, context = 0;
	uint64_t link = 0;
	int rc = external_sort_rewind(run->joined, error);

	while (rc == 0 && (record = external_sort_next(run->joined, &rc, error))) {
		bool is_linked = record->r.link && record->process == process && record->r.link == link;

		if (record->is_operation) {
			rc = put_operation(run, &record->r, is_linked ? context : 0, error);
			continue;
		}
		if (!is_linked) /* of several calls with one link the first launched */
			context = record->context;
		process = record->process;
		link = record->r.link;
	}
	return rc;
}

int import_nest(struct import_run *run, struct error *error)
{
	int rc = external_sort_new(
		&run->joined, sizeof(struct joined_record), joined_compare, JOIN_BYTES, error);

	if (rc == 0) {
		external_sort_by(run->joined, joined_key);
		rc = begin_streams(run, error);
	}
	if (rc == 0)
		rc = nest(run, error);
	if (rc == 0)
		rc = join(run, error);
	return rc == 0 ? end_streams(run, error) : rc;
}
