/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_prologue_scan.c - instructions against a disassembler, and recipes that were read off machine code
 * against the compiler's tables: in all functions of libc that have some, and in assembly that a person
 * wrote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>
#include <cmocka.h>
#include <link.h>

#include "record/agent/unwind/instruction.h"
#include "record/agent/unwind/prologue_scan.h"

#if defined(__x86_64__)

struct library {
	const char *name;
	uint64_t begin, end; /* of its code */
	struct cfi_module module;
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library *library = context;
	uint64_t header = 0;

	(void)size;
	if (!strstr(info->dlpi_name, library->name))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_EH_FRAME)
			header = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			library->begin = info->dlpi_addr + segment->p_vaddr;
			library->end = library->begin + segment->p_filesz;
		}
	}
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_filesz;

		if (segment->p_type == PT_LOAD && header >= begin && header < end) {
			library->module = (struct cfi_module){.begin = library->begin,
				.end = library->end,
				.image = {(const uint8_t *)begin, begin, end}};
			return cfi_module_init(&library->module, header) ? 0 : 1;
		}
	}
	return 0;
}

static struct library library_of(const char *name)
{
	struct library library = {.name = name};

	assert_int_equal(dl_iterate_phdr(look, &library), 1);
	return library;
}

static int plain_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

static const struct cfi_memory memory = {.read = plain_read};

/* Functions by the tables: [begin, end) of the entry that covers pc, 0 for none. */
static uint64_t function_at(const struct library *library, uint64_t pc, struct cfi_scratch *scratch)
{
	return cfi_row_find(&library->module, pc, scratch) ? 0 : scratch->pc_begin;
}

typedef void instruction_visit(const struct library *library, const cs_insn *real, void *context);

/* Each instruction from the begin of each function that tables know to the next. */
static void each_instruction(const struct library *library, instruction_visit *visit, void *context)
{
	struct cfi_scratch *scratch = calloc(1, sizeof(*scratch));
	const uint8_t *code = (const uint8_t *)(uintptr_t)library->begin;
	size_t size = (size_t)(library->end - library->begin);
	uint64_t address = library->begin;
	cs_insn *real;
	csh handle;

	assert_non_null(scratch);
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
	real = cs_malloc(handle);
	while (size) {
		if (function_at(library, address, scratch) &&
			cs_disasm_iter(handle, &code, &size, &address, real)) {
			visit(library, real, context);
			continue;
		}
		code++, size--, address++;
	}
	cs_free(real, 1);
	cs_close(&handle);
	free(scratch);
}

struct tally {
	unsigned long count, wrong, none;
	struct cfi_scratch cfi;
	struct prologue_scan_scratch reading;
};

static void length_compare(const struct library *library, const cs_insn *real, void *context)
{
	struct tally *tally = context;
	struct instruction ours;

	(void)library;
	tally->count++;
	if (instruction_decode(real->bytes, INSTRUCTION_BYTES_MAX, &ours) && ours.length == real->size)
		return;
	if (tally->wrong++ < 5)
		print_message(
			"%s %s: %u bytes, not %u\n", real->mnemonic, real->op_str, real->size, ours.length);
}

/* Some of what tables cover is data all the same: a dozen in 300,000. */
static void lengths_are_the_disassemblers(void **state)
{
	struct library library = library_of("libc.so.6");
	struct tally *tally = calloc(1, sizeof(*tally));

	(void)state;
	assert_non_null(tally);
	each_instruction(&library, length_compare, tally);
	print_message("%lu instructions, %lu of another length\n", tally->count, tally->wrong);
	assert_true(tally->count > 100000);
	assert_true(tally->wrong * 10000 < tally->count);
	free(tally);
}

/* In bytes from the CFA; 0: the register still holds it, or again: tables need not say that it was taken
 * back. */
static int fp_offset_of(const struct cfi_row *row)
{
	const struct cfi_rule *rule = &row->reg[ARCH_FP];

	return rule->kind == CFI_OFFSET && rule->value >= -row->cfa.value ? (int)rule->value : 0;
}

/* One in seven, for the time it takes. */
static void recipe_compare(const struct library *library, const cs_insn *real, void *context)
{
	struct tally *tally = context;
	const struct cfi_row *row = &tally->cfi.row;
	struct prologue_scan scan;
	uint64_t pc = real->address;

	if (pc % 7 || cfi_row_find(&library->module, pc, &tally->cfi) || row->signal_frame ||
		row->cfa.kind != CFI_REGISTER || row->cfa.reg != ARCH_SP)
		return;
	tally->count++;
	if (!prologue_scan_find(pc, library->begin, library->end, &memory, &tally->reading, &scan, 1)) {
		tally->none++;
		return;
	}
	if (scan.base != ARCH_SP || scan.is_loaded || scan.cfa_offset != row->cfa.value ||
		scan.fp_offset != fp_offset_of(row))
		if (tally->wrong++ < 8)
			print_message("%lx %s %s: cfa %u+%d, not %d, frame pointer at %d\n",
				(unsigned long)(pc - library->begin), real->mnemonic, real->op_str, scan.base,
				scan.cfa_offset, (int)row->cfa.value, scan.fp_offset);
}

/* Wrong ones lie ahead of calls that never return; most of those do not lead behind a call, and are then
 * not believed. */
static void recipes_are_the_compilers(void **state)
{
	struct library library = library_of("libc.so.6");
	struct tally *tally = calloc(1, sizeof(*tally));

	(void)state;
	assert_non_null(tally);
	each_instruction(&library, recipe_compare, tally);
	print_message(
		"%lu places, %lu without a recipe, %lu wrong\n", tally->count, tally->none, tally->wrong);
	assert_true(tally->count > 10000);
	assert_true(tally->none * 15 < tally->count);
	assert_true(tally->wrong * 40 < tally->count);
	free(tally);
}

/* What the first guess says of the code, as bytes from the stack pointer to the CFA. */
static int guess_of(const uint8_t *code, size_t bytes)
{
	static struct prologue_scan_scratch reading;
	uint64_t begin = (uintptr_t)code;
	struct prologue_scan scan;

	return prologue_scan_find(begin, begin, begin + bytes, &memory, &reading, &scan, 1) ? scan.cfa_offset
											    : -1;
}

/* pop rdx; jnz 1f; push rax; call raise; 1: ret. The call does not return: else the stack would have a word
 * more at 1 than by the branch. */
static void calls_that_do_not_return_are_known_by_the_branch(void **state)
{
	static const uint8_t code[] = {0x5a, 0x75, 0x06, 0x50, 0xe8, 0, 0, 0, 0, 0xc3};

	(void)state;
	assert_int_equal(16, guess_of(code, sizeof(code)));
}

/* pop rbx; jmp *slot(%rip): another library's function returns for this one. One that jumps to a place in a
 * register goes on. */
static void jumps_by_a_table_of_calls_are_returns(void **state)
{
	static const uint8_t by_table[] = {0x5b, 0xff, 0x25, 0, 0, 0, 0}, by_register[] = {0x5b, 0xff, 0xe0};

	(void)state;
	assert_int_equal(16, guess_of(by_table, sizeof(by_table)));
	assert_int_equal(-1, guess_of(by_register, sizeof(by_register)));
}

/* push rbx; jz 1f; sub rsp,16; call exit; 1: call exit: no way leads to a return, but the function's begin
 * tells what it has on the stack. */
static void depths_are_counted_from_the_begin(void **state)
{
	static const uint8_t code[] = {
		0x53, 0x74, 0x09, 0x48, 0x83, 0xec, 0x10, 0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x90};
	static struct prologue_scan_scratch reading;
	uint64_t begin = (uintptr_t)code, end = begin + sizeof(code) - 1;

	(void)state;
	assert_int_equal(-1, guess_of(code + 7, sizeof(code) - 8));
	assert_int_equal(24, prologue_scan_depth(begin, begin + 7, begin, end, &memory, &reading));
	assert_int_equal(8, prologue_scan_depth(begin, begin + 17, begin, end + 1, &memory, &reading));
	assert_int_equal(0, prologue_scan_depth(begin, begin, begin, end, &memory, &reading));
	assert_int_equal(-1, prologue_scan_depth(begin, begin + 4, begin, end, &memory, &reading));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_do_not_return_are_known_by_the_branch),
		cmocka_unit_test(jumps_by_a_table_of_calls_are_returns),
		cmocka_unit_test(depths_are_counted_from_the_begin),
		cmocka_unit_test(lengths_are_the_disassemblers),
		cmocka_unit_test(recipes_are_the_compilers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("SKIPPED: recipes are read off x86-64's machine code alone");
	return 77;
}

#endif
