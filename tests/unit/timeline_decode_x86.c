// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.decode_x86 - decode_x86_common() says of an instruction what capstone says, or nothing: for
 * each opcode with each prefix and operand, and at each byte of this program, and tells most of what a
 * compiler wrote.
 */
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/code/decode.h"
#include "timeline/debug/debug_files.h"

#ifdef HPCT_HAS_CAPSTONE

#include "timeline/code/capstone.h"

#define BYTES 15u /* an instruction's, at most */

struct reader {
	const struct capstone *capstone;
	csh handle;
	cs_insn *instruction;
};

static int open_reader(void **state)
{
	static struct reader reader;

	*state = NULL;
	reader.capstone = capstone_load();
	if (!reader.capstone)
		return 0;
	if (reader.capstone->open(CS_ARCH_X86, CS_MODE_64, &reader.handle) != CS_ERR_OK)
		return -1;
	reader.instruction = reader.capstone->malloc(reader.handle);
	*state = &reader;
	return reader.instruction ? 0 : -1;
}

static int close_reader(void **state)
{
	struct reader *reader = *state;

	if (!reader)
		return 0;
	reader->capstone->free(reader->instruction, 1);
	return reader->capstone->close(&reader->handle) == CS_ERR_OK ? 0 : -1;
}

/* 0: no instruction. */
static size_t capstone_size(const struct reader *reader, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t address = 0;

	return reader->capstone->disasm_iter(reader->handle, &at, &size, &address, reader->instruction)
		       ? (size_t)(at - bytes)
		       : 0;
}

static size_t compare(const struct reader *reader, const uint8_t *bytes)
{
	size_t common = decode_x86_common(bytes, BYTES),
	       theirs = common ? capstone_size(reader, bytes, BYTES) : 0;

	if (common != theirs)
		fail_msg("%02x %02x %02x %02x %02x %02x: %zu bytes, by capstone %zu", bytes[0], bytes[1],
			bytes[2], bytes[3], bytes[4], bytes[5], common, theirs);
	return common;
}

/* Each operand twice: two bytes after it. */
static void opcode_compare(const struct reader *reader, uint8_t *bytes, size_t at)
{
	static const uint8_t rest[] = {0x25, 0x84, 0x12, 0x00, 0xff, 0x90, 0x0f, 0x05, 0x33};

	for (unsigned operand = 0; operand < 256; operand++)
		for (unsigned next = 0; next < 2; next++) {
			bytes[at] = (uint8_t)operand;
			memcpy(bytes + at + 1, rest + next, sizeof rest - 1);
			compare(reader, bytes);
		}
}

static void test_opcodes(void **state)
{
	static const uint8_t prefixes[][3] = {{0}, {1, 0x66}, {1, 0xf2}, {1, 0xf3}, {1, 0x40}, {1, 0x48},
		{1, 0x4f}, {2, 0x66, 0x41}, {2, 0x66, 0x48}, {2, 0xf2, 0x48}, {2, 0xf3, 0x45},
		{2, 0x48, 0x66}, {1, 0xf0}, {1, 0x64}, {2, 0xf3, 0xf2}};
	uint8_t bytes[32] = {0};

	if (!*state)
		skip();
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		for (unsigned opcode = 0; opcode < 512; opcode++) {
			size_t at = prefixes[i][0];

			memcpy(bytes, prefixes[i] + 1, at);
			if (opcode >= 256)
				bytes[at++] = 0x0f;
			bytes[at++] = (uint8_t)opcode;
			opcode_compare(*state, bytes, at);
		}
}

static void text_compare(const struct reader *reader, const uint8_t *code, size_t size)
{
	size_t told = 0, all = 0, next = 0, step;

	for (size_t at = 0; at + BYTES < size; at++)
		compare(reader, code + at);
	for (; next + BYTES < size; next += step, all++) {
		step = decode_x86_common(code + next, BYTES);
		told += step > 0;
		step = step ? step : capstone_size(reader, code + next, BYTES);
		step = step ? step : 1;
	}
	print_message("%zu of %zu instructions\n", told, all);
	assert_true(told * 10 > all * 7);
}

static void test_program(void **state)
{
	struct module_elf file;
	Elf_Scn *section = NULL;

	if (!*state)
		skip();
	assert_int_equal(module_elf_open(&file, "/proc/self/exe", NULL), 0);
	while ((section = elf_nextscn(file.elf, section))) {
		GElf_Shdr header;
		Elf_Data *data = elf_rawdata(section, NULL);

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
			header.sh_flags & SHF_EXECINSTR && header.sh_size > 4096 && data)
			text_compare(*state, data->d_buf, data->d_size);
	}
	module_elf_close(&file);
}

/* What is cut off is not guessed. */
static void test_end(void **state)
{
	(void)state;
	assert_int_equal(decode_x86_common((const uint8_t[BYTES]){0x90}, BYTES), 1);
	assert_int_equal(decode_x86_common((const uint8_t[BYTES]){0x90}, BYTES - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, open_reader, close_reader);
}

#else

int main(void)
{
	return 77;
}

#endif
