/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_export.c - exports a run as Perfetto's protobuf: lanes of trace_walk.h are tracks, launches flows
 * to their operations. Packets are deflated in blocks, and small before that:
 *
 *   sequence   of 64 lanes: names are interned by it, a packet of new ones stands before what needs them
 *   lane       has a clock in its sequence, in which times count from event to event
 *   defaults   told when the events of another lane follow: its track, its clock
 */
#include <stdlib.h>
#include <zlib.h>

#include "formats/base/format.h"
#include "formats/base/trace_walk.h"
#include "formats/perfetto/perfetto_import.h"
#include "formats/perfetto/perfetto_packets.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/slice/slice.h"

#define BLOCK_BYTES ((size_t)512 << 10)
#define SEQUENCE_LANES 64u /* a sequence has so many clocks of its own, from 64 on */
#define SEQUENCE_CLOCK 64u
#define PLAIN_BYTES 44u /* of a plain packet without its time, whose fields are numbers */
#define CLOCK_REALTIME_ID 1u
#define CLOCK_BOOTTIME_ID 6u

/* Ids of tracks, by kind; small numbers are short. */
enum track_kind { TRACK_PROCESS = 1, TRACK_LANE, TRACK_COUNTER };

static uint64_t uuid_of(enum track_kind kind, uint64_t number)
{
	return number * 4 + kind;
}

#define PACKET_TAG 0x0au    /* Trace.packet */
#define TIMESTAMP_TAG 0x40u /* TracePacket.timestamp */
#define VARINT_MAX 10u

/* protobuf-c's names are long. */
typedef Hpct__Perfetto__TracePacket packet_type;
typedef Hpct__Perfetto__TrackEvent event_type;

enum table { TABLE_CATEGORY, TABLE_NAME, TABLE_KEY, TABLE_TEXT, TABLES };
#define NEW_MAX 4

/* Names that the next packet interns. */
struct new_names {
	Hpct__Perfetto__InternedName names[NEW_MAX], *list[NEW_MAX];
	size_t count;
};

struct counter_key {
	uint32_t stream_hash, metric;
	uint64_t stream;
};

/* A name of a sequence. */
struct name_key {
	struct store_hash hash;
	uint64_t sequence;
};

/* An event of numbers alone, packed but for its time: most events of a trace are one of few. */
struct plain {
	uint32_t sequence; /* 0: not packed */
	uint32_t size;
	uint8_t bytes[PLAIN_BYTES];
};

struct perfetto {
	struct run *run;
	const struct select *select;
	FILE *out;
	struct key_ids tables[TABLES], counters;
	struct new_names news[TABLES];
	struct store_bytes block, packed;
	bool has_record, failed;
	uint32_t sequence;  /* of the packets that follow */
	uint32_t sequences; /* that have begun */
	uint32_t lane;	    /* whose defaults are told; 0: none */
	uint64_t *times_ns; /* [lane] of its last event */
	size_t time_room;
	struct plain *begins, states[EXTENT_STATE_COUNT],
		end; /* [scope], [state] of calls that begin, and the end of any */
	size_t begin_room;
};

/* ---- packets ---- */

static void write_block(struct perfetto *file)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	struct store_bytes whole = {0};
	uLongf size = compressBound(file->block.size);
	uint8_t *to;

	if (file->block.size == 0 || file->failed)
		return;
	file->packed.size = 0;
	to = store_bytes_reserve(&file->packed, size);
	if (!to || compress2(to, &size, file->block.data, file->block.size, 1) != Z_OK) {
		file->failed = true;
		return;
	}
	packet.has_compressed_packets = true;
	packet.compressed_packets = (ProtobufCBinaryData){size, to};
	store_bytes_put(&whole, &(uint8_t){PACKET_TAG}, 1);
	store_bytes_put_varint(&whole, hpct__perfetto__trace_packet__get_packed_size(&packet));
	to = store_bytes_reserve(&whole, hpct__perfetto__trace_packet__get_packed_size(&packet));
	if (to)
		whole.size += hpct__perfetto__trace_packet__pack(&packet, to);
	file->failed |= whole.failed;
	fwrite(whole.data, 1, whole.size, file->out);
	store_bytes_fini(&whole);
	file->block.size = 0;
}

static void put_bytes(struct perfetto *file, const uint8_t *bytes, size_t size)
{
	store_bytes_put(&file->block, &(uint8_t){PACKET_TAG}, 1);
	store_bytes_put_varint(&file->block, size);
	store_bytes_put(&file->block, bytes, size);
	file->failed |= file->block.failed;
	if (file->block.size > BLOCK_BYTES)
		write_block(file);
}

/* 1: a sequence begins, what was interned is forgotten; 2: what was told before is needed. */
static uint32_t flags_of(struct perfetto *file)
{
	if (file->sequence <= file->sequences)
		return 2;
	file->sequences = file->sequence;
	return 1;
}

static void put_packet(struct perfetto *file, packet_type *packet)
{
	uint8_t *to;
	size_t size;

	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
	packet->trusted_packet_sequence_id = file->sequence;
	packet->sequence_flags = flags_of(file);
	size = hpct__perfetto__trace_packet__get_packed_size(packet);
	file->packed.size = 0;
	to = store_bytes_reserve(&file->packed, size);
	file->failed |= !to;
	if (to)
		put_bytes(file, to, hpct__perfetto__trace_packet__pack(packet, to));
}

/* ---- interned names ---- */

static uint64_t intern(struct perfetto *file, enum table table, const char *text, size_t size)
{
	struct store_hash hash = store_hash128(text, size);
	struct new_names *news = &file->news[table];
	bool is_new;
	const struct name_key key = {hash, file->sequence};
	uint32_t number = key_ids_put(&file->tables[table], &key, &is_new);

	file->failed |= number == KEY_IDS_NONE;
	if (is_new && news->count < NEW_MAX) {
		Hpct__Perfetto__InternedName *name = &news->names[news->count];

		hpct__perfetto__interned_name__init(name);
		name->has_iid = name->has_name = true;
		name->iid = (uint64_t)number + 1;
		name->name = (ProtobufCBinaryData){size, (uint8_t *)text};
		news->list[news->count++] = name;
	}
	return (uint64_t)number + 1;
}

/* New names, in a packet before the one that needs them. */
static void put_news(struct perfetto *file)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	Hpct__Perfetto__InternedData data = HPCT__PERFETTO__INTERNED_DATA__INIT;
	struct new_names *news = file->news;

	if (!(news[TABLE_CATEGORY].count | news[TABLE_NAME].count | news[TABLE_KEY].count |
		    news[TABLE_TEXT].count))
		return;
	data.n_event_categories = news[TABLE_CATEGORY].count;
	data.event_categories = news[TABLE_CATEGORY].list;
	data.n_event_names = news[TABLE_NAME].count;
	data.event_names = news[TABLE_NAME].list;
	data.n_debug_annotation_names = news[TABLE_KEY].count;
	data.debug_annotation_names = news[TABLE_KEY].list;
	data.n_debug_annotation_string_values = news[TABLE_TEXT].count;
	data.debug_annotation_string_values = news[TABLE_TEXT].list;
	packet.interned_data = &data;
	put_packet(file, &packet);
	for (size_t i = 0; i < TABLES; i++)
		news[i].count = 0;
}

/* ---- lanes and their times ---- */

static void set_clock(Hpct__Perfetto__ClockSnapshot__Clock *clock, uint32_t id, uint64_t time_ns)
{
	hpct__perfetto__clock_snapshot__clock__init(clock);
	clock->has_clock_id = clock->has_timestamp = true;
	clock->clock_id = id;
	clock->timestamp = time_ns;
}

static uint32_t clock_of(uint32_t lane)
{
	return SEQUENCE_CLOCK + (lane - 1) % SEQUENCE_LANES;
}

/* The lane's clock begins at the run's origin, as all do: readers want clocks that only go on. */
static void begin_clock(struct perfetto *file, uint32_t lane)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	Hpct__Perfetto__ClockSnapshot snapshot = HPCT__PERFETTO__CLOCK_SNAPSHOT__INIT;
	Hpct__Perfetto__ClockSnapshot__Clock clocks[2], *list[2] = {&clocks[0], &clocks[1]};

	set_clock(&clocks[0], CLOCK_BOOTTIME_ID, run_origin_ns(file->run));
	set_clock(&clocks[1], clock_of(lane), run_origin_ns(file->run));
	clocks[1].has_is_incremental = clocks[1].is_incremental = true;
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	put_packet(file, &packet);
	file->times_ns[lane] = run_origin_ns(file->run);
}

static bool begin_lane(struct perfetto *file, uint32_t lane)
{
	file->sequence = 1 + (lane - 1) / SEQUENCE_LANES;
	if (!array_widen(&file->times_ns, &file->time_room, lane, sizeof *file->times_ns)) {
		file->failed = true;
		return false;
	}
	begin_clock(file, lane);
	return true;
}

static void change_lane(struct perfetto *file, uint32_t lane)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	Hpct__Perfetto__TracePacketDefaults defaults = HPCT__PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Hpct__Perfetto__TrackEventDefaults event = HPCT__PERFETTO__TRACK_EVENT_DEFAULTS__INIT;

	file->lane = lane;
	file->sequence = 1 + (lane - 1) / SEQUENCE_LANES;
	event.has_track_uuid = defaults.has_timestamp_clock_id = true;
	event.track_uuid = uuid_of(TRACK_LANE, lane);
	defaults.timestamp_clock_id = clock_of(lane);
	defaults.track_event_defaults = &event;
	packet.trace_packet_defaults = &defaults;
	put_packet(file, &packet);
}

/* From here on events are of that lane. */
static void use_lane(struct perfetto *file, uint32_t lane)
{
	if (file->lane != lane)
		change_lane(file, lane);
}

/* Since the lane's last event. What lies before the run's origin, or goes back, lies there. */
static uint64_t step_ns(struct perfetto *file, uint64_t time_ns)
{
	uint64_t *last_ns = &file->times_ns[file->lane], step = time_ns > *last_ns ? time_ns - *last_ns : 0;

	*last_ns += step;
	return step;
}

static void put_event(struct perfetto *file, event_type *event, uint64_t time_ns)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;

	put_news(file);
	packet.has_timestamp = true;
	packet.timestamp = step_ns(file, time_ns);
	packet.track_event = event;
	put_packet(file, &packet);
	file->has_record = true;
}

/* `name` 0: none. Where a sequence begins the packet says so, which others must not: it is used once. */
static void pack_plain(
	struct perfetto *file, struct plain *plain, uint32_t type, uint64_t name, const uint64_t *category)
{
	Hpct__Perfetto__PlainPacket packet = HPCT__PERFETTO__PLAIN_PACKET__INIT;
	Hpct__Perfetto__PlainEvent event = HPCT__PERFETTO__PLAIN_EVENT__INIT;
	uint32_t flags = flags_of(file);

	event.has_type = true;
	event.type = type;
	event.has_name_iid = name != 0;
	event.name_iid = name;
	event.n_category_iids = category != NULL;
	event.category_iids = (uint64_t *)category;
	packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = true;
	packet.trusted_packet_sequence_id = file->sequence;
	packet.sequence_flags = flags;
	packet.track_event = &event;
	plain->size = (uint32_t)hpct__perfetto__plain_packet__pack(&packet, plain->bytes);
	plain->sequence = flags == 2 ? file->sequence : 0;
}

static void put_plain(struct perfetto *file, const struct plain *plain, uint64_t time_ns)
{
	uint8_t *to = store_bytes_reserve(&file->block, PLAIN_BYTES + VARINT_MAX + 3);
	uint64_t step = step_ns(file, time_ns);
	size_t size = 0;

	if (!to) {
		file->failed = true;
		return;
	}
	to[size++] = PACKET_TAG;
	size++; /* the packet's size, below 128 */
	to[size++] = TIMESTAMP_TAG;
	for (; step >= 128; step >>= 7)
		to[size++] = (uint8_t)(step | 128);
	to[size++] = (uint8_t)step;
	memcpy(to + size, plain->bytes, plain->size);
	size += plain->size;
	to[1] = (uint8_t)(size - 2);
	file->block.size += size;
	file->has_record = true;
	if (file->block.size > BLOCK_BYTES)
		write_block(file);
}

static void put_end(struct perfetto *file, uint64_t time_ns)
{
	if (file->end.sequence != file->sequence)
		pack_plain(file, &file->end, HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, 0, NULL);
	put_plain(file, &file->end, time_ns);
}

/* ---- tracks ---- */

static ProtobufCBinaryData text_of(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
}

static void put_track(struct perfetto *file, Hpct__Perfetto__TrackDescriptor *track, uint64_t uuid)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = true;
	track->uuid = uuid;
	packet.track_descriptor = track;
	put_packet(file, &packet);
}

static bool put_process(void *own, const struct trace_place *place, const char *name)
{
	Hpct__Perfetto__TrackDescriptor track = HPCT__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Hpct__Perfetto__ProcessDescriptor process = HPCT__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	struct perfetto *file = own;

	process.has_pid = process.has_process_name = true;
	process.pid = (int32_t)place->process;
	process.process_name = text_of(name);
	track.process = &process;
	put_track(file, &track, uuid_of(TRACK_PROCESS, place->process));
	return !file->failed;
}

/* A thread's line is a thread of its process, what lies beside it and queues are tracks below the process. */
static bool put_lane(void *own, const struct trace_place *place, const char *name)
{
	Hpct__Perfetto__TrackDescriptor track = HPCT__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Hpct__Perfetto__ThreadDescriptor thread = HPCT__PERFETTO__THREAD_DESCRIPTOR__INIT;
	struct perfetto *file = own;

	if (!begin_lane(file, place->lane))
		return false;
	track.has_parent_uuid = track.has_description = true;
	track.parent_uuid = uuid_of(TRACK_PROCESS, place->process);
	track.description = text_of(place->stream->text); /* its import knows it */
	if (place->is_line) {
		thread.has_pid = thread.has_tid = thread.has_thread_name = true;
		thread.pid = (int32_t)place->process;
		thread.tid = (int32_t)place->lane;
		thread.thread_name = text_of(name);
		track.thread = &thread;
	} else {
		track.has_name = true;
		track.name = text_of(name);
	}
	put_track(file, &track, uuid_of(TRACK_LANE, place->lane));
	return !file->failed;
}

/* ---- calls and spans ---- */

static void begin_event(event_type *event, Hpct__Perfetto__TrackEvent__Type type)
{
	hpct__perfetto__track_event__init(event);
	event->has_type = true;
	event->type = type;
}

/* The place of what is packed of a frame. NULL: no memory. */
static struct plain *begin_of(struct perfetto *file, uint32_t frame)
{
	if (frame >= STACK_STATE)
		return &file->states[frame - STACK_STATE];
	if (array_reserve_zero(&file->begins, &file->begin_room, (size_t)frame + 1, sizeof *file->begins))
		return &file->begins[frame];
	file->failed = true;
	return NULL;
}

static bool put_call(
	void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct perfetto *file = own;
	struct plain *plain;
	const char *name;
	uint64_t category, name_id;
	size_t size;

	use_lane(file, place->lane);
	if (!is_begin) {
		put_end(file, time_ns);
		return !file->failed;
	}
	plain = begin_of(file, frame);
	if (!plain)
		return false;
	if (plain->sequence != file->sequence) {
		name = trace_frame_name(file->run, frame, &size);
		category = frame >= STACK_STATE ? intern(file, TABLE_CATEGORY, "state", 5)
						: intern(file, TABLE_CATEGORY, "call", 4);
		name_id = intern(file, TABLE_NAME, name, size);
		put_news(file);
		pack_plain(
			file, plain, HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, name_id, &category);
	}
	put_plain(file, plain, time_ns);
	return !file->failed;
}

#define FLOW_LINK_BITS 40
#define ANNOTATIONS_MAX 4

struct annotations {
	Hpct__Perfetto__DebugAnnotation items[ANNOTATIONS_MAX], *list[ANNOTATIONS_MAX];
	size_t count;
};

static Hpct__Perfetto__DebugAnnotation *annotate(
	struct perfetto *file, struct annotations *to, const char *key)
{
	Hpct__Perfetto__DebugAnnotation *item = &to->items[to->count];

	hpct__perfetto__debug_annotation__init(item);
	item->has_name_iid = true;
	item->name_iid = intern(file, TABLE_KEY, key, strlen(key));
	to->list[to->count++] = item;
	return item;
}

static void annotate_text(
	struct perfetto *file, struct annotations *to, const char *key, const char *text, size_t size)
{
	Hpct__Perfetto__DebugAnnotation *item;

	if (!size)
		return;
	item = annotate(file, to, key);
	item->has_string_value_iid = true;
	item->string_value_iid = intern(file, TABLE_TEXT, text, size);
}

static void put_span_begin(
	struct perfetto *file, const struct trace_span *span, event_type *event, const char *path)
{
	uint64_t bytes = span->batch->bytes[span->row], link = span->batch->link[span->row], flow, category;
	struct annotations annotations = {.count = 0};
	size_t size;
	const char *attributes = batch_attributes(file->run, span->batch, span->row, &size);

	category = intern(file, TABLE_CATEGORY, span->op, strlen(span->op));
	event->n_category_iids = 1;
	event->category_iids = &category;
	event->has_name_iid = true;
	event->name_iid = intern(file, TABLE_NAME, span->name, span->name_size);
	annotate_text(file, &annotations, "path", path, strlen(path));
	annotate_text(file, &annotations, "attributes", attributes, size);
	if (bytes) {
		Hpct__Perfetto__DebugAnnotation *item = annotate(file, &annotations, "bytes");

		item->has_uint_value = true;
		item->uint_value = bytes;
	}
	event->n_debug_annotations = annotations.count;
	event->debug_annotations = annotations.list;
	if (link) {
		/* A number that its import takes the link from; where it is too large none. */
		flow = (uint64_t)span->place->process << FLOW_LINK_BITS | link;
		if (link >> FLOW_LINK_BITS || span->place->process >> (63 - FLOW_LINK_BITS)) {
			const uint64_t key[2] = {span->place->process, link};
			Hpct__Perfetto__DebugAnnotation *item = annotate(file, &annotations, "link");

			item->has_uint_value = true;
			item->uint_value = link;
			event->n_debug_annotations = annotations.count;
			flow = store_hash64(key, sizeof key, 0);
		}
		event->n_flow_ids = 1;
		event->flow_ids = &flow;
	}
	put_event(file, event, span->begin_ns);
}

static bool put_span(void *own, const struct trace_span *span)
{
	struct perfetto *file = own;
	struct arena arena = {0};
	const char *path = run_context_path(
		file->run, span->batch->context[span->row], select_depth(file->select), &arena);
	event_type event;

	if (path) {
		use_lane(file, span->place->lane);
		begin_event(&event, span->is_mark ? HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
						  : HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
		put_span_begin(file, span, &event, path);
	}
	if (path && !span->is_mark)
		put_end(file, span->end_ns);
	arena_fini(&arena);
	return path && !file->failed;
}

/* ---- values ---- */

/* The track of a stream's metric, made when its first value comes. */
static uint64_t find_counter(
	struct perfetto *file, const struct trace_place *place, const struct trace_value *value)
{
	Hpct__Perfetto__TrackDescriptor track = HPCT__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Hpct__Perfetto__CounterDescriptor counter = HPCT__PERFETTO__COUNTER_DESCRIPTOR__INIT;
	const struct counter_key key = {
		.stream = store_hash64(place->stream->text, strlen(place->stream->text), 0),
		.metric = value->metric};
	bool is_new;
	uint32_t number = key_ids_put(&file->counters, &key, &is_new);
	const char *metric = run_metric_name(file->run, value->metric);
	char *name, *description;

	file->failed |= number == KEY_IDS_NONE;
	if (!is_new)
		return uuid_of(TRACK_COUNTER, number);
	if (asprintf(&name, *value->of ? "%s %s" : "%s", metric, value->of) < 0)
		name = NULL;
	if (asprintf(&description, "%s\n%s", place->stream->text, metric) < 0)
		description = NULL;
	if (!name || !description) {
		file->failed = true;
		free(name);
		free(description);
		return 0;
	}
	counter.has_unit_name = true;
	counter.unit_name = text_of(value->unit);
	track.counter = &counter;
	track.has_name = track.has_parent_uuid = true;
	track.name = text_of(name);
	track.has_description = true;
	track.description = text_of(description);
	track.parent_uuid = uuid_of(TRACK_PROCESS, place->process);
	put_track(file, &track, uuid_of(TRACK_COUNTER, number));
	free(name);
	free(description);
	return uuid_of(TRACK_COUNTER, number);
}

static bool put_value(void *own, const struct trace_place *place, const struct trace_value *value)
{
	struct perfetto *file = own;
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	event_type event;

	begin_event(&event, HPCT__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER);
	event.has_track_uuid = true;
	event.track_uuid = find_counter(file, place, value);
	if (value->is_real) {
		event.has_double_counter_value = true;
		memcpy(&event.double_counter_value, &value->amount, sizeof value->amount);
	} else {
		event.has_counter_value = true;
		event.counter_value = (int64_t)value->amount;
	}
	packet.has_timestamp = packet.has_timestamp_clock_id =
		true; /* counters take turns: no lane's clock */
	packet.timestamp = value->time_ns;
	packet.timestamp_clock_id = CLOCK_BOOTTIME_ID;
	packet.track_event = &event;
	put_packet(file, &packet);
	file->has_record = true;
	return !file->failed;
}

/* ---- the whole ---- */

/* Both clocks at the run's origin. */
static void put_clocks(struct perfetto *file)
{
	packet_type packet = HPCT__PERFETTO__TRACE_PACKET__INIT;
	Hpct__Perfetto__ClockSnapshot snapshot = HPCT__PERFETTO__CLOCK_SNAPSHOT__INIT;
	Hpct__Perfetto__ClockSnapshot__Clock clocks[2], *list[2] = {&clocks[0], &clocks[1]};

	if (!run_wall_ns(file->run))
		return;
	set_clock(&clocks[0], CLOCK_BOOTTIME_ID, run_origin_ns(file->run));
	set_clock(&clocks[1], CLOCK_REALTIME_ID, run_wall_ns(file->run));
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.has_timestamp = true;
	packet.timestamp = run_origin_ns(file->run);
	packet.clock_snapshot = &snapshot;
	put_packet(file, &packet);
}

static void perfetto_fini(struct perfetto *file)
{
	for (size_t i = 0; i < TABLES; i++)
		key_ids_fini(&file->tables[i]);
	key_ids_fini(&file->counters);
	store_bytes_fini(&file->block);
	store_bytes_fini(&file->packed);
	free(file->times_ns);
	free(file->begins);
}

static int perfetto_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	static const struct trace_walk_ops ops = {.process = put_process,
		.lane = put_lane,
		.call = put_call,
		.span = put_span,
		.value = put_value};
	struct perfetto file = {.run = run, .select = select, .out = output->out, .sequence = 1};
	int rc = trace_require(run, select, error);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < TABLES; i++)
		key_ids_init(&file.tables[i], sizeof(struct name_key));
	key_ids_init(&file.counters, sizeof(struct counter_key));
	put_clocks(&file);
	rc = trace_walk(run, select, &ops, &file, error);
	write_block(&file);
	if (rc == 0 && file.failed)
		rc = error_memory(error);
	if (rc == 0 && ferror(output->out))
		rc = error_unwritten(error);
	perfetto_fini(&file);
	return rc < 0 ? rc : !file.has_record;
}

const struct format format_perfetto = {.name = "perfetto",
	.about = "Perfetto's protobuf",
	.put = perfetto_put,
	.take = perfetto_import,
	.is = perfetto_is,
	.lacks = FORMAT_LACKS_PC,
	.is_binary = true};
