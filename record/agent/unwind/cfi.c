/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.c - runs an FDE's instructions up to a pc and applies the resulting row. unwind.c caches rows, so this
 * happens once per pc and thread.
 */
#include <dwarf.h>
#include <string.h>

#include "record/agent/unwind/fde.h"

/* State of the machine that runs DW_CFA_* instructions. */
struct run {
	const struct cfi_module *module;
	const struct fde *fde;
	struct cfi_scratch *scratch;
	struct cfi_row *row;
	struct dwarf_reader c;
	uint64_t location;
	unsigned saved;
};

/* Factors are untrusted: a product that overflows fits no row. */
static int64_t scaled(const struct run *run, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(factor, run->fde->data_align, &product) ? INT64_MAX : product;
}

static void rule_set(struct run *run, uint64_t reg, uint8_t kind, int64_t value)
{
	if (value != (int32_t)value)
		run->c.bad = true;
	else if (reg < ARCH_REGISTERS)
		run->row->reg[reg] = (struct cfi_rule){.kind = kind, .value = (int32_t)value};
}

static void rule_restore(struct run *run, uint64_t reg)
{
	if (reg < ARCH_REGISTERS)
		run->row->reg[reg] = run->scratch->initial.reg[reg];
}

static void rule_register(struct run *run)
{
	uint64_t reg = dwarf_reader_uleb(&run->c), from = dwarf_reader_uleb(&run->c);

	rule_set(run, reg, from < ARCH_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED, 0);
	if (reg < ARCH_REGISTERS)
		run->row->reg[reg].reg = (uint8_t)from;
}

/* Offset of an expression in the image; skips it. */
static int64_t expression_place(struct run *run)
{
	uint64_t place = dwarf_reader_address(&run->c, &run->module->image) - run->module->image.begin;

	dwarf_reader_skip(&run->c, dwarf_reader_uleb(&run->c));
	return place <= INT32_MAX ? (int64_t)place : INT64_MAX;
}

static void cfa_set(struct run *run, uint64_t reg, int64_t offset)
{
	if (reg >= ARCH_REGISTERS || offset != (int32_t)offset)
		run->c.bad = true;
	else
		run->row->cfa = (struct cfi_rule){
			.kind = CFI_REGISTER, .reg = (uint8_t)reg, .value = (int32_t)offset};
}

static void cfa_offset_set(struct run *run, int64_t offset)
{
	if (run->row->cfa.kind != CFI_REGISTER)
		run->c.bad = true;
	else
		cfa_set(run, run->row->cfa.reg, offset);
}

static void state_remember(struct run *run)
{
	if (run->saved == CFI_STATES_MAX)
		run->c.bad = true;
	else
		run->scratch->saved[run->saved++] = *run->row;
}

static void state_restore(struct run *run)
{
	if (!run->saved)
		run->c.bad = true;
	else
		*run->row = run->scratch->saved[--run->saved];
}

static bool run_cfa(struct run *run, uint8_t op)
{
	struct dwarf_reader *c = &run->c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = dwarf_reader_uleb(c);
		cfa_set(run, reg, (int64_t)dwarf_reader_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = dwarf_reader_uleb(c);
		cfa_set(run, reg, scaled(run, dwarf_reader_sleb(c)));
		return true;
	case DW_CFA_def_cfa_register:
		cfa_set(run, dwarf_reader_uleb(c), run->row->cfa.value);
		return true;
	case DW_CFA_def_cfa_offset:
		cfa_offset_set(run, (int64_t)dwarf_reader_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa_offset_set(run, scaled(run, dwarf_reader_sleb(c)));
		return true;
	case DW_CFA_def_cfa_expression:
		run->row->cfa = (struct cfi_rule){
			.kind = CFI_VAL_EXPRESSION, .value = (int32_t)expression_place(run)};
		return true;
	default:
		return false;
	}
}

static bool run_rule(struct run *run, uint8_t op)
{
	struct dwarf_reader *c = &run->c;
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op == DW_CFA_remember_state || op == DW_CFA_restore_state ||
		(op > DW_CFA_val_expression && op != DW_CFA_GNU_negative_offset_extended))
		return false;
	if (op == DW_CFA_register) {
		rule_register(run);
		return true;
	}
	reg = dwarf_reader_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		rule_set(run, reg, CFI_OFFSET, scaled(run, (int64_t)dwarf_reader_uleb(c)));
		break;
	case DW_CFA_offset_extended_sf:
		rule_set(run, reg, CFI_OFFSET, scaled(run, dwarf_reader_sleb(c)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		rule_set(run, reg, CFI_OFFSET, scaled(run, (int64_t)-dwarf_reader_uleb(c)));
		break;
	case DW_CFA_val_offset:
		rule_set(run, reg, CFI_VAL_OFFSET, scaled(run, (int64_t)dwarf_reader_uleb(c)));
		break;
	case DW_CFA_val_offset_sf:
		rule_set(run, reg, CFI_VAL_OFFSET, scaled(run, dwarf_reader_sleb(c)));
		break;
	case DW_CFA_expression:
		rule_set(run, reg, CFI_EXPRESSION, expression_place(run));
		break;
	case DW_CFA_val_expression:
		rule_set(run, reg, CFI_VAL_EXPRESSION, expression_place(run));
		break;
	case DW_CFA_restore_extended:
		rule_restore(run, reg);
		break;
	case DW_CFA_undefined:
		rule_set(run, reg, CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		rule_set(run, reg, CFI_SAME, 0);
		break;
	default:
		c->bad = true;
	}
	return true;
}

/* Location and state instructions; the remaining ones. */
static void run_rest(struct run *run, uint8_t op)
{
	struct dwarf_reader *c = &run->c;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		run->location = fde_pointer_read(c, &run->module->image, run->fde->pointer_encoding, 0);
		break;
	case DW_CFA_advance_loc1:
		run->location += dwarf_reader_fixed(c, 1) * run->fde->code_align;
		break;
	case DW_CFA_advance_loc2:
		run->location += dwarf_reader_fixed(c, 2) * run->fde->code_align;
		break;
	case DW_CFA_advance_loc4:
		run->location += dwarf_reader_fixed(c, 4) * run->fde->code_align;
		break;
	case DW_CFA_MIPS_advance_loc8:
		run->location += dwarf_reader_fixed(c, 8) * run->fde->code_align;
		break;
	case DW_CFA_remember_state:
		state_remember(run);
		break;
	case DW_CFA_restore_state:
		state_restore(run);
		break;
	case DW_CFA_GNU_args_size:
		dwarf_reader_uleb(c);
		break;
#ifdef __aarch64__
	case DW_CFA_AARCH64_negate_ra_state: /* arch_return_address handles signed addresses */
		break;
#endif
	default:
		c->bad = true; /* DW_CFA_GNU_window_save is of other processors */
	}
}

static int run_until(struct run *run, uint64_t pc)
{
	struct dwarf_reader *c = &run->c;

	while (!c->bad && c->at < c->end && run->location <= pc) {
		uint8_t byte = (uint8_t)dwarf_reader_fixed(c, 1), low = byte & 0x3f;

		if ((byte & 0xc0) == DW_CFA_advance_loc)
			run->location += low * run->fde->code_align;
		else if ((byte & 0xc0) == DW_CFA_offset)
			rule_set(run, low, CFI_OFFSET, scaled(run, (int64_t)dwarf_reader_uleb(c)));
		else if ((byte & 0xc0) == DW_CFA_restore)
			rule_restore(run, low);
		else if (!run_cfa(run, byte) && !run_rule(run, byte))
			run_rest(run, byte);
	}
	return c->bad ? CFI_DAMAGED : 0;
}

int cfi_row_find(const struct cfi_module *module, uint64_t pc, struct cfi_scratch *scratch)
{
	struct fde fde;
	struct run run = {.module = module, .fde = &fde, .scratch = scratch, .row = &scratch->row};
	int result = fde_find(module, pc, &fde);

	if (result)
		return result;
	scratch->pc_begin = fde.pc_begin;
	scratch->pc_end = fde.pc_end;
	memset(&scratch->row, 0, sizeof(scratch->row));
	scratch->row.cfa.kind = CFI_UNDEFINED;
	scratch->row.return_register = fde.return_register;
	scratch->row.signal_frame = fde.signal_frame;
	scratch->initial = scratch->row;
	run.c = fde.initial;
	run.location = fde.pc_begin;
	result = run_until(&run, UINT64_MAX);
	if (result)
		return result;
	scratch->initial = scratch->row;
	run.c = fde.instructions;
	run.location = fde.pc_begin;
	return run_until(&run, pc);
}

static int rule_apply(const struct cfi_rule *rule, const struct cfi_image *image,
	const struct cfi_memory *memory, const struct arch_registers *callee, uint64_t cfa, uint64_t *value)
{
	uint64_t address = cfa + (uint64_t)(int64_t)rule->value;
	int result;

	switch (rule->kind) {
	case CFI_OFFSET:
		return cfi_word_read(memory, address, value);
	case CFI_VAL_OFFSET:
		*value = address;
		return 0;
	case CFI_REGISTER:
		*value = callee->value[rule->reg];
		return callee->known >> rule->reg & 1 ? 0 : CFI_UNKNOWN_REGISTER;
	case CFI_VAL_EXPRESSION:
		return cfi_expression_value(image, (uint32_t)rule->value, callee, memory, &cfa, value);
	case CFI_EXPRESSION:
		result = cfi_expression_value(image, (uint32_t)rule->value, callee, memory, &cfa, &address);
		return result ? result : cfi_word_read(memory, address, value);
	default:
		return CFI_DAMAGED;
	}
}

static int cfa_value(const struct cfi_row *row, const struct cfi_image *image,
	const struct cfi_memory *memory, const struct arch_registers *callee, uint64_t *cfa)
{
	if (row->cfa.kind == CFI_VAL_EXPRESSION)
		return cfi_expression_value(image, (uint32_t)row->cfa.value, callee, memory, NULL, cfa);
	if (row->cfa.kind != CFI_REGISTER)
		return CFI_DAMAGED;
	if (!(callee->known >> row->cfa.reg & 1))
		return CFI_UNKNOWN_REGISTER;
	*cfa = callee->value[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.value;
	return 0;
}

int cfi_row_apply(const struct cfi_row *row, const struct cfi_image *image, const struct cfi_memory *memory,
	struct arch_registers *registers)
{
	struct arch_registers caller = *registers;
	uint64_t cfa;
	int result = cfa_value(row, image, memory, registers, &cfa);

	if (result)
		return result;
	caller.value[ARCH_SP] = cfa;
	for (unsigned i = 0; i < ARCH_REGISTERS; i++) {
		const struct cfi_rule *rule = &row->reg[i];

		if (rule->kind == CFI_SAME)
			continue;
		caller.known &= ~(UINT64_C(1) << i);
		if (rule->kind == CFI_UNDEFINED)
			continue;
		result = rule_apply(rule, image, memory, registers, cfa, &caller.value[i]);
		if (result && (i == row->return_register || i == ARCH_SP))
			return result;
		/* The same below the stack pointer of a copied stack. */
		if (result == CFI_UNREADABLE && rule->kind == CFI_OFFSET &&
			cfa + (uint64_t)(int64_t)rule->value < registers->value[ARCH_SP]) {
			caller.value[i] = registers->value[i];
			caller.known |= registers->known & UINT64_C(1) << i;
			continue;
		}
		/* Epilogues that have already restored the frame pointer often still give its old place. */
		if (result == CFI_UNKNOWN_REGISTER && i == ARCH_FP)
			return result;
		if (!result)
			caller.known |= UINT64_C(1) << i;
	}
	if (!(caller.known >> row->return_register & 1))
		return CFI_UNKNOWN_REGISTER;
	caller.value[ARCH_PC] = arch_return_address(caller.value[row->return_register]);
	caller.known |= UINT64_C(1) << ARCH_PC | UINT64_C(1) << ARCH_SP;
	caller.known &= ~(uint64_t)ARCH_LOST_BY_CALL;
	*registers = caller;
	return 0;
}
