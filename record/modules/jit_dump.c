/* SPDX-License-Identifier: Apache-2.0 */
/* jit_dump.c - see jit_dump.h. */
#include "record/modules/jit_dump.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/regular_file.h"

#define MAGIC 0x4a695444u
#define HEADER_BYTES 40u
#define RECORD_BYTES_MAX (64u << 20)
#define DUMP_BYTES_MAX (UINT64_C(4) << 30)
#define TEXT_BYTES 4096u /* read of each record: its fields and its name */

enum record_kind { RECORD_LOAD, RECORD_MOVE };

struct record {
	uint32_t kind, bytes;
	uint64_t time;
};

/* Both begin so. */
struct record_code {
	uint32_t pid, tid;
	uint64_t load_address;
	uint64_t address; /* load: of the code; move: before */
	uint64_t second;  /* load: size; move: new address */
	uint64_t third;	  /* load: number; move: size */
};

/* Its name, in the process's mount namespace; false: this line of its mappings is another file's. */
static bool path_of_line(char path[PATH_MAX], char *line, uint32_t pid)
{
	char name[40];
	char *at = strchr(line, '/'), *end;
	size_t size, bytes;

	snprintf(name, sizeof(name), "/jit-%u.dump", pid);
	size = strlen(name);
	if (!at)
		return false;
	end = at + strcspn(at, "\n");
	*end = '\0';
	bytes = (size_t)(end - at);
	if (bytes < size || strcmp(end - size, name) != 0)
		return false;
	return snprintf(path, PATH_MAX, "/proc/%u/root%s", pid, at) < PATH_MAX;
}

static bool header_is_good(int file)
{
	uint32_t words[3];

	return pread(file, words, sizeof(words), 0) == sizeof(words) && words[0] == MAGIC &&
	       words[2] >= HEADER_BYTES && words[2] < TEXT_BYTES;
}

static void dump_open(struct jit_dump *dump, const char *path)
{
	struct stat status;
	int file = regular_file_open(path, O_NOFOLLOW, &status);

	if (file < 0)
		return;
	if (status.st_uid == geteuid() && header_is_good(file))
		dump->file = file + 1;
	else
		close(file);
}

void jit_dump_find(struct jit_dump *dump, uint32_t pid)
{
	char name[40], path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *maps;

	if (dump->file || dump->is_bad)
		return;
	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && !dump->file && getline(&line, &room, maps) > 0)
		if (path_of_line(path, line, pid))
			dump_open(dump, path);
	free(line);
	if (maps)
		fclose(maps);
}

/* `bytes`: read of the record, after its head. */
static bool code_of(struct jit_dump_code *code, const struct record *record, const char *text, size_t bytes)
{
	struct record_code fields;

	if (bytes < sizeof(fields))
		return false;
	memcpy(&fields, text, sizeof(fields));
	*code = (struct jit_dump_code){.begin = fields.address, .size = fields.second};
	if (record->kind == RECORD_MOVE) {
		code->from = fields.address;
		code->begin = fields.second;
		code->size = fields.third;
	} else {
		code->name = text + sizeof(fields);
		code->name_bytes = strnlen(code->name, bytes - sizeof(fields));
	}
	return code->size && code->begin + code->size > code->begin;
}

void jit_dump_read(
	struct jit_dump *dump, void (*take)(void *own, const struct jit_dump_code *code), void *own)
{
	static char text[TEXT_BYTES];
	int file = dump->file - 1;
	struct stat status;

	if (!dump->file || dump->is_bad || fstat(file, &status))
		return;
	if (!dump->read_bytes && pread(file, text, 12, 0) == 12) {
		uint32_t header;

		memcpy(&header, text + 8, sizeof(header));
		dump->read_bytes = header;
	}
	while (dump->read_bytes < DUMP_BYTES_MAX) {
		struct record record;
		struct jit_dump_code code;
		ssize_t got = pread(file, text, sizeof(text), (off_t)dump->read_bytes);

		if (got < (ssize_t)sizeof(record))
			return;
		memcpy(&record, text, sizeof(record));
		if (record.bytes < sizeof(record) || record.bytes > RECORD_BYTES_MAX) {
			dump->is_bad = true;
			return;
		}
		if (dump->read_bytes + record.bytes > (uint64_t)status.st_size)
			return;
		if ((size_t)got > record.bytes)
			got = (ssize_t)record.bytes;
		if (record.kind <= RECORD_MOVE &&
			code_of(&code, &record, text + sizeof(record), (size_t)got - sizeof(record)))
			take(own, &code);
		dump->read_bytes += record.bytes;
	}
}

void jit_dump_fini(struct jit_dump *dump)
{
	if (dump->file)
		close(dump->file - 1);
	*dump = (struct jit_dump){0};
}
