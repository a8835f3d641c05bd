// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_gpu_code - hostile GPU binaries, ELF or patch tokens: any address has the innermost function
 * that covers it or none, lines have a file, code lies in the file, loops end. Seeds: tests/gpu/.
 */
#include <stdlib.h>

#include "timeline/code/gpu_code.h"
#include "timeline/code/loops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for_loops(struct gpu_code *code, const struct gpu_function *function)
{
	struct loops_function extent = {.entry = function->start};
	struct loops_one nest[LOOP_DEPTH_MAX];
	struct symbol_stretch any = {0, UINT64_MAX};
	uint64_t ranges[CFG_RANGES_MAX][2];
	struct loops *loops;

	if (loops_open_gpu(&loops, code))
		return;
	loops_allow(loops, 100000000);
	extent.range_count = gpu_code_extent(code, function, ranges, CFG_RANGES_MAX);
	for (unsigned i = 0; i < extent.range_count; i++)
		extent.ranges[i] = (struct cfg_range){ranges[i][0], ranges[i][1]};
	loops_find(loops, &extent, function->start, nest, &any);
	loops_close(loops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpu_code *code;
	struct gpu_call *calls;
	struct gpu_frame frames[8];
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
	for (size_t i = 0; i < count && i < 64; i++) {
		unsigned depth = gpu_code_chain(code, functions[i].start, frames, 8);

		for (unsigned j = 0; j < depth; j++)
			if (!frames[j].file || !frames[j].name || (!j && frames[j].name[0]))
				abort();
		if (i < 4)
			look_for_loops(code, &functions[i]);
	}
	if (!gpu_code_calls(code, &calls, &count, &error))
		free(calls);
	free(gpu_code_debug(code));
	gpu_code_close(code);
	return 0;
}
