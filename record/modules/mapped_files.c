/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_files.c - see mapped_files.h. */
#include "record/modules/mapped_files.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/base/regular_file.h"

#define HEADERS_MAX 64u
#define PAGE_BYTES UINT64_C(4096) /* the least: a larger one only rounds further */

static uint64_t page_down(uint64_t address)
{
	return address & ~(PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t address)
{
	return page_down(address + PAGE_BYTES - 1);
}

/* ---- opening ---- */

bool mapped_identity_is_same(const struct mapped_identity *one, const struct mapped_identity *other)
{
	return one->inode == other->inode && one->major == other->major && one->minor == other->minor &&
	       (one->generation == other->generation || !one->generation || !other->generation);
}

/* What the kernel says of a mapping of ours, which is of no byte that is read. */
static bool mapped_device(int fd, struct mapped_identity *identity)
{
	const char *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	FILE *maps = page != MAP_FAILED ? fopen("/proc/self/maps", "re") : NULL;
	char *line = NULL;
	bool is_found = false;
	size_t room = 0;

	while (maps && !is_found && getline(&line, &room, maps) > 0) {
		unsigned long begin, end;

		is_found = sscanf(line, "%lx-%lx %*s %*x %x:%x %" SCNu64, &begin, &end, &identity->major,
				   &identity->minor, &identity->inode) == 5 &&
			   begin <= (uintptr_t)page && (uintptr_t)page < end;
	}
	free(line);
	if (maps)
		fclose(maps);
	if (page != MAP_FAILED)
		munmap((void *)(uintptr_t)page, PAGE_BYTES);
	return is_found;
}

/* Where files lie above others, kernels differ in whose device and generation they tell of a mapping. */
static bool is_overlaid(int fd)
{
	struct statfs status;

	return !fstatfs(fd, &status) && status.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* False: the file system does not tell, and so it is taken for the same. */
static bool is_other_generation(int fd, uint64_t generation)
{
	uint64_t own = 0; /* most write four bytes, a daemon of FUSE as many as the request says: eight */

	return generation && !ioctl(fd, FS_IOC_GETVERSION, &own) && (uint32_t)own &&
	       (uint32_t)own != (uint32_t)generation;
}

/* A file system of several volumes (btrfs) has a device for each, which its mappings do not tell. */
static bool is_mapped_one(int fd, const struct stat *status, const struct mapped_identity *wanted)
{
	struct mapped_identity own = {
		status->st_ino, major(status->st_dev), minor(status->st_dev), wanted->generation};

	if (own.inode != wanted->inode)
		return false;
	if (is_overlaid(fd))
		return true;
	return (mapped_identity_is_same(&own, wanted) ||
		       (mapped_device(fd, &own) && mapped_identity_is_same(&own, wanted))) &&
	       !is_other_generation(fd, wanted->generation);
}

static int file_open(const char *place, const struct mapped_identity *wanted)
{
	struct stat status;
	int fd = regular_file_open(place, 0, &status);

	if (fd < 0 || is_mapped_one(fd, &status, wanted))
		return fd;
	close(fd);
	return -1;
}

static int path_open(const uint32_t pids[2], const char *path, const struct mapped_identity *wanted)
{
	char place[4096 + 32];
	int fd = -1;

	for (unsigned i = 0; i < 2 && fd < 0; i++) {
		if (!pids[i])
			continue;
		snprintf(place, sizeof(place), "/proc/%u/root%.4095s", pids[i], path);
		fd = file_open(place, wanted);
	}
	return fd < 0 ? file_open(path, wanted) : fd;
}

static bool segments_read(struct mapped_file *file)
{
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr elf;
	ssize_t bytes;

	if (pread(file->fd, &elf, sizeof(elf), 0) != sizeof(elf) ||
		memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
		elf.e_phentsize != sizeof(*headers) || elf.e_phnum > HEADERS_MAX)
		return false;
	bytes = (ssize_t)(elf.e_phnum * sizeof(*headers));
	if (pread(file->fd, headers, (size_t)bytes, (off_t)elf.e_phoff) != bytes)
		return false;
	for (unsigned i = 0; i < elf.e_phnum && file->count < MAPPED_SEGMENTS_MAX; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < UINT64_MAX - PAGE_BYTES &&
			headers[i].p_filesz < UINT64_MAX - PAGE_BYTES - headers[i].p_vaddr)
			file->segments[file->count++] = (struct mapped_segment){headers[i].p_vaddr,
				headers[i].p_offset, headers[i].p_filesz, (headers[i].p_flags & PF_W) != 0,
				(headers[i].p_flags & PF_X) != 0};
	return file->count > 0;
}

static void file_close(struct mapped_file *file)
{
	if (file->path)
		close(file->fd);
	free(file->path);
	*file = (struct mapped_file){.path = NULL};
}

/* A free place, or that of the file which was not used for longest. */
static struct mapped_file *place_find(struct mapped_files *files)
{
	struct mapped_file *oldest = &files->list[0];

	for (unsigned i = 1; i < MAPPED_FILES_MAX && oldest->path; i++)
		if (!files->list[i].path || files->list[i].used < oldest->used)
			oldest = &files->list[i];
	file_close(oldest);
	return oldest;
}

static struct mapped_file *file_add(struct mapped_files *files, const uint32_t pids[2], const char *path,
	const struct mapped_identity *identity)
{
	struct mapped_file file = {.identity = *identity}, *place;

	file.fd = path[0] == '/' ? path_open(pids, path, identity) : -1;
	if (file.fd < 0)
		return NULL;
	file.path = segments_read(&file) ? strdup(path) : NULL;
	if (!file.path) {
		close(file.fd);
		return NULL;
	}
	place = place_find(files);
	*place = file;
	return place;
}

const struct mapped_file *mapped_files_find(struct mapped_files *files, const uint32_t pids[2],
	const char *path, const struct mapped_identity *identity)
{
	struct mapped_file *file = NULL;

	for (unsigned i = 0; i < MAPPED_FILES_MAX && !file; i++)
		if (files->list[i].path && mapped_identity_is_same(&files->list[i].identity, identity) &&
			!strcmp(files->list[i].path, path))
			file = &files->list[i];
	file = file ? file : file_add(files, pids, path, identity);
	if (file)
		file->used = ++files->uses;
	return file;
}

void mapped_files_fini(struct mapped_files *files)
{
	for (unsigned i = 0; i < MAPPED_FILES_MAX; i++)
		file_close(&files->list[i]);
}

/* ---- reading ---- */

/* Pages are mapped whole: what follows the segment in its last one is there, too, or zeros behind the file.
 */
static int bytes_read(int fd, const struct mapped_segment *segment, uint64_t into, void *to, size_t bytes)
{
	ssize_t got = pread(fd, to, bytes, (off_t)(segment->offset + into));

	if (got < 0 || ((size_t)got < bytes && into + (size_t)got < segment->bytes))
		return -EFAULT;
	memset((char *)to + got, 0, bytes - (size_t)got);
	return 0;
}

int mapped_file_read(const struct mapped_file *file, uint64_t address, void *to, size_t bytes)
{
	for (unsigned i = 0; i < file->count; i++) {
		const struct mapped_segment *segment = &file->segments[i];
		uint64_t end = page_up(segment->address + segment->bytes);

		if (!segment->is_written && address >= segment->address && address < end &&
			end - address >= bytes)
			return bytes_read(file->fd, segment, address - segment->address, to, bytes);
	}
	return -EFAULT;
}

bool mapped_file_place(const struct mapped_file *file, uint64_t address, uint64_t offset, uint64_t *bias,
	uint64_t *begin, uint64_t *end)
{
	uint64_t low = UINT64_MAX, high = 0;
	bool is_found = false;

	for (unsigned i = 0; i < file->count; i++) {
		const struct mapped_segment *segment = &file->segments[i];
		uint64_t last = segment->address + segment->bytes;

		if (!is_found && segment->is_code && offset >= page_down(segment->offset) &&
			offset < segment->offset + segment->bytes) {
			*bias = address - (offset - segment->offset) - segment->address;
			is_found = true;
		}
		low = segment->address < low ? segment->address : low;
		high = last > high ? last : high;
	}
	if (is_found) {
		*begin = *bias + page_down(low);
		*end = *bias + page_up(high);
	}
	return is_found;
}
