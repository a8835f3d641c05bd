/* SPDX-License-Identifier: Apache-2.0 */
/* code_starts.c - see code_starts.h. */
#include "timeline/debug/code_starts.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/debug/symbols.h"

/* ---- main ---- */

#define START_BYTES 64u
#define CALL_WITHIN 12u /* bytes from the load to the call */

/* call *slot(%rip), call target, and that with a prefix */
static bool is_call(const uint8_t *code)
{
	return (code[0] == 0xff && code[1] == 0x15) || code[0] == 0xe8 ||
	       (code[0] == 0x67 && code[1] == 0xe8);
}

/* "lea main(%rip), %rdi" or "mov $main, %rdi" (also the short form), soon followed by the call. */
static uint64_t main_at(const uint8_t *code, size_t left, uint64_t address)
{
	bool is_lea = !memcmp(code, "\x48\x8d\x3d", 3), is_move = !memcmp(code, "\x48\xc7\xc7", 3);
	size_t size = is_lea || is_move ? 7 : code[0] == 0xbf ? 5 : 0;
	int32_t operand;

	if (!size || size + 2 > left)
		return 0;
	memcpy(&operand, code + size - 4, sizeof operand);
	for (size_t at = size; at < size + CALL_WITHIN && at + 2 <= left; at++)
		if (is_call(code + at))
			return is_lea ? address + size + (uint64_t)(int64_t)operand : (uint32_t)operand;
	return 0;
}

uint64_t elf_main_find(Elf *elf)
{
	uint8_t code[START_BYTES];
	uint64_t found = 0;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 || !header.e_entry ||
		!elf_image_read(elf, header.e_entry, code, sizeof code))
		return 0;
	for (size_t at = 0; at + 7 <= sizeof code && !found; at++)
		found = main_at(code + at, sizeof code - at, header.e_entry + at);
	return found;
}

/* ---- calls ---- */

struct code_segment {
	const uint8_t *bytes;
	uint64_t begin, size;
};

static int start_put(struct code_starts *starts, uint64_t start)
{
	if (!array_widen(&starts->starts, &starts->capacity, starts->count, sizeof *starts->starts))
		return -1;
	starts->starts[starts->count++] = start;
	return 0;
}

/* Bytes that look like a call may be data: a function begins where the code before it does not go on. */
static bool is_begin_x86(const struct code_segment *code, uint64_t at)
{
	uint8_t before = at ? code->bytes[at - 1] : 0xc3;

	return (code->begin + at) % 16 == 0 || before == 0xc3 || before == 0xcc || before == 0x90 ||
	       before == 0xf4 || (at >= 3 && !before && !code->bytes[at - 2]);
}

static int calls_x86(struct code_starts *starts, const struct code_segment *code)
{
	for (uint64_t at = 0; at + 5 <= code->size; at++) {
		int32_t distance;
		uint64_t target;

		if (code->bytes[at] != 0xe8)
			continue;
		memcpy(&distance, code->bytes + at + 1, sizeof distance);
		target = at + 5 + (uint64_t)(int64_t)distance;
		if (target < code->size && is_begin_x86(code, target) &&
			start_put(starts, code->begin + target))
			return -1;
	}
	return 0;
}

static int calls_arm(struct code_starts *starts, const struct code_segment *code)
{
	for (uint64_t at = 0; at + 4 <= code->size; at += 4) {
		uint32_t word;
		uint64_t target;

		memcpy(&word, code->bytes + at, sizeof word);
		if (word >> 26 != 0x25) /* bl */
			continue;
		target = at + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
		if (target < code->size && start_put(starts, code->begin + target))
			return -1;
	}
	return 0;
}

static int start_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void starts_sort(struct code_starts *starts)
{
	size_t kept = 0;

	if (starts->count)
		qsort(starts->starts, starts->count, sizeof *starts->starts, start_compare);
	for (size_t i = 0; i < starts->count; i++)
		if (!kept || starts->starts[i] != starts->starts[kept - 1])
			starts->starts[kept++] = starts->starts[i];
	starts->count = kept;
}

static int starts_read(struct code_starts *starts, Elf *elf)
{
	GElf_Ehdr header;
	size_t segments;

	starts->is_read = true;
	if (!gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &segments) ||
		(header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return 0;
	for (size_t i = 0; i < segments; i++) {
		struct code_segment code;
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			!(segment.p_flags & PF_X) || segment.p_filesz > CODE_STARTS_BYTES)
			continue;
		code = (struct code_segment){
			.begin = segment.p_vaddr,
			.size = segment.p_filesz,
			.bytes = elf_image(elf, segment.p_vaddr, segment.p_filesz),
		};
		if (code.bytes &&
			(header.e_machine == EM_X86_64 ? calls_x86(starts, &code) : calls_arm(starts, &code)))
			return -1;
	}
	if (header.e_entry && start_put(starts, header.e_entry))
		return -1;
	return elf_main_find(elf) ? start_put(starts, elf_main_find(elf)) : 0;
}

void code_starts_fini(struct code_starts *starts)
{
	free(starts->starts);
	memset(starts, 0, sizeof *starts);
}

int code_starts_find(struct code_starts *starts, Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *end)
{
	uint64_t room = elf_image_room(elf, offset);
	size_t low = 0, high;

	if (!starts->is_read) {
		if (starts_read(starts, elf))
			return -1;
		starts_sort(starts);
	}
	high = starts->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts->starts[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !room ||
		elf_image_room(elf, starts->starts[low - 1]) != room + offset - starts->starts[low - 1])
		return 0;
	*begin = starts->starts[low - 1];
	*end = low < starts->count && starts->starts[low] - offset < room ? starts->starts[low]
									  : offset + room;
	return 1;
}
