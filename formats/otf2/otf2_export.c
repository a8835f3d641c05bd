/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otf2_export.c - exports a run as an OTF2 archive, a directory: lanes of trace_walk.h are locations,
 * functions, operations and states are regions that are entered and left, values are metrics of a location of
 * their own.
 *
 *   events of a location   written as the walk goes, closed when its stream ends
 *   definitions            gathered, written at the end
 */
#include <otf2/otf2.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/format.h"
#include "formats/base/trace_walk.h"
#include "formats/otf2/otf2_import.h"
#include "formats/otf2/otf2_message.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/coverage.h"

#define CHUNK_EVENTS ((uint64_t)1 << 18)
#define CHUNK_DEFINITIONS ((uint64_t)4 << 20)

struct location {
	OTF2_StringRef name, stream;
	OTF2_EvtWriter *writer; /* NULL: closed */
	uint64_t events;
	uint32_t process;
	OTF2_LocationType type;
};

struct region {
	OTF2_StringRef name, file;
	uint32_t line;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
};

struct metric {
	OTF2_StringRef name, unit;
	bool is_real;
};

struct process {
	OTF2_StringRef name;
	int32_t rank;
	uint32_t location; /* of its calls of MPI, else its first; UINT32_MAX: none yet */
	bool has_calls;
	uint32_t host; /* number of its node in the system tree, from 1 on; 0 is the machine */
};

/* What an operation has beside its name, on the event that begins it. */
enum attribute { ATTRIBUTE_OP, ATTRIBUTE_PATH, ATTRIBUTE_TEXT, ATTRIBUTE_BYTES, ATTRIBUTE_LINK, ATTRIBUTES };

static const struct {
	const char *name, *about;
	OTF2_Type type;
} attribute_definitions[ATTRIBUTES] = {
	[ATTRIBUTE_OP] = {"hpct::op", "operation", OTF2_TYPE_STRING},
	[ATTRIBUTE_PATH] = {"hpct::path", "call path", OTF2_TYPE_STRING},
	[ATTRIBUTE_TEXT] = {"hpct::attributes", "attributes", OTF2_TYPE_STRING},
	[ATTRIBUTE_BYTES] = {"hpct::bytes", "bytes", OTF2_TYPE_UINT64},
	[ATTRIBUTE_LINK] = {"hpct::link", "shared by a launch and what it launched", OTF2_TYPE_UINT64},
};

struct otf2 {
	struct run *run;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_AttributeList *attributes; /* of the next event: it takes them off */
	const struct select *select;
	struct key_ids hosts; /* by text */
	struct key_ids texts, region_keys, metric_keys;
	struct location *locations; /* of lanes and of values, as they come */
	struct region *regions;
	struct metric *metrics;
	struct process *processes;
	uint32_t *lanes; /* [lane] its location */
	size_t lane_room, location_room, region_room, metric_room, process_room;
	uint32_t location_count, process_count;
	uint32_t open_from; /* locations before it are closed */
	const char *stream; /* text of the one whose locations are open */
	/* [metric] 1 + its location of that stream's values; 0: none yet. A counter's rate comes behind other
	 * values of its time, and a location goes forward only. */
	uint32_t *values_at;
	size_t values_room;
	bool failed, has_event, has_messages;
	uint32_t ranks; /* 1 + the largest that is a peer, or has one */
	uint64_t messages_left;
	OTF2_ErrorCode code; /* of the library's first failure */
};

static bool ok(struct otf2 *otf2, OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS && otf2->code == OTF2_SUCCESS)
		otf2->code = code;
	return otf2->code == OTF2_SUCCESS;
}

/* ---- definitions ---- */

/* Strings are written at once: their numbers are those of first use. A NUL ends them. */
static OTF2_StringRef text_of(struct otf2 *otf2, const char *text, size_t size)
{
	struct store_hash hash;
	bool is_new;
	uint32_t number;
	char *copy;

	size = strnlen(text, size);
	hash = store_hash128(text, size);
	number = key_ids_put(&otf2->texts, &hash, &is_new);
	if (number == KEY_IDS_NONE) {
		otf2->failed = true;
		return 0;
	}
	if (is_new) {
		copy = strndup(text, size);
		otf2->failed |= !copy;
		if (copy)
			ok(otf2, OTF2_GlobalDefWriter_WriteString(otf2->definitions, number, copy));
		free(copy);
	}
	return number;
}

static OTF2_StringRef name_of(struct otf2 *otf2, const char *text)
{
	return text_of(otf2, text, strlen(text));
}

static OTF2_RegionRef find_region(struct otf2 *otf2, const struct region *region)
{
	const uint32_t key[5] = {region->name, region->file, region->line, region->role, region->paradigm};
	bool is_new;
	uint32_t number = key_ids_put(&otf2->region_keys, key, &is_new);

	if (number == KEY_IDS_NONE ||
		!array_widen(&otf2->regions, &otf2->region_room, number, sizeof *otf2->regions)) {
		otf2->failed = true;
		return 0;
	}
	if (is_new)
		otf2->regions[number] = *region;
	return number;
}

/* The machine, its nodes, their processes. */
static void write_places(struct otf2 *otf2)
{
	OTF2_GlobalDefWriter *to = otf2->definitions;
	OTF2_StringRef machine = name_of(otf2, "machine"), node = name_of(otf2, "node");

	ok(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
			 to, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t i = 0; i < otf2->hosts.count; i++)
		ok(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
				 to, i + 1, *(const uint32_t *)key_ids_key(&otf2->hosts, i), node, 0));
	for (uint32_t i = 0; i < otf2->process_count; i++)
		ok(otf2, OTF2_GlobalDefWriter_WriteLocationGroup(to, i, otf2->processes[i].name,
				 OTF2_LOCATION_GROUP_TYPE_PROCESS, otf2->processes[i].host,
				 OTF2_UNDEFINED_LOCATION_GROUP));
}

/* hpct's own words, which its import knows. */
static void write_properties(struct otf2 *otf2)
{
	OTF2_StringRef name = name_of(otf2, "hpct::stream");

	for (uint32_t i = 0; i < otf2->location_count; i++) {
		const OTF2_AttributeValue value = {.stringRef = otf2->locations[i].stream};

		ok(otf2, OTF2_GlobalDefWriter_WriteLocationProperty(
				 otf2->definitions, i, name, OTF2_TYPE_STRING, value));
	}
	for (uint32_t i = 0; i < ATTRIBUTES; i++)
		ok(otf2, OTF2_GlobalDefWriter_WriteAttribute(otf2->definitions, i,
				 name_of(otf2, attribute_definitions[i].name),
				 name_of(otf2, attribute_definitions[i].about),
				 attribute_definitions[i].type));
}

/* Ranks of the world, each at the location of its messages. Those that are not selected have none: for them
 * complete_ranks() made one without events. */
static void write_world(struct otf2 *otf2)
{
	uint64_t *at = calloc((size_t)otf2->ranks + 1, sizeof *at),
		 *ranks = calloc((size_t)otf2->ranks + 1, sizeof *ranks);
	OTF2_GlobalDefWriter *to = otf2->definitions;

	otf2->failed |= !at || !ranks;
	for (uint32_t i = otf2->process_count; at && ranks && i-- > 0;)
		if (otf2->processes[i].rank >= 0 && (uint32_t)otf2->processes[i].rank < otf2->ranks)
			at[otf2->processes[i].rank] = otf2->processes[i].location;
	for (uint32_t i = 0; ranks && i < otf2->ranks; i++)
		ranks[i] = i;
	if (at && ranks && otf2->has_messages) {
		ok(otf2, OTF2_GlobalDefWriter_WriteGroup(to, 0, name_of(otf2, ""),
				 OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
				 otf2->ranks, at));
		ok(otf2, OTF2_GlobalDefWriter_WriteGroup(to, 1, name_of(otf2, ""), OTF2_GROUP_TYPE_COMM_GROUP,
				 OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, otf2->ranks, ranks));
		ok(otf2, OTF2_GlobalDefWriter_WriteComm(to, 0, name_of(otf2, "MPI_COMM_WORLD"), 1,
				 OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
	}
	free(at);
	free(ranks);
}

static void write_definitions(struct otf2 *otf2)
{
	OTF2_GlobalDefWriter *to = otf2->definitions;
	OTF2_StringRef none = name_of(otf2, "");

	write_places(otf2);
	for (uint32_t i = 0; i < otf2->location_count; i++)
		ok(otf2, OTF2_GlobalDefWriter_WriteLocation(to, i, otf2->locations[i].name,
				 otf2->locations[i].type, otf2->locations[i].events,
				 otf2->locations[i].process));
	write_properties(otf2);
	write_world(otf2);
	for (uint32_t i = 0; i < otf2->region_keys.count; i++) {
		const struct region *region = &otf2->regions[i];

		ok(otf2, OTF2_GlobalDefWriter_WriteRegion(to, i, region->name, region->name, none,
				 region->role, region->paradigm, OTF2_REGION_FLAG_NONE, region->file,
				 region->line, 0));
	}
	for (uint32_t i = 0; i < otf2->metric_keys.count; i++) {
		const struct metric *metric = &otf2->metrics[i];

		ok(otf2, OTF2_GlobalDefWriter_WriteMetricMember(to, i, metric->name, none,
				 OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
				 metric->is_real ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
				 metric->unit));
		ok(otf2, OTF2_GlobalDefWriter_WriteMetricClass(
				 to, i, 1, &i, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
	}
}

/* ---- processes and locations ---- */

static bool put_process(void *own, const struct trace_place *place, const char *name)
{
	struct otf2 *otf2 = own;

	struct process process = {
		.name = name_of(otf2, name), .rank = place->stream->s.rank, .location = UINT32_MAX};
	uint32_t host = name_of(otf2, place->stream->host[0] ? place->stream->host : "unknown");

	/* They are numbered as they come. */
	process.host = 1 + key_ids_put(&otf2->hosts, &host, NULL);
	if (process.host == 1 + KEY_IDS_NONE || !array_widen(&otf2->processes, &otf2->process_room,
							otf2->process_count, sizeof *otf2->processes))
		return false;
	otf2->processes[otf2->process_count++] = process;
	return !otf2->failed;
}

static void close_locations(struct otf2 *otf2)
{
	for (; otf2->open_from < otf2->location_count; otf2->open_from++) {
		struct location *location = &otf2->locations[otf2->open_from];

		OTF2_EvtWriter_GetNumberOfEvents(location->writer, &location->events);
		ok(otf2, OTF2_Archive_CloseEvtWriter(otf2->archive, location->writer));
		location->writer = NULL;
	}
}

static bool add_location(
	struct otf2 *otf2, const struct trace_place *place, const char *name, OTF2_LocationType type)
{
	uint32_t number = otf2->location_count;

	if (otf2->stream != place->stream->text) {
		close_locations(otf2);
		otf2->stream = place->stream->text;
		if (otf2->values_room)
			memset(otf2->values_at, 0, otf2->values_room * sizeof *otf2->values_at);
	}
	if (!array_widen(&otf2->locations, &otf2->location_room, number, sizeof *otf2->locations))
		return false;
	otf2->locations[number] = (struct location){.name = name_of(otf2, name),
		.stream = name_of(otf2, place->stream->text),
		.process = place->process - 1,
		.type = type,
		.writer = OTF2_Archive_GetEvtWriter(otf2->archive, number)};
	if (!otf2->locations[number].writer) {
		ok(otf2, OTF2_ERROR_FILE_INTERACTION);
		return false;
	}
	if (otf2->processes[place->process - 1].location == UINT32_MAX)
		otf2->processes[place->process - 1].location = number;
	otf2->location_count++;
	return !otf2->failed;
}

/* Lanes count from 1, over all, in the order in which they come; locations of values stand between them. */
static bool put_lane(void *own, const struct trace_place *place, const char *name)
{
	struct otf2 *otf2 = own;
	bool is_gpu = place->stream->s.kind == STORE_STREAM_GPU;
	bool is_done = add_location(otf2, place, name,
		is_gpu ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD);

	if (is_done && !array_widen(&otf2->lanes, &otf2->lane_room, place->lane, sizeof *otf2->lanes))
		return false;
	if (is_done)
		otf2->lanes[place->lane] = otf2->location_count - 1;
	return is_done;
}

static OTF2_EvtWriter *writer_of(struct otf2 *otf2, const struct trace_place *place)
{
	return otf2->locations[otf2->lanes[place->lane]].writer;
}

/* ---- events ---- */

static bool put_call(
	void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct otf2 *otf2 = own;
	bool is_state = frame >= STACK_STATE;
	struct region region = {.role = is_state ? OTF2_REGION_ROLE_ARTIFICIAL : OTF2_REGION_ROLE_FUNCTION};
	const struct run_function *function;
	OTF2_RegionRef number;
	size_t size;
	const char *name = trace_frame_name(otf2->run, frame, &size);

	region.name = text_of(otf2, name, size);
	region.file = name_of(otf2, "");
	if (!is_state) {
		function = run_function(otf2->run, run_scope(otf2->run, frame)->function);
		region.file = name_of(otf2, function->file);
		region.line = function->line;
	}
	number = find_region(otf2, &region);
	otf2->has_event = true;
	return ok(otf2, is_begin ? OTF2_EvtWriter_Enter(writer_of(otf2, place), NULL, time_ns, number)
				 : OTF2_EvtWriter_Leave(writer_of(otf2, place), NULL, time_ns, number)) &&
	       !otf2->failed;
}

static OTF2_RegionRole role_of(uint32_t op)
{
	switch (op) {
	case STORE_OP_COPY:
		return OTF2_REGION_ROLE_DATA_TRANSFER;
	case STORE_OP_SYNC:
		return OTF2_REGION_ROLE_BARRIER;
	case STORE_OP_ALLOC:
		return OTF2_REGION_ROLE_ALLOCATE;
	case STORE_OP_FREE:
		return OTF2_REGION_ROLE_DEALLOCATE;
	case STORE_OP_IO:
		return OTF2_REGION_ROLE_FILE_IO;
	case STORE_OP_MPI:
		return OTF2_REGION_ROLE_POINT2POINT;
	case STORE_OP_KERNEL:
		return OTF2_REGION_ROLE_FUNCTION;
	default:
		return OTF2_REGION_ROLE_UNKNOWN;
	}
}

static void add_text(struct otf2 *otf2, enum attribute attribute, const char *text, size_t size)
{
	if (size)
		ok(otf2, OTF2_AttributeList_AddStringRef(
				 otf2->attributes, attribute, text_of(otf2, text, size)));
}

static void add_number(struct otf2 *otf2, enum attribute attribute, uint64_t number)
{
	if (number)
		ok(otf2, OTF2_AttributeList_AddUint64(otf2->attributes, attribute, number));
}

static bool add_attributes(struct otf2 *otf2, const struct trace_span *span)
{
	struct arena arena = {0};
	const char *path = run_context_path(
		otf2->run, span->batch->context[span->row], select_depth(otf2->select), &arena);
	size_t size;
	const char *attributes = batch_attributes(otf2->run, span->batch, span->row, &size);

	add_text(otf2, ATTRIBUTE_OP, span->op, strlen(span->op));
	add_text(otf2, ATTRIBUTE_PATH, path ? path : "", path ? strlen(path) : 0);
	add_text(otf2, ATTRIBUTE_TEXT, attributes, size);
	add_number(otf2, ATTRIBUTE_BYTES, span->batch->bytes[span->row]);
	add_number(otf2, ATTRIBUTE_LINK, span->batch->link[span->row]);
	arena_fini(&arena);
	return path != NULL;
}

static void note_rank(struct otf2 *otf2, uint32_t rank)
{
	otf2->has_messages = true;
	if (rank < OTF2_RANKS_MAX && rank >= otf2->ranks)
		otf2->ranks = rank + 1;
}

/* The process's messages are of the location where its calls of MPI lie first. */
static bool takes_messages(struct otf2 *otf2, const struct trace_place *place)
{
	struct process *process = &otf2->processes[place->process - 1];
	uint32_t location = otf2->lanes[place->lane];

	if (process->rank < 0 || (uint32_t)process->rank >= OTF2_RANKS_MAX)
		return false;
	if (!process->has_calls) {
		process->has_calls = true;
		process->location = location;
	}
	note_rank(otf2, (uint32_t)process->rank);
	return process->location == location;
}

static uint32_t tag_of(uint32_t tag)
{
	return tag == UINT32_MAX ? 0 : tag;
}

static void put_message_begin(struct otf2 *otf2, OTF2_EvtWriter *writer, const struct otf2_message *message,
	const struct trace_span *span)
{
	uint64_t bytes = span->batch->bytes[span->row];

	if (message->kind == OTF2_MESSAGE_COLLECTIVE)
		ok(otf2, OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, span->begin_ns));
	if (message->kind != OTF2_MESSAGE_SEND && message->kind != OTF2_MESSAGE_BOTH)
		return;
	note_rank(otf2, message->to);
	ok(otf2, OTF2_EvtWriter_MpiSend(
			 writer, NULL, span->begin_ns, message->to, 0, tag_of(message->to_tag), bytes));
}

static void put_message_end(struct otf2 *otf2, OTF2_EvtWriter *writer, const struct otf2_message *message,
	const struct trace_span *span)
{
	uint64_t bytes = span->batch->bytes[span->row];

	if (message->kind == OTF2_MESSAGE_COLLECTIVE)
		ok(otf2, OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, span->end_ns, message->collective, 0,
				 message->to < OTF2_RANKS_MAX ? message->to : OTF2_UNDEFINED_UINT32, bytes,
				 bytes));
	if (message->kind == OTF2_MESSAGE_COLLECTIVE && message->to < OTF2_RANKS_MAX)
		note_rank(otf2, message->to);
	if (message->kind != OTF2_MESSAGE_RECEIVE && message->kind != OTF2_MESSAGE_BOTH)
		return;
	note_rank(otf2, message->from);
	ok(otf2, OTF2_EvtWriter_MpiRecv(
			 writer, NULL, span->end_ns, message->from, 0, tag_of(message->from_tag), bytes));
}

/* A call of MPI is a region of its name. */
static struct region region_of(struct otf2 *otf2, const struct trace_span *span, struct otf2_message *message)
{
	uint32_t op = span->batch->what[span->row];
	struct region region = {.file = name_of(otf2, ""), .role = role_of(op)};
	size_t size;
	const char *attributes = batch_attributes(otf2->run, span->batch, span->row, &size);

	*message = (struct otf2_message){.kind = OTF2_MESSAGE_NONE};
	if (op == STORE_OP_MPI) {
		otf2_message_parse(message, attributes, size);
		region.paradigm = OTF2_PARADIGM_MPI;
		if (message->kind == OTF2_MESSAGE_COLLECTIVE)
			region.role = OTF2_REGION_ROLE_COLL_OTHER;
	}
	region.name =
		message->call[0] ? name_of(otf2, message->call) : text_of(otf2, span->name, span->name_size);
	return region;
}

static bool put_span(void *own, const struct trace_span *span)
{
	struct otf2 *otf2 = own;
	struct otf2_message message;
	const struct region region = region_of(otf2, span, &message);
	OTF2_RegionRef number = find_region(otf2, &region);
	OTF2_EvtWriter *writer = writer_of(otf2, span->place);

	if (message.kind > OTF2_MESSAGE_LEFT && !takes_messages(otf2, span->place))
		message.kind = OTF2_MESSAGE_LEFT;
	otf2->messages_left += message.kind == OTF2_MESSAGE_LEFT;
	if (!add_attributes(otf2, span))
		return false;
	otf2->has_event = true;
	ok(otf2, OTF2_EvtWriter_Enter(writer, otf2->attributes, span->begin_ns, number));
	put_message_begin(otf2, writer, &message, span);
	put_message_end(otf2, writer, &message, span);
	return ok(otf2, OTF2_EvtWriter_Leave(writer, NULL, span->end_ns, number)) && !otf2->failed;
}

static bool find_metric(struct otf2 *otf2, const struct trace_value *value, uint32_t *number)
{
	const char *name = run_metric_name(otf2->run, value->metric);
	bool is_new;

	*number = key_ids_put(&otf2->metric_keys, &value->metric, &is_new);
	if (*number == KEY_IDS_NONE ||
		!array_widen(&otf2->metrics, &otf2->metric_room, *number, sizeof *otf2->metrics))
		return false;
	if (is_new)
		otf2->metrics[*number] = (struct metric){.name = name_of(otf2, name),
			.unit = name_of(otf2, value->unit[0] ? value->unit : "#"),
			.is_real = value->is_real};
	return !otf2->failed;
}

/* Values come behind the calls of their thread, whose location has gone on in time: they have their own. */
static bool put_value(void *own, const struct trace_place *place, const struct trace_value *of)
{
	struct otf2 *otf2 = own;
	const char *title = place->stream->name[0] ? place->stream->name : place->stream->text;
	OTF2_MetricValue value = {.unsigned_int = of->amount};
	OTF2_Type type;
	uint32_t metric;
	char *name;
	bool is_done = true;

	if (!find_metric(otf2, of, &metric) || !array_reserve_zero(&otf2->values_at, &otf2->values_room,
						       (size_t)metric + 1, sizeof *otf2->values_at))
		return false;
	if (!otf2->values_at[metric] || otf2->stream != place->stream->text) {
		if (asprintf(&name, "%s %s", title, run_metric_name(otf2->run, of->metric)) < 0)
			return false;
		is_done = add_location(otf2, place, name, OTF2_LOCATION_TYPE_METRIC);
		free(name);
		otf2->values_at[metric] = otf2->location_count;
	}
	if (!is_done)
		return false;
	type = otf2->metrics[metric].is_real ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64;
	otf2->has_event = true;
	return ok(otf2, OTF2_EvtWriter_Metric(otf2->locations[otf2->values_at[metric] - 1].writer, NULL,
				of->time_ns, metric, 1, &type, &value));
}

/* ---- the archive ---- */

static OTF2_FlushType before_flush(
	void *own, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool is_final)
{
	(void)own, (void)type, (void)location, (void)caller, (void)is_final;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *own, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)own, (void)type, (void)location;
	return 0; /* no measurement was disturbed */
}

static const OTF2_FlushCallbacks flushes = {.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};

/* The library prints nothing: its codes come back. */
static OTF2_ErrorCode no_message(void *own, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list arguments)
{
	(void)own, (void)file, (void)line, (void)function, (void)format, (void)arguments;
	return code;
}

static bool open_archive(struct otf2 *otf2, const char *path)
{
	otf2->archive = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS,
		CHUNK_DEFINITIONS, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!otf2->archive)
		return false;
	return ok(otf2, OTF2_Archive_SetFlushCallbacks(otf2->archive, &flushes, NULL)) &&
	       ok(otf2, OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive)) &&
	       ok(otf2, OTF2_Archive_SetCreator(otf2->archive, "hpct " HPCT_VERSION)) &&
	       ok(otf2, OTF2_Archive_OpenEvtFiles(otf2->archive)) &&
	       (otf2->definitions = OTF2_Archive_GetGlobalDefWriter(otf2->archive)) != NULL;
}

/* Each location has definitions of its own, empty ones here: readers want their files. */
static void write_local_definitions(struct otf2 *otf2)
{
	ok(otf2, OTF2_Archive_OpenDefFiles(otf2->archive));
	for (uint32_t i = 0; i < otf2->location_count; i++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(otf2->archive, i);

		ok(otf2, writer ? OTF2_Archive_CloseDefWriter(otf2->archive, writer)
				: OTF2_ERROR_FILE_INTERACTION);
	}
	ok(otf2, OTF2_Archive_CloseDefFiles(otf2->archive));
}

/* A process and a location for each rank that is a peer and not selected. */
static void complete_ranks(struct otf2 *otf2)
{
	bool *is_there = calloc((size_t)otf2->ranks + 1, sizeof *is_there);
	char name[32];

	otf2->failed |= !is_there;
	for (uint32_t i = 0; i < otf2->process_count && is_there; i++)
		if (otf2->processes[i].rank >= 0 && (uint32_t)otf2->processes[i].rank < otf2->ranks &&
			otf2->processes[i].location != UINT32_MAX)
			is_there[otf2->processes[i].rank] = true;
	otf2->stream = NULL;
	for (uint32_t rank = 0; is_there && rank < otf2->ranks && !otf2->failed; rank++) {
		const struct run_stream stream = {.text = "", .s = {.rank = (int32_t)rank}, .host = ""};
		struct trace_place place = {.stream = &stream, .process = otf2->process_count + 1};

		if (is_there[rank])
			continue;
		snprintf(name, sizeof name, "rank %u, not selected", rank);
		otf2->failed |= !put_process(otf2, &place, name) ||
				!add_location(otf2, &place, name, OTF2_LOCATION_TYPE_CPU_THREAD);
	}
	free(is_there);
}

static void close_archive(struct otf2 *otf2, const struct select *select)
{
	uint64_t begin_ns = select_begin_ns(select), end_ns = select_end_ns(select);
	uint64_t wall_ns = run_wall_ns(otf2->run);

	complete_ranks(otf2);
	close_locations(otf2);
	ok(otf2, OTF2_Archive_CloseEvtFiles(otf2->archive));
	write_local_definitions(otf2);
	ok(otf2, OTF2_GlobalDefWriter_WriteClockProperties(otf2->definitions, 1000000000, begin_ns,
			 end_ns - begin_ns + 1,
			 wall_ns ? wall_ns + (begin_ns - run_origin_ns(otf2->run))
				 : OTF2_UNDEFINED_TIMESTAMP));
	write_definitions(otf2);
	ok(otf2, OTF2_Archive_CloseGlobalDefWriter(otf2->archive, otf2->definitions));
}

static void otf2_fini(struct otf2 *otf2)
{
	key_ids_fini(&otf2->texts);
	key_ids_fini(&otf2->hosts);
	OTF2_AttributeList_Delete(otf2->attributes);
	key_ids_fini(&otf2->region_keys);
	key_ids_fini(&otf2->metric_keys);
	free(otf2->locations);
	free(otf2->regions);
	free(otf2->metrics);
	free(otf2->processes);
	free(otf2->lanes);
	free(otf2->values_at);
}

static int put_archive(struct otf2 *otf2, const struct select *select, const char *path, struct error *error)
{
	static const struct trace_walk_ops ops = {.process = put_process,
		.lane = put_lane,
		.call = put_call,
		.span = put_span,
		.value = put_value};
	int rc;

	if (!open_archive(otf2, path))
		return error_set(error, ERROR_IO, "cannot make the archive %s: %s", path,
			OTF2_Error_GetDescription(otf2->code ? otf2->code : OTF2_ERROR_FILE_CAN_NOT_OPEN));
	rc = trace_walk(otf2->run, select, &ops, otf2, error);
	close_archive(otf2, select);
	ok(otf2, OTF2_Archive_Close(otf2->archive));
	if (otf2->code != OTF2_SUCCESS)
		return error_set(error, ERROR_IO, "cannot write all of the archive %s: %s", path,
			OTF2_Error_GetDescription(otf2->code));
	if (rc == 0 && otf2->failed)
		rc = error_memory(error);
	return rc < 0 ? rc : !otf2->has_event;
}

static int otf2_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	const char *path = output->path;
	struct otf2 otf2 = {.run = run, .select = select};
	int rc = coverage_require(run, select, error);

	if (rc < 0)
		return rc;
	if (access(path, F_OK) == 0)
		return error_set(error, ERROR_USAGE,
			"%s exists and is not overwritten; remove it, or choose another name with -o", path);
	OTF2_Error_RegisterCallback(no_message, NULL);
	key_ids_init(&otf2.texts, sizeof(struct store_hash));
	key_ids_init(&otf2.hosts, sizeof(uint32_t));
	otf2.attributes = OTF2_AttributeList_New();
	key_ids_init(&otf2.region_keys, 5 * sizeof(uint32_t));
	key_ids_init(&otf2.metric_keys, sizeof(uint32_t));
	rc = put_archive(&otf2, select, path, error);
	format_left_out(&output->left_out, otf2.messages_left,
		"messages (of MPI_Irecv, any source, communicators other than world, further threads)");
	otf2_fini(&otf2);
	return rc;
}

const struct format format_otf2 = {.name = "otf2",
	.about = "a directory for Vampir, Scalasca",
	.put = otf2_put,
	.is_directory = true,
	.take = otf2_import,
	.is = otf2_is,
	.anchor = "*.otf2",
	.lacks = FORMAT_LACKS_PC};
