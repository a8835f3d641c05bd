/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otf2_import.c - see otf2_import.h. libotf2 reads; here
 *
 *   locations      threads and queues; of hpct's own archives those that the property hpct::stream names
 *   enter, leave   calls that nest; on queues operations; MPI's calls as operations with peer, tag and bytes
 *   metrics        values
 *
 * One location after the other, so that memory grows with the definitions, not with the events.
 */
#include "formats/otf2/otf2_import.h"

#include <inttypes.h>
#include <math.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/import_line.h"
#include "store/base/array.h"

#define PIECE_EVENTS 100000u /* between two looks at the progress */
#define METRICS_MAX 64u	     /* of a class */
#define UNKNOWN UINT32_MAX

struct location {
	uint64_t id;
	uint32_t group, name; /* name: string of the archive */
	OTF2_LocationType type;
	uint32_t own; /* string of the property hpct::stream; UNKNOWN: another's archive */
	uint32_t stream;
};

struct group {
	uint32_t name, node, process, threads;
};

struct node {
	uint32_t name, parent;
};

struct region {
	uint32_t name;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	uint32_t text; /* of the run; 0: not yet known */
};

struct member {
	uint32_t name, unit;
	OTF2_Type type;
	double factor;	 /* 1: the value as it is */
	uint32_t metric; /* of the run + 1; 0: not yet known */
};

struct class
{
	uint32_t members[METRICS_MAX];
	uint8_t count;
	uint32_t of; /* an instance of this class; UNKNOWN: it is a class itself */
};

/* A region that is entered: a whole operation when it is left, or a call, which was told already. */
struct open_region {
	struct import_record record;
	uint32_t region;
	bool is_whole;
	bool is_of_line;
	uint64_t peer, tag; /* of the message; UINT64_MAX: none */
};

struct otf2_import {
	struct format_input *input;
	struct import_run *run;
	OTF2_Reader *reader;
	char **strings;
	struct location *locations;
	struct group *groups;
	struct node *nodes;
	struct region *regions;
	struct member *members;
	struct class *classes;
	size_t string_room, location_room, group_room, node_room, region_room, member_room, class_room;
	uint32_t location_count;
	uint32_t *attributes; /* [attribute of the archive] 1 + enum own_attribute */
	size_t attribute_room;
	uint64_t resolution, offset, wall_ns;
	/* The location that is read. */
	const struct location *at;
	struct import_line line; /* of a thread that hpct-export wrote */
	struct open_region *open;
	size_t open_count, open_room;
	struct store_bytes text;
	uint32_t op_call;
	uint64_t taken, ends_alone, communication;
	OTF2_ErrorCode damage; /* of reading events */
	struct error *error;
	int code;
};

#define NUMBERS_MAX ((uint32_t)1 << 22) /* of a table: a damaged archive may say anything */

/* Item `number` of a table, all-zero at first. NULL: no memory, or no such number. */
static void *item(void *list, size_t *room, uint64_t number, size_t size)
{
	void **items = list;

	if (number >= NUMBERS_MAX || !array_reserve_zero(items, room, (size_t)number + 1, size))
		return NULL;
	return (char *)*items + number * size;
}

/* ---- definitions ---- */

static const char *string_at(const struct otf2_import *otf2, uint32_t string)
{
	return string < otf2->string_room && otf2->strings[string] ? otf2->strings[string] : "";
}

static uint32_t text_of(struct otf2_import *otf2, uint32_t string)
{
	const char *text = string_at(otf2, string);

	return *text ? import_name(otf2->run, text, strlen(text)) : 0;
}

static OTF2_CallbackCode memory(struct otf2_import *otf2, bool ok)
{
	if (!ok && otf2->code == 0)
		otf2->code = error_memory(otf2->error);
	return ok ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode take_string(void *own, OTF2_StringRef self, const char *string)
{
	struct otf2_import *otf2 = own;
	char **at = item(&otf2->strings, &otf2->string_room, self, sizeof *otf2->strings);

	if (!at)
		return memory(otf2, self >= NUMBERS_MAX);
	free(*at);
	*at = strdup(string);
	return memory(otf2, *at != NULL);
}

static OTF2_CallbackCode take_clock(
	void *own, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t wall_ns)
{
	struct otf2_import *otf2 = own;

	(void)length;
	otf2->resolution = resolution ? resolution : 1000000000;
	otf2->offset = offset;
	otf2->wall_ns = wall_ns == OTF2_UNDEFINED_TIMESTAMP ? 0 : wall_ns;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_node(void *own, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
	OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	struct otf2_import *otf2 = own;
	struct node *node = item(&otf2->nodes, &otf2->node_room, self, sizeof *otf2->nodes);

	(void)class_name;
	if (node)
		*node = (struct node){name, parent};
	return memory(otf2, node || self >= NUMBERS_MAX);
}

static OTF2_CallbackCode take_group(void *own, OTF2_LocationGroupRef self, OTF2_StringRef name,
	OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator)
{
	struct otf2_import *otf2 = own;
	struct group *group = item(&otf2->groups, &otf2->group_room, self, sizeof *otf2->groups);

	(void)type, (void)creator;
	if (group)
		*group = (struct group){.name = name, .node = node, .process = IMPORT_NONE};
	return memory(otf2, group || self >= NUMBERS_MAX);
}

static OTF2_CallbackCode take_location(void *own, OTF2_LocationRef self, OTF2_StringRef name,
	OTF2_LocationType type, uint64_t events, OTF2_LocationGroupRef group)
{
	struct otf2_import *otf2 = own;

	(void)events;
	if (otf2->location_count >= NUMBERS_MAX)
		return OTF2_CALLBACK_SUCCESS;
	if (!array_widen(
		    &otf2->locations, &otf2->location_room, otf2->location_count, sizeof *otf2->locations))
		return memory(otf2, false);
	otf2->locations[otf2->location_count++] = (struct location){.id = self,
		.name = name,
		.group = group,
		.type = type,
		.own = UNKNOWN,
		.stream = IMPORT_NONE};
	return OTF2_CALLBACK_SUCCESS;
}

/* Properties follow their location, most of them at once. */
static OTF2_CallbackCode take_property(
	void *own, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value)
{
	struct otf2_import *otf2 = own;

	if (type != OTF2_TYPE_STRING || strcmp(string_at(otf2, name), "hpct::stream") != 0)
		return OTF2_CALLBACK_SUCCESS;
	if (location < otf2->location_count && otf2->locations[location].id == location)
		otf2->locations[location].own = value.stringRef;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_region(void *own, OTF2_RegionRef self, OTF2_StringRef name,
	OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
	OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin_line, uint32_t end_line)
{
	struct otf2_import *otf2 = own;
	struct region *region = item(&otf2->regions, &otf2->region_room, self, sizeof *otf2->regions);

	(void)canonical, (void)description, (void)flags, (void)file, (void)begin_line, (void)end_line;
	if (region)
		*region = (struct region){.name = name, .role = role, .paradigm = paradigm};
	return memory(otf2, region || self >= NUMBERS_MAX);
}

enum own_attribute { OWN_OP = 1, OWN_PATH, OWN_TEXT, OWN_BYTES, OWN_LINK };

static OTF2_CallbackCode take_attribute(
	void *own, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef description, OTF2_Type type)
{
	static const char *const names[] = {[OWN_OP] = "hpct::op",
		[OWN_PATH] = "hpct::path",
		[OWN_TEXT] = "hpct::attributes",
		[OWN_BYTES] = "hpct::bytes",
		[OWN_LINK] = "hpct::link"};
	struct otf2_import *otf2 = own;
	uint32_t *attribute;

	(void)description, (void)type;
	for (uint32_t i = OWN_OP; i <= OWN_LINK; i++) {
		if (strcmp(string_at(otf2, name), names[i]) != 0)
			continue;
		attribute = item(&otf2->attributes, &otf2->attribute_room, self, sizeof *otf2->attributes);
		if (!attribute)
			return memory(otf2, self >= NUMBERS_MAX);
		*attribute = i;
	}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_member(void *own, OTF2_MetricMemberRef self, OTF2_StringRef name,
	OTF2_StringRef description, OTF2_MetricType type, OTF2_MetricMode mode, OTF2_Type value_type,
	OTF2_Base base, int64_t exponent, OTF2_StringRef unit)
{
	struct otf2_import *otf2 = own;
	struct member *member = item(&otf2->members, &otf2->member_room, self, sizeof *otf2->members);

	(void)description, (void)type, (void)mode;
	if (member)
		*member = (struct member){.name = name,
			.unit = unit,
			.type = value_type,
			.factor = pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent)};
	return memory(otf2, member || self >= NUMBERS_MAX);
}

static OTF2_CallbackCode take_class(void *own, OTF2_MetricRef self, uint8_t count,
	const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
	struct otf2_import *otf2 = own;
	struct class *class = item(&otf2->classes, &otf2->class_room, self, sizeof *otf2->classes);

	(void)occurrence, (void)kind;
	if (!class)
		return memory(otf2, self >= NUMBERS_MAX);
	class->of = UNKNOWN;
	class->count = count < METRICS_MAX ? count : METRICS_MAX;
	memcpy(class->members, members, class->count * sizeof *members);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_instance(void *own, OTF2_MetricRef self, OTF2_MetricRef of,
	OTF2_LocationRef recorder, OTF2_MetricScope scope_kind, uint64_t scope)
{
	struct otf2_import *otf2 = own;
	struct class *class = item(&otf2->classes, &otf2->class_room, self, sizeof *otf2->classes);

	(void)recorder, (void)scope_kind, (void)scope;
	if (!class)
		return memory(otf2, self >= NUMBERS_MAX);
	class->of = of;
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- places ---- */

/* The number at the end of "MPI Rank 3", "Process 3"; -1: none. */
static int32_t rank_of(const char *name)
{
	size_t size = strlen(name), at = size;
	long rank;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at == size || size - at > 9 || !(strstr(name, "ank") || strncmp(name, "Process", 7) == 0))
		return -1;
	rank = strtol(name + at, NULL, 10);
	return (int32_t)rank;
}

static bool find_process(struct otf2_import *otf2, uint32_t number)
{
	struct group *group = item(&otf2->groups, &otf2->group_room, number, sizeof *otf2->groups);
	struct import_process *process;
	char key[32];

	if (!group)
		return false;
	if (group->process != IMPORT_NONE && group->process != 0)
		return true;
	snprintf(key, sizeof key, "group %" PRIu32, number);
	group->process = import_process(otf2->run, key, strlen(key));
	if (group->process == IMPORT_NONE)
		return false;
	process = import_process_at(otf2->run, group->process);
	process->name = text_of(otf2, group->name);
	process->rank = rank_of(string_at(otf2, group->name));
	if (group->node < otf2->node_room)
		process->host = text_of(otf2, otf2->nodes[group->node].name);
	return true;
}

static bool find_stream(struct otf2_import *otf2, struct location *location)
{
	const char *own = string_at(otf2, location->own);
	struct import_stream *stream;
	struct group *group;
	char key[32];
	bool is_text;

	if (*own) {
		location->stream = import_stream_named(otf2->run, own, strlen(own), &is_text);
		if (is_text)
			return location->stream != IMPORT_NONE;
	}
	if (!find_process(otf2, location->group))
		return false;
	group = &otf2->groups[location->group];
	snprintf(key, sizeof key, "location %" PRIu64, location->id);
	location->stream =
		location->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
			? import_queue(otf2->run, group->process, 0, 0, (uint32_t)location->id & 0x7fffffff)
			: import_thread(otf2->run, group->process, key, strlen(key));
	if (location->stream == IMPORT_NONE)
		return false;
	stream = import_stream_at(otf2->run, location->stream);
	stream->s.name = text_of(otf2, location->name);
	if (location->type != OTF2_LOCATION_TYPE_ACCELERATOR_STREAM) {
		stream->is_numbered = true;
		stream->s.thread = group->threads++;
	}
	return true;
}

/* The first location of a stream of hpct's own has its name, those of spans and values follow. */
static void name_own(struct otf2_import *otf2, const struct location *location)
{
	struct import_stream *stream = import_stream_at(otf2->run, location->stream);

	if (location->own != UNKNOWN && !stream->s.name &&
		strcmp(string_at(otf2, location->name), string_at(otf2, location->own)) != 0)
		stream->s.name = text_of(otf2, location->name);
}

static uint64_t time_of(const struct otf2_import *otf2, OTF2_TimeStamp time)
{
	uint64_t since = time > otf2->offset ? time - otf2->offset : 0;

	if (otf2->resolution == 1000000000)
		return since;
	return (uint64_t)((__uint128_t)since * 1000000000 / otf2->resolution);
}

/* ---- events ---- */

static OTF2_CallbackCode put(struct otf2_import *otf2, struct import_record *record)
{
	record->stream = otf2->at->stream;
	if (otf2->code == 0)
		otf2->code = import_record(otf2->run, record, otf2->error);
	return otf2->code ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static struct region *region_at(struct otf2_import *otf2, uint32_t number)
{
	struct region *region = item(&otf2->regions, &otf2->region_room, number, sizeof *otf2->regions);
	char name[32];

	if (region && !region->text) {
		region->text = text_of(otf2, region->name);
		snprintf(name, sizeof name, "region %" PRIu32, number);
		if (!region->text)
			region->text = import_name(otf2->run, name, strlen(name));
	}
	return region;
}

/* What hpct-export wrote of an operation: its op, path, attributes, bytes and link. */
static bool take_own(struct otf2_import *otf2, OTF2_AttributeList *list, struct import_record *record)
{
	uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
	bool is_own = false;

	for (uint32_t i = 0; i < count; i++) {
		OTF2_AttributeRef id;
		OTF2_Type type;
		OTF2_AttributeValue value;
		const char *text;

		if (OTF2_AttributeList_GetAttributeByIndex(list, i, &id, &type, &value) != OTF2_SUCCESS ||
			id >= otf2->attribute_room || !otf2->attributes[id])
			continue;
		text = type == OTF2_TYPE_STRING ? string_at(otf2, value.stringRef) : "";
		switch (otf2->attributes[id]) {
		case OWN_OP:
			is_own = *text;
			if (*text)
				record->op =
					store_writer_op(import_run_writer(otf2->run), text, strlen(text));
			break;
		case OWN_PATH:
			record->name = import_path(otf2->run, text, strlen(text));
			break;
		case OWN_TEXT:
			otf2->text.size = 0;
			store_bytes_put(&otf2->text, text, strlen(text));
			record->attributes = import_attributes(otf2->run, &otf2->text);
			break;
		case OWN_BYTES:
			record->bytes = type == OTF2_TYPE_UINT64 ? value.uint64 : 0;
			break;
		default:
			record->link = type == OTF2_TYPE_UINT64 ? value.uint64 : 0;
		}
	}
	return is_own;
}

/* Operations of queues, by what Score-P calls their regions. */
static uint32_t operation_of(const struct region *region)
{
	switch (region->role) {
	case OTF2_REGION_ROLE_DATA_TRANSFER:
		return STORE_OP_COPY;
	case OTF2_REGION_ROLE_BARRIER:
	case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
		return STORE_OP_SYNC;
	default:
		return STORE_OP_KERNEL;
	}
}

/* States of a thread's line, as hpct-export writes them. */
static uint32_t state_of(const struct otf2_import *otf2, const struct region *region)
{
	const char *name = string_at(otf2, region->name);

	return region->role == OTF2_REGION_ROLE_ARTIFICIAL ? import_line_state(name, strlen(name))
							   : STORE_OP_COUNT;
}

/* What the region is: a whole operation, kept until it is left, or a call that begins. */
static void begin_region(struct otf2_import *otf2, struct open_region *open, const struct region *region,
	OTF2_AttributeList *list)
{
	struct import_record *record = &open->record;
	bool is_queue = otf2->at->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	record->shape = IMPORT_BEGIN;
	record->name = region->text;
	record->op = otf2->op_call;
	if (otf2->at->own != UNKNOWN && take_own(otf2, list, record)) {
		record->shape = IMPORT_PLACED;
		open->is_whole = true;
	} else if (is_queue) {
		record->shape = IMPORT_CALL;
		record->op = operation_of(region);
		open->is_whole = true;
	} else if (otf2->at->own != UNKNOWN) {
		open->is_of_line = true;
		record->op = state_of(otf2, region);
	} else if (region->paradigm == OTF2_PARADIGM_MPI) {
		record->shape = IMPORT_CALL;
		record->op = STORE_OP_MPI;
		open->is_whole = true;
	}
}

static OTF2_CallbackCode take_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, OTF2_RegionRef number)
{
	struct otf2_import *otf2 = own;
	const struct region *region = region_at(otf2, number);
	struct open_region *open;

	(void)location, (void)position;
	otf2->taken++;
	if (!array_widen(&otf2->open, &otf2->open_room, otf2->open_count, sizeof *otf2->open))
		return memory(otf2, false);
	open = &otf2->open[otf2->open_count];
	*open = (struct open_region){.record.begin_ns = time_of(otf2, time),
		.region = number,
		.record.op = otf2->op_call,
		.peer = UINT64_MAX,
		.tag = UINT64_MAX};
	otf2->open_count++;
	if (!region) /* of a damaged archive */
		return memory(otf2, number >= NUMBERS_MAX) == OTF2_CALLBACK_SUCCESS ? put(otf2, &open->record)
										    : OTF2_CALLBACK_INTERRUPT;
	begin_region(otf2, open, region, list);
	if (open->is_of_line && otf2->code == 0)
		otf2->code = import_line_enter(
			&otf2->line, open->record.begin_ns, open->record.name, open->record.op, otf2->error);
	if (open->is_whole || open->is_of_line)
		return otf2->code ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
	return put(otf2, &open->record);
}

/* MPI's attributes, as hpct-record writes them (docs/guide.md, MPI). */
static void put_message(struct otf2_import *otf2, struct open_region *open)
{
	const char *name = string_at(otf2, otf2->regions[open->region].name);
	char number[32];

	otf2->text.size = 0;
	import_attribute_put(&otf2->text, "call", 4, name, strlen(name));
	if (open->peer != UINT64_MAX) {
		snprintf(number, sizeof number, "%" PRIu64, open->peer);
		import_attribute_put(&otf2->text, "peer", 4, number, strlen(number));
	}
	if (open->tag != UINT64_MAX) {
		snprintf(number, sizeof number, "%" PRIu64, open->tag);
		import_attribute_put(&otf2->text, "tag", 3, number, strlen(number));
	}
	open->record.attributes = import_attributes(otf2->run, &otf2->text);
}

static OTF2_CallbackCode take_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, OTF2_RegionRef number)
{
	struct otf2_import *otf2 = own;
	struct import_record end = {.shape = IMPORT_END, .begin_ns = time_of(otf2, time)};
	struct open_region *open;

	(void)location, (void)position, (void)list, (void)number;
	otf2->taken++;
	if (!otf2->open_count) {
		otf2->ends_alone++;
		return OTF2_CALLBACK_SUCCESS;
	}
	open = &otf2->open[--otf2->open_count];
	if (open->is_of_line && otf2->code == 0)
		otf2->code = import_line_leave(&otf2->line, end.begin_ns, otf2->error);
	if (open->is_of_line)
		return otf2->code ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
	if (!open->is_whole)
		return put(otf2, &end);
	open->record.end_ns = end.begin_ns;
	if (open->record.op == STORE_OP_MPI && open->record.shape == IMPORT_CALL)
		put_message(otf2, open);
	return put(otf2, &open->record);
}

/* Regions that are never left last as long as the archive: calls by themselves, operations until the last
 * event that was read. */
static OTF2_CallbackCode leave_all(struct otf2_import *otf2, uint64_t last_ns)
{
	OTF2_CallbackCode code = OTF2_CALLBACK_SUCCESS;

	for (; otf2->open_count && code == OTF2_CALLBACK_SUCCESS; otf2->open_count--) {
		struct open_region *open = &otf2->open[otf2->open_count - 1];

		if (!open->is_whole)
			continue;
		open->record.end_ns = last_ns > open->record.begin_ns ? last_ns : open->record.begin_ns;
		code = put(otf2, &open->record);
	}
	return code;
}

/* ---- messages ---- */

static OTF2_CallbackCode take_message(struct otf2_import *otf2, uint64_t peer, uint64_t tag, uint64_t bytes)
{
	struct open_region *open = otf2->open_count ? &otf2->open[otf2->open_count - 1] : NULL;

	otf2->taken++;
	otf2->communication++;
	if (!open || !open->is_whole)
		return OTF2_CALLBACK_SUCCESS;
	if (open->record.shape == IMPORT_CALL) {
		open->peer = peer;
		open->tag = tag;
		open->record.bytes += bytes;
	}
	otf2->communication--;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
	uint64_t length)
{
	(void)location, (void)time, (void)position, (void)list, (void)comm;
	return take_message(own, receiver, tag, length);
}

static OTF2_CallbackCode take_isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
	uint64_t length, uint64_t request)
{
	(void)location, (void)time, (void)position, (void)list, (void)comm, (void)request;
	return take_message(own, receiver, tag, length);
}

static OTF2_CallbackCode take_collective(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
	uint64_t sent, uint64_t received)
{
	(void)location, (void)time, (void)position, (void)list, (void)op, (void)comm, (void)root;
	return take_message(own, UINT64_MAX, UINT64_MAX, sent > received ? sent : received);
}

/* Its end tells all of it. */
static OTF2_CallbackCode take_collective_begin(OTF2_LocationRef location, OTF2_TimeStamp time,
	uint64_t position, void *own, OTF2_AttributeList *list)
{
	struct otf2_import *otf2 = own;

	(void)location, (void)time, (void)position, (void)list;
	otf2->taken++;
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- values ---- */

static uint32_t metric_of(struct otf2_import *otf2, struct member *member)
{
	const char *name = string_at(otf2, member->name), *unit = string_at(otf2, member->unit);

	if (!member->metric)
		member->metric = 1 + store_writer_metric(import_run_writer(otf2->run),
					     *name ? name : "metric", strcmp(unit, "#") == 0 ? "" : unit,
					     member->type != OTF2_TYPE_UINT64 || member->factor != 1);
	return member->metric - 1;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static uint64_t value_of(const struct member *member, OTF2_Type type, OTF2_MetricValue value)
{
	if (member->type == OTF2_TYPE_UINT64 && member->factor == 1)
		return value.unsigned_int;
	switch (type) {
	case OTF2_TYPE_UINT64:
		return bits_of((double)value.unsigned_int * member->factor);
	case OTF2_TYPE_INT64:
		return bits_of((double)value.signed_int * member->factor);
	default:
		return bits_of(value.floating_point * member->factor);
	}
}

static OTF2_CallbackCode take_metric(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
	void *own, OTF2_AttributeList *list, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
	const OTF2_MetricValue *values)
{
	struct otf2_import *otf2 = own;
	OTF2_CallbackCode code = OTF2_CALLBACK_SUCCESS;
	const struct class *class;

	(void)location, (void)position, (void)list;
	if (metric < otf2->class_room && otf2->classes[metric].of != UNKNOWN)
		metric = otf2->classes[metric].of;
	class = metric < otf2->class_room ? &otf2->classes[metric] : NULL;
	if (!class || class->of != UNKNOWN)
		return OTF2_CALLBACK_SUCCESS;
	otf2->taken++;
	for (uint8_t i = 0; i < count && i < class->count && code == OTF2_CALLBACK_SUCCESS; i++) {
		struct import_record record = {.shape = IMPORT_VALUE, .begin_ns = time_of(otf2, time)};
		struct member *member =
			class->members[i] < otf2->member_room ? &otf2->members[class->members[i]] : NULL;

		if (!member)
			continue;
		record.op = metric_of(otf2, member);
		record.bytes = value_of(member, types[i], values[i]);
		code = put(otf2, &record);
	}
	return code;
}

/* ---- reading ---- */

static bool ok(OTF2_ErrorCode code)
{
	return code == OTF2_SUCCESS;
}

/* The library prints nothing: its codes come back. */
static OTF2_ErrorCode no_message(void *own, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list arguments)
{
	(void)own, (void)file, (void)line, (void)function, (void)format, (void)arguments;
	return code;
}

static bool read_definitions(struct otf2_import *otf2)
{
	OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(otf2->reader);
	uint64_t read;
	bool is_done;

	if (!calls || !reader) {
		OTF2_GlobalDefReaderCallbacks_Delete(calls);
		return false;
	}
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, take_string);
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls, take_clock);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(calls, take_node);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(calls, take_group);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, take_location);
	OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(calls, take_property);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, take_region);
	OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(calls, take_attribute);
	OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(calls, take_member);
	OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(calls, take_class);
	OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(calls, take_instance);
	is_done = ok(OTF2_Reader_RegisterGlobalDefCallbacks(otf2->reader, reader, calls, otf2)) &&
		  ok(OTF2_Reader_ReadAllGlobalDefinitions(otf2->reader, reader, &read));
	OTF2_GlobalDefReaderCallbacks_Delete(calls);
	OTF2_Reader_CloseGlobalDefReader(otf2->reader, reader);
	return is_done;
}

/* Tables that map a location's own numbers to those of all, and its clock: the library applies them. */
static void read_local_definitions(struct otf2_import *otf2)
{
	uint64_t read;

	for (uint32_t i = 0; i < otf2->location_count; i++)
		OTF2_Reader_SelectLocation(otf2->reader, otf2->locations[i].id);
	if (!ok(OTF2_Reader_OpenDefFiles(otf2->reader)))
		return;
	for (uint32_t i = 0; i < otf2->location_count; i++) {
		OTF2_DefReader *reader = OTF2_Reader_GetDefReader(otf2->reader, otf2->locations[i].id);

		if (!reader)
			continue;
		OTF2_Reader_ReadAllLocalDefinitions(otf2->reader, reader, &read);
		OTF2_Reader_CloseDefReader(otf2->reader, reader);
	}
	OTF2_Reader_CloseDefFiles(otf2->reader);
}

static OTF2_EvtReaderCallbacks *event_calls(void)
{
	OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();

	if (!calls)
		return NULL;
	OTF2_EvtReaderCallbacks_SetEnterCallback(calls, take_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, take_leave);
	OTF2_EvtReaderCallbacks_SetMetricCallback(calls, take_metric);
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(calls, take_send);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, take_send);
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, take_isend);
	OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(calls, take_isend);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(calls, take_collective_begin);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(calls, take_collective);
	return calls;
}

static int read_location(struct otf2_import *otf2, const OTF2_EvtReaderCallbacks *calls, uint64_t *all)
{
	OTF2_EvtReader *reader = OTF2_Reader_GetEvtReader(otf2->reader, otf2->at->id);
	OTF2_ErrorCode code = reader ? OTF2_SUCCESS : OTF2_ERROR_FILE_INTERACTION;
	uint64_t read = PIECE_EVENTS;

	otf2->open_count = 0;
	if (otf2->at->own != UNKNOWN && otf2->at->type == OTF2_LOCATION_TYPE_CPU_THREAD)
		otf2->code = import_line_begin(&otf2->line, otf2->run, otf2->at->stream, otf2->error);
	if (reader)
		code = OTF2_Reader_RegisterEvtCallbacks(otf2->reader, reader, calls, otf2);
	while (ok(code) && read == PIECE_EVENTS && otf2->code == 0) {
		code = OTF2_Reader_ReadLocalEvents(otf2->reader, reader, PIECE_EVENTS, &read);
		*all += read;
	}
	if (reader)
		OTF2_Reader_CloseEvtReader(otf2->reader, reader);
	if (otf2->code == 0)
		leave_all(otf2, 0);
	if (otf2->code == 0 && otf2->line.run)
		otf2->code = import_line_end(&otf2->line, otf2->error);
	if (otf2->code == 0 && !ok(code))
		otf2->damage = code;
	return otf2->code;
}

static void say_left_out(struct otf2_import *otf2, uint64_t all)
{
	struct store_bytes *list = &otf2->input->left_out;

	format_left_out(list, otf2->ends_alone, "ends of regions whose begin is missing");
	format_left_out(list, otf2->communication, "messages outside of a call of MPI");
	format_left_out(list, all > otf2->taken ? all - otf2->taken : 0,
		"events of other kinds (one-sided communication, files, tasks, locks, parameters, samples)");
}

static int read_events(struct otf2_import *otf2)
{
	OTF2_EvtReaderCallbacks *calls = event_calls();
	uint64_t all = 0;
	int code = calls ? 0 : error_memory(otf2->error);

	if (code == 0 && !ok(OTF2_Reader_OpenEvtFiles(otf2->reader)))
		otf2->damage = OTF2_ERROR_FILE_CAN_NOT_OPEN;
	for (uint32_t i = 0; i < otf2->location_count && code == 0; i++) {
		otf2->at = &otf2->locations[i];
		if (otf2->at->own != UNKNOWN && !*string_at(otf2, otf2->at->own))
			continue; /* a rank that hpct-export had no process of */
		if (!find_stream(otf2, &otf2->locations[i]))
			code = error_memory(otf2->error);
		if (code == 0)
			name_own(otf2, otf2->at);
		if (code == 0)
			code = read_location(otf2, calls, &all);
	}
	OTF2_EvtReaderCallbacks_Delete(calls);
	if (code == 0)
		say_left_out(otf2, all);
	return code;
}

/* libotf2 makes room for as many properties as the anchor file says, which takes minutes where the number is
 * damaged: they stand behind three texts and the number, each in two bytes or more. */
#define ANCHOR_TEXTS 0x2e

static bool anchor_is_sound(const char *path)
{
	uint8_t head[65536];
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(head, 1, sizeof head, file) : 0, at = ANCHOR_TEXTS;
	uint32_t count;

	if (file)
		fclose(file);
	for (int text = 0; text < 3; text++) {
		if (at < size)
			at += strnlen((const char *)head + at, size - at) + 1;
	}
	if (size < at + sizeof count)
		return false;
	count = store_load32(head + at);
	if (head[1] != 'B') /* the other order of bytes */
		count = __builtin_bswap32(count);
	return count <= (size - at) / 2;
}

static int read_archive(struct otf2_import *otf2, struct error *error)
{
	if (!anchor_is_sound(otf2->input->path))
		return error_set(error, ERROR_RUN,
			"%s is no archive of OTF2, or damaged: its head is not whole", otf2->input->name);
	otf2->reader = OTF2_Reader_Open(otf2->input->path);
	if (!otf2->reader || !ok(OTF2_Reader_SetSerialCollectiveCallbacks(otf2->reader)) ||
		!read_definitions(otf2) || !otf2->location_count)
		return otf2->code ? otf2->code
				  : error_set(error, ERROR_RUN,
					    "%s is no archive of OTF2, or damaged: its definitions cannot be "
					    "read; its directory must be whole",
					    otf2->input->name);
	read_local_definitions(otf2);
	if (otf2->wall_ns)
		import_run_wall(otf2->run, otf2->wall_ns);
	return read_events(otf2);
}

static int import_from(struct otf2_import *otf2, const char *path, struct error *error)
{
	struct format_input *input = otf2->input;
	int code = import_run_begin(&otf2->run, path, "otf2", error);

	if (code < 0)
		return code;
	otf2->op_call = store_writer_op(import_run_writer(otf2->run), "call", 4);
	code = read_archive(otf2, error);
	if (code < 0) {
		import_run_abort(otf2->run);
		return code;
	}
	code = import_run_end(otf2->run, &input->left_out, error);
	if (code < 0 || otf2->damage == OTF2_SUCCESS)
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN, "%s is damaged or cut short (%s): what could be read is in %s",
		input->name, OTF2_Error_GetDescription(otf2->damage), path);
}

int otf2_import(struct format_input *input, const char *path, struct error *error)
{
	struct otf2_import otf2 = {.input = input, .error = error, .resolution = 1000000000};
	int code;

	if (!input->path)
		return error_set(error, ERROR_USAGE,
			"an archive of OTF2 is a directory: name it, or the .otf2 file in it");
	OTF2_Error_RegisterCallback(no_message, NULL);
	code = import_from(&otf2, path, error);
	if (otf2.reader)
		OTF2_Reader_Close(otf2.reader);
	for (size_t i = 0; i < otf2.string_room; i++)
		free(otf2.strings[i]);
	free(otf2.strings);
	free(otf2.locations);
	free(otf2.groups);
	free(otf2.nodes);
	free(otf2.regions);
	free(otf2.members);
	free(otf2.classes);
	free(otf2.attributes);
	free(otf2.open);
	import_line_fini(&otf2.line);
	store_bytes_fini(&otf2.text);
	return code;
}

bool otf2_is(const uint8_t *head, size_t size)
{
	return size >= 6 && memcmp(head + 2, "OTF2", 4) == 0; /* behind its type and byte order */
}
