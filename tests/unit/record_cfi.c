/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cfi.c - the reader of unwind tables: every instruction and operation on
 * tables built by hand, the search over many entries against a scan, and damaged
 * tables, which must end in an error inside their bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

#include "record/agent/unwind/cfi.h"
#include "tests/unit/seed.h"

#define BASE UINT64_C(0x100000)
#define CODE UINT64_C(0x200000)
#define BYTES_MAX 65536

static uint8_t bytes[BYTES_MAX];
static uint32_t used;
static struct cfi_scratch scratch;

static void put(uint64_t value, unsigned count)
{
	memcpy(bytes + used, &value, count);
	used += count;
}

static void put_bytes(const uint8_t *from, size_t count)
{
	if (count)
		memcpy(bytes + used, from, count);
	used += (uint32_t)count;
}

/* A record's length word is filled when it is closed; records are padded with DW_CFA_nop. */
static void record_close(uint32_t begin)
{
	uint32_t length;

	while ((used - begin) % 8 != 0)
		put(DW_CFA_nop, 1);
	length = used - begin - 4;
	memcpy(bytes + begin, &length, 4);
}

static uint32_t put_cie(const char *augmentation)
{
	static const uint8_t initial[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	uint32_t begin = used;

	put(0, 4);
	put(0, 4);
	put(1, 1);
	put_bytes((const uint8_t *)augmentation, strlen(augmentation) + 1);
	put(1, 1);
	put(0x78, 1); /* data alignment -8 */
	put(16, 1);
	put(1, 1);
	put(DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	put_bytes(initial, sizeof(initial));
	record_close(begin);
	return begin;
}

static uint32_t put_fde(uint32_t cie, uint64_t pc, uint32_t length, const uint8_t *code, size_t count)
{
	uint32_t begin = used;

	put(0, 4);
	put(used - cie, 4);
	put((uint32_t)(pc - (BASE + used)), 4);
	put(length, 4);
	put(0, 1);
	put_bytes(code, count);
	record_close(begin);
	return begin;
}

/* Header at the image's start with a search table for the FDEs at fde[], sorted by pc. */
static struct cfi_module module_close(
	uint32_t frames_at, const uint32_t *fde, const uint64_t *pc, uint32_t count)
{
	struct cfi_module module = {
		.begin = BASE, .end = CODE + 0x100000, .image = {bytes, BASE, BASE + used}};
	uint32_t header = used;

	put(1, 1);
	put(DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	put(DW_EH_PE_udata4, 1);
	put(DW_EH_PE_datarel | DW_EH_PE_sdata4, 1);
	put((uint32_t)(frames_at - used), 4);
	put(count, 4);
	for (uint32_t i = 0; i < count; i++) {
		put((uint32_t)(pc[i] - (BASE + header)), 4);
		put((uint32_t)(fde[i] - header), 4);
	}
	module.image.end = BASE + used;
	assert_int_equal(cfi_module_init(&module, BASE + header), 0);
	return module;
}

/* One function at CODE whose entry has these instructions. */
static struct cfi_module function(const uint8_t *code, size_t count)
{
	uint64_t pc = CODE;
	uint32_t cie, fde;

	used = 0;
	cie = put_cie("zR");
	fde = put_fde(cie, pc, 100, code, count);
	put(0, 4);
	return module_close(0, &fde, &pc, 1);
}

#define FUNCTION(...) function((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static const struct cfi_row *row(const struct cfi_module *module, uint64_t at)
{
	assert_int_equal(cfi_row_find(module, CODE + at, &scratch), 0);
	return &scratch.row;
}

static void assert_cfa(const struct cfi_row *at, unsigned reg, int offset)
{
	assert_int_equal(at->cfa.kind, CFI_REGISTER);
	assert_int_equal(at->cfa.reg, reg);
	assert_int_equal(at->cfa.value, offset);
}

static void assert_rule(const struct cfi_row *at, unsigned reg, unsigned kind, int value)
{
	assert_int_equal(at->reg[reg].kind, kind);
	assert_int_equal(at->reg[reg].value, value);
}

static void test_prologue_and_epilogue(void **state)
{
	struct cfi_module m = FUNCTION(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6,
		2, DW_CFA_advance_loc1, 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc2, 40, 0,
		DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6, DW_CFA_advance_loc4, 1, 0, 0,
		0, DW_CFA_restore_state);

	(void)state;
	assert_cfa(row(&m, 0), 7, 8);
	assert_rule(row(&m, 0), 16, CFI_OFFSET, -8);
	assert_rule(row(&m, 0), 6, CFI_SAME, 0);
	assert_cfa(row(&m, 1), 7, 16);
	assert_rule(row(&m, 1), 6, CFI_OFFSET, -16);
	assert_cfa(row(&m, 4), 6, 16);
	assert_cfa(row(&m, 43), 6, 16);
	assert_cfa(row(&m, 44), 7, 8);
	assert_rule(row(&m, 44), 6, CFI_SAME, 0);
	assert_cfa(row(&m, 45), 6, 16);
	assert_rule(row(&m, 45), 6, CFI_OFFSET, -16);
	assert_rule(row(&m, 99), 6, CFI_OFFSET, -16);
}

static void test_restore_means_the_initial_rule(void **state)
{
	struct cfi_module m = FUNCTION(DW_CFA_undefined, 16, DW_CFA_offset | 3, 9, DW_CFA_advance_loc | 1,
		DW_CFA_restore | 16, DW_CFA_restore | 3);

	(void)state;
	assert_rule(row(&m, 0), 16, CFI_UNDEFINED, 0);
	assert_rule(row(&m, 0), 3, CFI_OFFSET, -72);
	assert_rule(row(&m, 1), 16, CFI_OFFSET, -8);
	assert_rule(row(&m, 1), 3, CFI_SAME, 0);
}

static void test_all_rules(void **state)
{
	struct cfi_module m =
		FUNCTION(DW_CFA_offset_extended, 3, 2, DW_CFA_offset_extended_sf, 12, 0x7d, DW_CFA_val_offset,
			13, 4, DW_CFA_val_offset_sf, 14, 0x7f, DW_CFA_register, 15, 1, DW_CFA_undefined, 0,
			DW_CFA_same_value, 1, DW_CFA_expression, 2, 2, DW_OP_breg7, 8, DW_CFA_val_expression,
			4, 1, DW_OP_lit5, DW_CFA_GNU_args_size, 16, DW_CFA_GNU_negative_offset_extended, 5, 3,
			DW_CFA_nop, DW_CFA_advance_loc | 1, DW_CFA_restore_extended, 3, DW_CFA_def_cfa_sf, 10,
			0x7e, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset_sf, 0x7c, DW_CFA_advance_loc | 1,
			DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 16);
	const struct cfi_row *at = row(&m, 0);

	(void)state;
	assert_rule(at, 3, CFI_OFFSET, -16);
	assert_rule(at, 12, CFI_OFFSET, 24);
	assert_rule(at, 13, CFI_VAL_OFFSET, -32);
	assert_rule(at, 14, CFI_VAL_OFFSET, 8);
	assert_int_equal(at->reg[15].kind, CFI_REGISTER);
	assert_int_equal(at->reg[15].reg, 1);
	assert_rule(at, 0, CFI_UNDEFINED, 0);
	assert_rule(at, 1, CFI_SAME, 0);
	assert_int_equal(at->reg[2].kind, CFI_EXPRESSION);
	assert_int_equal(at->reg[4].kind, CFI_VAL_EXPRESSION);
	assert_rule(at, 5, CFI_OFFSET, 24);
	at = row(&m, 1);
	assert_rule(at, 3, CFI_SAME, 0);
	assert_cfa(at, 10, 16);
	assert_cfa(row(&m, 2), 10, 32);
	assert_int_equal(row(&m, 3)->cfa.kind, CFI_VAL_EXPRESSION);
}

#define TOO_LONG 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20 /* 2^61 + 1: eight of it wrap round */

static void assert_damaged(struct cfi_module m)
{
	assert_int_equal(cfi_row_find(&m, CODE, &scratch), CFI_DAMAGED);
}

static void test_offsets_too_long(void **state)
{
	(void)state;
	assert_damaged(FUNCTION(DW_CFA_offset | 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_offset_extended, 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_offset_extended_sf, 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_GNU_negative_offset_extended, 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_val_offset, 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_val_offset_sf, 3, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_def_cfa_sf, 7, TOO_LONG));
	assert_damaged(FUNCTION(DW_CFA_def_cfa_offset_sf, TOO_LONG));
}

static void test_set_loc(void **state)
{
	/* pointer-relative, as the CIE says: from the operand's own place to CODE + 50 */
	uint8_t code[] = {DW_CFA_set_loc, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 64};
	struct cfi_module m = function(code, sizeof(code));
	uint64_t place = BASE + (uint64_t)((uint8_t *)memmem(bytes, used, code, sizeof(code)) - bytes) + 1;
	int32_t distance = (int32_t)(CODE + 50 - place);

	(void)state;
	memcpy(code + 1, &distance, 4);
	m = function(code, sizeof(code));
	assert_cfa(row(&m, 49), 7, 8);
	assert_cfa(row(&m, 50), 7, 64);
}

static int no_memory(void *context, uint64_t address, void *to, size_t count)
{
	const uint64_t *words = context;

	if (address >= 64 || count > 8)
		return -1;
	memcpy(to, (const uint8_t *)words + address, count);
	return 0;
}

static int evaluate(const uint8_t *code, uint8_t count, uint64_t *value)
{
	static uint64_t words[8] = {11, 22, 33, 44, 0x1122334455667788, 66, 77, 88};
	struct cfi_memory memory = {.read = no_memory, .context = words};
	struct arch_registers registers = {.known = 1u << 7 | 1u << 6};
	struct cfi_image image = {bytes, BASE, BASE + count + 1u};

	registers.value[7] = 16;
	registers.value[6] = 1000;
	bytes[0] = count;
	memcpy(bytes + 1, code, count);
	return cfi_expression_value(&image, 0, &registers, &memory, NULL, value);
}

#define EVALUATES(expected, ...)                                              \
	do {                                                                  \
		const uint8_t code_[] = {__VA_ARGS__};                        \
		uint64_t value_ = 0;                                          \
		assert_int_equal(evaluate(code_, sizeof(code_), &value_), 0); \
		assert_int_equal((int64_t)value_, expected);                  \
	} while (0)

#define FAILS(error, ...)                                                         \
	do {                                                                      \
		const uint8_t code_[] = {__VA_ARGS__};                            \
		uint64_t value_;                                                  \
		assert_int_equal(evaluate(code_, sizeof(code_), &value_), error); \
	} while (0)

static void test_expressions(void **state)
{
	(void)state;
	EVALUATES(24, DW_OP_breg7, 8);
	EVALUATES(999, DW_OP_breg6, 0x7f);
	EVALUATES(33, DW_OP_breg7, 0, DW_OP_deref);
	EVALUATES(0x88, DW_OP_const1u, 32, DW_OP_deref_size, 1);
	EVALUATES(17, DW_OP_bregx, 7, 1);
	EVALUATES(-1, DW_OP_const1s, 0xff);
	EVALUATES(0xff, DW_OP_const1u, 0xff);
	EVALUATES(-2, DW_OP_const2s, 0xfe, 0xff);
	EVALUATES(0x04030201, DW_OP_const4u, 1, 2, 3, 4);
	EVALUATES(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
	EVALUATES(300, DW_OP_constu, 0xac, 2);
	EVALUATES(-3, DW_OP_consts, 0x7d);
	EVALUATES(3, DW_OP_lit7, DW_OP_lit4, DW_OP_minus);
	EVALUATES(-2, DW_OP_lit7, DW_OP_neg, DW_OP_lit3, DW_OP_div);
	EVALUATES(1, DW_OP_lit7, DW_OP_lit3, DW_OP_mod);
	EVALUATES(21, DW_OP_lit7, DW_OP_lit3, DW_OP_mul);
	EVALUATES(12, DW_OP_lit3, DW_OP_lit2, DW_OP_shl);
	EVALUATES(-1, DW_OP_lit1, DW_OP_neg, DW_OP_lit4, DW_OP_shra);
	EVALUATES(1, DW_OP_lit1, DW_OP_neg, DW_OP_lit31, DW_OP_lit31, DW_OP_plus, DW_OP_lit1, DW_OP_plus,
		DW_OP_shr);
	EVALUATES(6, DW_OP_lit5, DW_OP_lit3, DW_OP_xor);
	EVALUATES(1, DW_OP_lit5, DW_OP_lit3, DW_OP_and);
	EVALUATES(7, DW_OP_lit5, DW_OP_lit3, DW_OP_or);
	EVALUATES(-6, DW_OP_lit5, DW_OP_not);
	EVALUATES(5, DW_OP_lit5, DW_OP_neg, DW_OP_abs);
	EVALUATES(15, DW_OP_lit5, DW_OP_plus_uconst, 10);
	EVALUATES(1, DW_OP_lit5, DW_OP_lit11, DW_OP_lt);
	EVALUATES(0, DW_OP_lit5, DW_OP_lit11, DW_OP_ge);
	EVALUATES(2, DW_OP_lit1, DW_OP_lit2, DW_OP_swap, DW_OP_drop);
	EVALUATES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_over);
	EVALUATES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_pick, 2);
	EVALUATES(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot);
	EVALUATES(9, DW_OP_lit9, DW_OP_skip, 1, 0, DW_OP_lit1, DW_OP_nop);
	EVALUATES(4, DW_OP_lit4, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit7);
	EVALUATES(7, DW_OP_lit4, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit7);
	FAILS(CFI_UNKNOWN_REGISTER, DW_OP_breg3, 0);
	FAILS(CFI_UNREADABLE, DW_OP_const1u, 200, DW_OP_deref);
	FAILS(CFI_DAMAGED, DW_OP_plus);
	FAILS(CFI_DAMAGED, DW_OP_const4u, 1);
	FAILS(CFI_DAMAGED, DW_OP_lit1, DW_OP_skip, 0xfd, 0xff); /* jumps to itself for ever */
	FAILS(CFI_DAMAGED, DW_OP_lit1, DW_OP_skip, 0, 0x40);
}

static void test_signal_frame(void **state)
{
	uint64_t pc = CODE;
	uint32_t cie, fde;
	struct cfi_module m;

	(void)state;
	used = 0;
	cie = put_cie("zRS");
	fde = put_fde(cie, pc, 10, NULL, 0);
	put(0, 4);
	m = module_close(0, &fde, &pc, 1);
	assert_true(row(&m, 0)->signal_frame);
	m = FUNCTION(DW_CFA_nop);
	assert_false(row(&m, 0)->signal_frame);
}

static void test_search_equals_scan(void **state)
{
	uint32_t fde[500], cie;
	uint64_t pc[500], at = CODE;
	struct cfi_module searched, scanned;

	(void)state;
	srand((unsigned)seed_take(__func__, 23));
	used = 0;
	cie = put_cie("zR");
	for (unsigned i = 0; i < 500; i++) {
		const uint8_t code[] = {DW_CFA_def_cfa_offset, (uint8_t)(i % 100)};
		uint32_t length = 1 + (uint32_t)rand() % 60;

		pc[i] = at;
		fde[i] = put_fde(cie, at, length, code, sizeof(code));
		at += length + (uint64_t)(rand() % 3 ? 0 : rand() % 20);
	}
	put(0, 4);
	searched = module_close(0, fde, pc, 500);
	scanned = searched;
	scanned.table = 0;
	for (uint64_t x = CODE - 5; x < at + 5; x++) {
		int found = cfi_row_find(&searched, x, &scratch), value = scratch.row.cfa.value;

		assert_int_equal(cfi_row_find(&scanned, x, &scratch), found);
		if (!found)
			assert_int_equal(scratch.row.cfa.value, value);
	}
}

/* Bounds: the copy ends where the tables end, so that valgrind and the sanitizer see a byte too far. */
static void test_damaged_tables_stay_inside(void **state)
{
	struct cfi_module whole = FUNCTION(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		DW_CFA_remember_state, DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 16, DW_CFA_advance_loc | 4,
		DW_CFA_restore_state);
	uint32_t size = used;

	(void)state;
	srand((unsigned)seed_take(__func__, 24));
	for (unsigned round = 0; round < 20000; round++) {
		uint32_t cut = round % 2 ? size : 1 + (uint32_t)rand() % size;
		uint8_t *copy = malloc(cut);
		struct cfi_module m = whole;

		memcpy(copy, bytes, cut);
		for (unsigned flips = (unsigned)rand() % 6; flips; flips--)
			copy[(uint32_t)rand() % cut] = (uint8_t)rand();
		m.image = (struct cfi_image){copy, BASE, BASE + cut};
		if (!cfi_module_init(&m, whole.header))
			for (uint64_t at = CODE; at < CODE + 100; at += 7) {
				struct arch_registers registers = {.known = ARCH_ALL_KNOWN};
				struct cfi_memory memory = {.read = no_memory, .context = bytes};

				if (!cfi_row_find(&m, at, &scratch))
					cfi_row_apply(&scratch.row, &m.image, &memory, &registers);
			}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue_and_epilogue),
		cmocka_unit_test(test_restore_means_the_initial_rule),
		cmocka_unit_test(test_all_rules),
		cmocka_unit_test(test_offsets_too_long),
		cmocka_unit_test(test_set_loc),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_search_equals_scan),
		cmocka_unit_test(test_damaged_tables_stay_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
