/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - see modules.h. */
#include "record/process/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 512 /* open descriptors; further modules are identified by path */

static struct {
	int *fd; /* by store module: descriptor + 1; 0: none */
	uint32_t capacity;
	uint32_t open;
} files;

int modules_file(uint32_t module)
{
	return module < files.capacity ? files.fd[module] - 1 : -1;
}

void modules_close(void)
{
	for (uint32_t i = 0; i < files.capacity; i++)
		if (files.fd[i])
			close(files.fd[i] - 1);
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

/* True if the kernel executes the program at `path` itself; under an emulator it executes the emulator. */
static bool is_executed(uint32_t pid, const char *path)
{
	char place[32], own[4096];
	ssize_t length;

	snprintf(place, sizeof(place), "/proc/%u/exe", pid);
	length = readlink(place, own, sizeof(own) - 1);
	own[length > 0 ? length : 0] = '\0'; /* " (deleted)" may follow */
	return length <= 0 || !strncmp(own, path, strlen(path));
}

/* Opens the file as the process sees it, in its mount namespace; an executable may be deleted. */
void modules_keep(uint32_t module, uint32_t pid, const char *path, bool is_executable)
{
	char place[64 + sizeof(((struct event_module *)0)->path) + 4096];
	struct stat status;
	int fd;

	if (path[0] != '/' || files.open >= FILES_MAX || !files_grow(module) || files.fd[module])
		return;
	if (is_executable && is_executed(pid, path))
		snprintf(place, sizeof(place), "/proc/%u/exe", pid);
	else
		snprintf(place, sizeof(place), "/proc/%u/root%s", pid, path);
	fd = open(place, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		return;
	}
	files.fd[module] = fd + 1;
	files.open++;
}

/* A private copy, since the program may change the slot at any time. */
static bool slot_copy(struct event_module *copy, struct event_module *slot)
{
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	if (state != EVENT_MODULE_LIVE && state != EVENT_MODULE_GONE)
		return false;
	memcpy(copy, slot, sizeof(*copy));
	copy->path[sizeof(copy->path) - 1] = '\0';
	return copy->build_id_bytes <= sizeof(copy->build_id);
}

static uint32_t module_add(struct store_writer *writer, const struct event_module *slot, const char *path)
{
	struct store_module module = {.build_id_bytes = slot->build_id_bytes, .load_ns = slot->loaded_ns};

	memcpy(module.build_id, slot->build_id, slot->build_id_bytes);
	module.kind = slot->is_anonymous ? STORE_MODULE_JIT
		      : slot->is_vdso	 ? STORE_MODULE_VDSO
					 : STORE_MODULE_ELF;
	module.path = store_writer_text(writer, path, strlen(path));
	return store_writer_module(writer, &module);
}

uint32_t modules_find(struct modules *modules, struct store_writer *writer, struct event_module *table,
	uint32_t slot, uint32_t pid, const char *executable)
{
	char own[40]; /* addresses are meaningless in another process */
	struct event_module copy;
	const char *path;
	uint32_t id;

	if (slot >= EVENT_MODULE_MAX)
		return MODULES_NONE;
	if (modules->ids[slot])
		return modules->ids[slot] - 1;
	if (!slot_copy(&copy, &table[slot]))
		return MODULES_NONE;
	snprintf(own, sizeof(own), "[anonymous %u]", pid);
	path = copy.is_anonymous ? own : copy.path[0] ? copy.path : executable;
	id = module_add(writer, &copy, path);
	if (!copy.is_anonymous && !copy.is_vdso)
		modules_keep(id, pid, path, !copy.path[0]);
	if (copy.is_anonymous)
		modules->jit = id;
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
