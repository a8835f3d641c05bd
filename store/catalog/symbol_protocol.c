/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_protocol.c - encodes and decodes frames between the collector and hpct-names.
 */
#include "store/catalog/symbol_protocol.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void put_text(struct store_bytes *out, const char *text)
{
	size_t size = strnlen(text, NAMES_TEXT_MAX);

	store_bytes_put_varint(out, size);
	store_bytes_put(out, text, size);
	store_bytes_put(out, "", 1);
}

static size_t frame_begin(struct store_bytes *out, uint32_t type)
{
	size_t at = out->size;
	const uint32_t header[2] = {0, type};

	store_bytes_put(out, header, sizeof header);
	return at;
}

static int frame_end(struct store_bytes *out, size_t at, struct error *error)
{
	uint32_t size;

	if (out->failed)
		return error_memory(error);
	size = (uint32_t)(out->size - at - SYMBOL_FRAME_HEADER_BYTES);
	memcpy(out->data + at, &size, sizeof size);
	return 0;
}

int symbol_request_put(struct store_bytes *out, const struct symbol_request *request, struct error *error)
{
	size_t at;

	if (request->offset_count > NAMES_OFFSETS_MAX || request->build_id_bytes > NAMES_BUILD_ID_MAX)
		return error_set(error, ERROR_USAGE,
			"a request for names holds more than %u offsets or a build id of more than %u bytes",
			NAMES_OFFSETS_MAX, NAMES_BUILD_ID_MAX);
	at = frame_begin(out, SYMBOL_REQUEST);
	store_bytes_put_varint(out, request->module);
	store_bytes_put_varint(out, request->kind);
	store_bytes_put_varint(out, request->build_id_bytes);
	store_bytes_put(out, request->build_id, request->build_id_bytes);
	put_text(out, request->path);
	put_text(out, request->real_path);
	store_bytes_put_varint(out, request->offset_count);
	for (uint32_t i = 0; i < request->offset_count; i++)
		store_bytes_put_varint(out, request->offsets[i]);
	return frame_end(out, at, error);
}

static void put_scope(struct store_bytes *out, const struct names_scope *scope)
{
	store_bytes_put_varint(out, scope->kind);
	store_bytes_put_varint(out, scope->start);
	store_bytes_put_varint(out, scope->line);
	store_bytes_put_varint(out, scope->decl_line);
	put_text(out, scope->name);
	put_text(out, scope->linkage);
	put_text(out, scope->file);
	put_text(out, scope->decl_file);
}

void symbol_stretch_cut(struct symbol_stretch *stretch, uint64_t begin, uint64_t end)
{
	if (stretch->begin < begin)
		stretch->begin = begin;
	if (stretch->end > end)
		stretch->end = end;
}

static void put_stretch(struct store_bytes *out, uint64_t offset, const struct symbol_stretch *stretch)
{
	bool is_around = stretch->begin <= offset && offset < stretch->end;

	store_bytes_put_varint(out, is_around ? offset - stretch->begin : 0);
	store_bytes_put_varint(out, is_around ? stretch->end - 1 - offset : 0);
}

int symbol_answer_put(struct store_bytes *out, const struct symbol_answer *answer, struct error *error)
{
	uint32_t count = answer->scope_count < NAMES_SCOPE_MAX ? answer->scope_count : NAMES_SCOPE_MAX;
	size_t at = frame_begin(out, SYMBOL_ANSWER);

	store_bytes_put_varint(out, answer->module);
	store_bytes_put_varint(out, answer->offset);
	put_stretch(out, answer->offset, &answer->stretch);
	store_bytes_put_varint(out, answer->source);
	store_bytes_put_varint(out, count);
	for (uint32_t i = 0; i < count; i++)
		put_scope(out, &answer->scopes[i]);
	return frame_end(out, at, error);
}

int symbol_done_put(struct store_bytes *out, const struct symbol_done *done, struct error *error)
{
	size_t at = frame_begin(out, SYMBOL_DONE);

	store_bytes_put_varint(out, done->module);
	put_text(out, done->message);
	return frame_end(out, at, error);
}

/* ---- reading ---- */

static const char *get_text(struct store_input *input)
{
	uint64_t size = store_input_varint(input);
	const uint8_t *bytes;

	if (size > NAMES_TEXT_MAX)
		input->bad = true;
	bytes = store_input_take(input, (size_t)size + 1);
	if (bytes && memchr(bytes, 0, (size_t)size + 1) != bytes + size)
		input->bad = true;
	return input->bad ? "" : (const char *)bytes;
}

ssize_t symbol_frame_peek(const uint8_t *bytes, size_t size, uint32_t *type, struct error *error)
{
	uint32_t payload;

	if (size < SYMBOL_FRAME_HEADER_BYTES)
		return 0;
	payload = store_load32(bytes);
	*type = store_load32(bytes + 4);
	if (payload > SYMBOL_FRAME_MAX ||
		(*type != SYMBOL_REQUEST && *type != SYMBOL_ANSWER && *type != SYMBOL_DONE))
		return error_set(
			error, ERROR_IO, "what hpct-names and its asker say to each other is damaged");
	if (payload > size - SYMBOL_FRAME_HEADER_BYTES)
		return 0;
	return (ssize_t)(SYMBOL_FRAME_HEADER_BYTES + payload);
}

static int frame_open(
	struct store_input *input, const uint8_t *frame, size_t size, uint32_t expected, struct error *error)
{
	uint32_t type = 0;
	ssize_t whole = symbol_frame_peek(frame, size, &type, error);

	if (whole < 0)
		return (int)whole;
	if ((size_t)whole != size || type != expected)
		return error_set(error, ERROR_IO, "a message of hpct-names has the wrong size or type");
	*input = (struct store_input){frame + SYMBOL_FRAME_HEADER_BYTES, frame + size, false};
	return 0;
}

static int frame_close(const struct store_input *input, struct error *error)
{
	if (input->bad || input->at != input->end)
		return error_set(error, ERROR_IO, "a message of hpct-names is damaged");
	return 0;
}

static int get_offsets(
	struct store_input *input, struct symbol_request *request, uint64_t **offsets, struct error *error)
{
	if (request->offset_count > NAMES_OFFSETS_MAX || request->offset_count > input->end - input->at)
		input->bad = true;
	if (input->bad)
		return frame_close(input, error);
	*offsets = malloc(8 * (size_t)request->offset_count + 1);
	if (!*offsets)
		return error_memory(error);
	for (uint32_t i = 0; i < request->offset_count; i++)
		(*offsets)[i] = store_input_varint(input);
	request->offsets = *offsets;
	if (!frame_close(input, error))
		return 0;
	free(*offsets);
	return -ERROR_IO;
}

int symbol_request_parse(const uint8_t *frame, size_t size, struct symbol_request *request,
	uint64_t **offsets, struct error *error)
{
	struct store_input input;
	const uint8_t *id;
	uint64_t id_bytes;
	int rc = frame_open(&input, frame, size, SYMBOL_REQUEST, error);

	if (rc)
		return rc;
	memset(request, 0, sizeof *request);
	request->module = store_input_u32(&input);
	request->kind = store_input_u32(&input);
	id_bytes = store_input_varint(&input);
	if (id_bytes > NAMES_BUILD_ID_MAX)
		input.bad = true;
	id = store_input_take(&input, (size_t)id_bytes);
	if (id) {
		request->build_id_bytes = (uint8_t)id_bytes;
		memcpy(request->build_id, id, (size_t)id_bytes);
	}
	request->path = get_text(&input);
	request->real_path = get_text(&input);
	request->offset_count = store_input_u32(&input);
	return get_offsets(&input, request, offsets, error);
}

static void get_scope(struct store_input *input, struct names_scope *scope)
{
	scope->kind = store_input_u32(input);
	scope->start = store_input_varint(input);
	scope->line = store_input_u32(input);
	scope->decl_line = store_input_u32(input);
	scope->name = get_text(input);
	scope->linkage = get_text(input);
	scope->file = get_text(input);
	scope->decl_file = get_text(input);
	if (scope->kind > NAMES_LOOP)
		input->bad = true;
}

static void get_stretch(struct store_input *input, struct symbol_answer *answer)
{
	uint64_t before, after;

	answer->module = store_input_u32(input);
	answer->offset = store_input_varint(input);
	before = store_input_varint(input);
	after = store_input_varint(input);
	if (before > answer->offset || after > UINT64_MAX - answer->offset)
		input->bad = true;
	else /* the highest address, which is requested too, has no end after it */
		answer->stretch = (struct symbol_stretch){answer->offset - before,
			answer->offset + after + (answer->offset + after < UINT64_MAX)};
}

int symbol_answer_parse_stretch(
	const uint8_t *frame, size_t size, struct symbol_answer *answer, struct error *error)
{
	struct store_input input;
	int rc = frame_open(&input, frame, size, SYMBOL_ANSWER, error);

	if (rc)
		return rc;
	get_stretch(&input, answer);
	input.at = input.end; /* the rest is ignored */
	return frame_close(&input, error);
}

int symbol_answer_parse(const uint8_t *frame, size_t size, struct symbol_answer *answer, struct error *error)
{
	struct store_input input;
	int rc = frame_open(&input, frame, size, SYMBOL_ANSWER, error);

	if (rc)
		return rc;
	get_stretch(&input, answer);
	answer->source = store_input_u32(&input);
	answer->scope_count = store_input_u32(&input);
	if (answer->source > NAMES_FROM_DEBUG || answer->scope_count < 1 ||
		answer->scope_count > NAMES_SCOPE_MAX)
		input.bad = true;
	for (uint32_t i = 0; !input.bad && i < answer->scope_count; i++)
		get_scope(&input, &answer->scopes[i]);
	return frame_close(&input, error);
}

int symbol_done_parse(const uint8_t *frame, size_t size, struct symbol_done *done, struct error *error)
{
	struct store_input input;
	int rc = frame_open(&input, frame, size, SYMBOL_DONE, error);

	if (rc)
		return rc;
	done->module = store_input_u32(&input);
	done->message = get_text(&input);
	return frame_close(&input, error);
}
