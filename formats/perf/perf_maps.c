/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_maps.c - one list of maps per process, in order of time; a question goes through it from the moment
 * back. Answers are remembered for as long as the process maps nothing else.
 */
#include "formats/perf/perf_maps.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/regular_file.h"
#include "timeline/base/key_ids.h"

#define ANSWERS 16384u /* a power of 2 */
#define FORKS_MAX 64   /* generations of processes that map nothing of their own */
#define SEGMENTS_MAX 16
#define KERNEL_PATH "[kernel.kallsyms]"

/* A map; or, with `end` 0, a new image. */
struct map {
	uint64_t begin, end, file_offset, time_ns;
	uint32_t file;
};

struct space {
	struct map *maps;
	size_t count, room;
	uint32_t parent; /* space; KEY_IDS_NONE: none */
	uint64_t fork_ns;
};

/* Where the loadable parts of a file lie. */
struct file {
	uint32_t module;
	enum store_module_kind kind;
	bool is_known; /* its segments are read */
	size_t segment_count;
	struct {
		uint64_t offset, size, address;
	} segments[SEGMENTS_MAX];
};

struct answer {
	uint64_t address, from_ns, to_ns, offset;
	uint32_t space, module;
	bool is_there;
};

struct perf_maps {
	struct store_writer *writer;
	struct key_ids pids, paths, build_paths;
	struct space *spaces;
	size_t space_room, file_room, build_room;
	struct file *files;
	struct build {
		uint8_t bytes[20], size;
	} * builds;
	uint64_t missing;
	struct perf_kernel_anchor kernel;
	uint8_t kernel_build_id[20];
	struct answer answers[ANSWERS];
};

struct perf_maps *perf_maps_new(struct store_writer *writer)
{
	struct perf_maps *maps = calloc(1, sizeof *maps);

	if (!maps)
		return NULL;
	maps->writer = writer;
	key_ids_init(&maps->pids, sizeof(uint32_t));
	key_ids_init(&maps->paths, sizeof(struct store_hash));
	key_ids_init(&maps->build_paths, sizeof(struct store_hash));
	elf_version(EV_CURRENT);
	return maps;
}

void perf_maps_free(struct perf_maps *maps)
{
	if (!maps)
		return;
	for (uint32_t i = 0; i < maps->pids.count; i++)
		free(maps->spaces[i].maps);
	key_ids_fini(&maps->pids);
	key_ids_fini(&maps->paths);
	key_ids_fini(&maps->build_paths);
	free(maps->spaces);
	free(maps->files);
	free(maps->builds);
	free(maps);
}

uint64_t perf_maps_missing(const struct perf_maps *maps)
{
	return maps->missing;
}

/* ---- files ---- */

bool perf_maps_build_id(struct perf_maps *maps, const char *path, const uint8_t *bytes, uint8_t size)
{
	struct store_hash key = store_hash128(path, strlen(path));
	uint32_t number = key_ids_put(&maps->build_paths, &key, NULL);

	if (number == KEY_IDS_NONE ||
		!array_widen(&maps->builds, &maps->build_room, number, sizeof *maps->builds))
		return false;
	maps->builds[number].size = size <= sizeof maps->builds->bytes ? size : 0;
	memcpy(maps->builds[number].bytes, bytes, maps->builds[number].size);
	return true;
}

static bool has_build_id(const uint8_t *notes, size_t size, const struct store_module *module)
{
	return memmem(notes, size, module->build_id, module->build_id_bytes) != NULL;
}

/* True if the file carries the build id, or none is known. */
static bool read_segments(Elf *elf, struct file *file, const struct store_module *module)
{
	bool is_same = module->build_id_bytes == 0;
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (!gelf_getphdr(elf, (int)i, &part))
			continue;
		if (part.p_type == PT_LOAD && file->segment_count < SEGMENTS_MAX) {
			file->segments[file->segment_count].offset = part.p_offset;
			file->segments[file->segment_count].size = part.p_filesz;
			file->segments[file->segment_count++].address = part.p_vaddr;
		} else if (part.p_type == PT_NOTE && !is_same) {
			Elf_Data *notes =
				elf_getdata_rawchunk(elf, (int64_t)part.p_offset, part.p_filesz, ELF_T_BYTE);

			is_same = notes && has_build_id(notes->d_buf, notes->d_size, module);
		}
	}
	return is_same && file->segment_count > 0;
}

static void read_file(
	struct perf_maps *maps, struct file *file, const char *path, const struct store_module *module)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);

	file->is_known = elf && read_segments(elf, file, module);
	maps->missing += !file->is_known;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* This process has one of its own: the same, if its build id is that of the file. */
static void read_vdso(struct file *file, const struct store_module *module)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Phdr *parts = head ? (const Elf64_Phdr *)((const char *)head + head->e_phoff) : NULL;

	for (unsigned i = 0; head && i < head->e_phnum; i++)
		if (parts[i].p_type == PT_NOTE && module->build_id_bytes)
			file->is_known |= has_build_id(
				(const uint8_t *)head + parts[i].p_offset, parts[i].p_filesz, module);
}

static enum store_module_kind kind_of(const char *path)
{
	if (strcmp(path, "[vdso]") == 0)
		return STORE_MODULE_VDSO;
	if (path[0] == '[')
		return strncmp(path, "[kernel", 7) == 0 || strncmp(path, "[guest", 6) == 0
			       ? STORE_MODULE_KERNEL
			       : STORE_MODULE_JIT;
	if (strncmp(path, "//anon", 6) == 0 || strncmp(path, "/memfd:", 7) == 0 || path[0] == '\0')
		return STORE_MODULE_JIT;
	/* Loadable parts of the kernel lie where its own address space is. */
	return strstr(path, ".ko") && strstr(path, "/lib/modules/") ? STORE_MODULE_KERNEL : STORE_MODULE_ELF;
}

static bool find_file(struct perf_maps *maps, const struct perf_map *map, uint32_t *number)
{
	struct store_hash key = store_hash128(map->path, strlen(map->path));
	struct store_module module = {.kind = kind_of(map->path), .build_id_bytes = map->build_id_bytes};
	uint32_t build = key_ids_find(&maps->build_paths, &key);
	struct file *file;
	bool is_new;

	if (map->build_id_bytes)
		memcpy(module.build_id, map->build_id, map->build_id_bytes);
	else if (build != KEY_IDS_NONE) {
		module.build_id_bytes = maps->builds[build].size;
		memcpy(module.build_id, maps->builds[build].bytes, module.build_id_bytes);
	}
	key.low ^= store_hash64(module.build_id, module.build_id_bytes, 0);
	*number = key_ids_put(&maps->paths, &key, &is_new);
	if (*number == KEY_IDS_NONE || !is_new)
		return *number != KEY_IDS_NONE;
	if (!array_widen(&maps->files, &maps->file_room, *number, sizeof *maps->files))
		return false;
	file = &maps->files[*number];
	*file = (struct file){.kind = module.kind};
	module.path = store_writer_text(maps->writer, map->path, strlen(map->path));
	if (module.kind == STORE_MODULE_ELF)
		read_file(maps, file, map->path, &module);
	else if (module.kind == STORE_MODULE_VDSO)
		read_vdso(file, &module);
	file->module = store_writer_module(maps->writer, &module);
	return true;
}

const struct perf_kernel_anchor *perf_maps_kernel(const struct perf_maps *maps)
{
	return &maps->kernel;
}

/* The kernel's map is called [kernel.kallsyms]SYMBOL, and its place in the "file" is that symbol's address.
 * In a run the module is called as in one that hpct records. */
static bool find_kernel(
	struct perf_maps *maps, const struct perf_map *map, const char *symbol, uint32_t *number)
{
	struct store_hash key = store_hash128(KERNEL_PATH, strlen(KERNEL_PATH));
	uint32_t build = key_ids_find(&maps->build_paths, &key);
	struct perf_map plain = *map;

	if (!plain.build_id_bytes && build != KEY_IDS_NONE) {
		plain.build_id = maps->builds[build].bytes;
		plain.build_id_bytes = maps->builds[build].size;
	}
	if (!maps->kernel.symbol[0]) {
		snprintf(maps->kernel.symbol, sizeof maps->kernel.symbol, "%s", symbol);
		maps->kernel.address = map->file_offset;
		maps->kernel.build_id = maps->kernel_build_id;
		maps->kernel.build_id_bytes = plain.build_id_bytes;
		if (plain.build_id_bytes)
			memcpy(maps->kernel_build_id, plain.build_id, plain.build_id_bytes);
	}
	plain.path = "[kernel]";
	return find_file(maps, &plain, number);
}

/* ---- spaces ---- */

static struct space *space_of(struct perf_maps *maps, uint32_t pid)
{
	bool is_new;
	uint32_t number = key_ids_put(&maps->pids, &pid, &is_new);

	if (number == KEY_IDS_NONE ||
		!array_widen(&maps->spaces, &maps->space_room, number, sizeof *maps->spaces))
		return NULL;
	if (is_new)
		maps->spaces[number] = (struct space){.parent = KEY_IDS_NONE};
	return &maps->spaces[number];
}

static bool add(struct perf_maps *maps, uint32_t pid, const struct map *map)
{
	struct space *space = space_of(maps, pid);

	if (!space || !array_widen(&space->maps, &space->room, space->count, sizeof *space->maps))
		return false;
	space->maps[space->count++] = *map;
	return true;
}

bool perf_maps_add(struct perf_maps *maps, const struct perf_map *map)
{
	struct map new = {map->begin, map->end, map->file_offset, map->time_ns, 0};

	if (map->end <= map->begin)
		return true;
	if (map->pid == PERF_MAPS_KERNEL && strncmp(map->path, KERNEL_PATH, strlen(KERNEL_PATH)) == 0)
		return find_kernel(maps, map, map->path + strlen(KERNEL_PATH), &new.file) &&
		       add(maps, map->pid, &new);
	return find_file(maps, map, &new.file) && add(maps, map->pid, &new);
}

bool perf_maps_exec(struct perf_maps *maps, uint32_t pid, uint64_t time_ns)
{
	return add(maps, pid, &(struct map){.time_ns = time_ns});
}

bool perf_maps_fork(struct perf_maps *maps, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	struct space *space;

	if (pid == parent || !space_of(maps, parent))
		return pid == parent;
	space = space_of(maps, pid);
	if (!space)
		return false;
	space->parent = key_ids_find(&maps->pids, &parent);
	space->fork_ns = time_ns;
	return true;
}

static int map_compare(const void *left, const void *right)
{
	const struct map *a = left, *b = right;

	/* A new image comes before its maps. */
	return a->time_ns != b->time_ns ? (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns)
					: (a->end != 0) - (b->end != 0);
}

void perf_maps_sort(struct perf_maps *maps)
{
	for (uint32_t i = 0; i < maps->pids.count; i++)
		if (maps->spaces[i].count)
			qsort(maps->spaces[i].maps, maps->spaces[i].count, sizeof *maps->spaces[i].maps,
				map_compare);
}

/* ---- questions ---- */

/* How many maps the space has at that time. */
static size_t maps_until(const struct space *space, uint64_t time_ns)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* As the program headers say; of a file that is not there, as it lies in the file. */
static uint64_t offset_in(const struct file *file, const struct map *map, uint64_t address)
{
	uint64_t at = address - map->begin + map->file_offset;

	if (file->kind == STORE_MODULE_JIT)
		return address;
	if (file->kind == STORE_MODULE_KERNEL)
		return address - map->begin;
	for (size_t i = 0; i < file->segment_count && file->is_known; i++)
		if (at >= file->segments[i].offset && at - file->segments[i].offset < file->segments[i].size)
			return at - file->segments[i].offset + file->segments[i].address;
	return at;
}

/* The map at that address and time, in the process or those that it was forked from; NULL: none. */
static const struct map *find_map(
	const struct perf_maps *maps, uint32_t space_number, uint64_t time_ns, uint64_t address)
{
	for (unsigned generation = 0; generation < FORKS_MAX && space_number != KEY_IDS_NONE; generation++) {
		const struct space *space = &maps->spaces[space_number];

		for (size_t i = maps_until(space, time_ns); i-- > 0;) {
			const struct map *map = &space->maps[i];

			if (map->end == 0)
				return NULL;
			if (address >= map->begin && address < map->end)
				return map;
		}
		time_ns = time_ns < space->fork_ns ? time_ns : space->fork_ns;
		space_number = space->parent;
	}
	return NULL;
}

static bool find(const struct perf_maps *maps, uint32_t space_number, uint64_t time_ns, uint64_t address,
	struct answer *answer)
{
	const struct map *map = find_map(maps, space_number, time_ns, address);

	if (!map)
		return false;
	answer->module = maps->files[map->file].module;
	answer->offset = offset_in(&maps->files[map->file], map, address);
	return true;
}

bool perf_maps_place(const struct perf_maps *maps, uint32_t pid, uint64_t time_ns, uint64_t address,
	struct perf_place *place)
{
	uint32_t number = key_ids_find(&maps->pids, &pid);
	const struct map *map = number == KEY_IDS_NONE ? NULL : find_map(maps, number, time_ns, address);

	if (map)
		*place = (struct perf_place){map->begin, map->end, map->file_offset, map->file};
	return map != NULL;
}

uint64_t perf_maps_age(const struct perf_maps *maps, uint32_t pid, uint64_t time_ns)
{
	uint32_t number = key_ids_find(&maps->pids, &pid);

	return number == KEY_IDS_NONE ? 0 : maps_until(&maps->spaces[number], time_ns);
}

const char *perf_maps_path(const struct perf_maps *maps, uint32_t file)
{
	size_t size;

	if (!maps->files[file].is_known)
		return NULL;
	return store_writer_text_at(
		maps->writer, store_writer_module_at(maps->writer, maps->files[file].module).path, &size);
}

bool perf_maps_find(struct perf_maps *maps, uint32_t pid, uint64_t time_ns, uint64_t address,
	uint32_t *module, uint64_t *offset)
{
	uint32_t number = key_ids_find(&maps->pids, &pid);
	struct answer *answer;
	const struct space *space;
	size_t until;

	if (number == KEY_IDS_NONE)
		return false;
	answer = &maps->answers[(address ^ address >> 13 ^ (uint64_t)number * 0x9e37) & (ANSWERS - 1)];
	if (answer->address != address || answer->space != number || time_ns < answer->from_ns ||
		time_ns >= answer->to_ns) {
		space = &maps->spaces[number];
		until = maps_until(space, time_ns);
		*answer = (struct answer){.address = address,
			.space = number,
			.from_ns = until ? space->maps[until - 1].time_ns : 0,
			.to_ns = until < space->count ? space->maps[until].time_ns : UINT64_MAX};
		answer->is_there = find(maps, number, time_ns, address, answer);
	}
	*module = answer->module;
	*offset = answer->offset;
	return answer->is_there;
}
