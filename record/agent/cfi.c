/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.c - finds the entry (FDE) that covers a pc and runs its instructions up to
 * that pc. unwind.c keeps the outcome in a cache, so this runs once per place in
 * the program and thread.
 */
#include <dwarf.h>
#include <string.h>

#include "record/agent/cursor.h"

/* One FDE with its CIE. */
struct entry {
	uint64_t pc_begin;
	uint64_t pc_end;
	uint64_t code_align;
	int64_t data_align;
	struct cursor initial; /* the CIE's instructions */
	struct cursor instructions;
	uint8_t pointer_encoding;
	bool augmented;
	bool signal_frame;
	uint8_t return_register;
};

/* A pointer as .eh_frame writes it. Indirect ones occur only for personality routines. */
static uint64_t pointer_read(
	struct cursor *c, const struct cfi_image *image, uint8_t encoding, uint64_t data_base)
{
	uint64_t here = cursor_address(c, image), value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = cursor_fixed(c, 8);
		break;
	case DW_EH_PE_uleb128:
		value = cursor_uleb(c);
		break;
	case DW_EH_PE_udata2:
		value = cursor_fixed(c, 2);
		break;
	case DW_EH_PE_udata4:
		value = cursor_fixed(c, 4);
		break;
	case DW_EH_PE_udata8:
		value = cursor_fixed(c, 8);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cursor_sleb(c);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)cursor_signed(c, 2);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)cursor_signed(c, 4);
		break;
	case DW_EH_PE_sdata8:
		value = cursor_fixed(c, 8);
		break;
	default:
		c->bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_datarel:
		return value + data_base;
	default:
		c->bad = true;
		return 0;
	}
}

int cfi_module_init(struct cfi_module *module, uint64_t header)
{
	const struct cfi_image *image = &module->image;
	struct cursor c = cursor_at(image, header, image->end);
	uint64_t version = cursor_fixed(&c, 1), count;
	uint8_t frame_encoding = (uint8_t)cursor_fixed(&c, 1), count_encoding = (uint8_t)cursor_fixed(&c, 1);
	uint8_t table_encoding = (uint8_t)cursor_fixed(&c, 1);

	module->header = header;
	module->table = 0;
	module->table_count = 0;
	module->eh_frame = pointer_read(&c, image, frame_encoding, header);
	if (c.bad || version != 1 || module->eh_frame < image->begin || module->eh_frame >= image->end) {
		module->image = (struct cfi_image){0};
		return CFI_DAMAGED;
	}
	count = pointer_read(&c, image, count_encoding, header);
	if (table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && count <= UINT32_MAX &&
		cursor_has(&c, count * 8)) {
		module->table = cursor_address(&c, image);
		module->table_count = (uint32_t)count;
	}
	return 0;
}

/* The last table entry at or before pc: where its FDE lies; 0: none. */
static uint64_t table_search(const struct cfi_module *module, uint64_t pc)
{
	const uint8_t *table = module->image.bytes + (module->table - module->image.begin);
	int64_t wanted = (int64_t)(pc - module->header);
	uint32_t low = 0, high = module->table_count;
	int32_t pair[2];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(pair, table + (size_t)middle * 8, sizeof(pair));
		if (pair[0] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	memcpy(pair, table + (size_t)(low - 1) * 8, sizeof(pair));
	return module->header + (uint64_t)(int64_t)pair[1];
}

/* Opens a length-prefixed record; *end_address: the next one. */
static struct cursor record_open(const struct cfi_image *image, uint64_t address, uint64_t *end_address)
{
	struct cursor c = cursor_at(image, address, image->end);
	uint64_t length = cursor_fixed(&c, 4);

	if (length == UINT32_MAX)
		length = cursor_fixed(&c, 8);
	if (!cursor_has(&c, length))
		return c;
	c.end = c.at + length;
	*end_address = cursor_address(&c, image) + length;
	return c;
}

static int cie_augmentation_read(
	struct cursor *c, const struct cfi_image *image, const char *letters, struct entry *entry)
{
	uint64_t length = cursor_uleb(c);
	struct cursor data = *c;

	cursor_skip(c, length);
	if (c->bad)
		return CFI_DAMAGED;
	data.end = c->at;
	entry->augmented = true;
	for (letters++; *letters; letters++) {
		if (*letters == 'L')
			cursor_skip(&data, 1);
		else if (*letters == 'R')
			entry->pointer_encoding = (uint8_t)cursor_fixed(&data, 1);
		else if (*letters == 'P') {
			uint8_t encoding = (uint8_t)cursor_fixed(&data, 1);

			pointer_read(&data, image, encoding & 0x0f, 0);
		} else if (*letters == 'S')
			entry->signal_frame = true;
		else if (*letters != 'B')
			return CFI_DAMAGED;
	}
	return data.bad ? CFI_DAMAGED : 0;
}

static int cie_read(const struct cfi_image *image, uint64_t address, struct entry *entry)
{
	uint64_t end;
	struct cursor c = record_open(image, address, &end);
	uint64_t id = cursor_fixed(&c, 4), version = cursor_fixed(&c, 1);
	const char *letters = (const char *)c.at;

	while (cursor_fixed(&c, 1))
		;
	if (c.bad || id || (version != 1 && version != 3))
		return CFI_DAMAGED;
	entry->code_align = cursor_uleb(&c);
	entry->data_align = cursor_sleb(&c);
	entry->return_register = (uint8_t)(version == 1 ? cursor_fixed(&c, 1) : cursor_uleb(&c));
	entry->pointer_encoding = DW_EH_PE_absptr;
	if (entry->return_register >= ARCH_REGISTERS)
		return CFI_DAMAGED;
	if (letters[0] == 'z' && cie_augmentation_read(&c, image, letters, entry))
		return CFI_DAMAGED;
	if (letters[0] && letters[0] != 'z')
		return CFI_DAMAGED;
	entry->initial = c;
	return c.bad ? CFI_DAMAGED : 0;
}

/* Reads the record at `address`. 0, CFI_NONE for a CIE or the terminator, CFI_DAMAGED; *next: behind it. */
static int entry_read(const struct cfi_image *image, uint64_t address, struct entry *entry, uint64_t *next)
{
	struct cursor c = record_open(image, address, next);
	uint64_t id_address = cursor_address(&c, image), id = 0;

	if (c.bad)
		return CFI_DAMAGED;
	if (c.at == c.end)
		return CFI_NONE;
	id = cursor_fixed(&c, 4);
	if (!id)
		return CFI_NONE;
	*entry = (struct entry){0};
	if (c.bad || cie_read(image, id_address - id, entry))
		return CFI_DAMAGED;
	entry->pc_begin = pointer_read(&c, image, entry->pointer_encoding, 0);
	entry->pc_end = entry->pc_begin + pointer_read(&c, image, entry->pointer_encoding & 0x0f, 0);
	if (entry->augmented)
		cursor_skip(&c, cursor_uleb(&c));
	entry->instructions = c;
	return c.bad ? CFI_DAMAGED : 0;
}

static int entry_scan(const struct cfi_module *module, uint64_t pc, struct entry *entry)
{
	uint64_t at = module->eh_frame, next = 0;

	for (;; at = next) {
		int result = entry_read(&module->image, at, entry, &next);

		if (result == CFI_DAMAGED || next <= at)
			return result;
		if (!result && pc >= entry->pc_begin && pc < entry->pc_end)
			return 0;
		if (next - at == 4)
			return CFI_NONE;
	}
}

static int entry_find(const struct cfi_module *module, uint64_t pc, struct entry *entry)
{
	uint64_t at, next;
	int result;

	if (module->image.begin == module->image.end)
		return CFI_NONE;
	if (!module->table)
		return entry_scan(module, pc, entry);
	at = table_search(module, pc);
	if (!at)
		return CFI_NONE;
	result = entry_read(&module->image, at, entry, &next);
	if (result)
		return result;
	return pc >= entry->pc_begin && pc < entry->pc_end ? 0 : CFI_NONE;
}

/* The machine that DW_CFA_* instructions drive. */
struct run {
	const struct cfi_module *module;
	const struct entry *entry;
	struct cfi_scratch *scratch;
	struct cfi_row *row;
	struct cursor c;
	uint64_t location;
	unsigned saved;
};

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
	uint64_t reg = cursor_uleb(&run->c), from = cursor_uleb(&run->c);

	rule_set(run, reg, from < ARCH_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED, 0);
	if (reg < ARCH_REGISTERS)
		run->row->reg[reg].reg = (uint8_t)from;
}

/* An expression's place in the image; skips it. */
static int64_t expression_place(struct run *run)
{
	uint64_t place = cursor_address(&run->c, &run->module->image) - run->module->image.begin;

	cursor_skip(&run->c, cursor_uleb(&run->c));
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
	struct cursor *c = &run->c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		cfa_set(run, reg, (int64_t)cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		cfa_set(run, reg, cursor_sleb(c) * run->entry->data_align);
		return true;
	case DW_CFA_def_cfa_register:
		cfa_set(run, cursor_uleb(c), run->row->cfa.value);
		return true;
	case DW_CFA_def_cfa_offset:
		cfa_offset_set(run, (int64_t)cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa_offset_set(run, cursor_sleb(c) * run->entry->data_align);
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
	struct cursor *c = &run->c;
	int64_t align = run->entry->data_align;
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op == DW_CFA_remember_state || op == DW_CFA_restore_state ||
		(op > DW_CFA_val_expression && op != DW_CFA_GNU_negative_offset_extended))
		return false;
	if (op == DW_CFA_register) {
		rule_register(run);
		return true;
	}
	reg = cursor_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		rule_set(run, reg, CFI_OFFSET, (int64_t)cursor_uleb(c) * align);
		break;
	case DW_CFA_offset_extended_sf:
		rule_set(run, reg, CFI_OFFSET, cursor_sleb(c) * align);
		break;
	case DW_CFA_GNU_negative_offset_extended:
		rule_set(run, reg, CFI_OFFSET, -(int64_t)cursor_uleb(c) * align);
		break;
	case DW_CFA_val_offset:
		rule_set(run, reg, CFI_VAL_OFFSET, (int64_t)cursor_uleb(c) * align);
		break;
	case DW_CFA_val_offset_sf:
		rule_set(run, reg, CFI_VAL_OFFSET, cursor_sleb(c) * align);
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

/* Location and state; the remaining instructions. */
static void run_rest(struct run *run, uint8_t op)
{
	struct cursor *c = &run->c;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		run->location = pointer_read(c, &run->module->image, run->entry->pointer_encoding, 0);
		break;
	case DW_CFA_advance_loc1:
		run->location += cursor_fixed(c, 1) * run->entry->code_align;
		break;
	case DW_CFA_advance_loc2:
		run->location += cursor_fixed(c, 2) * run->entry->code_align;
		break;
	case DW_CFA_advance_loc4:
		run->location += cursor_fixed(c, 4) * run->entry->code_align;
		break;
	case DW_CFA_MIPS_advance_loc8:
		run->location += cursor_fixed(c, 8) * run->entry->code_align;
		break;
	case DW_CFA_remember_state:
		state_remember(run);
		break;
	case DW_CFA_restore_state:
		state_restore(run);
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		break;
	default:
		c->bad = true; /* GNU_window_save belongs to other processors */
	}
}

static int run_until(struct run *run, uint64_t pc)
{
	struct cursor *c = &run->c;

	while (!c->bad && c->at < c->end && run->location <= pc) {
		uint8_t byte = (uint8_t)cursor_fixed(c, 1), low = byte & 0x3f;

		if ((byte & 0xc0) == DW_CFA_advance_loc)
			run->location += low * run->entry->code_align;
		else if ((byte & 0xc0) == DW_CFA_offset)
			rule_set(run, low, CFI_OFFSET, (int64_t)cursor_uleb(c) * run->entry->data_align);
		else if ((byte & 0xc0) == DW_CFA_restore)
			rule_restore(run, low);
		else if (!run_cfa(run, byte) && !run_rule(run, byte))
			run_rest(run, byte);
	}
	return c->bad ? CFI_DAMAGED : 0;
}

int cfi_row_find(const struct cfi_module *module, uint64_t pc, struct cfi_scratch *scratch)
{
	struct entry entry;
	struct run run = {.module = module, .entry = &entry, .scratch = scratch, .row = &scratch->row};
	int result = entry_find(module, pc, &entry);

	if (result)
		return result;
	memset(&scratch->row, 0, sizeof(scratch->row));
	scratch->row.cfa.kind = CFI_UNDEFINED;
	scratch->row.return_register = entry.return_register;
	scratch->row.signal_frame = entry.signal_frame;
	scratch->initial = scratch->row;
	run.c = entry.initial;
	run.location = entry.pc_begin;
	result = run_until(&run, UINT64_MAX);
	if (result)
		return result;
	scratch->initial = scratch->row;
	run.c = entry.instructions;
	run.location = entry.pc_begin;
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
		/* Epilogues that have restored the frame pointer often still name its old place. */
		if (result == CFI_UNKNOWN_REGISTER && i == ARCH_FP)
			return result;
		if (!result)
			caller.known |= UINT64_C(1) << i;
	}
	caller.value[ARCH_PC] = caller.value[row->return_register];
	caller.known |= UINT64_C(1) << ARCH_PC | UINT64_C(1) << ARCH_SP;
	*registers = caller;
	return 0;
}
