/* SPDX-License-Identifier: Apache-2.0 */
/* outside_modules.c - see outside_modules.h. */
#include "record/outside_modules.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define SEGMENTS_MAX 64
#define NOTE_BYTES_MAX 4096
#define MAPS_BYTES_MAX (8u << 20)
#define COPIED_BYTES_MAX (UINT64_C(256) << 20) /* of one process */

int outside_read(uint32_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv((pid_t)pid, &local, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static void list_clear(struct outside_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++) {
		const struct cfi_image *image = &modules->list[i].cfi.image;

		if (image->bytes)
			munmap((void *)(uintptr_t)image->bytes, image->end - image->begin);
		free(modules->list[i].path);
	}
	modules->count = 0;
	modules->copied_bytes = 0;
}

void outside_modules_fini(struct outside_modules *modules)
{
	list_clear(modules);
	free(modules->list);
	free(modules->maps);
}

struct outside_module *outside_modules_find(struct outside_modules *modules, uint64_t pc)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (pc >= modules->list[i].cfi.begin && pc < modules->list[i].cfi.end)
			return &modules->list[i];
	return NULL;
}

/* ---- one module ---- */

static void segment_copy(struct outside_modules *modules, struct outside_module *module,
	const Elf64_Phdr *segment, uint64_t header)
{
	uint64_t begin = module->bias + segment->p_vaddr, bytes = segment->p_filesz;
	void *copy;

	if (!bytes || bytes > COPIED_BYTES_MAX - modules->copied_bytes)
		return;
	copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	if (outside_read(modules->pid, begin, copy, bytes)) {
		munmap(copy, bytes);
		return;
	}
	modules->copied_bytes += bytes;
	module->cfi.image = (struct cfi_image){copy, begin, begin + bytes};
	cfi_module_init(&module->cfi, header);
}

static void build_id_take(struct outside_module *module, const uint8_t *note, size_t bytes)
{
	size_t at = 0;

	while (bytes - at > sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		size_t name = at + sizeof(head), data;

		memcpy(&head, note + at, sizeof(head));
		data = name + ((head.n_namesz + 3u) & ~(size_t)3);
		if (data > bytes || head.n_descsz > bytes - data)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(note + name, "GNU", 4) &&
			head.n_descsz <= sizeof(module->build_id)) {
			module->build_id_bytes = (uint8_t)head.n_descsz;
			memcpy(module->build_id, note + data, head.n_descsz);
			return;
		}
		at = data + ((head.n_descsz + 3u) & ~(size_t)3);
		if (at > bytes)
			return;
	}
}

static void segments_take(struct outside_modules *modules, struct outside_module *module,
	const Elf64_Phdr *segments, unsigned count)
{
	uint8_t note[NOTE_BYTES_MAX];
	uint64_t header = 0;

	for (unsigned i = 0; i < count; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type == PT_GNU_EH_FRAME)
			header = module->bias + s->p_vaddr;
		if (s->p_type == PT_NOTE && !module->build_id_bytes && s->p_memsz <= sizeof(note) &&
			!outside_read(modules->pid, module->bias + s->p_vaddr, note, s->p_memsz))
			build_id_take(module, note, s->p_memsz);
	}
	for (unsigned i = 0; i < count && header; i++) {
		uint64_t begin = module->bias + segments[i].p_vaddr;

		if (segments[i].p_type == PT_LOAD && header >= begin &&
			header - begin < segments[i].p_filesz && !module->cfi.image.bytes)
			segment_copy(modules, module, &segments[i], header);
	}
}

static bool list_grow(struct outside_modules *modules)
{
	unsigned room = modules->room ? 2 * modules->room : 32;
	struct outside_module *grown;

	if (modules->count < modules->room)
		return true;
	grown = realloc(modules->list, room * sizeof(*grown));
	if (!grown)
		return false;
	modules->list = grown;
	modules->room = room;
	return true;
}

static void module_take(struct outside_modules *modules, uint64_t begin, uint64_t end, const char *path)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	struct outside_module *module;
	Elf64_Ehdr elf;

	if (outside_read(modules->pid, begin, &elf, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
		elf.e_phnum > SEGMENTS_MAX || elf.e_phentsize != sizeof(*segments) ||
		outside_read(modules->pid, begin + elf.e_phoff, segments, elf.e_phnum * sizeof(*segments)) ||
		!list_grow(modules))
		return;
	module = &modules->list[modules->count];
	*module = (struct outside_module){.cfi = {.begin = begin, .end = end, .slot = modules->count},
		.bias = begin,
		.is_vdso = !strcmp(path, "[vdso]"),
		.path = strdup(path)};
	if (!module->path)
		return;
	modules->count++;
	for (unsigned i = 0; i < elf.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			module->bias = begin - segments[i].p_vaddr;
	segments_take(modules, module, segments, elf.e_phnum);
}

/* ---- all ---- */

static char *maps_read(uint32_t pid, int *error)
{
	char path[64], *text = NULL;
	size_t used = 0, room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	*error = file ? 0 : errno;
	while (file && used < MAPS_BYTES_MAX) {
		char *grown = used + 65536 > room ? realloc(text, room = 2 * room + 65536) : text;
		size_t got;

		if (!grown) {
			*error = ENOMEM;
			break;
		}
		text = grown;
		got = fread(text + used, 1, room - used - 1, file);
		used += got;
		text[used] = '\0';
		if (!got)
			break;
	}
	if (file)
		fclose(file);
	if (*error) {
		free(text);
		return NULL;
	}
	return text;
}

/* One module per run of mappings of one file. */
static void maps_take(struct outside_modules *modules)
{
	char path[4096], last[4096] = "";
	uint64_t first = 0, end_of_last = 0;

	for (const char *line = modules->maps; line && *line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		unsigned long begin, end, offset;

		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s%*[ ]%4095[^\n]", &begin, &end, &offset, path) < 3)
			continue;
		if (strcmp(path, last) || !path[0]) {
			if (first)
				module_take(modules, first, end_of_last, last);
			first = (path[0] == '/' || !strcmp(path, "[vdso]")) && !offset ? begin : 0;
			strcpy(last, path);
		}
		end_of_last = end;
	}
}

int outside_modules_read(struct outside_modules *modules, bool *is_new)
{
	int error;
	char *maps = maps_read(modules->pid, &error);

	*is_new = false;
	if (!maps)
		return error ? error : ENOMEM;
	if (modules->maps && !strcmp(maps, modules->maps)) {
		free(maps);
		return 0;
	}
	free(modules->maps);
	modules->maps = maps;
	list_clear(modules);
	maps_take(modules);
	*is_new = true;
	return 0;
}
