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
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/kernel.h"
#include "store/reader.h"

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000100 T first\n"
			      "ffffffff81000200 t second\n"
			      "ffffffff81000210 d a_variable\n"
			      "ffffffffc0201000 t of_named\t[named]\n";
static const char modules[] = "named 8192 0 - Live 0xffffffffc0200000\n"
			      "stripped 4096 0 - Live 0xffffffffc0204000\n";

static FILE *of_text(const char *text, size_t size)
{
	return fmemopen((void *)(uintptr_t)text, size, "r");
}

static int open_symbols(void)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	assert_int_equal(write(fd, symbols, sizeof(symbols) - 1), sizeof(symbols) - 1);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* In front of the library's. */
int open(const char *path, int flags, ...)
{
	va_list rest;
	int mode = 0;

	if (!strcmp(path, "/proc/kallsyms"))
		return open_symbols();
	va_start(rest, flags);
	if (flags & O_CREAT)
		mode = va_arg(rest, int);
	va_end(rest);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	int fd;

	if (!strcmp(path, "/sys/kernel/notes")) /* nothing is kept of a kernel without a build id */
		return NULL;
	if (!strcmp(path, "/proc/modules"))
		return of_text(modules, sizeof(modules) - 1);
	fd = open(path, *mode == 'r' ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
