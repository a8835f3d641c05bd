/* SPDX-License-Identifier: Apache-2.0 */
/* module_image.c - see module_image.h. */
#include "record/modules/module_image.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/modules/remote_unwind_modules.h"

#define SEGMENTS_MAX 64u
#define DYNAMIC_MAX 512u			   /* entries of a dynamic section */
#define FILE_BYTES_MAX (UINT64_C(16) << 30)	   /* of the image, which has holes */
#define ALL_BYTES_MAX (4 * MODULE_IMAGE_BYTES_MAX) /* of all images */
#define IMAGES_MAX 512u
#define BLOCK_BYTES (1u << 20)

struct image {
	uint32_t pid;
	uint64_t bias; /* runtime address - address in the program headers */
	uint64_t file_bytes;
	uint64_t left_bytes; /* that may be copied */
	uint8_t *bytes;	     /* of the file, mapped */
	unsigned segment_count;
	Elf64_Phdr segments[SEGMENTS_MAX];
};

/* Those that are open. */
static struct {
	unsigned count;
	uint64_t bytes; /* of all of them */
	struct {
		int fd;
		uint64_t bytes;
	} list[IMAGES_MAX];
} images;

/* ---- the headers ---- */

/* Where the file ends that has all segments; 0: they lie beyond reason. */
static uint64_t file_end(const struct image *image)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];

		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_offset > FILE_BYTES_MAX || s->p_filesz > FILE_BYTES_MAX - s->p_offset)
			return 0;
		end = s->p_offset + s->p_filesz > end ? s->p_offset + s->p_filesz : end;
	}
	return end;
}

static bool headers_read(struct image *image, uint64_t begin)
{
	Elf64_Ehdr header;

	if (remote_unwind_read(image->pid, begin, &header, sizeof(header)) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MAX ||
		remote_unwind_read(image->pid, begin + header.e_phoff, image->segments,
			header.e_phnum * sizeof(Elf64_Phdr)))
		return false;
	image->segment_count = header.e_phnum;
	image->file_bytes = file_end(image);
	for (unsigned i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_LOAD && !image->segments[i].p_offset) {
			image->bias = begin - image->segments[i].p_vaddr;
			return image->file_bytes >= sizeof(header);
		}
	return false;
}

/* ---- what is in memory as it is in the file ---- */

/* Leaves holes where pages are not there or may not be read. */
static void segment_copy(struct image *image, const Elf64_Phdr *segment)
{
	uint64_t from = image->bias + segment->p_vaddr, to = segment->p_offset;
	uint64_t size = segment->p_filesz < image->left_bytes ? segment->p_filesz : image->left_bytes;

	for (uint64_t at = 0; at < size; at += BLOCK_BYTES) {
		size_t bytes = size - at < BLOCK_BYTES ? (size_t)(size - at) : BLOCK_BYTES;

		image->left_bytes -=
			remote_unwind_read_some(image->pid, from + at, image->bytes + to + at, bytes);
	}
}

/* Names and unwind tables are in what can only be read, as a rule; linkers may put all beside the code. */
static void segments_copy(struct image *image)
{
	for (int code = 0; code < 2; code++)
		for (unsigned i = 0; i < image->segment_count; i++) {
			const Elf64_Phdr *s = &image->segments[i];

			if (s->p_type == PT_LOAD && !(s->p_flags & PF_W) && !(s->p_flags & PF_X) == !code)
				segment_copy(image, s);
		}
}

/* ---- the dynamic section, which the loader has written to ---- */

/* Which entries lead to the symbols; others, some of which differ from one process to the next, are left out.
 */
static bool is_of_symbols(int64_t tag)
{
	return tag == DT_SYMTAB || tag == DT_STRTAB || tag == DT_STRSZ || tag == DT_SYMENT ||
	       tag == DT_HASH || tag == DT_GNU_HASH;
}

static void entry_copy(const struct image *image, Elf64_Dyn *to, const Elf64_Dyn *from)
{
	bool is_address = from->d_tag != DT_STRSZ && from->d_tag != DT_SYMENT;

	*to = *from;
	if (is_address && from->d_un.d_ptr >= image->bias) /* glibc has added it, others have not */
		to->d_un.d_ptr -= image->bias;
}

static void dynamic_copy(const struct image *image, const Elf64_Phdr *segment)
{
	Elf64_Dyn from[DYNAMIC_MAX], to;
	uint64_t count = segment->p_filesz / sizeof(to), at = segment->p_offset;
	uint64_t bytes = (count < DYNAMIC_MAX ? count : DYNAMIC_MAX) * sizeof(to);

	if (segment->p_offset > image->file_bytes ||
		segment->p_filesz > image->file_bytes - segment->p_offset ||
		remote_unwind_read(image->pid, image->bias + segment->p_vaddr, from, bytes))
		return;
	memset(image->bytes + at, 0, bytes);
	for (unsigned i = 0; i < bytes / sizeof(to) && from[i].d_tag != DT_NULL; i++) {
		if (!is_of_symbols(from[i].d_tag))
			continue;
		entry_copy(image, &to, &from[i]);
		memcpy(image->bytes + at, &to, sizeof(to));
		at += sizeof(to);
	}
}

/* ---- the whole ---- */

static bool image_fill(struct image *image, int fd)
{
	void *bytes;

	if (ftruncate(fd, (off_t)image->file_bytes))
		return false;
	bytes = mmap(NULL, image->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	image->bytes = bytes;
	segments_copy(image);
	for (unsigned i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_DYNAMIC)
			dynamic_copy(image, &image->segments[i]);
	munmap(bytes, image->file_bytes);
	return true;
}

int module_image_open(uint32_t pid, uint64_t begin)
{
	uint64_t left = ALL_BYTES_MAX - images.bytes;
	uint64_t most = left < MODULE_IMAGE_BYTES_MAX ? left : MODULE_IMAGE_BYTES_MAX;
	struct image image = {.pid = pid, .left_bytes = most};
	int fd;

	if (!most || images.count == IMAGES_MAX || !headers_read(&image, begin))
		return -1;
	fd = memfd_create("hpct-module", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!image_fill(&image, fd) || image.left_bytes == most) {
		close(fd);
		return -1;
	}
	images.list[images.count].fd = fd;
	images.list[images.count++].bytes = most - image.left_bytes;
	images.bytes += most - image.left_bytes;
	return fd;
}

void module_image_close(int fd)
{
	for (unsigned i = 0; i < images.count; i++)
		if (images.list[i].fd == fd) {
			images.bytes -= images.list[i].bytes;
			images.list[i] = images.list[--images.count];
			break;
		}
	close(fd);
}

void module_image_finish(int fd)
{
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return;
	header.e_shoff = 0;
	header.e_shnum = header.e_shentsize = header.e_shstrndx = 0;
	if (pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return; /* hpct-names finds sections that are not there, and no names */
}
