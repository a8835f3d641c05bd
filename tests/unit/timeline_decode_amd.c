// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.decode_amd - each instruction of code that clang makes for AMD's GPUs, its length and where
 * it leads, against llvm-objdump; the loops of tests/gpu/nest.cl by file and line, in objects and in what the
 * linker makes of them. Skipped without clang for AMD.
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/gpu_binary.h"

static char directory[] = "/tmp/hpct-amd-XXXXXX";
static const char *const processors[] = {"gfx900", "gfx906", "gfx90a", "gfx1010", "gfx1030"};

/* clang makes an object of nest.cl. False: it cannot. */
static bool compile(const char *processor, const char *options)
{
	char command[4096];

	snprintf(command, sizeof command,
		"cd %s && $(command -v clang-14 clang | head -n 1) -x cl -cl-std=CL2.0 -Xclang "
		"-finclude-default-header "
		"-target amdgcn-amd-amdhsa -nogpulib -mcpu=%s %s -g -c %s/nest.cl -o code.o 2>/dev/null",
		directory, processor, options, GPU_BINARIES);
	return system(command) == 0;
}

static bool link_object(void)
{
	char command[4096];

	snprintf(command, sizeof command,
		"cd %s && $(command -v ld.lld-14 ld.lld | head -n 1) -shared code.o -o code.so 2>/dev/null",
		directory);
	return system(command) == 0;
}

static bool has_tools(void)
{
	return compile("gfx906", "-O2") &&
	       system("command -v llvm-objdump-14 >/dev/null || command -v llvm-objdump >/dev/null") == 0;
}

static FILE *disassemble(void)
{
	char command[4096];

	snprintf(command, sizeof command,
		"$(command -v llvm-objdump-14 llvm-objdump | head -n 1) -d %s/code.o", directory);
	return popen(command, "r");
}

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static enum flow flow_of(const char *name)
{
	if (!strncmp(name, "s_cbranch", 9))
		return FLOW_BRANCH;
	if (!strcmp(name, "s_branch"))
		return FLOW_JUMP;
	if (!strncmp(name, "s_endpgm", 8) || !strcmp(name, "s_code_end"))
		return FLOW_STOP;
	if (!strcmp(name, "s_setpc_b64"))
		return FLOW_RETURN;
	if (!strcmp(name, "s_swappc_b64") || !strcmp(name, "s_call_b64"))
		return FLOW_CALL;
	return FLOW_NEXT;
}

/* "\ts_cbranch_execz 12    // 000000000014: BF88000C <gain+0x48>" */
static unsigned check_object(struct gpu_code *code, struct decoder *decoder)
{
	size_t functions_count;
	uint64_t base = gpu_code_functions(code, &functions_count)[0].start, expected = UINT64_MAX;
	FILE *listing = disassemble();
	unsigned count = 0, jumps = 0;
	char line[1024], name[64];

	assert_non_null(listing);
	while (fgets(line, sizeof line, listing)) {
		const char *comment = strstr(line, "// ");
		struct instruction in;
		const uint8_t *bytes;
		uint64_t at;
		int words;

		if (line[0] != '\t' || !comment || sscanf(line, " %63s", name) != 1 ||
			sscanf(comment, "// %lx: %n", &at, &words) != 1)
			continue;
		at += base;
		bytes = gpu_code_image(code, at, 4);
		assert_non_null(bytes);
		if (expected != UINT64_MAX && expected != at)
			fail_msg("0x%lx should begin an instruction, before: %s", expected - base, line);
		decoder_next(decoder, bytes,
			gpu_code_image(code, at, 12)  ? 12
			: gpu_code_image(code, at, 8) ? 8
						      : 4,
			at, &in);
		if (in.flow != flow_of(name))
			fail_msg("%s: flow %u", line, in.flow);
		if (in.flow == FLOW_BRANCH || in.flow == FLOW_JUMP) {
			const char *plus = strrchr(line, '+');

			jumps++;
			if (plus && strchr(line, '<') && in.target)
				assert_int_equal(in.target,
					gpu_code_at(code, at)->start + strtoul(plus + 1, NULL, 16));
		}
		expected = at + in.size;
		count++;
	}
	pclose(listing);
	return jumps > 8 ? count : 0;
}

static void test_instructions(void **state)
{
	static const char *const options[] = {"-O0", "-O3 -ffast-math"};

	(void)state;
	if (!has_tools())
		skip();
	for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
		for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
			struct decoder *decoder;
			struct gpu_code *code;
			void *bytes;

			assert_true(compile(processors[i], options[j]));
			code = gpu_file_open(path_of("code.o"), &bytes);
			assert_int_equal(decoder_open(&decoder, gpu_code_machine(code)), 0);
			assert_true(check_object(code, decoder) > 150);
			decoder_close(decoder);
			gpu_code_close(code);
			free(bytes);
		}
}

/* ---- loops ---- */

static uint32_t marked(const char *mark)
{
	return gpu_marked(GPU_BINARIES "/nest.cl", mark);
}

static unsigned in_nest(const char *name, const char *wanted)
{
	void *bytes;
	struct gpu_code *code = gpu_file_open(path_of(name), &bytes);
	unsigned found = 0;
	size_t count;
	const struct gpu_function *functions = gpu_code_functions(code, &count);

	for (size_t i = 0; i < count; i++)
		found += gpu_in_nest(
			path_of(name), functions[i].start, functions[i].start + functions[i].size, 4, wanted);
	gpu_code_close(code);
	free(bytes);
	return found;
}

static void check_nests(const char *file)
{
	char wanted[128];

	snprintf(wanted, sizeof wanted, "nest/%u", marked("outer"));
	assert_true(in_nest(file, wanted) > 5);
	/* the branch back has the line of the loop's body in clang's table */
	snprintf(wanted, sizeof wanted, "nest/%u row_sum/%u", marked("outer"), marked("row") + 1);
	assert_true(in_nest(file, wanted) > 5);
	snprintf(wanted, sizeof wanted, "gain/%u", marked("gain"));
	assert_true(in_nest(file, wanted) > 3);
	snprintf(wanted, sizeof wanted, "steps/%u", marked("switch"));
	assert_true(in_nest(file, wanted) > 30);
}

static void test_loops(void **state)
{
	(void)state;
	if (!has_tools())
		skip();
	for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
		assert_true(compile(processors[i], "-O2"));
		check_nests("code.o");
		if (link_object())
			check_nests("code.so");
	}
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[4096];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions), cmocka_unit_test(test_loops)};

	return cmocka_run_group_tests_name("timeline_decode_amd", tests, setup, teardown);
}
