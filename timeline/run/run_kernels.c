/* SPDX-License-Identifier: Apache-2.0 */
/* run_kernels.c - see run_kernels.h. Reads binaries only through gpu_code.h, which trusts none of their
 * bytes. */
#include "timeline/run/run_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_code.h"

#define BYTES_MAX ((size_t)512 << 20) /* unpacked, of all binaries of a run */

struct kernel {
	const char *name, *file; /* file "": binaries do not agree */
	uint32_t line;
};

struct run_kernels {
	struct intern_table list; /* struct kernel */
	size_t bytes;
};

void run_kernels_free(struct run_kernels *kernels)
{
	if (kernels)
		intern_table_fini(&kernels->list);
	free(kernels);
}

static bool kernel_equal(const void *element, const void *key)
{
	return ((const struct kernel *)element)->name == key; /* interned */
}

static uint32_t kernel_find(const struct run_kernels *kernels, const char *name)
{
	return intern_table_find(&kernels->list, intern_table_hash(0, (uintptr_t)name), kernel_equal, name);
}

static void kernel_add(struct run *run, const char *name, const char *file, uint32_t line)
{
	struct kernel kernel = {
		run_intern(run, name, strlen(name)), run_intern(run, file, strlen(file)), line};
	uint32_t id = kernel_find(run->kernels, kernel.name);
	struct kernel *known;

	if (id != INTERN_TABLE_NONE) {
		known = intern_table_at(&run->kernels->list, id);
		if (known->file != kernel.file || known->line != kernel.line)
			known->file = "";
		return;
	}
	known = intern_table_add(&run->kernels->list, &id);
	if (known) {
		*known = kernel;
		intern_table_index(&run->kernels->list, id, intern_table_hash(0, (uintptr_t)kernel.name));
	}
}

static void binary_read(struct run *run, const void *bytes, size_t size)
{
	struct gpu_code *code;
	struct error error;
	const struct gpu_function *functions;
	const char *file;
	uint32_t line;
	size_t count;

	if (!gpu_code_is(bytes, size) || gpu_code_open(&code, bytes, size, &error))
		return;
	functions = gpu_code_functions(code, &count);
	for (size_t i = 0; i < count; i++)
		if (functions[i].is_kernel && gpu_code_line(code, functions[i].start, &file, &line))
			kernel_add(run, functions[i].name, file, line);
	gpu_code_close(code);
}

static void part_read(struct run *run, struct store_reader *reader)
{
	struct error error;
	uint64_t key = 0;

	while (store_reader_blob_next(reader, &key, &error) == 1 &&
		run->kernels->bytes < run_mem_bytes(run, 4, BYTES_MAX)) {
		void *bytes;
		size_t size;

		if (store_reader_blob(reader, key, &bytes, &size, &error) == 1) {
			run->kernels->bytes += size;
			binary_read(run, bytes, size);
			free(bytes);
		}
		if (key++ == UINT64_MAX)
			break;
	}
}

static bool has_gpu(const struct run *run)
{
	for (uint32_t i = 0; i < run_stream_count(run); i++)
		if (run_stream(run, i)->s.kind == STORE_STREAM_GPU)
			return true;
	return false;
}

void run_kernel_place(struct run *run, const char *symbol, size_t size, const char **file, uint32_t *line)
{
	const struct kernel *kernel;
	uint32_t id;

	if (!run->kernels) {
		if (!has_gpu(run))
			return;
		run->kernels = calloc(1, sizeof *run->kernels);
		if (!run->kernels)
			return;
		intern_table_init(&run->kernels->list, sizeof(struct kernel));
		for (unsigned i = 0; i < run->part_count; i++)
			part_read(run, run->parts[i].reader);
	}
	id = kernel_find(run->kernels, run_intern(run, symbol, size));
	kernel = id == INTERN_TABLE_NONE ? NULL : intern_table_at(&run->kernels->list, id);
	if (kernel && *kernel->file) {
		*file = kernel->file;
		*line = kernel->line;
	}
}
