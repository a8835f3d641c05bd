/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_jit_dump.c - libFuzzer: jit-PID.dump, any bytes, looked at while it is being written and when it is
 * whole: the same code must come as from one plain reading of the whole. The same bytes are then what a Java
 * machine's part of the shared memory ends with: nothing behind it is read, and all names lie in it.
 *
 *   u8 how much is there at the first look, in 1/256 | the dump
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/write/writer.h"

static uint32_t text_put(struct store_writer *writer, const char *bytes, size_t size);
static void symbol_put(struct store_writer *writer, uint32_t module, uint64_t offset,
	const struct store_scope *scopes, size_t count);
static uint32_t context_count(const struct store_writer *writer);
static struct store_context context_at(const struct store_writer *writer, uint32_t id);

#define store_writer_text text_put
#define store_writer_symbol symbol_put
#define store_writer_context_count context_count
#define store_writer_context_at context_at
#include "record/modules/perf_map.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DUMP_MOST 65536u

static uint64_t sum, text_sum;

static void add(uint64_t *to, uint64_t value)
{
	*to = (*to ^ value) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static uint32_t text_put(struct store_writer *writer, const char *bytes, size_t size)
{
	(void)writer;
	if (size > NAME_BYTES_MAX)
		abort();
	for (size_t i = 0; i < size; i++)
		add(&text_sum, (unsigned char)bytes[i]);
	return 1;
}

static void symbol_put(struct store_writer *writer, uint32_t module, uint64_t offset,
	const struct store_scope *scopes, size_t count)
{
	(void)writer, (void)module, (void)offset, (void)scopes, (void)count;
}

static uint32_t context_count(const struct store_writer *writer)
{
	(void)writer;
	return 0;
}

static struct store_context context_at(const struct store_writer *writer, uint32_t id)
{
	(void)writer, (void)id;
	return (struct store_context){0};
}

static void take(void *own, const struct jit_dump_code *code)
{
	(void)own;
	add(&sum, code->begin);
	add(&sum, code->size);
	add(&sum, code->from);
	for (size_t i = 0; i < code->name_bytes; i++)
		add(&sum, (unsigned char)code->name[i]);
}

static uint64_t u64_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* The names are cut where the reader cuts them. */
static uint64_t plain(const uint8_t *dump, size_t size)
{
	size_t at = size >= 12 ? u32_at(dump + 8) : size;

	sum = 0;
	while (at + 16 <= size) {
		uint32_t kind = u32_at(dump + at), bytes = u32_at(dump + at + 4);
		size_t read = bytes < 4096 ? bytes : 4096;
		struct jit_dump_code code = {0};

		if (bytes < 16 || bytes > size - at)
			break;
		if (kind <= 1 && read >= 16 + 40) {
			const uint8_t *fields = dump + at + 16;

			code.from = kind ? u64_at(fields + 16) : 0;
			code.begin = u64_at(fields + (kind ? 24 : 16));
			code.size = u64_at(fields + (kind ? 32 : 24));
			code.name = (const char *)fields + 40;
			code.name_bytes = kind ? 0 : strnlen(code.name, read - 16 - 40);
			if (code.size && code.begin + code.size > code.begin)
				take(NULL, &code);
		}
		at += bytes;
	}
	return sum;
}

static void dump_look(const uint8_t *dump, size_t size, unsigned there)
{
	int file = memfd_create("dump", 0);
	struct jit_dump reader = {.file = file + 1};
	size_t part = size * there / 256;
	uint64_t want = plain(dump, size);

	sum = 0;
	if (file < 0 || write(file, dump, part) != (ssize_t)part)
		abort();
	if (part >= 12)
		jit_dump_read(&reader, take, NULL);
	if (write(file, dump + part, size - part) != (ssize_t)(size - part))
		abort();
	jit_dump_read(&reader, take, NULL);
	if (sum != want)
		abort();
	jit_dump_fini(&reader);
}

static void code_look(const uint8_t *data, size_t size)
{
	static char *memory;
	struct perf_map map = {.module = 1};

	if (!memory)
		memory = malloc(EVENT_CODE_DATA); /* its end is its end */
	if (!memory)
		return;
	size &= ~(size_t)7;
	memcpy(memory + EVENT_CODE_DATA - size, data, size);
	map.code = memory;
	map.code_bytes = EVENT_CODE_DATA - size;
	code_read(&map, NULL);
	if (map.code_bytes > EVENT_CODE_DATA + 8)
		abort();
	for (uint32_t i = 0; i < map.entry_count; i++)
		if (map.entries[i].begin >= map.entries[i].end)
			abort();
	perf_map_fini(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > DUMP_MOST)
		return 0;
	/* Its header was looked at when it was found. */
	if (size >= 13 && u32_at(data + 9) >= 40 && u32_at(data + 9) < 4096)
		dump_look(data + 1, size - 1, data[0]);
	code_look(data + 1, size - 1);
	return 0;
}
