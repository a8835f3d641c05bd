/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - see modules.h. */
#include "record/modules/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/modules/elf_symbols.h"
#include "store/base/content_id.h"

#define FILES_MAX 512 /* descriptors kept; modules beyond are named by their path */

static struct {
	int *fd; /* by store module: descriptor + 1; 0: none */
	uint32_t capacity;
	uint32_t open;
	bool have_openmp; /* see modules_have_openmp */
} files;

int modules_file(uint32_t module)
{
	return module < files.capacity ? files.fd[module] - 1 : -1;
}

bool modules_have_openmp(void)
{
	return files.have_openmp;
}

void modules_close(void)
{
	for (uint32_t i = 0; i < files.capacity; i++)
		if (files.fd[i])
			module_file_close(files.fd[i] - 1);
	free(files.fd);
	memset(&files, 0, sizeof(files));
}

static bool files_grow(uint32_t module)
{
	uint32_t room = module + 64;
	int *grown;

	if (module < files.capacity)
		return true;
	grown = realloc(files.fd, room * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + files.capacity, 0, (room - files.capacity) * sizeof(*grown));
	files.fd = grown;
	files.capacity = room;
	return true;
}

/* The descriptor becomes the table's. */
static void file_keep(uint32_t module, int fd)
{
	if (fd < 0)
		return;
	if (files.open >= FILES_MAX || !files_grow(module) || files.fd[module]) {
		module_file_close(fd);
		return;
	}
	files.fd[module] = fd + 1;
	files.open++;
}

/* ---- identities ---- */

#define CONTENTS_MAX 256 /* files that were read, of the last ones */

/* Files whose content was read, so that each program of thousands that start is read once. */
static struct {
	struct stat status;
	uint8_t id[CONTENT_ID_BYTES];
} contents[CONTENTS_MAX];
static unsigned contents_count;

static bool status_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool content_of(int fd, uint8_t id[CONTENT_ID_BYTES])
{
	struct stat status;
	unsigned known = contents_count < CONTENTS_MAX ? contents_count : CONTENTS_MAX;

	if (fstat(fd, &status))
		return false;
	for (unsigned i = 0; i < known; i++)
		if (status_is_same(&contents[i].status, &status)) {
			memcpy(id, contents[i].id, CONTENT_ID_BYTES);
			return true;
		}
	if (!content_id_of_file(fd, id))
		return false;
	contents[contents_count % CONTENTS_MAX].status = status;
	memcpy(contents[contents_count++ % CONTENTS_MAX].id, id, CONTENT_ID_BYTES);
	return true;
}

/* Of a module whose file is out of reach: such ones are the same where path and memory are; without a hash of
 * its memory each process has its own. */
static void id_of_memory(struct store_module *module, const struct module_file *file)
{
	char known[4096 + 64];
	int size = snprintf(known, sizeof(known), "%s %llx %u %llx", file->path,
		(unsigned long long)file->content_hash, file->content_hash ? 0 : file->pid,
		file->content_hash ? 0 : (unsigned long long)module->load_ns);

	content_id_of_memory(
		module->build_id, known, size < (int)sizeof(known) ? (size_t)size : sizeof(known) - 1);
}

static int file_read(const struct elf_source *source, uint64_t at, void *to, size_t bytes)
{
	return pread(source->file, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

static void openmp_look(int fd)
{
	struct elf_source source = {.read = file_read, .file = fd};
	struct stat status;

	if (fd < 0 || files.have_openmp || fstat(fd, &status))
		return;
	source.bytes = (uint64_t)status.st_size;
	/* (LLVM's runtime has GNU's names, too, and speaks for itself.) */
	files.have_openmp = elf_symbols_defines(&source, "GOMP_parallel") &&
			    !elf_symbols_defines(&source, "__kmpc_fork_call");
}

/* Enters the module and keeps its file. Without a build id it is known by what is in its file. */
static uint32_t module_add(
	struct store_writer *writer, struct store_module *module, const struct module_file *file)
{
	bool has_file = module->kind == STORE_MODULE_ELF;
	int fd = -1;
	uint32_t id;

	if (has_file && !module->build_id_bytes) {
		fd = module_file_open(file);
		if (fd < 0 || !content_of(fd, module->build_id))
			id_of_memory(module, file);
		module->build_id_bytes = CONTENT_ID_BYTES;
	}
	id = store_writer_module(writer, module);
	if (has_file && fd < 0 && modules_file(id) < 0 && files.open < FILES_MAX)
		fd = module_file_open(file);
	if (has_file && file->is_executable && modules_file(id) < 0)
		openmp_look(fd);
	if (has_file)
		file_keep(id, fd);
	return id;
}

uint32_t modules_enter(
	struct store_writer *writer, struct store_module *module, const struct module_file *file)
{
	char name[4096];
	const char *path = file->path;

	if (module->kind == STORE_MODULE_ELF && module_file_name(file, name, sizeof(name)))
		path = name;
	module->path = store_writer_text(writer, path, strlen(path));
	return module_add(writer, module, file);
}

/* A private copy: the program may change its memory while we look. */
static bool slot_copy(struct event_module *copy, struct event_module *slot)
{
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	if (state != EVENT_MODULE_LIVE && state != EVENT_MODULE_GONE)
		return false;
	memcpy(copy, slot, sizeof(*copy));
	copy->path[sizeof(copy->path) - 1] = '\0';
	return copy->build_id_bytes <= sizeof(copy->build_id);
}

#define MODULE_ANONYMOUS_BYTES 256

/* Addresses mean nothing in another process. Readers show what is before the comma
 * (timeline/run/run_frames.c). */
static void anonymous_name(char name[MODULE_ANONYMOUS_BYTES], const char *executable, uint32_t pid)
{
	const char *slash = strrchr(executable, '/');

	snprintf(name, MODULE_ANONYMOUS_BYTES, "[anonymous code of %.200s, process %u]",
		slash ? slash + 1 : executable, pid);
}

uint32_t modules_find(struct modules *modules, struct store_writer *writer, struct event_module *table,
	uint32_t slot, uint32_t pid, const char *executable)
{
	char own[MODULE_ANONYMOUS_BYTES];
	struct store_module module;
	struct event_module copy;
	struct module_file file;
	const char *path;
	bool is_python;
	uint32_t id;

	if (slot >= EVENT_MODULE_MAX)
		return MODULES_NONE;
	if (modules->ids[slot])
		return modules->ids[slot] - 1;
	if (!slot_copy(&copy, &table[slot]))
		return MODULES_NONE;
	anonymous_name(own, executable, pid);
	is_python = copy.language == EVENT_LANGUAGE_PYTHON;
	path = copy.is_anonymous ? own : is_python ? "[python]" : copy.path[0] ? copy.path : executable;
	module = (struct store_module){.kind = copy.is_anonymous ? STORE_MODULE_JIT
					       : is_python	 ? STORE_MODULE_PYTHON
					       : copy.is_vdso	 ? STORE_MODULE_VDSO
								 : STORE_MODULE_ELF,
		.build_id_bytes = copy.build_id_bytes,
		.load_ns = copy.loaded_ns,
		.is_hidden = copy.language == EVENT_LANGUAGE_INTERPRETER};
	memcpy(module.build_id, copy.build_id, copy.build_id_bytes);
	file = (struct module_file){.pid = pid,
		.path = path,
		.is_executable = !copy.path[0],
		.begin = copy.begin,
		.build_id = {.size = copy.build_id_bytes},
		.content_hash = copy.content_hash};
	memcpy(file.build_id.bytes, copy.build_id, copy.build_id_bytes);
	id = modules_enter(writer, &module, &file);
	if (copy.is_anonymous)
		modules->jit = id;
	if (is_python)
		modules->python = id;
	modules->ids[slot] = id + 1;
	return id;
}

void modules_unloaded(
	struct modules *modules, struct store_writer *writer, struct event_module *table, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < EVENT_MODULE_MAX; i++) {
		if (!modules->ids[i] || modules->gone[i] ||
			atomic_load_explicit(&table[i].state, memory_order_acquire) != EVENT_MODULE_GONE)
			continue;
		store_writer_module_unloaded(writer, modules->ids[i] - 1, atomic_load(&table[i].unloaded_ns));
		modules->gone[i] = 1;
	}
}
