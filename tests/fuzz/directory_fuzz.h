/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_fuzz.h - a libFuzzer target for an import of a directory, DIRECTORY_FUZZ(FORMAT, NAMES): the
 * input is the files one behind the other, each with its length before it, in the order of their names.
 *
 *   input | size u24 | bytes ... | size u24 | bytes ... |     the last one may be short; size 0: no such file
 */
#ifndef TESTS_FUZZ_DIRECTORY_FUZZ_H
#define TESTS_FUZZ_DIRECTORY_FUZZ_H

#include "tests/fuzz/import_fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char directory_path[64];

static inline int directory_fuzz_begin(void)
{
	static char directory[] = "/dev/shm/hpct-fuzz-in.XXXXXX";

	if (!mkdtemp(directory))
		abort();
	snprintf(directory_path, sizeof directory_path, "%s/d", directory);
	return import_fuzz_begin();
}

static inline void directory_fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	char path[192];
	int fd;

	if (!size)
		return;
	snprintf(path, sizeof path, "%s/%s", directory_path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static inline int directory_fuzz_one(const struct format *format, const char *const *names, size_t count,
	const char *folder, const uint8_t *data, size_t size)
{
	struct format_input input = {.name = "input", .fd = -1};
	struct error error;
	char path[192];
	int code;

	snprintf(path, sizeof path, "%s/%s", directory_path, folder);
	if (mkdir(directory_path, 0700) || (*folder && mkdir(path, 0700)))
		abort();
	for (size_t i = 0; i < count && size >= 3; i++) {
		size_t length = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;

		data += 3;
		size -= 3;
		length = length < size ? length : size;
		directory_fuzz_file(names[i], data, length);
		data += length;
		size -= length;
	}
	snprintf(path, sizeof path, "%s/%s", directory_path, names[0]);
	input.path = input.name = path;
	input.in = fopen(path, "r");
	input.fd = input.in ? fileno(input.in) : -1;
	if (input.in) {
		code = format->take(&input, import_path, &error);
		if (code == 0 || input.is_kept)
			import_fuzz_check();
		else if (!access(import_path, F_OK))
			abort();
		fclose(input.in);
	}
	store_bytes_fini(&input.left_out);
	import_fuzz_remove(import_path);
	import_fuzz_remove(directory_path);
	return 0;
}

/* `folder`: of files whose names have it before them; "": none. */
#define DIRECTORY_FUZZ(format, names, folder)                                                   \
	int LLVMFuzzerInitialize(int *argc, char ***argv);                                      \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                           \
	int LLVMFuzzerInitialize(int *argc, char ***argv)                                       \
	{                                                                                       \
		(void)argc, (void)argv;                                                         \
		return directory_fuzz_begin();                                                  \
	}                                                                                       \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                            \
	{                                                                                       \
		return directory_fuzz_one(                                                      \
			&(format), names, sizeof(names) / sizeof *(names), folder, data, size); \
	}                                                                                       \
	_Static_assert(1, "the macro wants a semicolon")

#endif
