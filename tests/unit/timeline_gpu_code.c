/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_gpu_code.c - functions and lines of cubins made of tests/gpu/field.cu (both kinds of relocations),
 * what becomes of broken ones, and the place of a kernel in a run that keeps its binary.
 */
#include "tests/unit/timeline_small_run.h"

#include <elf.h>

#include "store/base/bytes.h"
#include "tests/unit/gpu_binary.h"

#define MUTANTS 4000

static const char *const cubins[] = {GPU_BINARIES "/field-sm75.cubin", GPU_BINARIES "/field-sm90.cubin"};

/* Line of a text of the source. */
static uint32_t line_of(const char *wanted)
{
	FILE *file = fopen(GPU_BINARIES "/field.cu", "r");
	char line[256];
	uint32_t number = 0;

	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		number++;
		if (strstr(line, wanted)) {
			fclose(file);
			return number;
		}
	}
	fclose(file);
	fail_msg("%s is not in field.cu", wanted);
	return 0;
}

static const struct gpu_function *function_named(const struct gpu_code *code, const char *name)
{
	size_t count;
	const struct gpu_function *functions = gpu_code_functions(code, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	fail_msg("no function %s", name);
	return NULL;
}

static void check_lines(struct gpu_code *code, const char *function, const char *first, const char *last)
{
	const struct gpu_function *f = function_named(code, function);
	uint32_t from = line_of(first), to = line_of(last), line;
	const char *file;

	for (uint64_t at = f->start; at < f->start + f->size; at += 16) {
		const struct gpu_function *of = gpu_code_at(code, at);

		assert_non_null(of);
		if (of != f) /* inside it */
			continue;
		assert_true(gpu_code_line(code, at, &file, &line));
		assert_string_equal(file, "/usr/src/field/field.cu");
		assert_in_range(line, from, to + 1); /* the closing brace has code too */
	}
}

static void test_functions_and_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cubins / sizeof *cubins; i++) {
		const struct gpu_function *field, *gain, *slope, *clear;
		struct gpu_code *code;
		struct error error;
		size_t size, count;
		uint8_t *bytes = gpu_file_read(cubins[i], &size);

		assert_int_equal(gpu_code_open(&code, bytes, size, &error), 0);
		gpu_code_functions(code, &count);
		assert_int_equal(count, 4);
		field = function_named(code, "field");
		gain = function_named(code, "_Z4gainf");
		slope = function_named(code, "_Z5slopefi");
		clear = function_named(code, "_Z5clearPf");
		assert_true(field->is_kernel && clear->is_kernel && !gain->is_kernel && !slope->is_kernel);
		/* in one another, and apart from what begins at 0 too */
		assert_true(gain->start > field->start && slope->start >= gain->start + gain->size);
		assert_true(slope->start + slope->size <= field->start + field->size);
		assert_true(clear->start + clear->size <= field->start);
		assert_ptr_equal(gpu_code_at(code, field->start), field);
		assert_ptr_equal(gpu_code_at(code, gain->start - 1), field);
		assert_ptr_equal(gpu_code_at(code, gain->start), gain);
		assert_ptr_equal(gpu_code_at(code, slope->start + slope->size - 1), slope);
		assert_null(gpu_code_at(code, clear->start - 1));
		assert_null(gpu_code_at(code, field->start + field->size));
		check_lines(code, "field", "void field", "out[n] = slope");
		check_lines(code, "_Z4gainf", "float gain", "return x * x");
		check_lines(code, "_Z5slopefi", "float slope", "return sum;");
		check_lines(code, "_Z5clearPf", "void clear", "*out = 0;");
		gpu_code_close(code);
		free(bytes);
	}
}

static void test_broken_ones(void **state)
{
	(void)state;
	small_seed("gpu_code");
	for (unsigned i = 0; i < MUTANTS; i++) {
		struct gpu_code *code;
		struct error error;
		size_t size;
		uint8_t *bytes = gpu_file_read(cubins[i % 2], &size), *cut;
		const char *file;
		uint32_t line;

		for (uint64_t n = 1 + small_below(12); n; n--)
			bytes[small_below(size)] = (uint8_t)small_draw();
		size = small_below(4) ? size : small_below(size);
		cut = malloc(size + 1); /* so that one byte too far is seen */
		assert_non_null(cut);
		memcpy(cut, bytes, size);
		free(bytes);
		bytes = realloc(cut, size ? size : 1);
		if (gpu_code_open(&code, bytes, size, &error) == 0) {
			for (uint64_t at = 0x1500; at < 0x1a00; at += 16) {
				const struct gpu_function *f = gpu_code_at(code, at);

				assert_true(!f || (at >= f->start && at - f->start < f->size));
				if (gpu_code_line(code, at, &file, &line))
					assert_true(strlen(file) > 0 && line > 0);
			}
			gpu_code_close(code);
		}
		free(bytes);
	}
}

static uint32_t kernel_context(struct small_run *small, const char *name)
{
	uint32_t context = store_writer_context(
		small->writer, STORE_CONTEXT_NONE, STORE_MODULE_RESERVED, STORE_FRAME_GPU_KERNEL);

	return store_writer_context(small->writer, context, store_writer_text_module(small->writer),
		small_text(small->writer, name));
}

static const struct run_function *function_at(const struct small_run *small, uint32_t context)
{
	uint32_t scope = run_context(small->run, run_context_of(small->run, 0, context))->scope;

	return run_function(small->run, run_scope(small->run, scope)->function);
}

static void test_kernels_of_a_run(void **state)
{
	struct store_stream queue = {.kind = STORE_STREAM_GPU};
	struct small_run small;
	uint32_t field, clear, other;
	size_t size;
	uint8_t *bytes = gpu_file_read(cubins[0], &size);

	(void)state;
	small_begin(&small);
	store_writer_meta(small.writer, "recorder", "hpct"); /* whose kernels are demangled */
	store_writer_stream(small.writer, &queue);
	store_writer_blob(small.writer, 7, "no binary", 9);
	store_writer_blob(small.writer, 8, bytes, size);
	store_writer_blob(small.writer, 9, bytes, size / 2);
	field = kernel_context(&small, "field");
	clear = kernel_context(&small, "_Z5clearPf");
	other = kernel_context(&small, "other");
	small_ready(&small);
	assert_string_equal(function_at(&small, field)->file, "/usr/src/field/field.cu");
	assert_int_equal(function_at(&small, field)->line, line_of("void field"));
	assert_string_equal(function_at(&small, clear)->name, "clear");
	assert_int_equal(function_at(&small, clear)->line, line_of("void clear"));
	assert_int_equal(
		run_context(small.run, run_context_of(small.run, 0, clear))->line, line_of("void clear"));
	assert_string_equal(function_at(&small, other)->file, "");
	small_end(&small);
	free(bytes);
}

/* ---- calls inlined in calls inlined in calls ... ---- */

#define CALLS 2000u
#define STRINGS "\0.debug_line\0.debug_str\0.shstrtab"

static void put_u32(struct store_bytes *out, uint32_t value)
{
	store_bytes_put(out, &value, sizeof value);
}

/* A table of lines whose every row is a call inlined in the row before. */
static void put_lines(struct store_bytes *out)
{
	/* least bytes, is_stmt, line base and range, first special opcode, lengths of 1 to 9; no directories,
	 * one file */
	static const uint8_t head[] = {1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 'f', 0, 0, 0, 0, 0};
	size_t begin = out->size;
	uint32_t size;

	put_u32(out, 0);
	store_bytes_put(out, &(uint16_t){2}, 2);
	put_u32(out, sizeof head);
	store_bytes_put(out, head, sizeof head);
	for (uint32_t row = 1; row <= CALLS; row++) {
		static const uint8_t next[] = {2, 16, 1}; /* advance_pc 16, copy */

		store_bytes_put(out, next, sizeof next);
		store_bytes_put(out, (uint8_t[]){0, 5, 0x90}, 3);
		store_bytes_put(out, (uint8_t[]){(uint8_t)(row | 0x80), (uint8_t)(row >> 7 | 0x80), 0, 0}, 4);
	}
	size = (uint32_t)(out->size - begin - 4);
	memcpy(out->data + begin, &size, sizeof size);
}

static void section_put(struct store_bytes *headers, uint32_t name, uint32_t type, size_t at, size_t size)
{
	store_bytes_put(headers,
		&(Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = size},
		sizeof(Elf64_Shdr));
}

static void test_deep_calls(void **state)
{
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_machine = EM_CUDA,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3};
	static struct gpu_frame frames[CALLS + 1];
	struct store_bytes bytes = {0}, headers = {0};
	struct error error = {0};
	struct gpu_code *code;
	size_t lines_end;

	(void)state;
	store_bytes_put(&bytes, &header, sizeof header);
	put_lines(&bytes);
	lines_end = bytes.size;
	store_bytes_put(&bytes, STRINGS, sizeof STRINGS);
	section_put(&headers, 0, SHT_NULL, 0, 0);
	section_put(&headers, 1, SHT_PROGBITS, sizeof header, lines_end - sizeof header);
	section_put(&headers, 13, SHT_PROGBITS, lines_end, 1);
	section_put(&headers, 24, SHT_STRTAB, lines_end, sizeof STRINGS);
	header.e_shoff = bytes.size;
	memcpy(bytes.data, &header, sizeof header);
	store_bytes_put(&bytes, headers.data, headers.size);
	assert_int_equal(gpu_code_open(&code, bytes.data, bytes.size, &error), 0);
	for (uint32_t row = 1; row <= CALLS; row++) {
		unsigned depth = gpu_code_chain(code, row * 16, frames, CALLS + 1);

		assert_int_equal(depth, row <= 60 ? row : 61); /* the row itself, and what is around it */
		assert_string_equal(frames[depth - 1].file, "f");
	}
	gpu_code_close(code);
	store_bytes_fini(&bytes);
	store_bytes_fini(&headers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions_and_lines),
		cmocka_unit_test(test_broken_ones), cmocka_unit_test(test_kernels_of_a_run),
		cmocka_unit_test(test_deep_calls)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
