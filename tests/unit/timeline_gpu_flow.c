// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.gpu_flow - control flow and inlined calls of cubins (tests/gpu/flow.cu, for three
 * generations), held against what NVIDIA's own disassembler said of them: tests/gpu/flow-*.listing; loops,
 * calls and tables as the sources have them.
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

#include "store/base/bytes.h"
#include "tests/unit/gpu_binary.h"

#define FLOW_FILES                                     \
	{                                              \
		"flow-sm75", "flow-sm90", "flow-sm120" \
	}

static char *path_of(const char *name, const char *suffix)
{
	static char path[2][4096];
	static unsigned turn;

	turn ^= 1;
	snprintf(path[turn], sizeof path[turn], GPU_BINARIES "/%s%s", name, suffix);
	return path[turn];
}

static struct gpu_code *code_open(const char *name, void **bytes)
{
	return gpu_file_open(path_of(name, ".cubin"), bytes);
}

/* A listing counts from the begin of the kernel's section, where the kernel is. */
static uint64_t kernel_start(const struct gpu_code *code, const char *name)
{
	size_t count;
	const struct gpu_function *functions = gpu_code_functions(code, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(functions[i].name, name) && functions[i].is_kernel)
			return functions[i].start;
	fail_msg("no kernel %s", name);
	return 0;
}

/* ---- instructions ---- */

static const char *flow_text(const struct instruction *in)
{
	static const char *const texts[] = {[FLOW_NEXT] = "next",
		[FLOW_BRANCH] = "branch",
		[FLOW_JUMP] = "jump",
		[FLOW_JUMP_INDIRECT] = "indirect",
		[FLOW_CALL] = "call",
		[FLOW_RETURN] = "return",
		[FLOW_STOP] = "stop"};

	return in->flow == FLOW_STOP && in->is_padding ? "end" : texts[in->flow];
}

static struct instruction decode_at(struct gpu_code *code, struct decoder *decoder, uint64_t address)
{
	const uint8_t *bytes = gpu_code_image(code, address, 16);
	struct instruction in;

	assert_non_null(bytes);
	decoder_next(decoder, bytes, 16, address, &in);
	assert_int_equal(in.size, 16);
	return in;
}

/* Every instruction of the kernels leads where the listing says, and those that are not in it simply go on.
 */
static unsigned check_listing(struct gpu_code *code, struct decoder *decoder, FILE *listing)
{
	char line[4096], kernel[64], kind[16], target[32], last[64] = "";
	uint64_t start = 0, done = 0, at;
	unsigned count = 0;

	while (fgets(line, sizeof line, listing)) {
		struct instruction in;

		if (sscanf(line, "flow %63s %lx %15s %31s", kernel, &at, kind, target) != 4)
			continue;
		if (strcmp(kernel, last) != 0) {
			start = done = kernel_start(code, kernel);
			strcpy(last, kernel);
		}
		for (; done < start + at; done += 16)
			assert_int_equal(decode_at(code, decoder, done).flow, FLOW_NEXT);
		in = decode_at(code, decoder, start + at);
		assert_string_equal(flow_text(&in), kind);
		if (target[0] != '-')
			assert_int_equal(in.target - start, strtoul(target, NULL, 16));
		done = start + at + 16;
		count++;
	}
	return count;
}

static void test_instructions(void **state)
{
	const char *const files[] = FLOW_FILES;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FILE *listing = fopen(path_of(files[i], ".listing"), "r");
		struct decoder *decoder;
		struct gpu_code *code;
		void *bytes;

		assert_non_null(listing);
		code = code_open(files[i], &bytes);
		assert_int_equal(decoder_open(&decoder, gpu_code_machine(code)), 0);
		assert_true(check_listing(code, decoder, listing) > 80);
		decoder_close(decoder);
		gpu_code_close(code);
		fclose(listing);
		free(bytes);
	}
}

/* ---- inlined calls ---- */

static void chain_text(struct gpu_code *code, uint64_t address, char *text, size_t size)
{
	struct gpu_frame frames[8];
	unsigned count = gpu_code_chain(code, address, frames, 8);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		const char *slash = strrchr(frames[i].file, '/');

		assert_int_equal(!frames[i].name[0], i == 0);
		used += (size_t)snprintf(text + used, size - used, "%s%s:%u", i ? " " : "",
			slash ? slash + 1 : frames[i].file, frames[i].line);
	}
}

static void test_inlined_calls(void **state)
{
	const char *const files[] = FLOW_FILES;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FILE *listing = fopen(path_of(files[i], ".listing"), "r");
		char line[4096], kernel[64], got[4096];
		unsigned inlined = 0, used = 0;
		struct gpu_code *code;
		uint64_t at;
		void *bytes;

		assert_non_null(listing);
		code = code_open(files[i], &bytes);
		while (fgets(line, sizeof line, listing)) {
			int text = 0;

			if (sscanf(line, "line %63s %lx %n", kernel, &at, &text) < 2 || !text || !line[text])
				continue;
			line[strcspn(line, "\n")] = '\0';
			chain_text(code, kernel_start(code, kernel) + at, got, sizeof got);
			assert_string_equal(got, line + text);
			used++;
			inlined += strchr(got, ' ') != NULL;
		}
		assert_true(used > 60);
		assert_true(inlined > 5);
		gpu_code_close(code);
		fclose(listing);
		free(bytes);
	}
}

/* ---- tables, calls ---- */

static void test_table(void **state)
{
	struct gpu_code *code;
	uint64_t start, target, jump = 0;
	void *bytes;

	(void)state;
	code = code_open("table-sm90", &bytes);
	start = kernel_start(code, "table");
	for (uint64_t at = start; !jump && at < start + 0x300; at += 16)
		jump = gpu_code_target(code, at, 0, &target) ? at : 0;
	assert_int_equal(jump, start + 0x130);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(gpu_code_target(code, jump, i, &target));
		assert_int_equal(target, start + 0x140 + i * 0x20);
	}
	assert_false(gpu_code_target(code, jump, 4, &target));
	gpu_code_close(code);
	free(bytes);
}

/* Calls by the name of who calls and who is called, how often. */
static unsigned calls_between(struct gpu_code *code, const char *from, const char *to)
{
	struct gpu_call *calls;
	struct error error;
	unsigned found = 0;
	size_t count;

	assert_int_equal(gpu_code_calls(code, &calls, &count, &error), 0);
	for (size_t i = 0; i < count; i++) {
		const struct gpu_function *caller = gpu_code_at(code, calls[i].address);
		const struct gpu_function *called =
			calls[i].target ? gpu_code_at(code, calls[i].target) : NULL;

		assert_non_null(caller);
		found += !strcmp(caller->name, from) && !strcmp(called ? called->name : "?", to);
	}
	free(calls);
	return found;
}

static void test_calls(void **state)
{
	struct gpu_code *code;
	void *bytes;

	(void)state;
	code = code_open("flow-sm90", &bytes);
	assert_int_equal(calls_between(code, "nest", "_Z4polyfi"), 2); /* where rows are empty, and not */
	assert_int_equal(calls_between(code, "pointers", "_Z3fibi"), 1);
	assert_int_equal(calls_between(code, "pointers", "?"), 1); /* through the table of functions */
	assert_int_equal(calls_between(code, "_Z3fibi", "_Z3fibi"), 2);
	gpu_code_close(code);
	free(bytes);
	/* left to the linker: the symbol of the relocation says who is called */
	code = code_open("debug-sm90", &bytes);
	assert_int_equal(calls_between(code, "nest", "_Z4halff"), 1);
	gpu_code_close(code);
	free(bytes);
}

/* ---- loops ---- */

static uint32_t marked(const char *source, const char *mark)
{
	return gpu_marked(path_of(source, ".cu"), mark);
}

/* How many instructions of the kernel lie in the nest. */
static unsigned in_nest(const char *name, const char *kernel, const char *wanted)
{
	void *bytes;
	struct gpu_code *code = code_open(name, &bytes);
	uint64_t start = kernel_start(code, kernel), end = start;

	while (gpu_code_image(code, end, 16))
		end += 16;
	gpu_code_close(code);
	free(bytes);
	return gpu_in_nest(path_of(name, ".cubin"), start, end, 16, wanted);
}

#define NEST(...) (snprintf(wanted, sizeof wanted, __VA_ARGS__), wanted)

static void test_loops(void **state)
{
	const char *const files[] = FLOW_FILES;
	char wanted[256];

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		uint32_t outer = marked("flow", "outer"), row = marked("flow", "row");

		assert_true(in_nest(files[i], "nest", NEST("nest/%u", outer)) > 10);
		assert_true(in_nest(files[i], "nest", NEST("nest/%u row_sum/%u", outer, row)) >= 5);
		assert_int_equal(in_nest(files[i], "nest", NEST("poly/%u", marked("flow", "poly"))), 4);
		assert_true(in_nest(files[i], "machine", NEST("machine/%u", marked("flow", "switch"))) > 60);
		assert_true(
			in_nest(files[i], "unrolled", NEST("unrolled/%u", marked("flow", "unrolled"))) >= 30);
		assert_true(
			in_nest(files[i], "pointers", NEST("pointers/%u", marked("flow", "pointers"))) > 30);
		assert_true(in_nest(files[i], "middle", NEST("middle/%u", marked("flow", "middle"))) >= 17);
		assert_int_equal(in_nest(files[i], "unrolled",
					 NEST("unrolled/%u/%u", marked("flow", "unrolled"),
						 marked("flow", "unrolled"))),
			0);
	}
	assert_true(in_nest("table-sm90", "table", "table/7") >= 18);
	assert_true(
		in_nest("debug-sm90", "nest",
			NEST("nest/%u row_sum/%u", marked("debug", "outer"), marked("debug", "row"))) > 20);
}

/* ---- what is broken ---- */

static void test_damage(void **state)
{
	uint32_t seed = 1;
	size_t size;
	uint8_t *bytes = gpu_file_read(path_of("flow-sm90", ".cubin"), &size);
	uint8_t *copy = malloc(size);

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct gpu_frame frames[4];
		struct gpu_code *code;
		struct gpu_call *calls;
		struct error error;
		uint64_t target;
		size_t count;

		memcpy(copy, bytes, size);
		for (unsigned i = 0; i < 40; i++) {
			seed = seed * 1664525u + 1013904223u;
			copy[(seed >> 8) % (i & 1 ? size : 0x1800)] ^= (uint8_t)(1u << (seed >> 29));
		}
		memcpy(copy, bytes, EI_NIDENT + 4);
		if (gpu_code_open(&code, copy, size, &error))
			continue;
		for (uint64_t at = 0; at < size; at += 48) {
			gpu_code_chain(code, at, frames, 4);
			gpu_code_target(code, at, 0, &target);
		}
		if (!gpu_code_calls(code, &calls, &count, &error))
			free(calls);
		free(gpu_code_debug(code));
		gpu_code_close(code);
	}
	free(copy);
	free(bytes);
}

/* ---- the same bytes as many sections ---- */

#define AREA_BYTES (16u << 20)
#define COPIES 30000u
#define NAMES "\0.nv.info.x\0.text.x\0.symtab\0x"

static void overlap_put(struct store_bytes *headers, struct store_bytes *symbols, size_t area)
{
	for (uint32_t i = 0; i < COPIES; i++) {
		const uint64_t begin = (uint64_t)(i + 1) << 32;
		const Elf64_Shdr both[2] = {
			{.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = area, .sh_size = AREA_BYTES},
			{.sh_name = 12,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = begin,
				.sh_offset = area,
				.sh_size = AREA_BYTES}};
		const Elf64_Sym symbol = {.st_name = 28,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 4,
			.st_value = begin,
			.st_size = AREA_BYTES};

		store_bytes_put(headers, both, sizeof both);
		store_bytes_put(symbols, &symbol, sizeof symbol);
	}
}

static struct store_bytes overlap_make(void)
{
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_machine = EM_CUDA,
		.e_flags = 90,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3 + 2 * COPIES,
		.e_shstrndx = 1};
	struct store_bytes bytes = {0}, headers = {0}, symbols = {0};
	Elf64_Shdr sections[3] = {
		{0}, {.sh_type = SHT_STRTAB}, {.sh_name = 20, .sh_type = SHT_SYMTAB, .sh_link = 1}};
	uint8_t *area = calloc(1, AREA_BYTES);

	assert_non_null(area);
	overlap_put(&headers, &symbols, sizeof header);
	store_bytes_put(&bytes, &header, sizeof header);
	store_bytes_put(&bytes, area, AREA_BYTES);
	sections[1].sh_offset = bytes.size;
	sections[1].sh_size = sizeof NAMES;
	store_bytes_put(&bytes, NAMES, sizeof NAMES);
	sections[2].sh_offset = bytes.size;
	sections[2].sh_size = symbols.size;
	store_bytes_put(&bytes, symbols.data, symbols.size);
	header.e_shoff = bytes.size;
	memcpy(bytes.data, &header, sizeof header);
	store_bytes_put(&bytes, sections, sizeof sections);
	store_bytes_put(&bytes, headers.data, headers.size);
	store_bytes_fini(&headers);
	store_bytes_fini(&symbols);
	free(area);
	return bytes;
}

/* A file of 20 MB names half a terabyte to look at: that is left off. The alarm is the test's failure. */
static void test_overlap(void **state)
{
	struct store_bytes bytes = overlap_make();
	struct gpu_code *code;
	struct gpu_call *calls;
	struct error error;
	uint64_t target;
	size_t count;

	(void)state;
	alarm(300);
	assert_int_equal(gpu_code_open(&code, bytes.data, bytes.size, &error), 0);
	gpu_code_functions(code, &count);
	assert_int_equal(count, COPIES);
	assert_false(gpu_code_target(code, 1ull << 32, 0, &target));
	assert_int_equal(gpu_code_calls(code, &calls, &count, &error), 0);
	free(calls);
	gpu_code_close(code);
	store_bytes_fini(&bytes);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_inlined_calls), cmocka_unit_test(test_table),
		cmocka_unit_test(test_calls), cmocka_unit_test(test_loops), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_overlap)};

	return cmocka_run_group_tests_name("timeline_gpu_flow", tests, NULL, NULL);
}
