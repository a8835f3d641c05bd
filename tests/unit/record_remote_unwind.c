/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_remote_unwind.c - modules and unwind tables read out of a process, here this very one: what is asked
 * for is copied, once, and little more; what stays mapped is kept when other mappings change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/modules/remote_unwind_modules.h"

#define FUNCTIONS 3

static struct remote_unwind_modules modules;
static struct cfi_scratch scratch;

static int set_up(void **state)
{
	(void)state;
	modules = (struct remote_unwind_modules){.pid = (uint32_t)getpid()};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remote_unwind_modules_fini(&modules);
	return 0;
}

static bool modules_read(void)
{
	uint64_t word = 1, there;
	bool is_new;

	if (remote_unwind_read(modules.pid, (uintptr_t)&word, &there, sizeof(there)))
		skip(); /* process_vm_readv is not for everybody, nor known to qemu-user */
	assert_int_equal(remote_unwind_modules_read(&modules, &is_new), 0);
	return is_new;
}

/* The tables of all of them are found, whatever was asked for before. */
static void rows_find(void)
{
	const uint64_t pcs[FUNCTIONS] = {
		(uintptr_t)rows_find, (uintptr_t)qsort, (uintptr_t)_cmocka_run_group_tests};

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		struct remote_unwind_module *module = remote_unwind_modules_find(&modules, pcs[i] + 1);

		assert_non_null(module);
		remote_unwind_modules_tables(&modules, module, pcs[i] + 1);
		assert_int_equal(cfi_row_find(&module->cfi, pcs[i] + 1, &scratch), 0);
		assert_int_equal(scratch.pc_begin, pcs[i]);
		assert_int_equal(scratch.row.cfa.kind, CFI_REGISTER);
	}
}

static void test_tables_are_copied_in_part(void **state)
{
	struct remote_unwind_module *libc;
	uint64_t copied;

	(void)state;
	assert_true(modules_read());
	assert_int_equal(modules.copied_bytes, 0);
	rows_find();
	libc = remote_unwind_modules_find(&modules, (uintptr_t)qsort);
	assert_true(libc->copied_bytes > 0);
	assert_true(libc->copied_bytes < (libc->tables_end - libc->tables_begin) / 2);
	copied = modules.copied_bytes;
	rows_find();
	assert_int_equal(modules.copied_bytes, copied);
}

static void test_what_stays_is_kept(void **state)
{
	const uint8_t *bytes;
	uint64_t copied;
	void *library, *pages;

	(void)state;
	modules_read();
	rows_find();
	copied = modules.copied_bytes;
	bytes = remote_unwind_modules_find(&modules, (uintptr_t)qsort)->cfi.image.bytes;
	pages = mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_false(modules_read());
	library = dlopen("libresolv.so.2", RTLD_NOW);
	assert_non_null(library);
	assert_true(modules_read());
	assert_ptr_equal(remote_unwind_modules_find(&modules, (uintptr_t)qsort)->cfi.image.bytes, bytes);
	for (unsigned i = 0; i < modules.count; i++)
		assert_int_equal(modules.list[i].cfi.slot, i);
	dlclose(library);
	munmap(pages, 1 << 20);
	rows_find();
	assert_int_equal(modules.copied_bytes, copied);
}

static void test_places_between_modules(void **state)
{
	(void)state;
	modules_read();
	assert_null(remote_unwind_modules_find(&modules, 0));
	assert_null(remote_unwind_modules_find(&modules, UINT64_MAX));
	for (unsigned i = 0; i < modules.count; i++) {
		assert_ptr_equal(
			remote_unwind_modules_find(&modules, modules.list[i].cfi.begin), &modules.list[i]);
		assert_ptr_equal(
			remote_unwind_modules_find(&modules, modules.list[i].cfi.end - 1), &modules.list[i]);
	}
}

/* Whoever has ended, but was not waited for, has no memory that could be refused. */
static void test_who_has_ended_refuses_nothing(void **state)
{
	siginfo_t info;
	pid_t child = fork();
	bool is_new;
	int refused;

	(void)state;
	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	modules.pid = (uint32_t)child;
	assert_int_equal(remote_unwind_modules_read(&modules, &is_new), ESRCH);
	refused = remote_unwind_read(modules.pid, (uintptr_t)&is_new, &is_new, 1);
	if (refused != -ENOSYS) /* qemu-user knows no process_vm_readv */
		assert_int_equal(refused, -ESRCH);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A child with the same memory that has ended and was not waited for. */
static pid_t ended_child(void)
{
	siginfo_t info;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	return child;
}

/* Code and constants as the files have them; what the process may have written is not known. */
static void memory_stands_in(void)
{
	static char written[64];
	uint8_t bytes[64];

	assert_int_equal(remote_unwind_modules_memory(&modules, (uintptr_t)qsort, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes, (const void *)(uintptr_t)qsort, sizeof(bytes));
	assert_int_equal(
		remote_unwind_modules_memory(&modules, (uintptr_t)memory_stands_in, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes, (const void *)(uintptr_t)memory_stands_in, sizeof(bytes));
	assert_int_not_equal(
		remote_unwind_modules_memory(&modules, (uintptr_t)written, bytes, sizeof(bytes)), 0);
	rows_find();
}

static void test_files_stand_in_for_who_has_ended(void **state)
{
	static struct mapped_files files;
	struct remote_unwind_modules parent;
	bool is_new;
	pid_t child;

	(void)state;
	modules_read();
	parent = modules;
	child = ended_child();
	modules = (struct remote_unwind_modules){.pid = (uint32_t)child, .files = &files};
	remote_unwind_modules_inherit(&modules, &parent);
	assert_int_equal(remote_unwind_modules_read(&modules, &is_new), 0);
	assert_false(is_new);
	assert_true(modules.is_gone);
	memory_stands_in();
	remote_unwind_modules_fini(&parent);
	mapped_files_fini(&files);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* What the kernel tells of each mapping of code, here as /proc/self/maps has it; inodes are `shift` higher.
 */
static void mappings_tell(uint32_t shift)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352], path[4096];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct mapped_identity identity = {0};
		unsigned long begin, offset;
		char access[8];

		if (sscanf(line, "%lx-%*x %7s %lx %x:%x %" SCNu64 " %4095s", &begin, access, &offset,
			    &identity.major, &identity.minor, &identity.inode, path) != 7 ||
			access[2] != 'x')
			continue;
		identity.inode += shift;
		remote_unwind_modules_mapped(&modules, begin, offset, &identity, path);
	}
	fclose(maps);
}

static void test_mappings_stand_in_for_a_list(void **state)
{
	static struct mapped_files files;
	bool is_new;
	pid_t child;

	(void)state;
	modules_read();
	remote_unwind_modules_fini(&modules);
	child = ended_child();
	modules = (struct remote_unwind_modules){.pid = (uint32_t)child, .files = &files};
	for (unsigned i = 0; i < 5000; i++) /* a compiler's, at run time */
		remote_unwind_modules_mapped(
			&modules, 4096 * (i + 1), 0, &(struct mapped_identity){0}, "//anon");
	mappings_tell(1); /* other files stand at these paths by now */
	remote_unwind_modules_read(&modules, &is_new);
	assert_null(remote_unwind_modules_find(&modules, (uintptr_t)qsort));
	mappings_tell(0);
	assert_int_equal(remote_unwind_modules_read(&modules, &is_new), 0);
	assert_true(is_new);
	for (unsigned i = 0; i < modules.count; i++)
		assert_int_equal(modules.list[i].cfi.slot, i);
	memory_stands_in();
	assert_int_equal(remote_unwind_modules_read(&modules, &is_new), 0);
	assert_false(is_new);
	mapped_files_fini(&files);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static struct mapped_identity identity_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return (struct mapped_identity){
		.inode = status.st_ino, .major = major(status.st_dev), .minor = minor(status.st_dev)};
}

/* An image of one segment, as a file. */
static void image_write(int fd)
{
	const struct {
		Elf64_Ehdr elf;
		Elf64_Phdr segment;
	} image = {{.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1},
		{.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 4096, .p_filesz = 5000}};

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &image, sizeof(image), 0), sizeof(image));
}

/* The same path and the same number of an inode, on another device. */
static void test_a_file_of_another_device_is_another(void **state)
{
	static struct mapped_files files;
	const uint32_t pids[2] = {0, 0};
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	struct mapped_identity identity, other;
	const struct mapped_file *file;
	char path[40];

	(void)state;
	image_write(fd);
	identity = other = identity_of(fd);
	other.minor++;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_null(mapped_files_find(&files, pids, path, &other));
	file = mapped_files_find(&files, pids, path, &identity);
	assert_non_null(file);
	assert_ptr_equal(mapped_files_find(&files, pids, path, &identity), file);
	assert_null(mapped_files_find(&files, pids, path, &other)); /* nor the one that is open */
	close(fd);
	mapped_files_fini(&files);
}

/* A file that has got the number of one that was removed. */
static void test_a_file_of_another_generation_is_another(void **state)
{
	static struct mapped_files files;
	const uint32_t pids[2] = {0, 0};
	char path[] = "/tmp/hpct-mapped-XXXXXX";
	int fd = mkstemp(path);
	struct mapped_identity identity;
	struct statfs system;
	uint32_t generation = 0;

	(void)state;
	image_write(fd);
	identity = identity_of(fd);
	assert_int_equal(fstatfs(fd, &system), 0);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) || !generation ||
		system.f_type == OVERLAYFS_SUPER_MAGIC) {
		unlink(path);
		print_message("the file system of /tmp tells no generations\n");
		skip();
	}
	identity.generation = generation ^ 1u;
	assert_null(mapped_files_find(&files, pids, path, &identity));
	identity.generation = generation;
	assert_non_null(mapped_files_find(&files, pids, path, &identity));
	identity.generation = generation ^ 1u;
	assert_null(mapped_files_find(&files, pids, path, &identity));
	identity.generation = 0;
	assert_non_null(mapped_files_find(&files, pids, path, &identity));
	close(fd);
	unlink(path);
	mapped_files_fini(&files);
}

/* A file that is cut short while it is open gives an error, not zeros for what is gone. */
static void test_a_file_that_is_cut_short_is_an_error(void **state)
{
	static struct mapped_files files;
	static char all[64u << 20];
	const uint32_t pids[2] = {0, 0};
	char path[] = "/tmp/hpct-mapped-XXXXXX", word[8];
	const struct mapped_file *file;
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = mkstemp(path);
	ssize_t bytes = read(own, all, sizeof(all));
	struct mapped_identity identity;

	(void)state;
	assert_true(own >= 0 && fd >= 0 && bytes > 0);
	assert_int_equal(write(fd, all, (size_t)bytes), bytes);
	identity = identity_of(fd);
	file = mapped_files_find(&files, pids, path, &identity);
	assert_non_null(file);
	assert_int_equal(mapped_file_read(file, file->segments[0].address, word, sizeof(word)), 0);
	assert_memory_equal(word, all, sizeof(word));
	assert_int_equal(ftruncate(fd, 4), 0);
	assert_int_equal(mapped_file_read(file, file->segments[0].address, word, sizeof(word)), -EFAULT);
	close(own);
	close(fd);
	unlink(path);
	mapped_files_fini(&files);
}

/* A file whose only segment would end behind the last address is none that is mapped. */
static void test_a_segment_behind_all_addresses_is_none(void **state)
{
	static struct mapped_files files;
	const uint32_t pids[2] = {0, 0};
	struct {
		Elf64_Ehdr elf;
		Elf64_Phdr segment;
	} image = {{.e_ident = ELFMAG,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1},
		{.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = UINT64_MAX - 100, .p_filesz = 5000}};
	char path[] = "/tmp/hpct-mapped-XXXXXX";
	int fd = mkstemp(path);
	struct mapped_identity identity;

	(void)state;
	image.elf.e_ident[EI_CLASS] = ELFCLASS64;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &image, sizeof(image), 0), sizeof(image));
	identity = identity_of(fd);
	assert_null(mapped_files_find(&files, pids, path, &identity));
	image.segment.p_vaddr = 4096;
	assert_int_equal(pwrite(fd, &image, sizeof(image), 0), sizeof(image));
	assert_non_null(mapped_files_find(&files, pids, path, &identity));
	close(fd);
	unlink(path);
	mapped_files_fini(&files);
}

/* A stack is read to its end, wherever that is, by one call. */
static void test_what_is_there_is_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *copy = malloc(4 * page);

	(void)state;
	assert_true(pages != MAP_FAILED && copy);
	memset(pages, 7, 4 * page);
	modules_read();
	assert_int_equal(remote_unwind_read_some(modules.pid, (uintptr_t)pages, copy, 4 * page), 4 * page);
	munmap(pages + 3 * page, page);
	memset(copy, 0, 4 * page);
	assert_int_equal(
		remote_unwind_read_some(modules.pid, (uintptr_t)pages + 100, copy, 4 * page), 3 * page - 100);
	assert_memory_equal(copy, pages + 100, 3 * page - 100);
	munmap(pages, 3 * page);
	assert_int_equal(remote_unwind_read_some(modules.pid, (uintptr_t)pages, copy, 4 * page), 0);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tables_are_copied_in_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_stays_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_places_between_modules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_there_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_who_has_ended_refuses_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_stand_in_for_who_has_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mappings_stand_in_for_a_list, set_up, tear_down),
		cmocka_unit_test(test_a_file_of_another_device_is_another),
		cmocka_unit_test(test_a_file_of_another_generation_is_another),
		cmocka_unit_test(test_a_file_that_is_cut_short_is_an_error),
		cmocka_unit_test(test_a_segment_behind_all_addresses_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
