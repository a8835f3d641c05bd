/* SPDX-License-Identifier: Apache-2.0 */
/* remote_unwind_modules.c - see remote_unwind_modules.h. */
#include "record/modules/remote_unwind_modules.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/modules/module_file.h"
#include "store/base/array.h"
#include "store/ring/module_content.h"

#define SEGMENTS_MAX 64
#define SECTIONS_MAX 4096
#define SECTION_BYTES_MAX (16u << 20)
#define MAPS_BYTES_MAX (8u << 20)
#define COPIED_BYTES_MAX (UINT64_C(256) << 20) /* per process */
#define BLOCK_BYTES 16384u
#define RECORD_BYTES_MAX (1u << 20)
#define VDSO_BYTES UINT64_C(8192)
#define MAPPINGS_MAX 1024u		     /* that the kernel told of */
#define IMAGE_BYTES_MAX (UINT64_C(16) << 30) /* address range of one module */

static ssize_t readv_at(uint32_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv((pid_t)pid, &local, 1, &there, 1, 0);
}

int remote_unwind_read(uint32_t pid, uint64_t address, void *to, size_t bytes)
{
	ssize_t got = readv_at(pid, address, to, bytes);

	if (got == (ssize_t)bytes)
		return 0;
	return got < 0 ? -errno : -EFAULT;
}

size_t remote_unwind_read_some(uint32_t pid, uint64_t address, void *to, size_t bytes)
{
	ssize_t got = readv_at(pid, address, to, bytes);

	return got > 0 ? (size_t)got : 0;
}

/* The kernel's code in every process, as it is in this one. */
static int vdso_read(uint64_t at, void *to, size_t bytes)
{
	const char *own = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *elf = (const void *)own;
	const Elf64_Phdr *segments = own ? (const void *)(own + elf->e_phoff) : NULL;

	for (unsigned i = 0; own && i < elf->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && !segments[i].p_offset && at < segments[i].p_filesz &&
			segments[i].p_filesz - at >= bytes) {
			memcpy(to, own + at, bytes);
			return 0;
		}
	return -EFAULT;
}

static const struct mapped_file *file_of(
	const struct remote_unwind_modules *modules, const char *path, const struct mapped_identity *identity)
{
	const uint32_t pids[] = {modules->pid, modules->parent_pid};

	return modules->files ? mapped_files_find(modules->files, pids, path, identity) : NULL;
}

/* Memory at an address of the module, or the same by its file. */
static int module_bytes(struct remote_unwind_modules *modules, const struct remote_unwind_module *module,
	uint64_t address, void *to, size_t bytes)
{
	int error = modules->is_gone ? -ESRCH : remote_unwind_read(modules->pid, address, to, bytes);
	const struct mapped_file *file;

	if (!error || error == -EFAULT || !modules->files)
		return error;
	modules->is_gone |= error == -ESRCH;
	if (module->is_vdso)
		return vdso_read(address - module->cfi.begin, to, bytes);
	file = file_of(modules, module->path, &module->identity);
	return file ? mapped_file_read(file, address - module->bias, to, bytes) : error;
}

int remote_unwind_modules_memory(
	struct remote_unwind_modules *modules, uint64_t address, void *to, size_t bytes)
{
	const struct remote_unwind_module *module;
	int error = modules->is_gone ? -ESRCH : remote_unwind_read(modules->pid, address, to, bytes);

	if (!error || error == -EFAULT || !modules->files)
		return error;
	module = remote_unwind_modules_find(modules, address);
	return module ? module_bytes(modules, module, address, to, bytes) : error;
}

uint64_t remote_unwind_module_hash(
	struct remote_unwind_modules *modules, const struct remote_unwind_module *module)
{
	uint8_t bytes[MODULE_CONTENT_CODE_MAX];
	uint64_t hash = MODULE_CONTENT_SEED;
	struct module_content content;

	if (module_bytes(modules, module, module->cfi.begin, bytes, MODULE_CONTENT_PAGE) ||
		!module_content_place(bytes, &content))
		return 0;
	hash = module_content_add(hash, bytes, content.header_bytes);
	if (module_bytes(modules, module, module->bias + content.code_address, bytes, content.code_bytes))
		return 0;
	return module_content_add(hash, bytes, content.code_bytes);
}

static void module_free(struct remote_unwind_module *module)
{
	const struct cfi_image *image = &module->cfi.image;

	if (image->bytes)
		munmap((void *)(uintptr_t)image->bytes, image->end - image->begin);
	free(module->blocks);
	free(module->path);
}

static void list_free(
	struct remote_unwind_modules *modules, struct remote_unwind_module *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		modules->copied_bytes -= list[i].copied_bytes;
		module_free(&list[i]);
	}
	free(list);
}

void remote_unwind_modules_fini(struct remote_unwind_modules *modules)
{
	list_free(modules, modules->list, modules->count);
	free(modules->maps);
	for (size_t i = 0; i < modules->mapping_count; i++)
		free(modules->mappings[i].path);
	free(modules->mappings);
}

struct remote_unwind_module *remote_unwind_modules_find(struct remote_unwind_modules *modules, uint64_t pc)
{
	unsigned low = 0, high = modules->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (pc >= modules->list[middle].cfi.end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < modules->count && pc >= modules->list[low].cfi.begin ? &modules->list[low] : NULL;
}

/* ---- the tables of one module ---- */

/* Copies the blocks of [begin, end) that are not copied yet. */
static bool blocks_copy(struct remote_unwind_modules *modules, struct remote_unwind_module *module,
	uint64_t begin, uint64_t end)
{
	const struct cfi_image *image = &module->cfi.image;
	uint64_t last;

	if (begin < image->begin || begin >= end || end > image->end)
		return false;
	last = (end - 1 - image->begin) / BLOCK_BYTES;
	for (uint64_t block = (begin - image->begin) / BLOCK_BYTES; block <= last; block++) {
		uint64_t at = block * BLOCK_BYTES, rest = image->end - image->begin - at;
		size_t bytes = rest < BLOCK_BYTES ? rest : BLOCK_BYTES;

		if (module->blocks[block / 8] >> block % 8 & 1)
			continue;
		if (modules->copied_bytes + bytes > COPIED_BYTES_MAX ||
			module_bytes(modules, module, image->begin + at,
				(void *)(uintptr_t)(image->bytes + at), bytes))
			return false;
		modules->copied_bytes += bytes;
		module->copied_bytes += bytes;
		module->blocks[block / 8] |= (uint8_t)(1u << block % 8);
	}
	return true;
}

/* Maps the image and copies its search table. */
static bool tables_open(struct remote_unwind_modules *modules, struct remote_unwind_module *module)
{
	uint64_t bytes = module->tables_end - module->tables_begin;
	struct cfi_image *image = &module->cfi.image;
	void *room =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return false;
	*image = (struct cfi_image){room, module->tables_begin, module->tables_end};
	module->blocks = calloc(1, bytes / BLOCK_BYTES / 8 + 1);
	if (module->blocks && !module->header && blocks_copy(modules, module, image->begin, image->end)) {
		module->cfi.eh_frame = image->begin; /* without a search table */
		return true;
	}
	if (module->blocks && module->header &&
		blocks_copy(modules, module, module->header, module->header_end) &&
		!cfi_module_init(&module->cfi, module->header) &&
		(module->cfi.table || blocks_copy(modules, module, module->cfi.eh_frame, image->end)))
		return true;
	munmap(room, bytes);
	*image = (struct cfi_image){0};
	modules->copied_bytes -= module->copied_bytes;
	module->copied_bytes = 0;
	return false;
}

/* Copies the record at `address`, which starts with its length; *id: the word after the length. */
static bool record_copy(struct remote_unwind_modules *modules, struct remote_unwind_module *module,
	uint64_t address, uint64_t *id_at, uint32_t *id)
{
	const struct cfi_image *image = &module->cfi.image;
	uint64_t length = 0;
	uint32_t word;

	*id_at = address + sizeof(word);
	if (!blocks_copy(modules, module, address, *id_at + sizeof(word)))
		return false;
	memcpy(&word, image->bytes + (address - image->begin), sizeof(word));
	length = word;
	if (word == UINT32_MAX) { /* the 64-bit form */
		*id_at += sizeof(length);
		if (!blocks_copy(modules, module, address, *id_at + sizeof(word)))
			return false;
		memcpy(&length, image->bytes + (*id_at - sizeof(length) - image->begin), sizeof(length));
	}
	if (length < sizeof(*id) || length > RECORD_BYTES_MAX || length > image->end - *id_at ||
		!blocks_copy(modules, module, *id_at, *id_at + length))
		return false;
	memcpy(id, image->bytes + (*id_at - image->begin), sizeof(*id));
	return true;
}

void remote_unwind_modules_tables(
	struct remote_unwind_modules *modules, struct remote_unwind_module *module, uint64_t pc)
{
	uint64_t entry, id_at;
	uint32_t id;

	if (module->tables_begin == module->tables_end)
		return;
	if (!module->cfi.image.bytes && !tables_open(modules, module)) {
		module->tables_end = module->tables_begin;
		return;
	}
	entry = module->cfi.table ? cfi_fde_address(&module->cfi, pc) : 0;
	if (entry && record_copy(modules, module, entry, &id_at, &id) && id)
		record_copy(modules, module, id_at - id, &id_at, &id);
}

/* ---- one module ---- */

/* Adjacent mappings of one file. */
struct place {
	uint64_t begin, end;
	struct mapped_identity identity;
	uint64_t bias; /* as far as it is known before the file's header */
	char path[4096];
};

/* As source_program_is_go has it for the program around it. */
static bool notes_are_go(const uint8_t *notes, size_t bytes)
{
	size_t at = 0;

	while (at + sizeof(Elf64_Nhdr) + 4 <= bytes) {
		Elf64_Nhdr head;

		memcpy(&head, notes + at, sizeof(head));
		if (head.n_namesz == 4 && !memcmp(notes + at + sizeof(head), "Go\0", 4))
			return true;
		at += sizeof(head) + (((size_t)head.n_namesz + 3u) & ~(size_t)3) +
		      (((size_t)head.n_descsz + 3u) & ~(size_t)3);
	}
	return false;
}

static void segments_take(struct remote_unwind_modules *modules, struct remote_unwind_module *module,
	const Elf64_Phdr *segments, unsigned count)
{
	uint8_t notes[BUILD_ID_NOTES_MAX];

	for (unsigned i = 0; i < count; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type == PT_GNU_EH_FRAME) {
			module->header = module->bias + s->p_vaddr;
			module->header_end = module->header + s->p_memsz;
		}
		if (s->p_type == PT_NOTE && s->p_memsz <= sizeof(notes) &&
			!module_bytes(modules, module, module->bias + s->p_vaddr, notes, s->p_memsz)) {
			if (!module->build_id.size)
				build_id_take(&module->build_id, notes, s->p_memsz);
			module->is_go |= notes_are_go(notes, s->p_memsz);
		}
	}
	for (unsigned i = 0; i < count && module->header; i++) {
		uint64_t begin = module->bias + segments[i].p_vaddr, bytes = segments[i].p_filesz;

		if (segments[i].p_type == PT_LOAD && module->header >= begin &&
			module->header - begin < bytes && bytes <= IMAGE_BYTES_MAX) {
			module->tables_begin = begin;
			module->tables_end = begin + bytes;
		}
	}
}

/* Static programs have no PT_GNU_EH_FRAME, but the tables are there: their file's list of sections tells
 * where.
 */
static void section_take(const struct remote_unwind_modules *modules, const struct place *place,
	struct remote_unwind_module *module)
{
	const struct mapped_file *known =
		modules->is_gone ? file_of(modules, place->path, &place->identity) : NULL;
	Elf64_Ehdr elf;
	Elf64_Shdr names, section;
	char name[sizeof(".eh_frame")];
	int fd = known ? known->fd
		       : module_file_open(&(struct module_file){.pid = modules->pid,
				 .path = place->path,
				 .begin = place->begin,
				 .build_id = module->build_id});

	if (fd < 0)
		return;
	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf) || elf.e_shentsize != sizeof(section) ||
		elf.e_shnum > SECTIONS_MAX || elf.e_shstrndx >= elf.e_shnum ||
		pread(fd, &names, sizeof(names), (off_t)(elf.e_shoff + elf.e_shstrndx * sizeof(names))) !=
			sizeof(names))
		elf.e_shnum = 0;
	for (unsigned i = 0; i < elf.e_shnum && !module->tables_end; i++) {
		off_t at = (off_t)(elf.e_shoff + i * sizeof(section));

		if (pread(fd, &section, sizeof(section), at) != sizeof(section) ||
			!(section.sh_flags & SHF_ALLOC) || section.sh_size > SECTION_BYTES_MAX ||
			pread(fd, name, sizeof(name), (off_t)(names.sh_offset + section.sh_name)) !=
				sizeof(name) ||
			memcmp(name, ".eh_frame", sizeof(name)) != 0)
			continue;
		module->tables_begin = module->bias + section.sh_addr;
		module->tables_end = module->tables_begin + section.sh_size;
	}
	if (!known)
		module_file_close(fd);
}

static bool list_grow(struct remote_unwind_modules *modules)
{
	unsigned room = modules->capacity ? 2 * modules->capacity : 32;
	struct remote_unwind_module *grown;

	if (modules->count < modules->capacity)
		return true;
	grown = realloc(modules->list, room * sizeof(*grown));
	if (!grown)
		return false;
	modules->list = grown;
	modules->capacity = room;
	return true;
}

static void module_read(struct remote_unwind_modules *modules, const struct place *place)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	struct remote_unwind_module fresh = {.cfi = {.begin = place->begin, .end = place->end},
					    .bias = place->bias,
					    .identity = place->identity,
					    .is_vdso = !strcmp(place->path, "[vdso]")},
				    *module;
	Elf64_Ehdr elf;

	fresh.path = strdup(place->path);
	if (!fresh.path || module_bytes(modules, &fresh, place->begin, &elf, sizeof(elf)) ||
		memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_phnum > SEGMENTS_MAX ||
		elf.e_phentsize != sizeof(*segments) ||
		module_bytes(modules, &fresh, place->begin + elf.e_phoff, segments,
			elf.e_phnum * sizeof(*segments)) ||
		!list_grow(modules)) {
		free(fresh.path);
		return;
	}
	module = &modules->list[modules->count];
	*module = fresh;
	for (unsigned i = 0; i < elf.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			module->bias = place->begin - segments[i].p_vaddr;
	segments_take(modules, module, segments, elf.e_phnum);
	if (!module->header)
		section_take(modules, place, module);
	module->cfi.slot = modules->count++;
}

/* ---- all modules ---- */

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

/* The next adjacent mappings of one file, from *line on. False: none. */
static bool place_next(const char **line, struct place *place)
{
	bool is_begun = false;

	for (; *line && **line; *line = strchr(*line, '\n') ? strchr(*line, '\n') + 1 : NULL) {
		unsigned long begin, end, offset;
		struct mapped_identity identity = {0};
		char path[sizeof(place->path)] = "";

		if (sscanf(*line, "%lx-%lx %*s %lx %x:%x %" SCNu64 "%*[ ]%4095[^\n]", &begin, &end, &offset,
			    &identity.major, &identity.minor, &identity.inode, path) < 6)
			continue;
		if (is_begun &&
			(!mapped_identity_is_same(&identity, &place->identity) || strcmp(path, place->path)))
			return true;
		if (!is_begun && ((path[0] != '/' && strcmp(path, "[vdso]")) || offset))
			continue;
		if (!is_begun) {
			*place = (struct place){.begin = begin, .identity = identity, .bias = begin};
			strcpy(place->path, path);
		}
		place->end = end;
		is_begun = true;
	}
	return is_begun;
}

/* Takes the same module out of `before`, if it is there. */
static struct remote_unwind_module *module_before(
	struct remote_unwind_module *before, unsigned count, const struct place *place)
{
	for (unsigned i = 0; i < count; i++)
		if (before[i].path && before[i].cfi.begin == place->begin &&
			before[i].cfi.end == place->end &&
			mapped_identity_is_same(&before[i].identity, &place->identity) &&
			!strcmp(before[i].path, place->path))
			return &before[i];
	return NULL;
}

static bool maps_take(struct remote_unwind_modules *modules)
{
	struct remote_unwind_module *before = modules->list, *same;
	unsigned count = modules->count, kept = 0;
	const char *line = modules->maps;
	struct place place;

	modules->list = NULL;
	modules->count = modules->capacity = 0;
	while (place_next(&line, &place)) {
		same = module_before(before, count, &place);
		if (!same || !list_grow(modules)) {
			module_read(modules, &place);
			continue;
		}
		modules->list[modules->count] = *same;
		modules->list[modules->count].cfi.slot = modules->count;
		modules->count++;
		kept++;
		memset(same, 0, sizeof(*same)); /* so that it is not freed with the others */
	}
	list_free(modules, before, count);
	modules->is_go = false;
	for (unsigned i = 0; i < modules->count; i++)
		modules->is_go |= modules->list[i].is_go;
	return kept != count || modules->count != count;
}

/* ---- without a list of mappings ---- */

void remote_unwind_modules_mapped(struct remote_unwind_modules *modules, uint64_t begin, uint64_t offset,
	const struct mapped_identity *identity, const char *path)
{
	struct remote_unwind_mapping *mapping;

	/* Code that is made at run time is of "//anon": there is much of it. */
	if (((path[0] != '/' || path[1] == '/') && strcmp(path, "[vdso]")) ||
		modules->mapping_count == MAPPINGS_MAX ||
		!array_widen((void **)&modules->mappings, &modules->mapping_capacity, modules->mapping_count,
			sizeof *modules->mappings))
		return;
	mapping = &modules->mappings[modules->mapping_count];
	*mapping = (struct remote_unwind_mapping){begin, offset, *identity, strdup(path)};
	modules->mapping_count += mapping->path != NULL;
}

void remote_unwind_modules_inherit(
	struct remote_unwind_modules *modules, const struct remote_unwind_modules *from)
{
	for (unsigned i = 0; i < from->count && list_grow(modules); i++) {
		struct remote_unwind_module *module = &modules->list[modules->count];

		*module = from->list[i];
		module->cfi = (struct cfi_module){
			.begin = module->cfi.begin, .end = module->cfi.end, .slot = modules->count};
		module->blocks = NULL;
		module->copied_bytes = 0;
		module->id = 0;
		module->path = strdup(module->path);
		modules->count += module->path != NULL;
	}
	modules->is_go = from->is_go;
}

static bool is_listed(const struct remote_unwind_modules *modules, uint64_t address)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (address >= modules->list[i].cfi.begin && address < modules->list[i].cfi.end)
			return true;
	return false;
}

static void mapping_take(struct remote_unwind_modules *modules, const struct remote_unwind_mapping *mapping)
{
	struct place place = {.begin = mapping->begin, .identity = mapping->identity};
	const struct mapped_file *file;

	snprintf(place.path, sizeof(place.path), "%s", mapping->path);
	place.end = place.begin + VDSO_BYTES;
	if (mapping->path[0] == '/') {
		file = file_of(modules, mapping->path, &mapping->identity);
		if (!file || !mapped_file_place(file, mapping->begin, mapping->offset, &place.bias,
				     &place.begin, &place.end))
			return;
	}
	module_read(modules, &place);
}

static int modules_compare(const void *a, const void *b)
{
	const struct remote_unwind_module *one = a, *other = b;

	return one->cfi.begin < other->cfi.begin ? -1 : one->cfi.begin > other->cfi.begin;
}

/* What was mapped there last, if nothing that is listed already. True: something new is. */
static bool mappings_take(struct remote_unwind_modules *modules)
{
	unsigned before = modules->count;

	for (size_t i = modules->mapping_count; i-- > 0;)
		if (!is_listed(modules, modules->mappings[i].begin))
			mapping_take(modules, &modules->mappings[i]);
	if (modules->count == before)
		return false;
	qsort(modules->list, modules->count, sizeof(*modules->list), modules_compare);
	for (unsigned i = 0; i < modules->count; i++) {
		modules->list[i].cfi.slot = i;
		modules->is_go |= modules->list[i].is_go;
	}
	return true;
}

int remote_unwind_modules_read(struct remote_unwind_modules *modules, bool *is_new)
{
	int error = ESRCH;
	char *maps = modules->is_gone ? NULL : maps_read(modules->pid, &error);

	*is_new = false;
	if (maps && !maps[0]) { /* it is ending, and its memory is already unmapped */
		free(maps);
		maps = NULL;
		error = ESRCH;
	}
	if (!maps && modules->files) {
		modules->is_gone |= error == ESRCH || error == ENOENT;
		*is_new = mappings_take(modules);
		return modules->count ? 0 : error;
	}
	if (!maps)
		return error ? error : ENOMEM;
	if (modules->maps && !strcmp(maps, modules->maps)) {
		free(maps);
		return 0;
	}
	free(modules->maps);
	modules->maps = maps;
	*is_new = maps_take(modules);
	return 0;
}
