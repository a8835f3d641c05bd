/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_python_code.c - names and lines of code objects in another process. A code object at a known address
 * is known again if its fields are the same, those that the interpreter changes while it runs left out.
 */
#include "record/process/remote_python_internal.h"

#include <stdlib.h>
#include <string.h>

#include "record/agent/python/python_lines.h"
#include "store/ring/ring.h"

#define STRING_BYTES 40u
#define CHARACTERS_MAX 500u
#define LINES_BYTES_MAX (1u << 20)

static uint64_t word_at(const unsigned char *bytes, unsigned at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static uint32_t u32_at(const unsigned char *bytes, unsigned at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static size_t utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)(c ? c : '?'); /* NUL ends a name */
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* state of a string: interned:2 kind:3 compact:1 ascii:1. Puts at most `room` bytes of UTF-8; SIZE_MAX: it
 * cannot be read. */
static size_t string_read(const struct remote_python *python, uint64_t at, char *to, size_t room)
{
	unsigned char head[STRING_BYTES], data[4 * CHARACTERS_MAX];
	uint64_t count;
	uint32_t state, kind, c = 0;
	size_t used = 0;

	if (at % 8 || !remote_python_get(python, at, head, sizeof(head)) ||
		word_at(head, PYTHON_OBJECT_TYPE) != python->string_type)
		return SIZE_MAX;
	state = u32_at(head, PYTHON_STRING_STATE);
	kind = state >> 2 & 7;
	count = word_at(head, PYTHON_OBJECT_SIZE);
	count = count < CHARACTERS_MAX ? count : CHARACTERS_MAX;
	if (!(state & 32u) || (kind != 1 && kind != 2 && kind != 4))
		return SIZE_MAX;
	at += state & 64u ? python->layout->ascii_bytes : python->layout->compact_bytes;
	if (count && !remote_python_get(python, at, data, count * kind))
		return SIZE_MAX;
	for (uint64_t i = 0; i < count && used + 4 <= room; i++) {
		memcpy(&c, data + i * kind, kind);
		used += utf8_put(to + used, c & 0x1fffff);
	}
	return used;
}

/* The same function has one entry, however often its code object was made anew. */
static struct remote_python_name *name_intern(
	struct remote_python *python, const char *text, uint32_t bytes, uint32_t first_line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ first_line;
	struct remote_python_name **bucket, *name;

	for (uint32_t i = 0; i < bytes; i++) /* FNV-1a */
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	bucket = &python->names[(hash ^ hash >> 32) % REMOTE_PYTHON_NAMES];
	for (name = *bucket; name; name = name->next)
		if (name->bytes == bytes && name->first_line == first_line &&
			!memcmp(name->text, text, bytes))
			return name;
	name = calloc(1, sizeof(*name) + bytes);
	if (!name)
		return NULL;
	*name = (struct remote_python_name){.next = *bucket, .first_line = first_line, .bytes = bytes};
	memcpy(name->text, text, bytes);
	*bucket = name;
	return name;
}

static void table_read(const struct remote_python *python, struct remote_python_code *code)
{
	uint64_t at = word_at(code->bytes, python->layout->code_lines), bytes;
	unsigned char head[PYTHON_BYTES_BEGIN];

	if (at % 8 || !remote_python_get(python, at, head, sizeof(head)) ||
		word_at(head, PYTHON_OBJECT_TYPE) != python->bytes_type)
		return;
	bytes = word_at(head, PYTHON_OBJECT_SIZE);
	if (!bytes || bytes > LINES_BYTES_MAX)
		return;
	code->table = malloc(bytes);
	if (code->table && remote_python_get(python, at + PYTHON_BYTES_BEGIN, code->table, bytes)) {
		code->table_bytes = (uint32_t)bytes;
		return;
	}
	free(code->table);
	code->table = NULL;
}

static bool code_read(struct remote_python *python, struct remote_python_code *code, uint64_t address,
	const unsigned char *bytes)
{
	const struct python_layout *layout = python->layout;
	char text[EVENT_NAME_BYTES_MAX];
	size_t name, file, room = sizeof(text) / 2;

	free(code->table);
	*code = (struct remote_python_code){.address = 0};
	name = string_read(python,
		word_at(bytes, layout->code_qualified ? layout->code_qualified : layout->code_name), text,
		room - 1);
	if (name == SIZE_MAX)
		return false;
	text[name] = '\0';
	file = string_read(python, word_at(bytes, layout->code_file), text + name + 1, room - 1);
	if (file == SIZE_MAX)
		return false;
	code->name = name_intern(
		python, text, (uint32_t)(name + 1 + file), u32_at(bytes, layout->code_first_line));
	if (!code->name)
		return false;
	memcpy(code->bytes, bytes, sizeof(code->bytes));
	table_read(python, code);
	code->address = address;
	return true;
}

/* Of what identifies it: strings, first line, table. */
static bool is_same(const struct python_layout *layout, const unsigned char *one, const unsigned char *other)
{
	return word_at(one, layout->code_name) == word_at(other, layout->code_name) &&
	       word_at(one, layout->code_file) == word_at(other, layout->code_file) &&
	       word_at(one, layout->code_lines) == word_at(other, layout->code_lines) &&
	       u32_at(one, layout->code_first_line) == u32_at(other, layout->code_first_line);
}

static uint32_t line_of(
	const struct remote_python *python, const struct remote_python_code *code, int64_t offset)
{
	uint32_t line = code->table ? python_lines_find((enum python_lines)python->layout->lines, code->table,
					      code->table_bytes, code->name->first_line, offset)
				    : 0;

	return line <= EVENT_PYTHON_LINE_MAX ? line : 0;
}

enum python_code_result remote_python_code_find(
	struct remote_python *python, struct remote_python_frame *frame, uint64_t instruction, uint8_t owner)
{
	const struct python_layout *layout = python->layout;
	uint64_t hash = (frame->code * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
	struct remote_python_code *code = &python->codes[hash & (REMOTE_PYTHON_CODES - 1)];
	unsigned char bytes[sizeof(code->bytes)];
	int64_t offset = layout->instruction_bytes
				 ? (int64_t)instruction * layout->instruction_bytes
				 : (int64_t)(instruction - frame->code - layout->code_begin);

	if (!frame->code || !remote_python_get(python, frame->code, bytes, sizeof(bytes)) ||
		word_at(bytes, PYTHON_OBJECT_TYPE) != python->code_type)
		return PYTHON_CODE_BAD;
	if ((code->address != frame->code || !is_same(layout, code->bytes, bytes)) &&
		!code_read(python, code, frame->code, bytes))
		return PYTHON_CODE_BAD;
	offset = offset < INT32_MAX ? offset : -1;
	if (layout->code_traceable && owner != PYTHON_OWNER_GENERATOR &&
		offset < 2 * (int64_t)(int32_t)u32_at(bytes, layout->code_traceable))
		return PYTHON_CODE_SKIP;
	frame->name = code->name;
	frame->line = line_of(python, code, offset);
	return PYTHON_CODE_NAMED;
}

void remote_python_codes_free(struct remote_python *python)
{
	for (unsigned i = 0; i < REMOTE_PYTHON_CODES; i++)
		free(python->codes[i].table);
	for (unsigned i = 0; i < REMOTE_PYTHON_NAMES; i++)
		while (python->names[i]) {
			struct remote_python_name *name = python->names[i];

			python->names[i] = name->next;
			free(name);
		}
}
