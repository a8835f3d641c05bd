/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_client.c - see symbol_client.h. A frame is `known` once it is first seen, `waiting` until a request
 * contains it, `asked` until its answer arrives; answers come in the order of requests.
 */
#include "record/names/symbol_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/modules/modules.h"
#include "record/names/symbol_process.h"
#include "store/base/array.h"
#include "store/catalog/symbol_protocol.h"

#define OFFSETS 512    /* per request: small, so that answers come steadily */
#define LAST_STARTS 20 /* one with each step of the collector */

struct frame {
	uint64_t offset;
	uint32_t module; /* 0: free slot of the table */
};

struct symbol_client {
	struct symbol_process child;
	struct source_copies *sources;
	bool failed;
	unsigned starts_left;  /* at the end of the recording; 0: not yet there */
	uint32_t context_seen; /* contexts already examined */
	struct frame *known;   /* all frames seen, a hash table with open addressing */
	uint32_t known_count, known_capacity;
	struct frame *waiting; /* not yet in a request */
	uint32_t waiting_count;
	size_t waiting_capacity;
	struct frame *asked; /* in requests since the last start: sent again if the child dies */
	uint32_t asked_count, answered;
	size_t asked_capacity;
};

int symbol_client_new(
	struct symbol_client **out, const char *program, struct source_copies *sources, struct error *error)
{
	struct symbol_client *client = calloc(1, sizeof(*client));

	if (!client || symbol_process_init(&client->child, program)) {
		free(client);
		return error_memory(error);
	}
	client->sources = sources;
	client->context_seen = STORE_CONTEXT_FIRST;
	*out = client;
	return 0;
}

void symbol_client_free(struct symbol_client *client)
{
	if (!client)
		return;
	if (client->child.pid && !symbol_client_outstanding(client))
		symbol_process_end(&client->child);
	symbol_process_fini(&client->child);
	free(client->known);
	free(client->waiting);
	free(client->asked);
	free(client);
}

int symbol_client_descriptor(const struct symbol_client *client)
{
	return client->child.from;
}

uint32_t symbol_client_outstanding(const struct symbol_client *client)
{
	return client->failed ? 0 : symbol_client_unnamed(client);
}

uint32_t symbol_client_unnamed(const struct symbol_client *client)
{
	return client->waiting_count + client->asked_count - client->answered;
}

static bool frames_add(struct frame **frames, uint32_t *count, size_t *room, struct frame frame)
{
	if (!array_widen((void **)frames, room, *count, sizeof **frames))
		return false;
	(*frames)[(*count)++] = frame;
	return true;
}

static uint32_t frame_place(const struct symbol_client *client, struct frame frame)
{
	uint64_t hash = (frame.offset ^ (uint64_t)frame.module << 40) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t place = (uint32_t)(hash >> 32) & (client->known_capacity - 1);

	while (client->known[place].module &&
		(client->known[place].module != frame.module || client->known[place].offset != frame.offset))
		place = (place + 1) & (client->known_capacity - 1);
	return place;
}

static bool known_grow(struct symbol_client *client)
{
	struct frame *old = client->known;
	uint32_t room = client->known_capacity;

	if (client->known_count * 2 < room)
		return true;
	client->known_capacity = room ? 2 * room : 1024;
	client->known = calloc(client->known_capacity, sizeof(*client->known));
	if (!client->known) {
		client->known = old;
		client->known_capacity = room;
		return false;
	}
	for (uint32_t i = 0; i < room; i++)
		if (old[i].module)
			client->known[frame_place(client, old[i])] = old[i];
	free(old);
	return true;
}

/* True if the frame is new. */
static bool known_add(struct symbol_client *client, struct frame frame)
{
	uint32_t place;

	if (!known_grow(client))
		return false;
	place = frame_place(client, frame);
	if (client->known[place].module)
		return false;
	client->known[place] = frame;
	client->known_count++;
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
	struct symbol_client *client, struct store_writer *writer, const struct frame *frames, uint32_t count)
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
	if (symbol_request_put(&client->child.out, &request, &error))
		client->failed = true;
}

/* Sorted by module, since a request has one module. */
static void requests_put(struct symbol_client *client, struct store_writer *writer)
{
	struct frame *frames = client->waiting;
	uint32_t count = client->waiting_count, begin = 0;

	qsort(frames, count, sizeof(*frames), frame_compare);
	for (uint32_t i = 1; i <= count; i++)
		if (i == count || frames[i].module != frames[begin].module || i - begin == OFFSETS) {
			request_put(client, writer, frames + begin, i - begin);
			begin = i;
		}
	for (uint32_t i = 0; i < count; i++)
		if (!frames_add(&client->asked, &client->asked_count, &client->asked_capacity, frames[i]))
			client->failed = true;
	client->waiting_count = 0;
}

void symbol_client_ask(struct symbol_client *client, struct store_writer *writer)
{
	uint32_t count = store_writer_context_count(writer);

	for (; client->context_seen < count; client->context_seen++) {
		struct store_context context = store_writer_context_at(writer, client->context_seen);
		struct frame frame = {context.offset, context.module};
		enum store_module_kind kind;

		if (context.module == STORE_MODULE_RESERVED)
			continue;
		kind = store_writer_module_at(writer, context.module).kind;
		if ((kind != STORE_MODULE_ELF && kind != STORE_MODULE_VDSO) || !known_add(client, frame))
			continue;
		if (!frames_add(&client->waiting, &client->waiting_count, &client->waiting_capacity, frame))
			client->failed = true;
	}
}

/* The child died: requests unanswered frames again, except the frame on which it died. */
static void child_lost(struct symbol_client *client)
{
	uint32_t from = client->answered + 1;

	symbol_process_stop(&client->child);
	for (uint32_t i = from; i < client->asked_count; i++)
		if (!frames_add(&client->waiting, &client->waiting_count, &client->waiting_capacity,
			    client->asked[i]))
			client->failed = true;
	client->asked_count = client->answered = 0;
	if (symbol_process_is_over(&client->child))
		client->failed = true;
}

static uint32_t text_add(struct store_writer *writer, const char *text)
{
	return store_writer_text(writer, text, strlen(text));
}

static void answer_store(
	struct symbol_client *client, struct store_writer *writer, const struct symbol_answer *answer)
{
	struct store_scope scopes[STORE_SCOPE_MAX];

	for (uint32_t i = 0; i < answer->scope_count; i++) {
		const struct names_scope *from = &answer->scopes[i];

		scopes[i] = (struct store_scope){.kind = from->kind, /* same values, checked by the parser */
			.name = text_add(writer, from->name),
			.file = text_add(writer, from->file),
			.line = from->line,
			.decl_file = text_add(writer, from->decl_file),
			.decl_line = from->decl_line,
			.start = from->start};
		source_copies_mention(client->sources, scopes[i].file);
		source_copies_mention(client->sources, scopes[i].decl_file);
	}
	store_writer_symbol(writer, answer->module, answer->offset, scopes, answer->scope_count);
}

/* Accepts answers for requested frames only. */
static bool answer_take(
	struct symbol_client *client, struct store_writer *writer, const uint8_t *frame, size_t size)
{
	static struct symbol_answer answer;
	struct error error;
	struct frame key;

	if (symbol_answer_parse(frame, size, &answer, &error))
		return false;
	key = (struct frame){answer.offset, answer.module};
	if (!key.module || !client->known_capacity || !client->known[frame_place(client, key)].module ||
		client->answered >= client->asked_count)
		return false;
	answer_store(client, writer, &answer);
	client->answered++;
	return true;
}

static bool answers_take(struct symbol_client *client, struct store_writer *writer)
{
	struct store_bytes *in = &client->child.in;
	size_t at = 0;
	struct error error;

	for (;;) {
		uint32_t type;
		ssize_t size = symbol_frame_peek(in->data + at, in->size - at, &type, &error);

		if (size < 0)
			return false;
		if (!size || (size_t)size > in->size - at)
			break;
		if (type == SYMBOL_ANSWER && !answer_take(client, writer, in->data + at, (size_t)size))
			return false;
		at += (size_t)size;
	}
	if (at)
		memmove(in->data, in->data + at, in->size - at);
	in->size -= at;
	return true;
}

void symbol_client_pump(struct symbol_client *client, struct store_writer *writer)
{
	struct symbol_process *child = &client->child;
	int more = 1;

	if (client->failed)
		return;
	if (!child->pid && client->waiting_count && !symbol_process_start(child))
		client->failed =
			symbol_process_is_over(child) || (client->starts_left && !--client->starts_left);
	if (!child->pid)
		return;
	if (client->waiting_count)
		requests_put(client, writer);
	if (!symbol_process_write(child)) {
		child_lost(client);
		return;
	}
	while (more > 0) {
		more = symbol_process_read(child);
		if (more >= 0 && !answers_take(client, writer))
			more = -1;
	}
	if (more < 0)
		child_lost(client);
}

void symbol_client_begin_end(struct symbol_client *client, struct store_writer *writer)
{
	client->starts_left = LAST_STARTS;
	symbol_client_ask(client, writer);
	symbol_client_pump(client, writer);
}
