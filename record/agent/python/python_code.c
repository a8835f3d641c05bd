/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.c - see python_code.h. Most strings carry the hash of their bytes, as names are looked up by it
 * in dictionaries: a code object at a known address is known again if these hashes, its first line and its
 * table of lines are the same.
 */
#include "record/agent/python/python_code.h"

#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/python/python_lines.h"
#include "record/agent/python/python_memory.h"
#include "record/agent/python/python_names.h"

#define CODE_BYTES 208u
#define STRING_BYTES 40u
#define NO_HASH UINT64_MAX /* -1: nobody has asked for it yet */
#define LINES_BYTES_MAX (1u << 20)

/* state of a string: interned:2 kind:3 compact:1 ascii:1 */
#define STATE_KIND(state) ((state) >> 2 & 7)
#define STATE_COMPACT 32u
#define STATE_ASCII 64u

/* ---- strings ---- */

static bool is_string(struct python_thread *t, const struct python_runtime *runtime, uint64_t at)
{
	return at && at % 8 == 0 && python_memory_is_readable(t, at, STRING_BYTES) &&
	       python_memory_word(at + PYTHON_OBJECT_TYPE) == runtime->string_type;
}

/* Puts a character as UTF-8; the number of bytes. */
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

static uint32_t character_at(uint64_t data, uint64_t i, unsigned kind)
{
	uint16_t two;

	if (kind == 1)
		return python_memory_byte(data + i);
	if (kind == 4)
		return python_memory_u32(data + 4 * i);
	memcpy(&two, (const void *)(uintptr_t)(data + 2 * i), sizeof(two));
	return two;
}

/* Copies at most `room` bytes of the string as UTF-8, without a NUL. False: it cannot be read. */
static bool string_copy(struct python_thread *t, const struct python_runtime *runtime, uint64_t at, char *to,
	size_t room, size_t *bytes)
{
	uint32_t state = python_memory_u32(at + PYTHON_STRING_STATE);
	uint64_t count = python_memory_word(at + PYTHON_OBJECT_SIZE), data;
	unsigned kind = STATE_KIND(state);

	*bytes = 0;
	if (!(state & STATE_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	data = at + (state & STATE_ASCII ? runtime->layout->ascii_bytes : runtime->layout->compact_bytes);
	count = count < room ? count : room;
	for (uint64_t i = 0; i < count && *bytes + 4 <= room; i++) {
		if ((i % 16 == 0 || kind * i % 4096 == 0) &&
			!python_memory_is_readable(t, data + kind * i, 16 * kind < 4096 ? 16 * kind : kind) &&
			!python_memory_is_readable(t, data + kind * i, kind * (count - i)))
			return false;
		*bytes += utf8_put(to + *bytes, character_at(data, i, kind));
	}
	return true;
}

/* Of the bytes of a string that carries no hash: files are not looked up by their name. */
static uint64_t string_hash_bytes(struct python_thread *t, const struct python_runtime *runtime, uint64_t at)
{
	uint32_t state = python_memory_u32(at + PYTHON_STRING_STATE);
	uint64_t bytes = python_memory_word(at + PYTHON_OBJECT_SIZE) * STATE_KIND(state), hash = bytes,
		 word = 0;
	uint64_t data =
		at + (state & STATE_ASCII ? runtime->layout->ascii_bytes : runtime->layout->compact_bytes);

	if (!(state & STATE_COMPACT) || bytes > EVENT_NAME_BYTES_MAX ||
		!python_memory_is_readable(t, data, bytes + 1))
		return NO_HASH;
	for (uint64_t i = 0; i < bytes; i += 8) {
		if (bytes - i >= 8)
			word = python_memory_word(data + i);
		else
			memcpy(&word, (const void *)(uintptr_t)(data + i), bytes - i);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

HOT static uint64_t string_hash(struct python_thread *t, const struct python_runtime *runtime, uint64_t at)
{
	uint64_t hash = python_memory_word(at + PYTHON_STRING_HASH);

	return hash != NO_HASH ? hash : string_hash_bytes(t, runtime, at);
}

/* ---- code objects ---- */

/* True if `table` is a bytes object. */
static bool is_table(struct python_thread *t, const struct python_runtime *runtime, uint64_t table)
{
	return table && table % 8 == 0 && python_memory_is_readable(t, table, PYTHON_BYTES_BEGIN + 8) &&
	       python_memory_word(table + PYTHON_OBJECT_TYPE) == runtime->bytes_type;
}

/* What identifies the code at an address now. False: it is none. `known`: what was there lately, whose pages
 * need no check; NULL: nothing. */
HOT static bool code_look(struct python_thread *t, const struct python_runtime *runtime, uint64_t at,
	const struct python_code *known, struct python_code *now)
{
	const struct python_layout *layout = runtime->layout;

	if (!at || (!known && !python_memory_is_readable(t, at, CODE_BYTES)) ||
		python_memory_word(at + PYTHON_OBJECT_TYPE) != runtime->code_type)
		return false;
	now->address = at;
	now->name = python_memory_word(
		at + (layout->code_qualified ? layout->code_qualified : layout->code_name));
	now->file = python_memory_word(at + layout->code_file);
	now->first_line = python_memory_u32(at + layout->code_first_line);
	now->table = python_memory_word(at + layout->code_lines);
	if (!(known && known->name == now->name) && !is_string(t, runtime, now->name))
		return false;
	if (t->file != now->file && !(known && known->file == now->file) && !is_string(t, runtime, now->file))
		return false;
	if (!(known && known->table == now->table) && !is_table(t, runtime, now->table))
		return false;
	if (t->file != now->file) {
		t->file = now->file;
		t->file_hash = string_hash(t, runtime, now->file);
	}
	now->name_hash = string_hash(t, runtime, now->name);
	now->file_hash = t->file_hash;
	now->lines = now->table ^ python_memory_word(now->table + PYTHON_OBJECT_SIZE) << 48 ^
		     python_memory_word(now->table + PYTHON_BYTES_BEGIN) * UINT64_C(0x9e3779b97f4a7c15);
	return true;
}

static inline bool code_is(const struct python_code *known, const struct python_code *now)
{
	return known->address == now->address && known->name == now->name &&
	       known->name_hash == now->name_hash && known->file == now->file &&
	       known->file_hash == now->file_hash && known->lines == now->lines &&
	       known->first_line == now->first_line && now->name_hash != NO_HASH && now->file_hash != NO_HASH;
}

static bool code_name(struct python_thread *t, const struct python_runtime *runtime, struct python_code *code)
{
	size_t name, file, room = sizeof(t->text) / 2;

	if (!string_copy(t, runtime, code->name, t->text, room, &name))
		return false;
	t->text[name] = '\0';
	if (!string_copy(t, runtime, code->file, t->text + name + 1, room - 1, &file))
		return false;
	code->number = python_names_number(t->text, name + 1 + file, code->first_line);
	return true;
}

/* The code of an address, named; NULL: none is there. Two places in the table may hold it. */
HOT static const struct python_code *code_find(
	struct python_thread *t, const struct python_runtime *runtime, uint64_t at)
{
	uint64_t place = (at * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (PYTHON_CODES - 2);
	struct python_code now = {.age = t->walks / PYTHON_PAGE_WALKS}, *known = &t->codes[place];

	if (known->address != at && known[1].address == at)
		known++;
	if (!code_look(t, runtime, at,
		    known->address == at && known->age == now.age && !t->asks_anew ? known : NULL, &now))
		return NULL;
	if (code_is(known, &now)) {
		known->age = now.age;
		return known;
	}
	if (!code_name(t, runtime, &now))
		return NULL;
	if (known->address != at && known->address && (!known[1].address || t->walks & 1))
		known++;
	*known = now;
	return known;
}

/* ---- lines ---- */

static uint32_t line_decode(const struct python_runtime *runtime, struct python_thread *t,
	const struct python_code *code, int64_t offset)
{
	uint64_t lines = python_memory_word(code->address + runtime->layout->code_lines),
		 bytes = python_memory_word(lines + PYTHON_OBJECT_SIZE);

	if (bytes > LINES_BYTES_MAX)
		return 0;
	for (uint64_t at = 0; at < bytes; at += 4096)
		if (!python_memory_is_readable(
			    t, lines + PYTHON_BYTES_BEGIN + at, bytes - at < 4096 ? bytes - at : 4096))
			return 0;
	return python_lines_find(runtime->layout->lines,
		(const uint8_t *)(uintptr_t)(lines + PYTHON_BYTES_BEGIN), bytes, code->first_line, offset);
}

HOT static uint32_t line_find(struct python_thread *t, const struct python_runtime *runtime,
	const struct python_code *code, int64_t offset)
{
	uint64_t key = code->lines + code->number * UINT64_C(0xd6e8feb86659fd93) + code->address;
	uint64_t hash = (key ^ (uint64_t)offset) * UINT64_C(0x9e3779b97f4a7c15);
	struct python_line *known = &t->lines[hash >> 40 & (PYTHON_LINES - 1)];

	if (known->code == key && known->instruction == (uint32_t)offset && known->line)
		return known->line - 1;
	*known = (struct python_line){key, (uint32_t)offset, 0};
	known->line = line_decode(runtime, t, code, offset);
	known->line = (known->line <= EVENT_PYTHON_LINE_MAX ? known->line : 0) + 1;
	return known->line - 1;
}

/* Bytes from the code's begin; what is not in it gives its first line. */
static int64_t offset_of(const struct python_layout *layout, const struct python_code *code,
	const struct python_frame_read *read)
{
	int64_t offset;

	if (layout->instruction_bytes)
		return (int64_t)read->instruction * layout->instruction_bytes;
	offset = (int64_t)(read->instruction - code->address - layout->code_begin);
	return offset < INT32_MAX ? offset : -1;
}

HOT enum python_code_result python_code_place(struct python_thread *t, const struct python_runtime *runtime,
	const struct python_frame_read *read, uint64_t *place)
{
	const struct python_layout *layout = runtime->layout;
	const struct python_code *code = code_find(t, runtime, read->code);
	int64_t offset;

	if (!code)
		return PYTHON_CODE_BAD;
	offset = offset_of(layout, code, read);
	if (layout->code_traceable && read->owner != PYTHON_OWNER_GENERATOR &&
		offset < 2 * (int64_t)(int32_t)python_memory_u32(code->address + layout->code_traceable))
		return PYTHON_CODE_SKIP;
	*place = (uint64_t)code->number << EVENT_PYTHON_LINE_BITS | line_find(t, runtime, code, offset);
	return PYTHON_CODE_NAMED;
}
