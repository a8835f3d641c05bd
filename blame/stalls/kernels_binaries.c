/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_binaries.c - the binaries that samples are of: those that the run keeps, by key, and named files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/kernels_internal.h"
#include "store/base/array.h"

#define FILE_BYTES_MAX (1u << 30)

/* ---- files ---- */

static int bytes_read(FILE *file, struct kernels_binary *binary, const char *path, struct error *error)
{
	size_t room = 0, got;

	do {
		char *bytes = (char *)binary->bytes;

		if (!array_widen(&bytes, &room, binary->size, 1))
			return error_memory(error);
		binary->bytes = bytes;
		errno = 0;
		got = fread(bytes + binary->size, 1, room - binary->size, file);
		binary->size += got;
	} while (got && binary->size <= FILE_BYTES_MAX);
	if (ferror(file))
		return error_set(error, ERROR_USAGE, "--binary %s cannot be read: %s", path, strerror(errno));
	return got ? error_set(error, ERROR_USAGE, "--binary %s is larger than any GPU binary", path) : 0;
}

static int file_open(struct kernels_binary *binary, const char *path, struct error *error)
{
	FILE *file = fopen(path, "rbe");
	struct error why;
	int rc;

	if (!file)
		return error_set(error, ERROR_USAGE, "--binary %s cannot be read: %s", path, strerror(errno));
	rc = bytes_read(file, binary, path, error);
	fclose(file);
	if (rc == 0 && gpu_code_open(&binary->code, binary->bytes, binary->size, &why))
		rc = error_set(error, ERROR_USAGE, "--binary %s: %.400s", path, why.text);
	return rc;
}

int kernels_files_open(struct kernels *kernels, const struct kernels_options *options, struct error *error)
{
	int rc = 0;

	kernels->files = calloc(options->binary_count + 1, sizeof *kernels->files);
	if (!kernels->files)
		return error_memory(error);
	for (; kernels->file_count < options->binary_count && rc == 0; kernels->file_count++)
		rc = file_open(
			&kernels->files[kernels->file_count], options->binaries[kernels->file_count], error);
	return rc;
}

/* ---- by key ---- */

static bool blob_read(struct kernels *kernels, struct kernels_binary *binary)
{
	struct error ignored;

	for (unsigned i = 0; i < run_store_count(kernels->run); i++)
		if (store_reader_blob(run_store(kernels->run, i), binary->key, &binary->bytes, &binary->size,
			    &ignored) == 1)
			return true;
	return false;
}

/* A named file serves if it has code at the address. */
static struct gpu_code *file_with(struct kernels *kernels, uint64_t address)
{
	for (size_t i = 0; i < kernels->file_count; i++)
		if (gpu_code_at(kernels->files[i].code, address))
			return kernels->files[i].code;
	return NULL;
}

struct kernels_binary *kernels_binary_of(struct kernels *kernels, uint64_t key, uint64_t address)
{
	struct kernels_binary *binary;
	struct error ignored;

	for (size_t i = 0; i < kernels->binary_count; i++)
		if (kernels->binaries[i].key == key)
			return &kernels->binaries[i];
	if (!array_widen(&kernels->binaries, &kernels->binary_capacity, kernels->binary_count,
		    sizeof *kernels->binaries))
		return NULL;
	binary = &kernels->binaries[kernels->binary_count++];
	*binary = (struct kernels_binary){.key = key};
	if (blob_read(kernels, binary))
		gpu_code_open(&binary->code, binary->bytes, binary->size, &ignored);
	if (!binary->code) {
		binary->code = file_with(kernels, address);
		binary->is_of_file = binary->code;
	}
	return binary;
}

static void binary_close(struct kernels_binary *binary)
{
	if (!binary->is_of_file)
		gpu_code_close(binary->code);
	free(binary->bytes);
}

void kernels_binaries_close(struct kernels *kernels)
{
	for (size_t i = 0; i < kernels->binary_count; i++)
		binary_close(&kernels->binaries[i]);
	for (size_t i = 0; i < kernels->file_count; i++)
		binary_close(&kernels->files[i]);
	free(kernels->binaries);
	free(kernels->files);
}
