/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_perf_map.c - libFuzzer: the map of code that a program says it has made, any bytes, looked at while
 * it is being written and when it is whole. A plain reading of its lines tells which name each address has;
 * no other is given, and none twice.
 *
 *   u8 KiB of a line ahead of all | u8 how much is there at the first look, in 1/256 | the map
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

#define MODULE 3u
#define FILE_MAX (READ_BYTES * 4)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t addresses[] = {
	0, 1, 0x10, 0x111, 0x1000, 0x1001, 0xabcdef, 0x7f0000001000, UINT64_MAX - 1};
#define ADDRESSES (sizeof addresses / sizeof *addresses)

/* A line of the map, as it stands there. */
struct mapped {
	uint64_t begin, end;
	const char *name;
	size_t bytes;
};

static char map[FILE_MAX], path[64];
static struct mapped lines[FILE_MAX / 6]; /* "0 1 n\n" */
static uint32_t line_count;
static struct mapped texts[FILE_MAX / 6];
static uint32_t text_count;
static uint32_t given[ADDRESSES]; /* texts + 1 */

static _Noreturn void fail(const char *what, uint64_t address)
{
	fprintf(stderr, "%s: %" PRIx64 "\n", what, address);
	abort();
}

/* ---- the store's part ---- */

static uint32_t text_put(struct store_writer *writer, const char *bytes, size_t size)
{
	(void)writer;
	if (size > NAME_BYTES_MAX || text_count == sizeof texts / sizeof *texts)
		fail("too much of a text", size);
	texts[text_count].name = strndup(bytes, size);
	texts[text_count].bytes = size;
	return ++text_count;
}

static void symbol_put(struct store_writer *writer, uint32_t module, uint64_t offset,
	const struct store_scope *scopes, size_t count)
{
	uint32_t i = 0;

	(void)writer;
	while (i < ADDRESSES && addresses[i] != offset)
		i++;
	if (module != MODULE || count != 1 || i == ADDRESSES || given[i])
		fail("not asked for, or twice", offset);
	if (scopes->start > offset || !scopes->name || scopes->name > text_count)
		fail("another's name", offset);
	given[i] = scopes->name;
}

static uint32_t context_count(const struct store_writer *writer)
{
	(void)writer;
	return STORE_CONTEXT_FIRST + ADDRESSES;
}

static struct store_context context_at(const struct store_writer *writer, uint32_t id)
{
	(void)writer;
	return (struct store_context){.module = MODULE, .offset = addresses[id - STORE_CONTEXT_FIRST]};
}

/* ---- the plain reading ---- */

static void line_read(const char *line, size_t bytes)
{
	char copy[READ_BYTES], *size, *name;
	struct mapped *to = &lines[line_count];
	uint64_t span;

	if (bytes >= sizeof copy)
		return;
	memcpy(copy, line, bytes);
	copy[bytes] = '\0';
	to->begin = strtoull(copy, &size, 16);
	span = strtoull(size, &name, 16);
	if (size == copy || *size != ' ' || name == size || *name != ' ' || !span ||
		UINT64_MAX - to->begin < span)
		return;
	to->end = to->begin + span;
	to->name = line + (name + 1 - copy);
	to->bytes = strnlen(to->name, (size_t)(line + bytes - to->name));
	line_count += to->bytes > 0;
}

/* What is there of whole lines. */
static void lines_read(size_t bytes)
{
	const char *at = map, *end;

	line_count = 0;
	for (; (end = memchr(at, '\n', (size_t)(map + bytes - at))); at = end + 1)
		line_read(at, (size_t)(end - at));
}

/* Of those that begin last, OVERLAPS_MAX at most, the one that was written last. */
static const struct mapped *line_of(uint64_t address)
{
	for (uint32_t i = line_count; i-- > 0;) {
		const struct mapped *line = &lines[i];
		uint32_t nearer = 0;

		if (address < line->begin || address >= line->end)
			continue;
		for (uint32_t j = 0; j < line_count; j++)
			nearer += lines[j].begin <= address &&
				  (lines[j].begin > line->begin || (lines[j].begin == line->begin && j > i));
		if (nearer < OVERLAPS_MAX)
			return line;
	}
	return NULL;
}

static void compare(const bool *was_given)
{
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		const struct mapped *line = was_given[i] ? NULL : line_of(addresses[i]), *text;
		size_t bytes = line && line->bytes > NAME_BYTES_MAX ? NAME_BYTES_MAX : line ? line->bytes : 0;

		if (was_given[i])
			continue;
		if (!line != !given[i])
			fail(line ? "no name" : "a name out of nothing", addresses[i]);
		text = line ? &texts[given[i] - 1] : NULL;
		if (text && (text->bytes != bytes || memcmp(text->name, line->name, bytes) != 0))
			fail("another's name", addresses[i]);
	}
}

/* ---- the program's part ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	return 0;
}

static void map_write(size_t bytes)
{
	FILE *file = fopen(path, "w");

	if (!file || (bytes && fwrite(map, bytes, 1, file) != 1) || fclose(file))
		fail("no map", bytes);
}

static size_t map_make(const uint8_t *data, size_t size)
{
	size_t ahead = data[0] * (size_t)1024;

	size = size - 2 < FILE_MAX - ahead ? size - 2 : FILE_MAX - ahead;
	memset(map, 'a', ahead);
	memcpy(map + ahead, data + 2, size);
	return ahead + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map perf_map = {.module = MODULE};
	bool was_given[ADDRESSES] = {0};
	size_t bytes;

	if (size < 2)
		return 0;
	bytes = map_make(data, size);
	memset(given, 0, sizeof given);
	for (unsigned look = 0; look < 2; look++) {
		size_t there = look ? bytes : bytes * data[1] / 256;

		map_write(there);
		perf_map_name(&perf_map, NULL, (uint32_t)getpid(), 0);
		lines_read(there);
		compare(was_given);
		for (uint32_t i = 0; i < ADDRESSES; i++)
			was_given[i] = given[i];
	}
	perf_map_fini(&perf_map);
	while (text_count)
		free((char *)texts[--text_count].name);
	unlink(path);
	return 0;
}
