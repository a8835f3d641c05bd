/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_flow.c - control flow in a GPU binary beyond single instructions: the bytes at an address, the
 * function that owns them, targets of indexed branches (cubins list them in .nv.info.KERNEL), and call
 * edges.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/parse_budget.h"
#include "timeline/code/decode.h"
#include "timeline/code/gpu_code_internal.h"

#define ABI_WIDE 8		      /* e_flags as CUDA 13 writes them */
#define INDIRECT_BRANCH_TARGETS 0x34u /* an attribute of .nv.info */
#define FORM_SIZED 4u		      /* of an attribute: u16 size, then as many bytes; others take 2 bytes */
#define RELOCATION_CALL 0x4bu
#define RELOCATION_CALL_32 0x3au
#define RELOCATION_POINTER 0x02u
#define RELOCATION_LOW_WORD 0x38u
#define NOTE_PRODUCT_FAMILY 1u
#define NOTE_CORE_FAMILY 2u
#define JUMPS_MAX (1u << 20)
#define CALLS_MAX (1u << 22)
#define STEPS_MAX (UINT64_C(1) << 26) /* sections may name the same bytes again and again */

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* Notes of Intel's compiler: u32 bytes of name, u32 bytes of value, u32 type, both padded to 4. */
static uint32_t intel_note(const struct gpu_code *code, uint32_t type)
{
	struct gpu_bytes notes = gpu_code_section(code, ".note.intelgt.compat");
	size_t at = 0;

	while (notes.size - at >= 12) {
		uint64_t name = u32_at(notes.at + at), value = u32_at(notes.at + at + 4);
		uint64_t begin = at + 12 + ((name + 3) & ~3ull), next = begin + ((value + 3) & ~3ull);

		if (begin + value > notes.size)
			break;
		if (u32_at(notes.at + at + 8) == type && value == 4)
			return u32_at(notes.at + begin);
		if (next > notes.size)
			break;
		at = (size_t)next;
	}
	return 0;
}

unsigned gpu_code_generation(const struct gpu_code *code)
{
	Elf64_Ehdr header = gpu_header(code);
	bool is_wide = header.e_ident[EI_ABIVERSION] >= ABI_WIDE;

	if (code->is_patch || header.e_machine != EM_CUDA)
		return 0;
	return is_wide ? header.e_flags >> 8 & 0xffff : header.e_flags & 0xff;
}

unsigned gpu_code_machine(const struct gpu_code *code)
{
	Elf64_Ehdr header = gpu_header(code);

	if (code->is_patch)
		return decode_intel_machine(code->intel_family, 0);
	if (header.e_machine == EM_INTELGT)
		return decode_intel_machine(
			intel_note(code, NOTE_CORE_FAMILY), intel_note(code, NOTE_PRODUCT_FAMILY));
	if (header.e_machine == EM_AMDGPU)
		return decode_amd_machine(header.e_flags & 0xff);
	if (header.e_machine != EM_CUDA)
		return header.e_machine;
	return decode_sass_machine(gpu_code_generation(code));
}

static bool holds_code(const Elf64_Shdr *section)
{
	return (section->sh_flags & SHF_EXECINSTR) && section->sh_size;
}

static int section_compare(const void *left, const void *right)
{
	const struct gpu_section *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Sections of code, by address: binaries have one for each function, and code is read function by function.
 */
static void sections_read(struct gpu_code *code)
{
	uint32_t count = gpu_header(code).e_shnum;

	code->has_sections = true;
	code->sections = calloc((size_t)count + 1, sizeof *code->sections);
	for (uint32_t i = 1; code->sections && i < count; i++) {
		Elf64_Shdr section = gpu_section_at(code, i);
		struct gpu_bytes bytes = gpu_section_bytes(code, &section);

		if (holds_code(&section) && bytes.size)
			code->sections[code->section_count++] =
				(struct gpu_section){gpu_section_base(code, i) + section.sh_addr, bytes};
	}
	if (code->sections)
		qsort(code->sections, code->section_count, sizeof *code->sections, section_compare);
}

static const struct gpu_section *section_of(struct gpu_code *code, uint64_t address)
{
	size_t low = 0, high;

	if (!code->has_sections)
		sections_read(code);
	high = code->section_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->sections[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - code->sections[low - 1].begin < code->sections[low - 1].bytes.size
		       ? &code->sections[low - 1]
		       : NULL;
}

const uint8_t *gpu_code_image(struct gpu_code *code, uint64_t address, size_t size)
{
	const struct gpu_section *section = section_of(code, address);
	uint64_t at = section ? address - section->begin : 0;

	return section && size <= section->bytes.size - at ? section->bytes.at + at : NULL;
}

unsigned gpu_code_extent(
	const struct gpu_code *code, const struct gpu_function *function, uint64_t (*ranges)[2], unsigned max)
{
	uint32_t number = (uint32_t)(function - code->functions);
	uint64_t end = function->start + function->size;
	size_t low = 0, high = code->range_count;
	unsigned count = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->ranges[middle].begin < function->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < code->range_count && code->ranges[low].begin < end && count < max; low++) {
		if (code->ranges[low].function != number)
			continue;
		ranges[count][0] = code->ranges[low].begin;
		ranges[count++][1] = code->ranges[low].end;
	}
	return count;
}

/* ---- indexed branches ---- */

static bool jump_add(struct gpu_code *code, const struct gpu_jump *jump)
{
	if (code->jump_count == JUMPS_MAX ||
		!array_widen(&code->jumps, &code->jump_capacity, code->jump_count, sizeof *code->jumps))
		return false;
	code->jumps[code->jump_count++] = *jump;
	return true;
}

/* Of each branch: u32 offset, u32 0, u32 count, count times u32 offset. */
static void targets_read(
	struct gpu_code *code, struct gpu_bytes bytes, uint64_t base, struct parse_budget *budget)
{
	size_t at = 0;

	while (bytes.size - at >= 12 && parse_budget_step(budget)) {
		struct gpu_jump jump = {.address = base + u32_at(bytes.at + at),
			.base = base,
			.count = u32_at(bytes.at + at + 8),
			.targets = bytes.at + at + 12};

		if (jump.count > (bytes.size - at - 12) / 4 || !jump_add(code, &jump))
			return;
		at += 12 + (size_t)jump.count * 4;
	}
}

static void attributes_read(
	struct gpu_code *code, struct gpu_bytes bytes, uint64_t base, struct parse_budget *budget)
{
	for (size_t at = 0; bytes.size - at >= 4 && parse_budget_step(budget);) {
		size_t size = 0;

		if (bytes.at[at] == FORM_SIZED)
			size = bytes.at[at + 2] | (size_t)bytes.at[at + 3] << 8;
		if (size > bytes.size - at - 4)
			return;
		if (bytes.at[at] == FORM_SIZED && bytes.at[at + 1] == INDIRECT_BRANCH_TARGETS)
			targets_read(code, (struct gpu_bytes){bytes.at + at + 4, size}, base, budget);
		at += 4 + size;
	}
}

static int jump_compare(const void *left, const void *right)
{
	const struct gpu_jump *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void jumps_read(struct gpu_code *code)
{
	Elf64_Ehdr header = gpu_header(code);
	Elf64_Shdr names = gpu_section_at(code, header.e_shstrndx);
	struct gpu_bytes strings = gpu_section_bytes(code, &names);
	struct parse_budget budget;

	parse_budget_allow(&budget, STEPS_MAX, 0);
	code->has_jumps = true;
	for (uint32_t i = 1; header.e_machine == EM_CUDA && i < header.e_shnum; i++) {
		Elf64_Shdr section = gpu_section_at(code, i);

		if (!strncmp(gpu_string_at(strings, section.sh_name), ".nv.info.", 9))
			attributes_read(code, gpu_section_bytes(code, &section),
				gpu_section_base(code, section.sh_info), &budget);
	}
	if (code->jump_count)
		qsort(code->jumps, code->jump_count, sizeof *code->jumps, jump_compare);
}

bool gpu_code_target(struct gpu_code *code, uint64_t address, uint32_t i, uint64_t *target)
{
	struct gpu_jump key = {.address = address}, *jump;

	if (!code->has_jumps)
		jumps_read(code);
	jump = code->jump_count ? bsearch(&key, code->jumps, code->jump_count, sizeof key, jump_compare)
				: NULL;
	if (!jump || i >= jump->count)
		return false;
	*target = jump->base + u32_at(jump->targets + (size_t)i * 4);
	return true;
}

/* ---- calls ---- */

static int call_compare(const void *left, const void *right)
{
	const struct gpu_call *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Of NVIDIA's relocations, the ones that a call has: a field of 32 bits before sm_90, and of 50 since then;
 * and those of a pointer, whole or half. */
static bool is_call_relocation(uint64_t info)
{
	return ELF64_R_TYPE(info) == RELOCATION_CALL || ELF64_R_TYPE(info) == RELOCATION_CALL_32;
}

static bool is_pointer_relocation(uint64_t info)
{
	return ELF64_R_TYPE(info) == RELOCATION_POINTER || ELF64_R_TYPE(info) == RELOCATION_LOW_WORD;
}

static bool pointed_add(struct gpu_code *code, uint64_t function)
{
	if (code->pointed_count == CALLS_MAX || !array_widen(&code->pointed, &code->pointed_capacity,
							code->pointed_count, sizeof *code->pointed))
		return false;
	code->pointed[code->pointed_count++] = function;
	return true;
}

static bool linked_add(struct gpu_code *code, uint64_t address, uint64_t target)
{
	if (code->linked_count == CALLS_MAX ||
		!array_widen(&code->linked, &code->linked_capacity, code->linked_count, sizeof *code->linked))
		return false;
	code->linked[code->linked_count++] = (struct gpu_call){address, target};
	return true;
}

/* A function's own address in its own code is where its calls return to. */
static bool relocation_take(
	struct gpu_code *code, const Elf64_Shdr *by, const Elf64_Shdr *of, const Elf64_Rela *entry)
{
	uint64_t target = gpu_symbol_address(code, by->sh_link, ELF64_R_SYM(entry->r_info));

	if (is_call_relocation(entry->r_info))
		return !holds_code(of) ||
		       linked_add(code, gpu_section_base(code, by->sh_info) + entry->r_offset, target);
	if (!is_pointer_relocation(entry->r_info) || !section_of(code, target) ||
		target == gpu_section_base(code, by->sh_info))
		return true;
	return pointed_add(code, target);
}

static int address_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void linked_sort(struct gpu_code *code)
{
	size_t kept = 0;

	if (code->linked_count)
		qsort(code->linked, code->linked_count, sizeof *code->linked, call_compare);
	if (code->pointed_count)
		qsort(code->pointed, code->pointed_count, sizeof *code->pointed, address_compare);
	for (size_t i = 0; i < code->pointed_count; i++)
		if (!kept || code->pointed[kept - 1] != code->pointed[i])
			code->pointed[kept++] = code->pointed[i];
	code->pointed_count = kept;
}

static bool is_debug_section(struct gpu_bytes names, const Elf64_Shdr *section)
{
	return !(section->sh_flags & SHF_ALLOC) || strstr(gpu_string_at(names, section->sh_name), "debug");
}

/* Calls to functions elsewhere are left to the linker, which knows them by their symbols. */
static void linked_read(struct gpu_code *code)
{
	Elf64_Ehdr header = gpu_header(code);
	Elf64_Shdr strings = gpu_section_at(code, header.e_shstrndx);
	struct gpu_bytes names = gpu_section_bytes(code, &strings);
	struct parse_budget budget;
	bool ok = true;

	parse_budget_allow(&budget, STEPS_MAX, 0);
	code->has_linked = true;
	for (uint32_t i = 1; header.e_machine == EM_CUDA && i < header.e_shnum && ok; i++) {
		Elf64_Shdr by = gpu_section_at(code, i), of = gpu_section_at(code, by.sh_info);
		size_t step = by.sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
		struct gpu_bytes entries = gpu_section_bytes(code, &by);

		if ((by.sh_type != SHT_RELA && by.sh_type != SHT_REL) || is_debug_section(names, &of))
			continue;
		for (size_t at = 0; at + step <= entries.size && ok && parse_budget_step(&budget);
			at += step) {
			Elf64_Rela entry = {0};

			memcpy(&entry, entries.at + at, step);
			ok = relocation_take(code, &by, &of, &entry);
		}
	}
	linked_sort(code);
}

uint64_t gpu_code_linked(struct gpu_code *code, uint64_t address)
{
	const struct gpu_call key = {.address = address}, *call;

	if (!code->has_linked)
		linked_read(code);
	call = code->linked_count ? bsearch(&key, code->linked, code->linked_count, sizeof key, call_compare)
				  : NULL;
	return call ? call->target : 0;
}

const uint64_t *gpu_code_pointed(struct gpu_code *code, size_t *count)
{
	if (!code->has_linked)
		linked_read(code);
	*count = code->pointed_count;
	return code->pointed;
}

bool gpu_code_is_pointed(struct gpu_code *code, uint64_t function)
{
	size_t count;
	const uint64_t *pointed = gpu_code_pointed(code, &count);

	return count && bsearch(&function, pointed, count, sizeof *pointed, address_compare);
}

static bool call_add(struct gpu_call **calls, size_t *count, uint64_t address, uint64_t target)
{
	/* Room doubles at each power of two. */
	if (!(*count & (*count - 1)) &&
		(*count >= CALLS_MAX || !array_resize(calls, 2 * *count + 1, sizeof **calls)))
		return false;
	(*calls)[(*count)++] = (struct gpu_call){address, target};
	return true;
}

static bool range_calls(struct gpu_code *code, struct decoder *decoder, const struct gpu_range *range,
	struct gpu_call **calls, size_t *count, struct parse_budget *budget)
{
	size_t size = (size_t)(range->end - range->begin);
	const uint8_t *bytes = gpu_code_image(code, range->begin, size);
	struct instruction in;

	for (size_t at = 0; bytes && at < size && parse_budget_step(budget); at += in.size ? in.size : 1) {
		decoder_next(decoder, bytes + at, size - at, range->begin + at, &in);
		if (in.flow == FLOW_CALL && !call_add(calls, count, in.address, in.target))
			return false;
	}
	return true;
}

int gpu_code_calls(struct gpu_code *code, struct gpu_call **calls, size_t *count, struct error *error)
{
	struct decoder *decoder;
	struct parse_budget budget;
	bool ok = true;
	int rc = decoder_open(&decoder, gpu_code_machine(code));

	parse_budget_allow(&budget, STEPS_MAX, 0);
	*calls = NULL;
	*count = 0;
	if (rc < 0)
		return error_memory(error);
	for (size_t i = 0; i < code->range_count && !rc && ok; i++)
		ok = range_calls(code, decoder, &code->ranges[i], calls, count, &budget);
	decoder_close(decoder);
	if (!ok) {
		free(*calls);
		*calls = NULL;
		*count = 0;
		return error_memory(error);
	}
	for (size_t i = 0; i < *count; i++) {
		uint64_t target = gpu_code_linked(code, (*calls)[i].address);

		(*calls)[i].target = target ? target : (*calls)[i].target;
	}
	return 0;
}
