/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intel_patch_tokens.c - Intel's older GPU binaries ("patch tokens"): consecutive kernels without ELF
 * symbols, perhaps inside an ELF file.
 *
 *   program  "CTNI" | version | gfx core family | bytes of a pointer | kernels | stepping | bytes of tokens |
 *            tokens
 *   kernel   checksum | u64 hash | bytes of name, tokens, code, general, dynamic, surface state |
 *            bytes of code used | name | code | general, dynamic, surface state | tokens
 *   all numbers u32 unless said otherwise
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_code_internal.h"

#define MAGIC 0x494e5443u /* "CTNI" */
#define ELF_TYPE 0xff04u
#define SECTION_TYPE 0xff000005u
#define PROGRAM_BYTES 28u
#define KERNEL_BYTES 40u
#define KERNELS_MAX 65536u

static uint32_t u32_at(struct gpu_bytes bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, bytes.at + at, sizeof value);
	return value;
}

static bool is_program(struct gpu_bytes bytes)
{
	return bytes.size >= PROGRAM_BYTES && u32_at(bytes, 0) == MAGIC;
}

/* The program in the file, by itself or in a section of an ELF file; size 0: there is none. */
static struct gpu_bytes program_find(struct gpu_bytes file)
{
	Elf64_Ehdr header;

	if (is_program(file))
		return file;
	if (file.size < sizeof header)
		return (struct gpu_bytes){0};
	memcpy(&header, file.at, sizeof header);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_type != ELF_TYPE || header.e_shoff > file.size)
		return (struct gpu_bytes){0};
	for (uint32_t i = 0; i < header.e_shnum; i++) {
		uint64_t at = header.e_shoff + (uint64_t)i * sizeof(Elf64_Shdr);
		struct gpu_bytes bytes;
		Elf64_Shdr section;

		if (at > file.size || file.size - at < sizeof section)
			break;
		memcpy(&section, file.at + at, sizeof section);
		if (section.sh_type != SECTION_TYPE || section.sh_offset > file.size ||
			section.sh_size > file.size - section.sh_offset)
			continue;
		bytes = (struct gpu_bytes){file.at + section.sh_offset, (size_t)section.sh_size};
		if (is_program(bytes))
			return bytes;
	}
	return (struct gpu_bytes){0};
}

bool intel_patch_tokens_is(struct gpu_bytes file)
{
	return program_find(file).size;
}

/* The kernel at the begin of `rest`; its bytes, 0: there is no whole one. */
static size_t kernel_add(struct gpu_code *code, struct gpu_bytes rest)
{
	struct gpu_function *function = &code->functions[code->function_count];
	uint64_t whole = KERNEL_BYTES, start;
	uint32_t name_bytes, used;

	if (rest.size < KERNEL_BYTES)
		return 0;
	name_bytes = u32_at(rest, 12);
	used = u32_at(rest, 36);
	for (size_t at = 12; at < 36; at += 4)
		whole += u32_at(rest, at);
	if (whole > rest.size || used > u32_at(rest, 20) || !name_bytes)
		return 0;
	start = (uint64_t)(rest.at - code->file.at) + KERNEL_BYTES + name_bytes;
	*function = (struct gpu_function){
		.name = gpu_string_at((struct gpu_bytes){rest.at + KERNEL_BYTES, name_bytes}, 0),
		.start = start,
		.size = used,
		.is_kernel = true};
	if (function->name[0] && used) {
		code->sections[code->section_count++] =
			(struct gpu_section){start, {code->file.at + start, used}};
		code->function_count++;
	}
	return (size_t)whole;
}

int intel_patch_tokens_read(struct gpu_code *code, struct error *error)
{
	struct gpu_bytes program = program_find(code->file), rest = program;
	uint32_t kernels = u32_at(program, 16);
	uint64_t skip = PROGRAM_BYTES + (uint64_t)u32_at(program, 24);

	if (kernels > KERNELS_MAX || skip > program.size)
		return error_set(error, ERROR_IO, "the GPU binary (patch tokens) is damaged");
	code->intel_family = u32_at(program, 8);
	code->has_sections = true;
	code->functions = calloc((size_t)kernels + 1, sizeof *code->functions);
	code->sections = calloc((size_t)kernels + 1, sizeof *code->sections);
	if (!code->functions || !code->sections)
		return error_memory(error);
	for (uint32_t i = 0; i < kernels && skip; i++) {
		rest.at += skip;
		rest.size -= (size_t)skip;
		skip = kernel_add(code, rest);
	}
	return 0;
}
