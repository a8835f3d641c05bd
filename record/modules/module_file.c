/* SPDX-License-Identifier: Apache-2.0 */
/* module_file.c - see module_file.h. */
#include "record/modules/module_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/modules/module_image.h"
#include "store/base/regular_file.h"
#include "store/ring/module_content.h"

#define PLACE_BYTES (64 + 4096)

/* ---- is it this file? ---- */

static bool bytes_add(int fd, uint64_t *hash, uint64_t offset, uint64_t size)
{
	uint8_t bytes[MODULE_CONTENT_CODE_MAX];

	if (size > sizeof(bytes) || pread(fd, bytes, size, (off_t)offset) != (ssize_t)size)
		return false;
	*hash = module_content_add(*hash, bytes, size);
	return true;
}

static bool has_content(int fd, uint64_t wanted)
{
	uint8_t page[MODULE_CONTENT_PAGE] = {0};
	struct module_content content;
	uint64_t hash = MODULE_CONTENT_SEED;

	return pread(fd, page, sizeof(page), 0) > 0 && module_content_place(page, &content) &&
	       bytes_add(fd, &hash, 0, content.header_bytes) &&
	       bytes_add(fd, &hash, content.code_offset, content.code_bytes) && hash == wanted;
}

static bool is_mapped_one(const struct module_file *file, int fd)
{
	if (file->build_id.size)
		return build_id_is_of_file(fd, file->build_id.bytes, file->build_id.size);
	return !file->content_hash || has_content(fd, file->content_hash);
}

static int file_open(const struct module_file *file, const char *place)
{
	struct stat status;
	int fd = regular_file_open(place, 0, &status);

	if (fd < 0 || is_mapped_one(file, fd))
		return fd;
	close(fd);
	return -1;
}

/* ---- the mapping ---- */

/* What the kernel says of the mapping at an address: a line of /proc/PID/maps. */
struct mapping {
	unsigned long begin, end;
	char name[4096];
};

static bool mapping_find(const struct module_file *file, struct mapping *mapping)
{
	char place[40], line[sizeof(mapping->name) + 128];
	bool is_found = false;
	FILE *maps;

	snprintf(place, sizeof(place), "/proc/%u/maps", file->pid);
	maps = fopen(place, "re");
	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		mapping->name[0] = '\0';
		is_found = sscanf(line, "%lx-%lx %*s %*s %*s %*s %4095[^\n]", &mapping->begin, &mapping->end,
				   mapping->name) >= 2 &&
			   file->begin >= mapping->begin && file->begin < mapping->end;
	}
	if (maps)
		fclose(maps);
	return is_found;
}

/* Readable for root, and with CAP_CHECKPOINT_RESTORE. */
static int mapping_open(const struct module_file *file)
{
	char place[80];
	struct mapping mapping;

	if (!mapping_find(file, &mapping))
		return -1;
	snprintf(place, sizeof(place), "/proc/%u/map_files/%lx-%lx", file->pid, mapping.begin, mapping.end);
	return file_open(file, place);
}

/* A copy of what is mapped. By then the module may be another, or none. */
static int image_open(const struct module_file *file)
{
	int fd = module_image_open(file->pid, file->begin);

	if (fd >= 0 && !is_mapped_one(file, fd)) {
		module_image_close(fd);
		return -1;
	}
	if (fd >= 0)
		module_image_finish(fd);
	return fd;
}

/* ---- paths of descriptors ---- */

/* The number behind /proc/self/fd/ and its kin; NULL: the path is none of these. */
static const char *descriptor_number(const char *path)
{
	unsigned pid;
	int length = 0;

	if (!strncmp(path, "/dev/fd/", 8))
		return path + 8;
	if (!strncmp(path, "/proc/self/fd/", 14))
		return path + 14;
	if (!strncmp(path, "/proc/thread-self/fd/", 21))
		return path + 21;
	if (sscanf(path, "/proc/%u/fd/%n", &pid, &length) == 1 && length)
		return path + length;
	return NULL;
}

bool module_file_name(const struct module_file *file, char *name, size_t bytes)
{
	static const char deleted[] = " (deleted)";
	struct mapping mapping;
	size_t length;

	if ((file->path[0] == '/' && !descriptor_number(file->path)) || !mapping_find(file, &mapping) ||
		mapping.name[0] != '/')
		return false;
	length = strlen(mapping.name);
	if (length > strlen(deleted) && !strcmp(mapping.name + length - strlen(deleted), deleted))
		mapping.name[length - strlen(deleted)] = '\0';
	snprintf(name, bytes, "%s", mapping.name);
	return true;
}

/* ---- the file ---- */

/* What the kernel executes, where that is the program that says so: under an emulator it is the emulator. */
static bool is_executed(const struct module_file *file)
{
	char place[32], own[4096];
	ssize_t length;

	snprintf(place, sizeof(place), "/proc/%u/exe", file->pid);
	length = readlink(place, own, sizeof(own) - 1);
	own[length > 0 ? length : 0] = '\0'; /* " (deleted)" may follow */
	return length <= 0 || !strncmp(own, file->path, strlen(file->path));
}

/* The file as the process sees it, which may be in another mount namespace; the executable may be deleted. */
static int path_open(const struct module_file *file)
{
	char place[PLACE_BYTES];
	const char *number = descriptor_number(file->path);
	int fd;

	if (number)
		snprintf(place, sizeof(place), "/proc/%u/fd/%.20s", file->pid, number);
	else if (file->is_executable && is_executed(file))
		snprintf(place, sizeof(place), "/proc/%u/exe", file->pid);
	else
		snprintf(place, sizeof(place), "/proc/%u/root%.4096s", file->pid, file->path);
	fd = file_open(file, place);
	return fd < 0 && !number ? file_open(file, file->path) : fd;
}

int module_file_open(const struct module_file *file)
{
	int fd = file->path[0] == '/' ? path_open(file) : -1;

	fd = fd < 0 ? mapping_open(file) : fd;
	return fd < 0 ? image_open(file) : fd;
}

void module_file_close(int fd)
{
	module_image_close(fd);
}
