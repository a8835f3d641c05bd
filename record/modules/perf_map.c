/* SPDX-License-Identifier: Apache-2.0 */
/* perf_map.c - see perf_map.h. The program writes the map: its content is untrusted. */
#include "record/modules/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/vdso.h"
#include "store/base/merge_sort.h"
#include "store/base/regular_file.h"
#include "store/ring/ring.h"

#define READ_BYTES 65536u
#define MAP_BYTES_MAX (256u << 20)
#define ENTRIES_MAX (1u << 22)
#define NAME_BYTES_MAX 1024u
#define TICK_NS 20000000 /* resolution of file times */
#define TAIL_MAX 16384	 /* entries searched one by one for moved code */
#define OVERLAPS_MAX 64	 /* entries checked before an address */

/* Pids are reused: a map last written before this process began belongs to an earlier one. */
static bool is_fresh(const struct stat *status, uint64_t begin_ns)
{
	struct timespec wall, now;
	int64_t age_ns, lived_ns;

	vdso_clock_gettime(CLOCK_REALTIME, &wall);
	vdso_clock_gettime(CLOCK_MONOTONIC, &now);
	age_ns = (int64_t)(wall.tv_sec - status->st_mtim.tv_sec) * 1000000000 + wall.tv_nsec -
		 status->st_mtim.tv_nsec;
	lived_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)begin_ns;
	return age_ns <= lived_ns + TICK_NS;
}

/* Looks in the process's mount namespace while it lives, else in ours. */
static void map_open(struct perf_map *map, uint32_t pid, uint64_t begin_ns)
{
	struct stat status;

	for (unsigned i = 0; i < 2 && !map->file; i++) {
		char path[80];
		int file;

		if (i)
			snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
		else
			snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, pid);
		file = regular_file_open(path, O_NOFOLLOW, &status);
		if (file < 0)
			continue;
		if (status.st_uid == geteuid() && is_fresh(&status, begin_ns))
			map->file = file + 1;
		else
			close(file);
	}
}

static bool grow(void **list, uint32_t count, uint32_t *room, size_t each, uint32_t most)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (count < *room)
		return true;
	grown = wanted <= most ? realloc(*list, wanted * each) : NULL;
	if (!grown)
		return false;
	*list = grown;
	*room = wanted;
	return true;
}

/* "7f12 40 name with blanks". False: invalid line. */
static bool line_parse(char *line, uint64_t *begin, uint64_t *end, char **name)
{
	uint64_t size;
	char *at;

	*begin = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return false;
	line = at;
	size = strtoull(line, &at, 16);
	if (at == line || *at != ' ' || !size || *begin + size < *begin)
		return false;
	*end = *begin + size;
	*name = at + 1;
	return **name != '\0';
}

static void line_take(struct perf_map *map, struct store_writer *writer, char *line)
{
	struct perf_map_entry entry = {.order = map->entry_count};
	char *name;

	if (!line_parse(line, &entry.begin, &entry.end, &name))
		return;
	if (!grow((void **)&map->entries, map->entry_count, &map->entry_capacity, sizeof(*map->entries),
		    ENTRIES_MAX)) {
		map->is_full = true;
		return;
	}
	entry.name = store_writer_text(writer, name, strnlen(name, NAME_BYTES_MAX));
	map->entries[map->entry_count++] = entry;
}

struct dump_own {
	struct perf_map *map;
	struct store_writer *writer;
};

static int entry_compare(const void *left, const void *right)
{
	const struct perf_map_entry *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void entries_sort(struct perf_map *map)
{
	if (map->sorted_count < map->entry_count)
		merge_sort(map->entries, map->entry_count, sizeof(*map->entries), entry_compare);
	map->sorted_count = map->entry_count;
}

/* How many of the sorted entries begin at the address or before it. */
static uint32_t entries_until(const struct perf_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->sorted_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->entries[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The name of the code that was last at `address`; 0: none. */
static uint32_t name_at(struct perf_map *map, uint64_t address)
{
	uint32_t until;

	if (map->entry_count - map->sorted_count > TAIL_MAX)
		entries_sort(map);
	for (uint32_t i = map->entry_count; i-- > map->sorted_count;)
		if (map->entries[i].begin == address)
			return map->entries[i].name;
	until = entries_until(map, address);
	return until && map->entries[until - 1].begin == address ? map->entries[until - 1].name : 0;
}

static void entry_put(struct perf_map *map, struct perf_map_entry entry)
{
	entry.order = map->entry_count;
	if (entry.name && grow((void **)&map->entries, map->entry_count, &map->entry_capacity,
				  sizeof(*map->entries), ENTRIES_MAX))
		map->entries[map->entry_count++] = entry;
}

/* The program can write here as well as the agent. */
static void code_read(struct perf_map *map, struct store_writer *writer)
{
	char text[EVENT_NAME_BYTES_MAX];

	while (map->code && map->code_bytes + sizeof(struct event_code) <= EVENT_CODE_DATA) {
		const struct event_code *code = (const void *)(map->code + map->code_bytes);
		uint32_t bytes = atomic_load_explicit(&code->bytes, memory_order_acquire);
		uint64_t begin = code->begin, size = code->size;

		if (!bytes || bytes > sizeof(text) ||
			bytes > EVENT_CODE_DATA - map->code_bytes - sizeof(*code))
			return;
		memcpy(text, code->text, bytes);
		if (begin + size > begin)
			entry_put(
				map, (struct perf_map_entry){.begin = begin,
					     .end = begin + size,
					     .name = store_writer_text(writer, text, strnlen(text, bytes))});
		map->code_bytes += (sizeof(*code) + bytes + 7) & ~UINT64_C(7);
	}
}

static void dump_take(void *own, const struct jit_dump_code *code)
{
	struct dump_own *to = own;
	struct perf_map *map = to->map;
	struct perf_map_entry entry = {.begin = code->begin, .end = code->begin + code->size};

	entry.name = code->from
			     ? name_at(map, code->from)
			     : store_writer_text(to->writer, code->name,
				       code->name_bytes < NAME_BYTES_MAX ? code->name_bytes : NAME_BYTES_MAX);
	entry_put(map, entry);
}

/* Takes the complete lines of a piece. Returns the bytes used, including those that cannot be a line. */
static size_t piece_take(struct perf_map *map, struct store_writer *writer, char *text, size_t bytes)
{
	char *line = text, *end;

	for (; (end = memchr(line, '\n', (size_t)(text + bytes - line))); line = end + 1) {
		*end = '\0';
		if (!map->is_skipping_line)
			line_take(map, writer, line);
		map->is_skipping_line = false;
	}
	if (line != text || bytes < READ_BYTES)
		return (size_t)(line - text);
	map->is_skipping_line = true;
	return bytes;
}

/* Reads complete lines only: the program may still be writing. */
static void map_read(struct perf_map *map, struct store_writer *writer)
{
	static char text[READ_BYTES];
	size_t taken = 1;
	ssize_t got;

	while (taken && map->file && !map->is_full && map->read_bytes < MAP_BYTES_MAX &&
		(got = pread(map->file - 1, text, READ_BYTES, (off_t)map->read_bytes)) > 0) {
		taken = piece_take(map, writer, text, (size_t)got);
		map->read_bytes += taken;
	}
	code_read(map, writer);
	jit_dump_read(&map->dump, dump_take, &(struct dump_own){map, writer});
	entries_sort(map);
}

/* Of the entries that contain the address, the one written last. */
static const struct perf_map_entry *entry_find(const struct perf_map *map, uint64_t address)
{
	uint32_t low = entries_until(map, address);
	const struct perf_map_entry *found = NULL;

	for (unsigned i = 0; i < OVERLAPS_MAX && low; i++) {
		const struct perf_map_entry *entry = &map->entries[--low];

		if (address < entry->end && (!found || entry->order > found->order))
			found = entry;
	}
	return found;
}

static void contexts_collect(struct perf_map *map, struct store_writer *writer)
{
	uint32_t count = store_writer_context_count(writer);

	if (map->context_seen < STORE_CONTEXT_FIRST)
		map->context_seen = STORE_CONTEXT_FIRST;
	for (; map->context_seen < count; map->context_seen++) {
		struct store_context context = store_writer_context_at(writer, map->context_seen);

		if (context.module == map->module &&
			grow((void **)&map->waiting, map->waiting_count, &map->waiting_capacity,
				sizeof(*map->waiting), ENTRIES_MAX))
			map->waiting[map->waiting_count++] = context.offset;
	}
}

void perf_map_look(struct perf_map *map, struct store_writer *writer, uint32_t pid, uint64_t now_ns)
{
	jit_objects_read(&map->objects, pid, now_ns, dump_take, &(struct dump_own){map, writer});
	if (map->has_looked)
		return;
	map->has_looked = true;
	jit_dump_find(&map->dump, pid);
}

void perf_map_name(struct perf_map *map, struct store_writer *writer, uint32_t pid, uint64_t begin_ns)
{
	uint32_t left = 0;

	if (!map->module)
		return;
	contexts_collect(map, writer);
	if (!map->waiting_count)
		return;
	if (!map->file)
		map_open(map, pid, begin_ns);
	jit_dump_find(&map->dump, pid);
	map_read(map, writer);
	for (uint32_t i = 0; i < map->waiting_count; i++) {
		const struct perf_map_entry *entry = entry_find(map, map->waiting[i]);
		struct store_scope scope = {.kind = STORE_SCOPE_FUNCTION};

		if (!entry) {
			map->waiting[left++] = map->waiting[i];
			continue;
		}
		scope.name = entry->name;
		scope.start = entry->begin;
		store_writer_symbol(writer, map->module, map->waiting[i], &scope, 1);
	}
	map->waiting_count = left;
}

void perf_map_fini(struct perf_map *map)
{
	if (map->file)
		close(map->file - 1);
	jit_dump_fini(&map->dump);
	jit_objects_fini(&map->objects);
	free(map->entries);
	free(map->waiting);
	*map = (struct perf_map){0};
}
