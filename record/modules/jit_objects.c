/* SPDX-License-Identifier: Apache-2.0 */
/* jit_objects.c - see jit_objects.h. */
#include "record/modules/jit_objects.h"

#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/modules/elf_symbols.h"
#include "record/modules/remote_unwind_modules.h"
#include "store/base/regular_file.h"

#define SEARCH_NS UINT64_C(500000000) /* between searches, at least: reading /proc/PID/maps takes a while */
#define ENTRIES_MAX 65536u	      /* of one list */
#define RECENT_OBJECTS 16u
#define HASHED_BYTES 4096u
#define OBJECT_BYTES_MAX (UINT64_C(256) << 20)

struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct entry {
	uint64_t next, previous, object, bytes;
};

/* ---- where the descriptors are ---- */

/* A mapping of a file's beginning. False: the line is of something else. path: its name for us. */
static bool line_parse(
	char *line, uint32_t pid, uint64_t *begin, struct u64_map_key *file, char path[PATH_MAX])
{
	unsigned major, minor;
	uint64_t offset, inode;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%*x %*4s %" SCNx64 " %x:%x %" SCNu64 " %n", begin, &offset, &major,
		    &minor, &inode, &at) != 5 ||
		!at || offset || line[at] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	*file = (struct u64_map_key){(uint64_t)major << 32 | minor, inode};
	return snprintf(path, PATH_MAX, "/proc/%u/root%s", pid, line + at) < PATH_MAX;
}

static int read_file(const struct elf_source *source, uint64_t at, void *to, size_t bytes)
{
	return pread(source->file, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

/* The address of the descriptor in the file mapped at `begin`; 0: it has none. */
static uint64_t descriptor_in(const char *path, uint64_t begin)
{
	struct stat status;
	int file = regular_file_open(path, 0, &status);
	struct elf_source source = {.read = read_file, .file = file};
	uint64_t address = 0, bias;

	if (file < 0)
		return 0;
	source.bytes = (uint64_t)status.st_size;
	address = elf_symbols_find(&source, "__jit_debug_descriptor", sizeof(struct descriptor));
	address = address && elf_symbols_bias(&source, begin, &bias) ? address + bias : 0;
	close(file);
	return address;
}

static void descriptors_search(struct jit_objects *objects, uint32_t pid)
{
	char name[40], path[PATH_MAX], *line = NULL;
	struct u64_map_key key;
	size_t room = 0;
	uint64_t begin;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && objects->descriptor_count < JIT_DESCRIPTORS_MAX && getline(&line, &room, maps) > 0) {
		uint64_t address;

		if (!line_parse(line, pid, &begin, &key, path) ||
			u64_map_get(&objects->files, key) != U64_MAP_NONE ||
			!u64_map_put(&objects->files, key, 1))
			continue;
		address = descriptor_in(path, begin);
		if (address)
			objects->descriptors[objects->descriptor_count++] =
				(struct jit_descriptor){.address = address, .is_behind = true};
	}
	free(line);
	if (maps)
		fclose(maps);
}

/* ---- objects ---- */

struct taking {
	void (*take)(void *own, const struct jit_dump_code *code);
	void *own;
};

static void function_take(void *own, const struct elf_function *function)
{
	const struct taking *to = own;

	to->take(to->own, &(struct jit_dump_code){.begin = function->address,
				  .size = function->bytes,
				  .name = function->name,
				  .name_bytes = strlen(function->name)});
}

static int read_memory(const struct elf_source *source, uint64_t at, void *to, size_t bytes)
{
	return remote_unwind_read(source->pid, source->address + at, to, bytes);
}

static void object_take(uint32_t pid, const struct entry *entry, struct taking *to)
{
	const struct elf_source source = {
		.read = read_memory, .pid = pid, .address = entry->object, .bytes = entry->bytes};

	elf_symbols_functions(&source, function_take, to);
}

/* Of its last bytes, where symbols and their names are. */
static uint64_t object_hash(uint32_t pid, const struct entry *entry)
{
	uint8_t bytes[HASHED_BYTES];
	size_t some = entry->bytes < sizeof(bytes) ? (size_t)entry->bytes : sizeof(bytes);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (remote_unwind_read(pid, entry->object + entry->bytes - some, bytes, some))
		return 0;
	for (size_t i = 0; i < some; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* True: an object that was not taken yet, or another in its place, which it is known for. Memory is used
 * again, but an object that is further back in the list has been there before. */
static bool object_is_new(
	struct jit_objects *objects, uint32_t pid, uint64_t at, const struct entry *entry, bool is_recent)
{
	struct u64_map_key place = {entry->object, at ^ entry->bytes << 40}, content = place;

	if (!entry->object || !entry->bytes || entry->bytes > OBJECT_BYTES_MAX)
		return false;
	content.low ^= is_recent ? object_hash(pid, entry) : 0;
	if (u64_map_get(&objects->objects, content) != U64_MAP_NONE)
		return false;
	u64_map_put(&objects->objects, place, 1);
	u64_map_put(&objects->objects, content, 1);
	return true;
}

/* New objects are put in front, by most. */
static void list_read(struct jit_objects *objects, struct jit_descriptor *of, uint32_t pid, struct taking *to)
{
	uint64_t at = of->first;
	struct entry entry;

	of->is_behind = false;
	for (unsigned i = 0; at && i < ENTRIES_MAX; i++, at = entry.next) {
		if (remote_unwind_read(pid, at, &entry, sizeof(entry))) {
			of->is_behind = true;
			return;
		}
		if (object_is_new(objects, pid, at, &entry, i < RECENT_OBJECTS || at == of->relevant))
			object_take(pid, &entry, to);
	}
}

void jit_objects_read(struct jit_objects *objects, uint32_t pid, uint64_t now_ns,
	void (*take)(void *own, const struct jit_dump_code *code), void *own)
{
	struct taking to = {take, own};

	if (!objects->searched_ns || now_ns - objects->searched_ns > SEARCH_NS) {
		objects->searched_ns = now_ns;
		descriptors_search(objects, pid);
	}
	for (unsigned i = 0; i < objects->descriptor_count; i++) {
		struct jit_descriptor *of = &objects->descriptors[i];
		struct descriptor now;

		if (remote_unwind_read(pid, of->address, &now, sizeof(now)) || now.version != 1 ||
			(!of->is_behind && now.relevant == of->relevant && now.first == of->first))
			continue;
		of->relevant = now.relevant;
		of->first = now.first;
		list_read(objects, of, pid, &to);
	}
}

void jit_objects_fini(struct jit_objects *objects)
{
	u64_map_fini(&objects->files);
	u64_map_fini(&objects->objects);
	*objects = (struct jit_objects){.descriptor_count = 0};
}
