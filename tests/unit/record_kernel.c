/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_kernel.c - names of frames in a stated kernel: what /proc tells is answered by this file. A symbol
 * names what follows it in its own module alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/kernel/kernel.h"
#include "store/read/reader.h"

static const char symbols[] = "0000000000001000 A a_processors_own\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000100 T first\n"
			      "ffffffff81000200 t second\n"
			      "ffffffff81000210 d a_variable\n"
			      "ffffffffc0201000 t of_named\t[named]\n";
static const char modules[] = "named 8192 0 - Live 0xffffffffc0200000\n"
			      "stripped 4096 0 - Live 0xffffffffc0204000\n";

/* A file with what this test states; what else is below /proc and /sys is not there. -1: another path. */
static int stated_open(const char *path)
{
	const char *text = !strcmp(path, "/proc/kallsyms")  ? symbols
			   : !strcmp(path, "/proc/modules") ? modules
							    : "";
	int fd;

	if (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0)
		return -1;
	fd = memfd_create("stated", MFD_CLOEXEC);
	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* Both in front of the library's. */
int open(const char *path, int flags, ...)
{
	int fd = stated_open(path);

	return fd < 0 ? (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600) : fd;
}

FILE *fopen(const char *path, const char *mode)
{
	int fd = open(path, *mode == 'r' ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, *mode == 'r' ? "r" : "w");
}

static const struct stated {
	uint64_t address, module_begin;
	const char *name; /* NULL: none */
} stated[] = {
	{0xffffffff81000101, 0xffffffff81000000, "first"}, {0xffffffff810001ff, 0xffffffff81000000, "first"},
	{0xffffffff81000300, 0xffffffff81000000, "second"},
	{0xffffffffc0200800, 0xffffffffc0200000, NULL}, /* ahead of the module's first */
	{0xffffffffc0201234, 0xffffffffc0200000, "of_named"}, {0xffffffffc0204010, 0xffffffffc0204000, NULL},
	{0xffffffffc0300000, 0xffffffff81000000, NULL}, /* behind all modules */
};

#define COUNT (sizeof(stated) / sizeof(stated[0]))

static void frame_check(struct store_reader *reader, uint32_t id, const struct stated *frame)
{
	uint32_t count;
	const struct store_context *context = &store_reader_contexts(reader, &count)[id];
	struct store_scope scopes[STORE_SCOPE_MAX];
	struct error error;
	size_t size;
	int got;

	assert_true(id < count);
	assert_int_equal(context->offset, frame->address - frame->module_begin);
	got = store_reader_symbol(reader, context->module, context->offset, scopes, &error);
	if (frame->name && got == 1)
		assert_string_equal(store_reader_text(reader, scopes[0].name, &size), frame->name);
	assert_int_equal(got, frame->name != NULL);
}

static void test_names(void **unused)
{
	char path[64];
	struct store_writer *writer;
	struct store_reader *reader;
	struct error error;
	uint32_t contexts[COUNT];

	(void)unused;
	snprintf(path, sizeof(path), "/tmp/hpct-kernel-%d.mdb", (int)getpid());
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	for (size_t i = 0; i < COUNT; i++)
		contexts[i] = kernel_context(writer, STORE_CONTEXT_PROGRAM_ROOT, &stated[i].address, 1);
	kernel_name(writer, true);
	kernel_close();
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_open(&reader, path, &error), 0);
	for (size_t i = 0; i < COUNT; i++)
		frame_check(reader, contexts[i], &stated[i]);
	store_reader_close(reader);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
