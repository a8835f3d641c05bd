/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_module_image.c - copies of mapped modules, here of this very process: what is read-only in memory is
 * as it is in the file, sections are none; headers that lie, which a program can map, cost at most their
 * bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/modules/module_image.h"
#include "record/modules/remote_unwind_modules.h"

static uint64_t libc_begin(const char **path)
{
	struct link_map *map;
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t word = 1, there;

	if (remote_unwind_read((uint32_t)getpid(), (uintptr_t)&word, &there, sizeof(there)))
		skip(); /* process_vm_readv is not for everybody, nor known to qemu-user */
	assert_non_null(libc);
	assert_int_equal(dlinfo(libc, RTLD_DI_LINKMAP, &map), 0);
	*path = map->l_name;
	return map->l_addr;
}

static bool bytes_are_same(int one, int other, uint64_t at, uint64_t size)
{
	uint8_t *a = malloc(size), *b = malloc(size);
	bool is_same = pread(one, a, size, (off_t)at) == (ssize_t)size &&
		       pread(other, b, size, (off_t)at) == (ssize_t)size && !memcmp(a, b, size);

	free(a);
	free(b);
	return is_same;
}

static void test_read_only_segments(void **state)
{
	const char *path;
	uint64_t begin = libc_begin(&path);
	int file = open(path, O_RDONLY), fd = module_image_open((uint32_t)getpid(), begin);
	const Elf64_Ehdr *header = (const void *)(uintptr_t)begin;
	const Elf64_Phdr *segment = (const void *)(uintptr_t)(begin + header->e_phoff);
	unsigned compared = 0;

	(void)state;
	assert_true(file >= 0 && fd >= 0);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && !(segment[i].p_flags & PF_W)) {
			assert_true(bytes_are_same(file, fd, segment[i].p_offset, segment[i].p_filesz));
			compared++;
		}
	assert_true(compared >= 2);
	module_image_close(fd);
	close(file);
}

/* Addresses as in the file, whatever the loader made of them; nothing that differs between processes. */
static void test_dynamic_section(void **state)
{
	const char *path;
	uint64_t begin = libc_begin(&path), found = 0;
	int fd = module_image_open((uint32_t)getpid(), begin);
	const Elf64_Ehdr *header = (const void *)(uintptr_t)begin;
	const Elf64_Phdr *segment = (const void *)(uintptr_t)(begin + header->e_phoff);
	Elf64_Dyn entry;
	Elf64_Ehdr copied;

	(void)state;
	assert_true(fd >= 0);
	module_image_finish(fd);
	assert_int_equal(pread(fd, &copied, sizeof(copied), 0), sizeof(copied));
	assert_true(!copied.e_shnum && !copied.e_shoff && copied.e_phnum == header->e_phnum);
	for (unsigned i = 0; i < header->e_phnum; i++)
		for (off_t at = 0; segment[i].p_type == PT_DYNAMIC && at < (off_t)segment[i].p_filesz;
			at += (off_t)sizeof(entry)) {
			assert_int_equal(pread(fd, &entry, sizeof(entry), (off_t)segment[i].p_offset + at),
				sizeof(entry));
			if (entry.d_tag == DT_SYMTAB || entry.d_tag == DT_STRTAB)
				found += entry.d_un.d_ptr < (64u << 20);
			assert_true(entry.d_tag != DT_RELA && entry.d_tag != DT_DEBUG);
		}
	assert_int_equal(found, 2);
	module_image_close(fd);
}

/* ---- what lies ---- */

struct lie {
	Elf64_Ehdr header;
	Elf64_Phdr segment[4];
};

static struct lie *lie;

static void lie_new(void)
{
	const char *path;

	libc_begin(&path);
	lie = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(lie != MAP_FAILED);
	memcpy(lie->header.e_ident, ELFMAG, SELFMAG);
	lie->header.e_ident[EI_CLASS] = ELFCLASS64;
	lie->header.e_phoff = offsetof(struct lie, segment);
	lie->header.e_phentsize = sizeof(Elf64_Phdr);
	lie->header.e_phnum = 4;
	lie->segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 4096};
}

static void lie_end(int fd)
{
	if (fd >= 0)
		module_image_close(fd);
	munmap(lie, 4096);
}

static int lie_told(void)
{
	return module_image_open((uint32_t)getpid(), (uintptr_t)lie);
}

static void test_segments_beyond_reason(void **state)
{
	int fd;

	(void)state;
	lie_new();
	lie->segment[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = UINT64_MAX - 8, .p_filesz = 64};
	fd = lie_told();
	assert_int_equal(fd, -1);
	lie->segment[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 8, .p_filesz = UINT64_MAX - 4};
	assert_int_equal(lie_told(), -1);
	lie->header.e_phnum = 65;
	assert_int_equal(lie_told(), -1);
	lie->header.e_phnum = 1;
	lie->segment[0].p_offset = 4096;
	assert_int_equal(lie_told(), -1);
	lie_end(fd);
}

/* A segment of gigabytes, of which pages are there only now and then; a dynamic section behind the file's
 * end. */
static void test_holes(void **state)
{
	struct stat status;
	int fd;

	(void)state;
	lie_new();
	lie->segment[1] = (Elf64_Phdr){.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_offset = 4096,
		.p_vaddr = 4096,
		.p_filesz = UINT64_C(8) << 30};
	lie->segment[2] =
		(Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = UINT64_C(1) << 40, .p_filesz = 1u << 30};
	lie->segment[3] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = 64, .p_vaddr = 1, .p_filesz = 4000};
	fd = lie_told();
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true((uint64_t)status.st_blocks * 512 <= MODULE_IMAGE_BYTES_MAX + 65536);
	lie_end(fd);
}

/* All images together are bounded, and what is closed counts no more. */
static void test_all_of_them(void **state)
{
	static int fd[8];
	size_t bytes = MODULE_IMAGE_BYTES_MAX;
	unsigned opened = 0;
	void *code;

	(void)state;
	lie_new();
	code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(code != MAP_FAILED);
	lie->segment[0].p_filesz = bytes;
	memcpy(code, lie, sizeof(*lie));
	for (unsigned i = 0; i < 8; i++) {
		fd[i] = module_image_open((uint32_t)getpid(), (uintptr_t)code);
		opened += fd[i] >= 0;
	}
	assert_int_equal(opened, 4);
	module_image_close(fd[0]);
	fd[0] = module_image_open((uint32_t)getpid(), (uintptr_t)code);
	assert_true(fd[0] >= 0);
	for (unsigned i = 0; i < opened; i++)
		module_image_close(fd[i]);
	munmap(code, bytes);
	lie_end(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_only_segments),
		cmocka_unit_test(test_dynamic_section),
		cmocka_unit_test(test_segments_beyond_reason),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
