// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_gpu_code - hostile GPU binaries: any address has the innermost function that covers it or
 * none, and lines have a file. Seeds: tests/gpu/.
 */
#include <stdlib.h>

#include "timeline/gpu_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpu_code *code;
	struct error error;
	const struct gpu_function *functions;
	const char *file;
	uint32_t line;
	size_t count;

	if (gpu_code_open(&code, data, size, &error))
		return 0;
	functions = gpu_code_functions(code, &count);
	for (size_t i = 0; i < count && i < 4096; i++) {
		const struct gpu_function *f = gpu_code_at(code, functions[i].start);

		if (!f || functions[i].start < f->start || functions[i].start - f->start >= f->size)
			abort();
		if (gpu_code_line(code, functions[i].start, &file, &line) && (!file[0] || !line))
			abort();
	}
	gpu_code_close(code);
	return 0;
}
