/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_import.c - see perfetto_import.h. The file is read twice, since tracks and processes may be told
 * after their events:
 *
 *   1  track descriptors, process trees                -> tracks, names
 *   2  slices -> nested calls, counters -> values, switches of the scheduler -> waits, clocks, interned names
 *
 * Tracks that hpct-export wrote say in their description which stream they are of; their slices become again
 * what they were (import_line.h).
 */
#include "formats/perfetto/perfetto_import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/import_line.h"
#include "formats/perfetto/perfetto_packets.h"
#include "store/base/array.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"

typedef Hpct__Perfetto__TracePacket packet_type;
typedef Hpct__Perfetto__TrackEvent event_type;
typedef Hpct__Perfetto__DebugAnnotation annotation_type;
typedef Hpct__Perfetto__TrackDescriptor descriptor_type;

#define CLOCK_REALTIME_ID 1u
#define CLOCK_BOOTTIME_ID 6u /* the trace's, unless a packet says another one */
#define CLOCK_OF_SEQUENCE 64u
#define PARENTS_MAX 64u
#define CPUS_MAX 4096u
#define ATTRIBUTE_BYTES_MAX 1024u
#define FLOW_LINK_BITS 40 /* hpct's flows: the process, then the link */
#define PROGRESS_PACKETS 4096u
#define SWITCH_BYTES ((uint64_t)64 << 20)

enum track_kind { TRACK_CUSTOM, TRACK_PROCESS, TRACK_THREAD, TRACK_COUNTER };

/* A slice that is open. */
struct slice {
	struct import_record record;
	bool is_whole, is_of_line;
};

struct track {
	uint64_t uuid, parent;
	enum track_kind kind;
	uint32_t name, unit; /* texts; 0: none */
	uint32_t stream;     /* IMPORT_NONE: not yet known */
	uint32_t process;    /* of it and what lies below */
	uint32_t metric;     /* of a counter: 1 + number */
	int32_t pid, tid;
	int64_t multiplier;
	bool is_incremental, is_own;
	int64_t value; /* of an incremental counter */
	struct slice *open;
	size_t open_count, open_room;
	struct import_line *line;
};

struct sequence {
	uint32_t id, epoch; /* epoch: interned data begin anew with each */
	uint64_t track;	    /* default; 0: none */
	uint32_t clock;	    /* default; 0: the trace's */
};

struct clock {
	int64_t offset_ns; /* to the trace's clock */
	uint64_t unit_ns, value_ns;
	bool is_incremental;
};

struct clock_key {
	uint32_t sequence, id; /* sequence 0: of all */
};

enum table { TABLE_CATEGORY, TABLE_NAME, TABLE_KEY, TABLE_TEXT };

struct interned_key {
	uint64_t iid;
	uint32_t sequence, epoch, table, zero;
};

/* A thread leaves its core, or comes to one. */
struct core_switch {
	uint64_t time_ns, serial;
	uint32_t stream, op; /* op: of the wait that begins; STORE_OP_NONE: it comes */
};

struct perfetto_import {
	struct format_input *input;
	struct import_run *run;
	struct perfetto_packets packets;
	struct key_ids track_ids, sequence_ids, clock_ids, interned, threads;
	struct track *tracks;
	struct sequence *sequences;
	struct clock *clocks;
	uint32_t *texts;	/* [interned] */
	int32_t *thread_groups; /* [thread] process */
	struct external_sort
		*switches; /* of all cores, whose records are not in order of time; NULL: none yet */
	uint64_t switch_count;
	size_t track_room, sequence_room, clock_room, text_room, group_room;
	int32_t running[CPUS_MAX]; /* tid; 0: not known */
	uint32_t op_call;
	struct store_bytes text;
	uint64_t ends_alone, flows, legacy, annotations, unnamed, others[64];
	struct error *error;
	int code;
};

static bool memory(struct perfetto_import *import, bool ok)
{
	if (!ok && import->code == 0)
		import->code = error_memory(import->error);
	return ok;
}

/* ---- what is not read ---- */

static const struct {
	uint32_t first, second;
	const char *what;
} kinds[] = {{5, 0, "packets of Chrome's older events"}, {7, 9, "statistics of the system and of processes"},
	{37, 56, "packets of heap profiles"}, {38, 40, "packets of power rails"},
	{39, 132, "packets of logs"}, {52, 53, "packets of GPU counters and stages"},
	{54, 66, "packets of call stack samples"}, {57, 76, "packets of frames"},
	{133, 0, "packets that zstd compressed"}, {43, 44, "descriptors of an older kind"},
	{135, 65, "packets of stack samples and Vulkan"}};

static void count_other(struct perfetto_import *import, const packet_type *packet)
{
	for (unsigned i = 0; i < packet->base.n_unknown_fields; i++)
		for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++)
			import->others[at] += packet->base.unknown_fields[i].tag == kinds[at].first ||
					      packet->base.unknown_fields[i].tag == kinds[at].second;
}

/* ---- tracks ---- */

/* NULL: no memory. */
static struct track *find_track(struct perfetto_import *import, uint64_t uuid)
{
	bool is_new;
	uint32_t number = key_ids_put(&import->track_ids, &uuid, &is_new);

	if (!memory(import, number != KEY_IDS_NONE && array_widen(&import->tracks, &import->track_room,
							      number, sizeof *import->tracks)))
		return NULL;
	if (is_new)
		import->tracks[number] =
			(struct track){.uuid = uuid, .stream = IMPORT_NONE, .process = IMPORT_NONE};
	return &import->tracks[number];
}

static uint32_t text_of(struct perfetto_import *import, const ProtobufCBinaryData *text)
{
	return text->len ? import_name(import->run, (const char *)text->data, text->len) : 0;
}

/* A process by its number. */
static uint32_t find_process(struct perfetto_import *import, int32_t pid)
{
	char key[16];

	snprintf(key, sizeof key, "%" PRId32, pid);
	return import_process(import->run, key, strlen(key));
}

static uint32_t find_thread(struct perfetto_import *import, int32_t pid, int32_t tid)
{
	uint32_t process = find_process(import, pid), stream;
	char key[16];

	snprintf(key, sizeof key, "%" PRId32, tid);
	stream = process == IMPORT_NONE ? IMPORT_NONE : import_thread(import->run, process, key, strlen(key));
	memory(import, stream != IMPORT_NONE);
	return stream;
}

/* hpct's own: the stream, and behind a line break a counter's metric. */
static void take_description(
	struct perfetto_import *import, struct track *track, const ProtobufCBinaryData *text)
{
	const char *bytes = (const char *)text->data,
		   *end = text->len ? memchr(bytes, '\n', text->len) : NULL;
	size_t size = end ? (size_t)(end - bytes) : text->len;
	bool is_text = false;

	if (size)
		track->stream = import_stream_named(import->run, bytes, size, &is_text);
	track->is_own = is_text && memory(import, track->stream != IMPORT_NONE);
	if (!track->is_own) {
		track->stream = IMPORT_NONE;
		return;
	}
	if (end)
		track->name = import_name(import->run, end + 1, text->len - size - 1);
	else if (track->name && !import_stream_at(import->run, track->stream)->s.name)
		import_stream_at(import->run, track->stream)->s.name = track->name;
}

static void take_counter(
	struct perfetto_import *import, struct track *track, const Hpct__Perfetto__CounterDescriptor *counter)
{
	static const char *const units[] = {"", "ns", "", "B"};
	const char *unit = counter->unit < 4 ? units[counter->unit] : "";

	track->kind = TRACK_COUNTER;
	track->unit = counter->unit_name.len ? text_of(import, &counter->unit_name)
		      : *unit		     ? import_name(import->run, unit, strlen(unit))
					     : 0;
	track->multiplier =
		counter->has_unit_multiplier && counter->unit_multiplier ? counter->unit_multiplier : 1;
	track->is_incremental = counter->is_incremental;
}

static void take_process(
	struct perfetto_import *import, struct track *track, const Hpct__Perfetto__ProcessDescriptor *process)
{
	uint32_t number = find_process(import, process->pid);

	track->kind = TRACK_PROCESS;
	track->pid = process->pid;
	track->process = number;
	if (memory(import, number != IMPORT_NONE) && process->process_name.len)
		import_process_at(import->run, number)->name = text_of(import, &process->process_name);
}

static void take_thread(
	struct perfetto_import *import, struct track *track, const Hpct__Perfetto__ThreadDescriptor *thread)
{
	track->kind = TRACK_THREAD;
	track->pid = thread->pid;
	track->tid = thread->tid;
	if (track->is_own)
		return;
	track->process = find_process(import, thread->pid);
	track->stream = find_thread(import, thread->pid, thread->tid);
	if (track->stream != IMPORT_NONE && thread->thread_name.len)
		import_stream_at(import->run, track->stream)->s.name = text_of(import, &thread->thread_name);
}

static void take_descriptor(struct perfetto_import *import, const descriptor_type *from)
{
	struct track *track = find_track(import, from->uuid);

	if (!track)
		return;
	track->parent = from->parent_uuid;
	track->name = from->name.len ? text_of(import, &from->name) : text_of(import, &from->static_name);
	if (from->thread && !track->name)
		track->name = text_of(import, &from->thread->thread_name);
	if (from->description.len)
		take_description(import, track, &from->description);
	if (from->counter)
		take_counter(import, track, from->counter);
	if (from->thread)
		take_thread(import, track, from->thread);
	else if (from->process && !track->is_own)
		take_process(import, track, from->process);
}

/* ---- processes of the kernel ---- */

static void take_group(struct perfetto_import *import, int32_t tid, int32_t pid)
{
	uint32_t number = key_ids_put(&import->threads, &tid, NULL);

	if (memory(import, number != KEY_IDS_NONE && array_widen(&import->thread_groups, &import->group_room,
							     number, sizeof *import->thread_groups)))
		import->thread_groups[number] = pid;
}

static void take_tree(struct perfetto_import *import, const Hpct__Perfetto__ProcessTree *tree)
{
	for (size_t i = 0; i < tree->n_processes && import->code == 0; i++) {
		const Hpct__Perfetto__ProcessTree__Process *process = tree->processes[i];
		uint32_t number = find_process(import, process->pid);

		take_group(import, process->pid, process->pid);
		if (memory(import, number != IMPORT_NONE) && process->n_cmdline)
			import_process_at(import->run, number)->name = text_of(import, &process->cmdline[0]);
	}
	for (size_t i = 0; i < tree->n_threads && import->code == 0; i++) {
		const Hpct__Perfetto__ProcessTree__Thread *thread = tree->threads[i];
		uint32_t stream = find_thread(import, thread->tgid, thread->tid);

		take_group(import, thread->tid, thread->tgid);
		if (stream != IMPORT_NONE && thread->name.len)
			import_stream_at(import->run, stream)->s.name = text_of(import, &thread->name);
	}
}

/* Threads that no tree names are processes of their own. */
static uint32_t thread_of(struct perfetto_import *import, int32_t tid)
{
	uint32_t number = key_ids_find(&import->threads, &tid);

	return find_thread(import, number == KEY_IDS_NONE ? tid : import->thread_groups[number], tid);
}

/* ---- sequences and clocks ---- */

static struct sequence *find_sequence(struct perfetto_import *import, const packet_type *packet)
{
	uint32_t id = packet->trusted_packet_sequence_id;
	bool is_new;
	uint32_t number = key_ids_put(&import->sequence_ids, &id, &is_new);

	if (!memory(import, number != KEY_IDS_NONE && array_widen(&import->sequences, &import->sequence_room,
							      number, sizeof *import->sequences)))
		return NULL;
	if (is_new)
		import->sequences[number] = (struct sequence){.id = id};
	return &import->sequences[number];
}

static void begin_state(struct sequence *sequence, const packet_type *packet)
{
	if (packet->sequence_flags & 1 || packet->incremental_state_cleared) {
		sequence->epoch++;
		sequence->track = 0;
		sequence->clock = 0;
	}
	if (!packet->trace_packet_defaults)
		return;
	sequence->clock = packet->trace_packet_defaults->timestamp_clock_id;
	if (packet->trace_packet_defaults->track_event_defaults)
		sequence->track = packet->trace_packet_defaults->track_event_defaults->track_uuid;
}

static struct clock_key clock_key(const struct sequence *sequence, uint32_t id)
{
	return (struct clock_key){
		id >= CLOCK_OF_SEQUENCE && id < 2 * CLOCK_OF_SEQUENCE ? sequence->id : 0, id};
}

/* Clocks at one moment: the others' distances to the trace's own. */
static void take_clocks(struct perfetto_import *import, const struct sequence *sequence,
	const Hpct__Perfetto__ClockSnapshot *snapshot)
{
	uint64_t trace_ns = 0, wall_ns = 0;

	for (size_t i = 0; i < snapshot->n_clocks; i++) {
		const Hpct__Perfetto__ClockSnapshot__Clock *from = snapshot->clocks[i];

		if (from->clock_id == CLOCK_BOOTTIME_ID)
			trace_ns = from->timestamp;
		else if (from->clock_id == CLOCK_REALTIME_ID)
			wall_ns = from->timestamp;
	}
	if (wall_ns > trace_ns && trace_ns)
		import_run_wall(import->run, wall_ns - trace_ns);
	for (size_t i = 0; i < snapshot->n_clocks; i++) {
		const Hpct__Perfetto__ClockSnapshot__Clock *from = snapshot->clocks[i];
		struct clock_key key = clock_key(sequence, from->clock_id);
		uint32_t number;
		struct clock clock = {.unit_ns = from->unit_multiplier_ns ? from->unit_multiplier_ns : 1,
			.is_incremental = from->is_incremental};

		if (from->clock_id == CLOCK_BOOTTIME_ID)
			continue;
		clock.value_ns = from->timestamp * clock.unit_ns;
		clock.offset_ns = trace_ns ? (int64_t)(trace_ns - clock.value_ns) : 0;
		number = key_ids_put(&import->clock_ids, &key, NULL);
		if (!memory(import,
			    number != KEY_IDS_NONE && array_widen(&import->clocks, &import->clock_room,
							      number, sizeof *import->clocks)))
			return;
		import->clocks[number] = clock;
	}
}

static uint64_t time_of(
	struct perfetto_import *import, const struct sequence *sequence, const packet_type *packet)
{
	uint32_t id = packet->has_timestamp_clock_id ? packet->timestamp_clock_id : sequence->clock, number;
	struct clock_key key = clock_key(sequence, id);
	struct clock *clock;

	number = id && id != CLOCK_BOOTTIME_ID ? key_ids_find(&import->clock_ids, &key) : KEY_IDS_NONE;
	if (number == KEY_IDS_NONE)
		return packet->timestamp;
	clock = &import->clocks[number];
	if (clock->is_incremental)
		clock->value_ns += packet->timestamp * clock->unit_ns;
	else
		clock->value_ns = packet->timestamp * clock->unit_ns;
	return clock->value_ns + (uint64_t)clock->offset_ns;
}

/* ---- interned names ---- */

static void intern(struct perfetto_import *import, const struct sequence *sequence, enum table table,
	Hpct__Perfetto__InternedName *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct interned_key key = {names[i]->iid, sequence->id, sequence->epoch, table, 0};
		uint32_t number = key_ids_put(&import->interned, &key, NULL);

		if (!memory(import, number != KEY_IDS_NONE && array_widen(&import->texts, &import->text_room,
								      number, sizeof *import->texts)))
			return;
		import->texts[number] = text_of(import, &names[i]->name);
	}
}

static void take_interned(struct perfetto_import *import, const struct sequence *sequence,
	const Hpct__Perfetto__InternedData *data)
{
	intern(import, sequence, TABLE_CATEGORY, data->event_categories, data->n_event_categories);
	intern(import, sequence, TABLE_NAME, data->event_names, data->n_event_names);
	intern(import, sequence, TABLE_KEY, data->debug_annotation_names, data->n_debug_annotation_names);
	intern(import, sequence, TABLE_TEXT, data->debug_annotation_string_values,
		data->n_debug_annotation_string_values);
}

/* Text id; 0: it is missing. */
static uint32_t interned(
	struct perfetto_import *import, const struct sequence *sequence, enum table table, uint64_t iid)
{
	const struct interned_key key = {iid, sequence->id, sequence->epoch, table, 0};
	uint32_t number = key_ids_find(&import->interned, &key);

	import->unnamed += number == KEY_IDS_NONE;
	return number == KEY_IDS_NONE ? 0 : import->texts[number];
}

static const char *text_at(struct perfetto_import *import, uint32_t text, size_t *size)
{
	const char *bytes = text ? store_writer_text_at(import_run_writer(import->run), text, size) : NULL;

	if (!bytes)
		*size = 0;
	return bytes ? bytes : "";
}

/* ---- where an event is ---- */

/* The process of the nearest track above that has one. */
static uint32_t process_above(struct perfetto_import *import, const struct track *track)
{
	uint64_t parent = track->parent;

	for (unsigned i = 0; i < PARENTS_MAX; i++) {
		uint32_t number = key_ids_find(&import->track_ids, &parent);

		if (number == KEY_IDS_NONE)
			break;
		if (import->tracks[number].process != IMPORT_NONE)
			return import->tracks[number].process;
		parent = import->tracks[number].parent;
	}
	return import_process(import->run, "trace", 5);
}

/* A track that is no thread has a lane of its own. */
static bool find_stream(struct perfetto_import *import, struct track *track)
{
	bool is_counter = track->kind == TRACK_COUNTER;
	char key[40];

	if (track->stream != IMPORT_NONE)
		return true;
	if (track->process == IMPORT_NONE)
		track->process = process_above(import, track);
	if (!memory(import, track->process != IMPORT_NONE))
		return false;
	snprintf(key, sizeof key, is_counter ? "counters" : "track %016" PRIx64, track->uuid);
	track->stream = import_thread(import->run, track->process, key, strlen(key));
	if (!memory(import, track->stream != IMPORT_NONE))
		return false;
	import_stream_at(import->run, track->stream)->s.name =
		is_counter ? import_name(import->run, "counters", 8) : track->name;
	return true;
}

static bool put(struct perfetto_import *import, const struct track *track, struct import_record *record)
{
	record->stream = track->stream;
	if (import->code == 0)
		import->code = import_record(import->run, record, import->error);
	return import->code == 0;
}

/* ---- what an event has beside its name ---- */

static void put_attribute(struct perfetto_import *import, uint32_t key, const char *value, size_t size)
{
	size_t key_size;
	const char *text = text_at(import, key, &key_size);

	if (!key_size)
		return;
	if (import->text.size + key_size + size > ATTRIBUTE_BYTES_MAX) {
		import->annotations++;
		return;
	}
	import_attribute_put(&import->text, text, key_size, value, size);
}

static void put_annotation(
	struct perfetto_import *import, const struct sequence *sequence, const annotation_type *from)
{
	uint32_t key = from->name.len ? text_of(import, &from->name)
				      : interned(import, sequence, TABLE_KEY, from->name_iid);
	char number[40] = "";
	size_t size;
	const char *text;

	if (from->has_string_value_iid) {
		text = text_at(import, interned(import, sequence, TABLE_TEXT, from->string_value_iid), &size);
		put_attribute(import, key, text, size);
		return;
	}
	if (from->has_string_value) {
		put_attribute(import, key, (const char *)from->string_value.data, from->string_value.len);
		return;
	}
	if (from->has_uint_value)
		snprintf(number, sizeof number, "%" PRIu64, from->uint_value);
	else if (from->has_int_value)
		snprintf(number, sizeof number, "%" PRId64, from->int_value);
	else if (from->has_double_value)
		snprintf(number, sizeof number, "%.17g", from->double_value);
	else if (from->has_bool_value)
		snprintf(number, sizeof number, "%s", from->bool_value ? "true" : "false");
	else
		import->annotations++; /* values that nest */
	if (*number)
		put_attribute(import, key, number, strlen(number));
}

static uint32_t attributes_of(
	struct perfetto_import *import, const struct sequence *sequence, const event_type *event)
{
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		put_annotation(import, sequence, event->debug_annotations[i]);
	return import_attributes(import->run, &import->text);
}

static uint32_t name_of(
	struct perfetto_import *import, const struct sequence *sequence, const event_type *event)
{
	if (event->name.len)
		return text_of(import, &event->name);
	return event->has_name_iid ? interned(import, sequence, TABLE_NAME, event->name_iid) : 0;
}

static uint32_t category_of(
	struct perfetto_import *import, const struct sequence *sequence, const event_type *event)
{
	if (event->n_categories)
		return text_of(import, &event->categories[0]);
	return event->n_category_iids ? interned(import, sequence, TABLE_CATEGORY, event->category_iids[0])
				      : 0;
}

/* ---- hpct's own slices ---- */

static void take_own_annotation(struct perfetto_import *import, const struct sequence *sequence,
	const annotation_type *from, struct import_record *record)
{
	size_t key_size, size;
	const char *key = text_at(import, interned(import, sequence, TABLE_KEY, from->name_iid), &key_size);
	const char *text =
		from->has_string_value_iid
			? text_at(import, interned(import, sequence, TABLE_TEXT, from->string_value_iid),
				  &size)
			: "";

	if (key_size == 5 && memcmp(key, "bytes", 5) == 0)
		record->bytes = from->uint_value;
	else if (key_size == 4 && memcmp(key, "link", 4) == 0)
		record->link = from->uint_value;
	else if (key_size == 4 && memcmp(key, "path", 4) == 0)
		record->name = from->has_string_value_iid ? import_path(import->run, text, size) : 0;
	else if (from->has_string_value_iid)
		store_bytes_put(&import->text, text, size);
}

static void begin_own(struct perfetto_import *import, const struct sequence *sequence,
	const event_type *event, struct slice *slice)
{
	size_t size;
	const char *op = text_at(import, category_of(import, sequence, event), &size);

	slice->record.shape = IMPORT_PLACED;
	slice->record.name = 0;
	slice->is_whole = true;
	if (size)
		slice->record.op = store_writer_op(import_run_writer(import->run), op, size);
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		take_own_annotation(import, sequence, event->debug_annotations[i], &slice->record);
	slice->record.attributes = import_attributes(import->run, &import->text);
	if (event->n_flow_ids && !slice->record.link)
		slice->record.link = event->flow_ids[0] & (((uint64_t)1 << FLOW_LINK_BITS) - 1);
}

static bool begin_line(struct perfetto_import *import, struct track *track)
{
	track->line = calloc(1, sizeof *track->line);
	if (memory(import, track->line != NULL))
		import->code = import_line_begin(track->line, import->run, track->stream, import->error);
	return import->code == 0;
}

static bool enter_line(struct perfetto_import *import, const struct sequence *sequence, struct track *track,
	const event_type *event, struct slice *slice)
{
	size_t size;
	const char *name = text_at(import, slice->record.name, &size), *category;
	uint32_t state = STORE_OP_COUNT;

	slice->is_of_line = true;
	if (!track->line && !begin_line(import, track))
		return false;
	state = import_line_state(name, size);
	category = text_at(import, category_of(import, sequence, event), &size);
	if (size != 5 || memcmp(category, "state", 5) != 0)
		state = STORE_OP_COUNT;
	import->code = import_line_enter(
		track->line, slice->record.begin_ns, slice->record.name, state, import->error);
	return import->code == 0;
}

/* ---- slices ---- */

static void begin_foreign(struct perfetto_import *import, const struct sequence *sequence,
	const event_type *event, struct slice *slice)
{
	size_t size;
	const char *category = text_at(import, category_of(import, sequence, event), &size);
	uint32_t op =
		size ? store_writer_op(import_run_writer(import->run), category, size) : import->op_call;

	/* A category that reads like a state is none. */
	slice->record.op =
		store_op_is_state(op) || op == STORE_OP_NONE || op < STORE_OP_TEXT ? import->op_call : op;
	slice->record.shape = IMPORT_BEGIN;
	slice->record.attributes = attributes_of(import, sequence, event);
	import->flows += event->n_flow_ids + event->n_terminating_flow_ids;
}

static void take_begin(struct perfetto_import *import, const struct sequence *sequence, struct track *track,
	const event_type *event, uint64_t time_ns)
{
	bool is_line = track->is_own && track->kind == TRACK_THREAD;
	struct slice *slice;

	if (!memory(import,
		    array_widen(&track->open, &track->open_room, track->open_count, sizeof *track->open)))
		return;
	slice = &track->open[track->open_count++];
	*slice = (struct slice){.record = {.begin_ns = time_ns, .op = import->op_call}};
	slice->record.name = name_of(import, sequence, event);
	import->text.size = 0;
	if (is_line) {
		enter_line(import, sequence, track, event, slice);
		return;
	}
	if (!slice->record.name)
		slice->record.name = import_name(import->run, "slice", 5);
	if (track->is_own)
		begin_own(import, sequence, event, slice);
	else
		begin_foreign(import, sequence, event, slice);
	if (!slice->is_whole)
		put(import, track, &slice->record);
}

static void take_end(struct perfetto_import *import, struct track *track, uint64_t time_ns)
{
	struct import_record end = {.shape = IMPORT_END, .begin_ns = time_ns};
	struct slice *slice;

	if (!track->open_count) {
		import->ends_alone++;
		return;
	}
	slice = &track->open[--track->open_count];
	if (slice->is_of_line) {
		if (track->line && import->code == 0)
			import->code = import_line_leave(track->line, time_ns, import->error);
	} else if (slice->is_whole) {
		slice->record.end_ns = time_ns > slice->record.begin_ns ? time_ns : slice->record.begin_ns;
		put(import, track, &slice->record);
	} else {
		put(import, track, &end);
	}
}

static void take_instant(struct perfetto_import *import, const struct sequence *sequence, struct track *track,
	const event_type *event, uint64_t time_ns)
{
	struct slice slice = {.record = {.begin_ns = time_ns, .end_ns = time_ns, .op = STORE_OP_MARK}};
	uint32_t name = name_of(import, sequence, event);
	size_t size;
	const char *text;

	import->text.size = 0;
	if (track->is_own) {
		begin_own(import, sequence, event, &slice);
	} else {
		text = text_at(import, name, &size);
		import_attribute_put(&import->text, "name", 4, text, size);
		slice.record.shape = IMPORT_APART;
		slice.record.attributes = attributes_of(import, sequence, event);
		import->flows += event->n_flow_ids + event->n_terminating_flow_ids;
	}
	put(import, track, &slice.record);
}

/* ---- counters ---- */

static void put_value(struct perfetto_import *import, uint64_t uuid, uint64_t time_ns, bool is_real,
	double real, int64_t number)
{
	struct track *track = find_track(import, uuid);
	struct import_record record = {.shape = IMPORT_VALUE, .begin_ns = time_ns};
	size_t size, unit_size;
	const char *name, *unit;
	char text[256], unit_text[64];

	if (!track)
		return;
	track->kind = TRACK_COUNTER;
	if (!track->multiplier)
		track->multiplier = 1;
	if (track->is_incremental && !is_real)
		number = track->value = (int64_t)((uint64_t)track->value + (uint64_t)number);
	is_real |= !track->is_own && (number < 0 || track->multiplier != 1);
	if (is_real) {
		real = (real != 0 || number == 0 ? real : (double)number) * (double)track->multiplier;
		memcpy(&record.bytes, &real, sizeof real);
	} else {
		record.bytes = (uint64_t)number;
	}
	if (!find_stream(import, track))
		return;
	name = text_at(import, track->name, &size);
	unit = text_at(import, track->unit, &unit_size);
	snprintf(text, sizeof text, "%.*s", size ? (int)(size < 250 ? size : 250) : 7,
		size ? name : "counter");
	snprintf(unit_text, sizeof unit_text, "%.*s", (int)(unit_size < 60 ? unit_size : 60), unit);
	record.op = store_writer_metric(import_run_writer(import->run), text, unit_text, is_real);
	put(import, track, &record);
}

static void take_values(
	struct perfetto_import *import, const event_type *event, uint64_t uuid, uint64_t time_ns)
{
	if (event->type == HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER) {
		if (event->has_double_counter_value)
			put_value(import, uuid, time_ns, true, event->double_counter_value, 0);
		else
			put_value(import, uuid, time_ns, false, 0, event->counter_value);
	}
	for (size_t i = 0; i < event->n_extra_counter_values && i < event->n_extra_counter_track_uuids; i++)
		put_value(import, event->extra_counter_track_uuids[i], time_ns, false, 0,
			event->extra_counter_values[i]);
	for (size_t i = 0;
		i < event->n_extra_double_counter_values && i < event->n_extra_double_counter_track_uuids;
		i++)
		put_value(import, event->extra_double_counter_track_uuids[i], time_ns, true,
			event->extra_double_counter_values[i], 0);
}

static void take_event(
	struct perfetto_import *import, const struct sequence *sequence, const packet_type *packet)
{
	const event_type *event = packet->track_event;
	uint64_t time_ns = time_of(import, sequence, packet);
	uint64_t uuid = event->has_track_uuid ? event->track_uuid : sequence->track;
	struct track *track;

	take_values(import, event, uuid, time_ns);
	if (event->type == HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER)
		return;
	if (event->legacy_event && !event->has_type) {
		import->legacy++;
		return;
	}
	track = find_track(import, uuid);
	if (!track || !find_stream(import, track))
		return;
	if (event->type == HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
		take_begin(import, sequence, track, event, time_ns);
	else if (event->type == HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END)
		take_end(import, track, time_ns);
	else
		take_instant(import, sequence, track, event, time_ns);
}

/* ---- the scheduler ---- */

static int switch_compare(const void *left, const void *right)
{
	const struct core_switch *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

static void switch_key(const void *entry, uint64_t key[2])
{
	const struct core_switch *of = entry;

	key[0] = of->stream;
	key[1] = of->time_ns;
}

static void put_switch(struct perfetto_import *import, int32_t tid, uint32_t op, uint64_t time_ns)
{
	struct core_switch to = {.time_ns = time_ns, .op = op, .serial = import->switch_count++};

	if (import->code)
		return;
	to.stream = thread_of(import, tid);
	if (!memory(import, to.stream != IMPORT_NONE))
		return;
	if (!import->switches) {
		import->code = external_sort_new(
			&import->switches, sizeof to, switch_compare, SWITCH_BYTES, import->error);
		if (import->code)
			return;
		external_sort_by(import->switches, switch_key);
	}
	import->code = external_sort_put(import->switches, &to, import->error);
}

/* A thread leaves its core: it waits, for something or for a core. The next one's wait ends. */
static void take_switch(
	struct perfetto_import *import, int32_t before, int64_t state, int32_t next, uint64_t time_ns)
{
	if (before > 0) /* 0: nothing ran */
		put_switch(import, before, (state & 0xff) ? STORE_OP_BLOCKED : STORE_OP_RUNNABLE, time_ns);
	if (next > 0)
		put_switch(import, next, STORE_OP_NONE, time_ns);
}

/* Threads move between cores: what begins in one core's records ends in those of another one. */
static void end_switches(struct perfetto_import *import)
{
	const struct core_switch *now;
	struct core_switch before = {.op = STORE_OP_NONE};

	if (import->code || !import->switches)
		return;
	import->code = external_sort_rewind(import->switches, import->error);
	while (import->code == 0 &&
		(now = external_sort_next(import->switches, &import->code, import->error))) {
		const struct import_record record = {.shape = IMPORT_CALL,
			.stream = now->stream,
			.op = before.op,
			.begin_ns = before.time_ns,
			.end_ns = now->time_ns};

		if (now->op == STORE_OP_NONE && before.op != STORE_OP_NONE && before.stream == now->stream &&
			before.time_ns < now->time_ns)
			import->code = import_record(import->run, &record, import->error);
		before = *now;
	}
}

static void take_bundle(struct perfetto_import *import, const Hpct__Perfetto__FtraceEventBundle *bundle)
{
	const Hpct__Perfetto__FtraceEventBundle__CompactSched *compact = bundle->compact_sched;
	int32_t *running = &import->running[bundle->cpu % CPUS_MAX];
	uint64_t time_ns = 0;

	for (size_t i = 0; i < bundle->n_event && import->code == 0; i++) {
		const Hpct__Perfetto__SchedSwitch *event = bundle->event[i]->sched_switch;

		if (!event)
			continue;
		take_switch(import, event->prev_pid, event->prev_state, event->next_pid,
			bundle->event[i]->timestamp);
		*running = event->next_pid;
	}
	for (size_t i = 0; compact && import->code == 0 && i < compact->n_switch_timestamp &&
			   i < compact->n_switch_prev_state && i < compact->n_switch_next_pid;
		i++) {
		time_ns += compact->switch_timestamp[i];
		take_switch(import, *running, compact->switch_prev_state[i], compact->switch_next_pid[i],
			time_ns);
		*running = compact->switch_next_pid[i];
	}
}

/* ---- the whole ---- */

static void take_places(struct perfetto_import *import, const packet_type *packet)
{
	if (packet->track_descriptor)
		take_descriptor(import, packet->track_descriptor);
	if (packet->process_tree)
		take_tree(import, packet->process_tree);
	count_other(import, packet);
}

static void take_records(struct perfetto_import *import, const packet_type *packet)
{
	struct sequence *sequence = find_sequence(import, packet);

	if (!sequence)
		return;
	begin_state(sequence, packet);
	if (packet->interned_data)
		take_interned(import, sequence, packet->interned_data);
	if (packet->clock_snapshot)
		take_clocks(import, sequence, packet->clock_snapshot);
	if (packet->track_event)
		take_event(import, sequence, packet);
	if (packet->ftrace_events)
		take_bundle(import, packet->ftrace_events);
}

/* Slices that never end last as long as the trace; of a thread's line, as long as it is known. */
static void end_tracks(struct perfetto_import *import)
{
	for (uint32_t i = 0; i < import->track_ids.count && import->code == 0; i++) {
		struct track *track = &import->tracks[i];

		for (; track->open_count && import->code == 0; track->open_count--) {
			struct slice *slice = &track->open[track->open_count - 1];

			slice->record.end_ns = slice->record.begin_ns;
			if (slice->is_whole)
				put(import, track, &slice->record);
		}
		if (track->line && import->code == 0)
			import->code = import_line_end(track->line, import->error);
	}
}

static int read_all(struct perfetto_import *import, FILE *in,
	void (*take)(struct perfetto_import *import, const packet_type *packet))
{
	const packet_type *packet;
	unsigned count = 0;

	import->packets.in = in;
	import->packets.damaged = 0;
	import->packets.is_cut = false;
	import->packets.inflated.size = import->packets.at = 0;
	while (import->code == 0 && (packet = perfetto_packets_next(&import->packets))) {
		take(import, packet);
		if (++count % PROGRESS_PACKETS == 0)
			format_input_progress(import->input);
	}
	memory(import, !import->packets.no_memory && !import->text.failed);
	return import->code;
}

static void say_left_out(const struct perfetto_import *import, struct store_bytes *list)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		format_left_out(list, import->others[i], kinds[i].what);
	format_left_out(list, import->ends_alone, "ends of slices whose begin is missing");
	format_left_out(list, import->flows, "ends of flow arrows");
	format_left_out(list, import->legacy, "events of Chrome's older kinds");
	format_left_out(list, import->annotations, "annotations that nest or are longer than 1 KB");
	format_left_out(list, import->unnamed, "names that lost packets had");
}

static int fill(struct perfetto_import *import, FILE *in, struct error *error)
{
	if (read_all(import, in, take_places))
		return import->code;
	if (fseeko(in, 0, SEEK_SET) != 0)
		return error_set(error, ERROR_IO, "%s cannot be read again", import->input->name);
	if (read_all(import, in, take_records))
		return import->code;
	end_tracks(import);
	end_switches(import);
	say_left_out(import, &import->input->left_out);
	return import->code;
}

static int import_from(struct perfetto_import *import, FILE *in, const char *path, struct error *error)
{
	struct format_input *input = import->input;
	int code = import_run_begin(&import->run, path, "perfetto", error);

	if (code < 0)
		return code;
	import->op_call = store_writer_op(import_run_writer(import->run), "call", 4);
	code = fill(import, in, error);
	if (code == 0 && import->track_ids.count + import->sequence_ids.count == 0)
		code = error_set(error, ERROR_RUN, "%s is no trace of Perfetto, or damaged at its beginning",
			input->name);
	if (code < 0) {
		import_run_abort(import->run);
		return code;
	}
	code = import_run_end(import->run, &input->left_out, error);
	if (code < 0 || !(import->packets.is_cut || import->packets.damaged))
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN,
		"%s is damaged or cut short (%" PRIu64 " packets%s): what could be read is in %s",
		input->name, import->packets.damaged, import->packets.is_cut ? " and its end" : "", path);
}

static void import_fini(struct perfetto_import *import)
{
	for (uint32_t i = 0; i < import->track_ids.count && i < import->track_room; i++) {
		if (import->tracks[i].line)
			import_line_fini(import->tracks[i].line);
		free(import->tracks[i].line);
		free(import->tracks[i].open);
	}
	key_ids_fini(&import->track_ids);
	key_ids_fini(&import->sequence_ids);
	key_ids_fini(&import->clock_ids);
	key_ids_fini(&import->interned);
	key_ids_fini(&import->threads);
	free(import->tracks);
	free(import->sequences);
	free(import->clocks);
	free(import->texts);
	free(import->thread_groups);
	external_sort_free(import->switches);
	store_bytes_fini(&import->text);
	perfetto_packets_fini(&import->packets);
	free(import);
}

int perfetto_import(struct format_input *input, const char *path, struct error *error)
{
	struct perfetto_import *import = calloc(1, sizeof *import);
	FILE *in = input->in;
	int code;

	if (!import)
		return error_memory(error);
	import->input = input;
	import->error = error;
	key_ids_init(&import->track_ids, sizeof(uint64_t));
	key_ids_init(&import->sequence_ids, sizeof(uint32_t));
	key_ids_init(&import->clock_ids, sizeof(struct clock_key));
	key_ids_init(&import->interned, sizeof(struct interned_key));
	key_ids_init(&import->threads, sizeof(int32_t));
	code = format_rereadable(&in, input->name, error);
	if (code == 0)
		code = import_from(import, in, path, error);
	if (in && in != input->in)
		fclose(in);
	import_fini(import);
	return code;
}
