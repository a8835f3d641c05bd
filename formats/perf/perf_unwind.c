/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_unwind.c - see perf_unwind.h.
 *
 *   file     its loadable segments, read when they are first wanted      one per file
 *   module   where a map puts them: tables at addresses of the process   per process, until it maps something
 * else walker   an unwinder with its cache, and the modules                 for the few processes sampled
 * last
 */
#include "formats/perf/perf_unwind.h"

#include <gelf.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "record/agent/unwind/unwind.h"
#include "store/base/array.h"
#include "store/base/regular_file.h"

#define SEGMENTS_MAX 16
#define SEGMENT_BYTES_MAX ((uint64_t)512 << 20)
#define FILES_BYTES_MAX ((uint64_t)4 << 30) /* of all segments that are read */
#define MODULES_MAX 4096u
#define WALKERS 8u
#define RESTORED_BYTES 64u /* registers that a function saves, at most */

/* Number i of perf's registers is the unwinder's register_of[i]; -1: it needs none of these. */
#if defined(__x86_64__)
static const signed char register_of[] = {0, 3, 2, 1, 4, 5, ARCH_FP, ARCH_SP, ARCH_PC, -1, -1, -1, -1, -1, -1,
	-1, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
static const signed char register_of[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, ARCH_SP, ARCH_PC};
#endif
#define REGISTERS_NEEDED (UINT64_C(1) << ARCH_SP | UINT64_C(1) << ARCH_PC)

struct segment {
	uint64_t offset, size, address;
	uint8_t *bytes; /* NULL: not read, or not to be had */
	bool is_tried;
};

struct file {
	const char *path; /* NULL: it is not here */
	bool is_known;
	bool is_loader;
	uint64_t header, frames; /* addresses of .eh_frame_hdr, else of .eh_frame; 0: none */
	struct segment segments[SEGMENTS_MAX];
	size_t segment_count;
};

struct module {
	struct cfi_module cfi; /* slot: its place in the list */
	struct perf_place place;
	uint64_t bias; /* of the process's addresses over the file's */
};

struct walker {
	struct unwinder unwinder;
	struct perf_unwind *owner;
	uint32_t pid;
	uint64_t age, used, time_ns;
	uint64_t frame_pointer; /* of the sample */
	size_t module_count;
	struct module
		modules[MODULES_MAX]; /* they stay where they are: the unwinder holds them while it reads */
};

struct perf_unwind {
	struct perf_maps *maps;
	struct file *files; /* [the maps' number] */
	size_t file_room;
	uint64_t bytes_read, walks;
	struct walker *walkers[WALKERS];
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	struct perf_unwind_frame found[UNWIND_FRAMES_MAX];
};

struct perf_unwind *perf_unwind_new(struct perf_maps *maps)
{
	struct perf_unwind *unwind = calloc(1, sizeof *unwind);

	if (unwind)
		unwind->maps = maps;
	return unwind;
}

void perf_unwind_free(struct perf_unwind *unwind)
{
	if (!unwind)
		return;
	for (size_t i = 0; i < unwind->file_room; i++)
		for (size_t s = 0; s < unwind->files[i].segment_count; s++)
			free(unwind->files[i].segments[s].bytes);
	for (unsigned i = 0; i < WALKERS; i++)
		free(unwind->walkers[i]);
	free(unwind->files);
	free(unwind);
}

/* ---- files ---- */

/* Of programs whose program headers do not name their tables. */
static uint64_t find_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr head;
		const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;

		if (name && strcmp(name, ".eh_frame") == 0 && head.sh_flags & SHF_ALLOC)
			return head.sh_addr;
	}
	return 0;
}

static void read_parts(struct file *file, Elf *elf)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (!gelf_getphdr(elf, (int)i, &part))
			continue;
		if (part.p_type == PT_LOAD && file->segment_count < SEGMENTS_MAX)
			file->segments[file->segment_count++] =
				(struct segment){part.p_offset, part.p_filesz, part.p_vaddr, NULL, false};
		else if (part.p_type == PT_GNU_EH_FRAME)
			file->header = part.p_vaddr;
	}
	if (!file->header)
		file->frames = find_section(elf);
}

static int open_file(const struct file *file)
{
	struct stat status;

	return regular_file_open(file->path, 0, &status);
}

/* This process's own. Its one segment begins at its begin. */
static void take_vdso(struct file *file)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	Elf *elf = image ? elf_memory((char *)(uintptr_t)image, (size_t)sysconf(_SC_PAGESIZE)) : NULL;
	struct segment *segment = &file->segments[0];

	if (elf)
		read_parts(file, elf);
	elf_end(elf);
	if (file->segment_count != 1 || segment->size > (uint64_t)4 * (uint64_t)sysconf(_SC_PAGESIZE))
		return;
	segment->is_tried = true;
	segment->bytes = malloc(segment->size);
	if (segment->bytes)
		memcpy(segment->bytes, image + segment->offset, segment->size);
}

static struct file *file_of(struct perf_unwind *unwind, uint32_t number)
{
	struct file *file;
	const char *slash;
	int fd;

	if (!array_reserve_zero(
		    &unwind->files, &unwind->file_room, (size_t)number + 1, sizeof *unwind->files))
		return NULL;
	file = &unwind->files[number];
	if (file->is_known)
		return file;
	file->is_known = true;
	file->path = perf_maps_path(unwind->maps, number);
	if (!file->path)
		return file;
	if (strcmp(file->path, "[vdso]") == 0) {
		take_vdso(file);
		return file;
	}
	slash = strrchr(file->path, '/');
	file->is_loader = slash && strncmp(slash, "/ld-", 4) == 0;
	fd = open_file(file);
	if (fd >= 0) {
		Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

		if (elf)
			read_parts(file, elf);
		elf_end(elf);
		close(fd);
	}
	return file;
}

/* The bytes of a segment, read once; NULL: they are not to be had. */
static const uint8_t *segment_bytes(
	struct perf_unwind *unwind, const struct file *file, struct segment *segment)
{
	int fd;

	if (segment->is_tried)
		return segment->bytes;
	segment->is_tried = true;
	if (!file->path || !segment->size || segment->size > SEGMENT_BYTES_MAX ||
		segment->size > FILES_BYTES_MAX - unwind->bytes_read)
		return NULL;
	fd = open_file(file);
	segment->bytes = fd < 0 ? NULL : malloc(segment->size);
	if (segment->bytes &&
		pread(fd, segment->bytes, segment->size, (off_t)segment->offset) != (ssize_t)segment->size) {
		free(segment->bytes);
		segment->bytes = NULL;
	}
	if (fd >= 0)
		close(fd);
	unwind->bytes_read += segment->bytes ? segment->size : 0;
	return segment->bytes;
}

/* Of the file's own addresses; NULL: none. */
static struct segment *segment_at(struct file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++)
		if (address >= file->segments[i].address &&
			address - file->segments[i].address < file->segments[i].size)
			return &file->segments[i];
	return NULL;
}

/* ---- modules ---- */

static struct file *module_file(const struct walker *walker, const struct module *module)
{
	return &walker->owner->files[module->place.file];
}

/* How far the map moves what lies in the file at that offset. */
static bool find_bias(
	const struct file *file, const struct perf_place *place, uint64_t address, uint64_t *bias)
{
	uint64_t at = address - place->begin + place->file_offset;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (at >= segment->offset && at - segment->offset < segment->size) {
			*bias = address - (at - segment->offset + segment->address);
			return true;
		}
	}
	*bias = place->begin - place->file_offset;
	return file->segment_count > 0;
}

static void add_tables(struct walker *walker, struct file *file, struct module *module)
{
	uint64_t at = file->header ? file->header : file->frames;
	struct segment *segment = at ? segment_at(file, at) : NULL;
	const uint8_t *bytes = segment ? segment_bytes(walker->owner, file, segment) : NULL;
	uint64_t begin = segment ? segment->address + module->bias : 0;

	if (!bytes)
		return;
	module->cfi.image = (struct cfi_image){bytes, begin, begin + segment->size};
	if (!file->header)
		module->cfi.eh_frame = file->frames + module->bias; /* without a search table */
	else if (cfi_module_init(&module->cfi, file->header + module->bias))
		module->cfi.image = (struct cfi_image){0};
}

/* The module that a map makes; NULL: nothing is known to lie there. */
static struct module *add_module(struct walker *walker, uint64_t pc)
{
	struct module module = {.cfi = {.slot = (uint32_t)walker->module_count}};
	struct unwind_space *space = &walker->unwinder.space;
	struct file *file;

	if (!perf_maps_place(walker->owner->maps, walker->pid, walker->time_ns, pc, &module.place) ||
		walker->module_count == MODULES_MAX)
		return NULL;
	file = file_of(walker->owner, module.place.file);
	if (!file || !find_bias(file, &module.place, pc, &module.bias))
		return NULL;
	module.cfi.begin = module.place.begin;
	module.cfi.end = module.place.end;
	add_tables(walker, file, &module);
	if (file->is_loader) {
		space->loader_begin = module.place.begin;
		space->loader_end = module.place.end;
	}
	walker->modules[walker->module_count] = module;
	return &walker->modules[walker->module_count++];
}

static struct module *find_module(struct walker *walker, uint64_t pc)
{
	for (size_t i = walker->module_count; i-- > 0;) /* what is mapped over another one comes later */
		if (pc >= walker->modules[i].cfi.begin && pc < walker->modules[i].cfi.end)
			return &walker->modules[i];
	return add_module(walker, pc);
}

static const struct cfi_module *module_of(void *context, uint64_t pc)
{
	struct module *module = find_module(context, pc);

	return module ? &module->cfi : NULL;
}

/* What is not in the copy of the stack may lie in a file: code, and constants. Right below the stack pointer
 * lies what the innermost function has restored already, if it is returning: tables still say that it is
 * saved there. Nearly always the frame pointer alone matters. */
static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct walker *walker = context;
	const struct cfi_memory *memory = &walker->unwinder.space.memory;
	struct module *module;
	struct segment *segment;
	const uint8_t *from;
	uint64_t at;

	if (address >= memory->low && address < memory->high && memory->high - address >= bytes) {
		memcpy(to, (const void *)(uintptr_t)(address + memory->shift), bytes);
		return 0;
	}
	if (address < memory->low && memory->low - address <= RESTORED_BYTES && bytes == sizeof at) {
		memcpy(to, &walker->frame_pointer, bytes);
		return 0;
	}
	module = find_module(walker, address);
	at = module ? address - module->bias : 0;
	segment = module ? segment_at(module_file(walker, module), at) : NULL;
	from = segment ? segment_bytes(walker->owner, module_file(walker, module), segment) : NULL;
	if (!from || segment->size - (at - segment->address) < bytes)
		return -1;
	memcpy(to, from + (at - segment->address), bytes);
	return 0;
}

/* ---- walkers ---- */

static struct walker *make_walker(struct perf_unwind *unwind)
{
	struct walker *walker = calloc(1, sizeof *walker);

	if (!walker)
		return NULL;
	walker->owner = unwind;
	walker->unwinder.frames = unwind->frames;
	walker->unwinder.most = UNWIND_FRAMES_MAX;
	walker->unwinder.space = (struct unwind_space){.memory = {.read = memory_read, .context = walker},
		.module_find = module_of,
		.context = walker};
	return walker;
}

/* That of the process, else the one that has rested longest. */
static struct walker *find_walker(struct perf_unwind *unwind, const struct perf_sample *sample)
{
	uint64_t age = perf_maps_age(unwind->maps, sample->pid, sample->time_ns);
	unsigned best = 0;

	for (unsigned i = 0; i < WALKERS; i++) {
		if (!unwind->walkers[i] && !(unwind->walkers[i] = make_walker(unwind)))
			return NULL;
		if (unwind->walkers[i]->used && unwind->walkers[i]->pid == sample->pid) {
			best = i;
			break;
		}
		if (unwind->walkers[i]->used < unwind->walkers[best]->used)
			best = i;
	}
	if (unwind->walkers[best]->pid != sample->pid || unwind->walkers[best]->age != age ||
		!unwind->walkers[best]->used) {
		unwind->walkers[best]->module_count = 0;
		unwind->walkers[best]->unwinder.space.loader_end = 0;
		unwind_cache_clear(&unwind->walkers[best]->unwinder);
	}
	unwind->walkers[best]->pid = sample->pid;
	unwind->walkers[best]->age = age;
	unwind->walkers[best]->used = ++unwind->walks;
	unwind->walkers[best]->time_ns = sample->time_ns;
	return unwind->walkers[best];
}

/* ---- samples ---- */

static bool take_registers(const struct perf_sample *sample, struct arch_registers *registers)
{
	uint64_t wanted = sample->event->attr.sample_regs_user;
	const uint8_t *at = sample->registers;

	*registers = (struct arch_registers){.known = 0};
	if (!at || !sample->stack || sample->registers_abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (unsigned i = 0; i < 64; i++) {
		if (!(wanted >> i & 1))
			continue;
		if (i < sizeof register_of && register_of[i] >= 0) {
			registers->value[register_of[i]] = store_load64(at);
			registers->known |= UINT64_C(1) << register_of[i];
		}
		at += 8;
	}
	return (registers->known & REGISTERS_NEEDED) == REGISTERS_NEEDED;
}

/* Code that begins a stack has no tables in static programs and others: there the frame pointer is still the
 * zero that the kernel or clone left. */
static bool is_at_end(struct walker *walker)
{
	struct unwinder *unwinder = &walker->unwinder;
	const struct arch_registers *last = &unwinder->registers;
	const struct unwind_frame *frame = &unwinder->frames[unwinder->count - 1];

	if (!unwinder->count || !(last->known >> ARCH_FP & 1) || last->value[ARCH_FP])
		return false;
	return frame->slot < walker->module_count && cfi_row_find(&walker->modules[frame->slot].cfi,
							     frame->address, &unwinder->scratch) == CFI_NONE;
}

size_t perf_unwind_walk(struct perf_unwind *unwind, const struct perf_sample *sample,
	const struct perf_unwind_frame **frames, bool *is_partial)
{
	struct arch_registers registers;
	struct walker *walker;
	struct cfi_memory *memory;
	uint64_t sp;

	if (!take_registers(sample, &registers))
		return 0;
	walker = find_walker(unwind, sample);
	if (!walker)
		return 0;
	sp = registers.value[ARCH_SP];
	walker->frame_pointer = registers.value[ARCH_FP];
	memory = &walker->unwinder.space.memory;
	memory->low = sp;
	memory->high = sp + sample->stack_size < sp ? sp : sp + sample->stack_size;
	memory->shift = (uintptr_t)sample->stack - sp;
	*is_partial = unwind_walk(&walker->unwinder, &registers) != UNWIND_FULL && !is_at_end(walker);
	for (unsigned i = 0; i < walker->unwinder.count; i++)
		unwind->found[i].address = walker->unwinder.frames[i].address;
	*frames = unwind->found;
	return walker->unwinder.count;
}
