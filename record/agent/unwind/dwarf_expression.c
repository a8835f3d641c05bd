/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_expression.c - evaluates DWARF expressions in unwind rules: PLT stubs, signal frames, realigned
 * stacks. Rare, so kept out of cfi.c; a step limit ends loops in damaged expressions.
 */
#include <dwarf.h>

#include "record/agent/unwind/dwarf_reader.h"

#define STACK_MAX 32
#define STEPS_MAX 256

struct machine {
	struct dwarf_reader code;
	const uint8_t *begin;
	const struct arch_registers *registers;
	const struct cfi_memory *memory;
	uint64_t stack[STACK_MAX];
	unsigned depth;
	int error;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		m->error = CFI_DAMAGED;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->error = CFI_DAMAGED;
		return 0;
	}
	return m->stack[--m->depth];
}

static void pick(struct machine *m, uint64_t index)
{
	if (index >= m->depth)
		m->error = CFI_DAMAGED;
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= ARCH_REGISTERS || !(m->registers->known >> reg & 1))
		m->error = reg >= ARCH_REGISTERS ? CFI_DAMAGED : CFI_UNKNOWN_REGISTER;
	else
		push(m, m->registers->value[reg] + (uint64_t)offset);
}

static void load(struct machine *m, uint64_t bytes)
{
	uint64_t address = pop(m), value = 0;

	if (bytes == 0 || bytes > 8)
		m->error = CFI_DAMAGED;
	else if (bytes == 8 ? cfi_word_read(m->memory, address, &value)
			    : m->memory->read(m->memory->context, address, &value, bytes))
		m->error = m->error ? m->error : CFI_UNREADABLE;
	push(m, value);
}

static void jump(struct machine *m, bool taken)
{
	int64_t distance = dwarf_reader_signed(&m->code, 2);

	if (!taken || m->code.bad)
		return;
	if (distance < m->begin - m->code.at || distance > m->code.end - m->code.at)
		m->error = CFI_DAMAGED;
	else
		m->code.at += distance;
}

/* Operations on the two topmost values; false: another operation. */
static bool binary(struct machine *m, uint8_t op)
{
	uint64_t b, a;

	if (op < DW_OP_and || (op > DW_OP_xor && (op < DW_OP_eq || op > DW_OP_ne)) || op == DW_OP_neg ||
		op == DW_OP_not || op == DW_OP_plus_uconst)
		return false;
	b = pop(m);
	a = pop(m);
	switch (op) {
	case DW_OP_and:
		push(m, a & b);
		break;
	case DW_OP_or:
		push(m, a | b);
		break;
	case DW_OP_xor:
		push(m, a ^ b);
		break;
	case DW_OP_plus:
		push(m, a + b);
		break;
	case DW_OP_minus:
		push(m, a - b);
		break;
	case DW_OP_mul:
		push(m, a * b);
		break;
	case DW_OP_div:
		push(m, b && b + 1 ? (uint64_t)((int64_t)a / (int64_t)b) : 0 - (b ? a : 0));
		break;
	case DW_OP_mod:
		push(m, b ? a % b : 0);
		break;
	case DW_OP_shl:
		push(m, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(m, b < 64 ? a >> b : 0);
		break;
	case DW_OP_shra:
		push(m, (uint64_t)((int64_t)a >> (b < 64 ? b : 63)));
		break;
	case DW_OP_eq:
		push(m, a == b);
		break;
	case DW_OP_ne:
		push(m, a != b);
		break;
	case DW_OP_ge:
		push(m, (int64_t)a >= (int64_t)b);
		break;
	case DW_OP_gt:
		push(m, (int64_t)a > (int64_t)b);
		break;
	case DW_OP_le:
		push(m, (int64_t)a <= (int64_t)b);
		break;
	case DW_OP_lt:
		push(m, (int64_t)a < (int64_t)b);
		break;
	default:
		m->error = CFI_DAMAGED;
	}
	return true;
}

static void rotate(struct machine *m)
{
	uint64_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static void unary_or_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case DW_OP_dup:
		pick(m, 0);
		break;
	case DW_OP_drop:
		pop(m);
		break;
	case DW_OP_over:
		pick(m, 1);
		break;
	case DW_OP_pick:
		pick(m, dwarf_reader_fixed(&m->code, 1));
		break;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		break;
	case DW_OP_rot:
		rotate(m);
		break;
	case DW_OP_abs:
		a = pop(m);
		push(m, (int64_t)a < 0 ? 0 - a : a);
		break;
	case DW_OP_neg:
		push(m, 0 - pop(m));
		break;
	case DW_OP_not:
		push(m, ~pop(m));
		break;
	case DW_OP_plus_uconst:
		a = dwarf_reader_uleb(&m->code);
		push(m, pop(m) + a);
		break;
	case DW_OP_deref:
		load(m, 8);
		break;
	case DW_OP_deref_size:
		load(m, dwarf_reader_fixed(&m->code, 1));
		break;
	case DW_OP_skip:
		jump(m, true);
		break;
	case DW_OP_bra:
		jump(m, pop(m) != 0);
		break;
	case DW_OP_nop:
		break;
	default:
		m->error = CFI_DAMAGED;
	}
}

/* Constants and registers; false: another operation. */
static bool literal(struct machine *m, uint8_t op)
{
	uint64_t reg;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		push(m, op - DW_OP_lit0);
	else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		push_register(m, op - DW_OP_breg0, dwarf_reader_sleb(&m->code));
	else if (op == DW_OP_bregx) {
		reg = dwarf_reader_uleb(&m->code);
		push_register(m, reg, dwarf_reader_sleb(&m->code));
	} else if (op >= DW_OP_const1u && op <= DW_OP_const8s) {
		unsigned bytes = 1u << ((op - DW_OP_const1u) >> 1);

		push(m, (op - DW_OP_const1u) & 1 ? (uint64_t)dwarf_reader_signed(&m->code, bytes)
						 : dwarf_reader_fixed(&m->code, bytes));
	} else if (op == DW_OP_constu)
		push(m, dwarf_reader_uleb(&m->code));
	else if (op == DW_OP_consts)
		push(m, (uint64_t)dwarf_reader_sleb(&m->code));
	else if (op == DW_OP_addr)
		push(m, dwarf_reader_fixed(&m->code, 8));
	else
		return false;
	return true;
}

int cfi_expression_value(const struct cfi_image *image, uint32_t place,
	const struct arch_registers *registers, const struct cfi_memory *memory, const uint64_t *cfa,
	uint64_t *value)
{
	struct machine m = {.registers = registers, .memory = memory};
	uint64_t length;

	m.code = dwarf_reader_at(image, image->begin + place, image->end);
	length = dwarf_reader_uleb(&m.code);
	if (!dwarf_reader_has(&m.code, length))
		return CFI_DAMAGED;
	m.begin = m.code.at;
	m.code.end = m.code.at + length;
	if (cfa)
		push(&m, *cfa);
	for (unsigned steps = 0; m.code.at < m.code.end && !m.error && !m.code.bad; steps++) {
		uint8_t op = (uint8_t)dwarf_reader_fixed(&m.code, 1);

		if (steps == STEPS_MAX)
			return CFI_DAMAGED;
		if (!literal(&m, op) && !binary(&m, op))
			unary_or_stack(&m, op);
	}
	if (m.code.bad || m.error)
		return m.code.bad ? CFI_DAMAGED : m.error;
	*value = pop(&m);
	return m.error;
}
