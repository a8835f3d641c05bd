/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_client.c - see symbol_client.h. A frame is `known` from when it is first met, `waiting` until a
 * request has it, `asked` until its answer is there; answers come in the order of requests.
 */
#include "record/names/symbol_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/names/symbol_process.h"
#include "record/process/modules.h"
#include "store/base/array.h"
#include "store/catalog/symbol_protocol.h"

#define OFFSETS 512 /* of one request: small, so that answers come steadily */

struct frame {
	uint64_t offset;
	uint32_t module; /* 0: free place of the table */
};

struct naming {
	struct names_child child;
	struct sources *sources;
	bool failed;
	uint32_t context_seen; /* contexts looked at */
	struct frame *known;   /* open addressing: frames asked for */
	uint32_t known_count, known_room;
	struct frame *waiting; /* not yet in a request */
	uint32_t waiting_count;
	size_t waiting_room;
	struct frame *asked; /* in requests since the last start: asked again after a death */
	uint32_t asked_count, answered;
	size_t asked_room;
};

int naming_new(struct naming **out, const char *program, struct sources *sources, struct error *error)
{
	struct naming *naming = calloc(1, sizeof(*naming));

	if (!naming || names_child_init(&naming->child, program)) {
		free(naming);
		return error_memory(error);
	}
	naming->sources = sources;
	naming->context_seen = STORE_CONTEXT_FIRST;
	*out = naming;
	return 0;
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	if (naming->child.pid && !naming_outstanding(naming))
		names_child_end(&naming->child);
	names_child_fini(&naming->child);
	free(naming->known);
	free(naming->waiting);
	free(naming->asked);
	free(naming);
}

int naming_descriptor(const struct naming *naming)
{
	return naming->child.from;
}

uint32_t naming_outstanding(const struct naming *naming)
{
	return naming->failed ? 0 : naming->waiting_count + naming->asked_count - naming->answered;
}

static bool frames_add(struct frame **frames, uint32_t *count, size_t *room, struct frame frame)
{
	if (!array_widen((void **)frames, room, *count, sizeof **frames))
		return false;
	(*frames)[(*count)++] = frame;
	return true;
}

static uint32_t frame_place(const struct naming *naming, struct frame frame)
{
	uint64_t hash = (frame.offset ^ (uint64_t)frame.module << 40) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t place = (uint32_t)(hash >> 32) & (naming->known_room - 1);

	while (naming->known[place].module &&
		(naming->known[place].module != frame.module || naming->known[place].offset != frame.offset))
		place = (place + 1) & (naming->known_room - 1);
	return place;
}

static bool known_grow(struct naming *naming)
{
	struct frame *old = naming->known;
	uint32_t room = naming->known_room;

	if (naming->known_count * 2 < room)
		return true;
	naming->known_room = room ? 2 * room : 1024;
	naming->known = calloc(naming->known_room, sizeof(*naming->known));
	if (!naming->known) {
		naming->known = old;
		naming->known_room = room;
		return false;
	}
	for (uint32_t i = 0; i < room; i++)
		if (old[i].module)
			naming->known[frame_place(naming, old[i])] = old[i];
	free(old);
	return true;
}

/* Whether the frame is asked for the first time. */
static bool known_add(struct naming *naming, struct frame frame)
{
	uint32_t place;

	if (!known_grow(naming))
		return false;
	place = frame_place(naming, frame);
	if (naming->known[place].module)
		return false;
	naming->known[place] = frame;
	naming->known_count++;
	return true;
}

static int frame_compare(const void *left, const void *right)
{
	const struct frame *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void request_put(
	struct naming *naming, struct store_writer *writer, const struct frame *frames, uint32_t count)
{
	struct store_module module = store_writer_module_at(writer, frames[0].module);
	const char *path = store_writer_text_at(writer, module.path, NULL);
	int file = modules_file(frames[0].module);
	uint64_t offsets[OFFSETS];
	struct symbol_request request = {.module = frames[0].module,
		.kind = module.kind,
		.build_id_bytes = module.build_id_bytes,
		.real_path = path ? path : "",
		.path = "",
		.offsets = offsets,
		.offset_count = count};
	char place[64];
	struct error error;

	memcpy(request.build_id, module.build_id, sizeof(request.build_id));
	snprintf(place, sizeof(place), "/proc/%d/fd/%d", process_number(), file);
	if (file >= 0)
		request.path = access(place, R_OK) ? request.real_path : place; /* without /proc */
	for (uint32_t i = 0; i < count; i++)
		offsets[i] = frames[i].offset;
	if (symbol_request_put(&naming->child.out, &request, &error))
		naming->failed = true;
}

/* Sorted by module, so that each request speaks of one. */
static void requests_put(struct naming *naming, struct store_writer *writer)
{
	struct frame *frames = naming->waiting;
	uint32_t count = naming->waiting_count, begin = 0;

	qsort(frames, count, sizeof(*frames), frame_compare);
	for (uint32_t i = 1; i <= count; i++)
		if (i == count || frames[i].module != frames[begin].module || i - begin == OFFSETS) {
			request_put(naming, writer, frames + begin, i - begin);
			begin = i;
		}
	for (uint32_t i = 0; i < count; i++)
		if (!frames_add(&naming->asked, &naming->asked_count, &naming->asked_room, frames[i]))
			naming->failed = true;
	naming->waiting_count = 0;
}

void naming_ask(struct naming *naming, struct store_writer *writer)
{
	uint32_t count = store_writer_context_count(writer);

	for (; naming->context_seen < count; naming->context_seen++) {
		struct store_context context = store_writer_context_at(writer, naming->context_seen);
		struct frame frame = {context.offset, context.module};
		enum store_module_kind kind;

		if (context.module == STORE_MODULE_RESERVED)
			continue;
		kind = store_writer_module_at(writer, context.module).kind;
		if ((kind != STORE_MODULE_ELF && kind != STORE_MODULE_VDSO) || !known_add(naming, frame))
			continue;
		if (!frames_add(&naming->waiting, &naming->waiting_count, &naming->waiting_room, frame))
			naming->failed = true;
	}
}

/* It died: what was asked and not answered is asked again, but for the frame that it died on. */
static void child_lost(struct naming *naming)
{
	uint32_t from = naming->answered + 1;

	names_child_stop(&naming->child);
	for (uint32_t i = from; i < naming->asked_count; i++)
		if (!frames_add(&naming->waiting, &naming->waiting_count, &naming->waiting_room,
			    naming->asked[i]))
			naming->failed = true;
	naming->asked_count = naming->answered = 0;
	if (names_child_is_over(&naming->child))
		naming->failed = true;
}

static uint32_t text_add(struct store_writer *writer, const char *text)
{
	return store_writer_text(writer, text, strlen(text));
}

static void answer_store(
	struct naming *naming, struct store_writer *writer, const struct symbol_answer *answer)
{
	struct store_scope scopes[STORE_SCOPE_MAX];

	for (uint32_t i = 0; i < answer->scope_count; i++) {
		const struct names_scope *from = &answer->scopes[i];

		scopes[i] = (struct store_scope){
			.kind = from->kind, /* the same numbers, checked when it was parsed */
			.name = text_add(writer, from->name),
			.file = text_add(writer, from->file),
			.line = from->line,
			.decl_file = text_add(writer, from->decl_file),
			.decl_line = from->decl_line,
			.start = from->start};
		sources_mention(naming->sources, scopes[i].file);
		sources_mention(naming->sources, scopes[i].decl_file);
	}
	store_writer_symbol(writer, answer->module, answer->offset, scopes, answer->scope_count);
}

/* Only what was asked for is believed. */
static bool answer_take(struct naming *naming, struct store_writer *writer, const uint8_t *frame, size_t size)
{
	static struct symbol_answer answer;
	struct error error;
	struct frame key;

	if (symbol_answer_parse(frame, size, &answer, &error))
		return false;
	key = (struct frame){answer.offset, answer.module};
	if (!key.module || !naming->known_room || !naming->known[frame_place(naming, key)].module ||
		naming->answered >= naming->asked_count)
		return false;
	answer_store(naming, writer, &answer);
	naming->answered++;
	return true;
}

static bool answers_take(struct naming *naming, struct store_writer *writer)
{
	struct store_bytes *in = &naming->child.in;
	size_t at = 0;
	struct error error;

	for (;;) {
		uint32_t type;
		ssize_t size = symbol_frame_peek(in->data + at, in->size - at, &type, &error);

		if (size < 0)
			return false;
		if (!size || (size_t)size > in->size - at)
			break;
		if (type == SYMBOL_ANSWER && !answer_take(naming, writer, in->data + at, (size_t)size))
			return false;
		at += (size_t)size;
	}
	if (at)
		memmove(in->data, in->data + at, in->size - at);
	in->size -= at;
	return true;
}

void naming_pump(struct naming *naming, struct store_writer *writer)
{
	struct names_child *child = &naming->child;
	int more = 1;

	if (naming->failed)
		return;
	if (!child->pid && naming->waiting_count && !names_child_start(child)) {
		naming->failed = true;
		return;
	}
	if (!child->pid)
		return;
	if (naming->waiting_count)
		requests_put(naming, writer);
	if (!names_child_write(child)) {
		child_lost(naming);
		return;
	}
	while (more > 0) {
		more = names_child_read(child);
		if (more >= 0 && !answers_take(naming, writer))
			more = -1;
	}
	if (more < 0)
		child_lost(naming);
}
