/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_x86_64.c - see instruction.h. Determines the effect of an instruction split by x86_fields.h;
 * distinguishes only the few that change the stack or the control flow.
 */
#include "record/agent/unwind/instruction.h"

#include <string.h>

#include "record/agent/base/arch.h"
#include "record/agent/unwind/x86_fields.h"

#if defined(__x86_64__)

enum { SP = 4, FP = 5 };

/* The last bytes of the instruction, as a signed number. */
static int32_t immediate_value(const struct x86_fields *fields)
{
	const uint8_t *end = fields->code + fields->at;
	int32_t value;

	if (fields->immediate == 1)
		return (int8_t)end[-1];
	memcpy(&value, end - 4, sizeof(value));
	return value;
}

/* Displacement of a memory operand [base + displacement], which must come last. */
static bool based_on(const struct x86_fields *fields, unsigned base, int32_t *displacement)
{
	uint8_t mod = *fields->modrm >> 6, rm = *fields->modrm & 7;
	const uint8_t *at = fields->modrm + 1;

	if (mod == 3 || fields->rex & 3 || rm != base)
		return false;
	if (rm == SP && *at++ != 0x24)
		return false;
	if (mod == 0) {
		*displacement = 0;
		return base != FP; /* encodes pc-relative addressing */
	}
	if (mod == 1)
		*displacement = *at < 128 ? *at : *at - 256;
	else
		memcpy(displacement, at, sizeof(*displacement));
	return true;
}

static unsigned destination_rm(const struct x86_fields *fields)
{
	return *fields->modrm >> 6 == 3 ? (unsigned)(*fields->modrm & 7) | (fields->rex & 1u) << 3 : 16;
}

static unsigned register_reg(const struct x86_fields *fields)
{
	return (unsigned)(*fields->modrm >> 3 & 7) | (fields->rex & 4u) << 1;
}

static enum instruction_kind arithmetic(const struct x86_fields *fields, struct instruction *instruction)
{
	unsigned operation = *fields->modrm >> 3 & 7;

	if (destination_rm(fields) != SP || operation == 7) /* a comparison changes nothing */
		return INSTRUCTION_OTHER;
	if (fields->rex & 8 && operation == 4)
		return INSTRUCTION_ALIGN;
	if (!(fields->rex & 8) || (operation != 0 && operation != 5))
		return INSTRUCTION_UNKNOWN;
	instruction->value = operation ? -immediate_value(fields) : immediate_value(fields);
	return INSTRUCTION_STACK;
}

/* Moves between the stack pointer and another register. */
static enum instruction_kind between(
	enum instruction_kind kind, unsigned number, int32_t value, struct instruction *instruction)
{
	static const uint8_t order[16] = {0, 2, 1, 3, ARCH_SP, ARCH_FP, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

	instruction->from = order[number];
	instruction->value = value;
	return kind;
}

static enum instruction_kind from(unsigned number, int32_t value, struct instruction *instruction)
{
	return between(INSTRUCTION_FROM, number, value, instruction);
}

static enum instruction_kind keep(unsigned number, int32_t value, struct instruction *instruction)
{
	return between(INSTRUCTION_KEEP, number, value, instruction);
}

/* Register and displacement of a memory operand with one register only; 16: another operand. */
static unsigned based_on_any(const struct x86_fields *fields, int32_t *displacement)
{
	struct x86_fields plain = *fields;
	unsigned base = *fields->modrm & 7;

	plain.rex &= 0xfcu;
	return fields->rex & 2 || !based_on(&plain, base, displacement) ? 16 : base | (fields->rex & 1u) << 3;
}

/* mov and lea into a register. */
static enum instruction_kind load(
	const struct x86_fields *fields, bool is_address, struct instruction *instruction)
{
	unsigned to = register_reg(fields), base;
	int32_t displacement = 0;

	if (to == FP && !is_address && based_on(fields, SP, &instruction->value))
		return INSTRUCTION_LOAD_FP;
	if (to != SP && fields->rex & 8 &&
		(is_address ? based_on(fields, SP, &displacement) : destination_rm(fields) == SP))
		return keep(to, displacement, instruction);
	if (to != SP)
		return INSTRUCTION_OTHER;
	if (!(fields->rex & 8))
		return INSTRUCTION_UNKNOWN;
	if (based_on(fields, SP, &instruction->value))
		return is_address ? INSTRUCTION_STACK : INSTRUCTION_LOAD_SP;
	base = is_address ? based_on_any(fields, &displacement) : destination_rm(fields);
	return base < 16 ? from(base, displacement, instruction) : INSTRUCTION_UNKNOWN;
}

static enum instruction_kind store(const struct x86_fields *fields, struct instruction *instruction)
{
	unsigned to = destination_rm(fields);

	if (to < 16 && to != SP && register_reg(fields) == SP && fields->rex & 8)
		return keep(to, 0, instruction);
	if (to != SP)
		return INSTRUCTION_OTHER;
	return fields->rex & 8 ? from(register_reg(fields), 0, instruction) : INSTRUCTION_UNKNOWN;
}

static enum instruction_kind group_ff(const struct x86_fields *fields, struct instruction *instruction)
{
	switch (*fields->modrm >> 3 & 7) {
	case 2:
	case 3:
		return INSTRUCTION_CALL;
	case 4:
		/* jmp *slot(%rip): by a table of calls, as the last thing that a function does */
		return (*fields->modrm & 0xc7) == 5 ? INSTRUCTION_RETURN : INSTRUCTION_END;
	case 5:
		return INSTRUCTION_END;
	case 6:
		instruction->value = -8;
		return INSTRUCTION_STACK;
	case 0:
	case 1:
		return destination_rm(fields) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	default:
		return INSTRUCTION_OTHER;
	}
}

static enum instruction_kind moved(struct instruction *instruction, int32_t by, bool half)
{
	instruction->value = half ? by / 4 : by;
	return INSTRUCTION_STACK;
}

static enum instruction_kind flow_one(const struct x86_fields *fields, struct instruction *instruction)
{
	uint8_t opcode = fields->opcode;

	switch (opcode) {
	case 0xc2:
	case 0xc3:
		return INSTRUCTION_RETURN;
	case 0x90:
		return fields->rex & 1 ? INSTRUCTION_OTHER : INSTRUCTION_NOTHING;
	case 0xe8:
		return INSTRUCTION_CALL;
	case 0xe9:
	case 0xeb:
		instruction->value = immediate_value(fields);
		return INSTRUCTION_JUMP;
	case 0xca:
	case 0xcb:
	case 0xcf:
		return INSTRUCTION_END;
	case 0xcc:
	case 0xf4:
		return INSTRUCTION_STOP;
	case 0xc8:
		return INSTRUCTION_UNKNOWN;
	case 0xc9:
		instruction->from = ARCH_FP;
		return INSTRUCTION_LEAVE;
	}
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3)) {
		instruction->value = immediate_value(fields);
		return INSTRUCTION_BRANCH;
	}
	return INSTRUCTION_OTHER;
}

static enum instruction_kind kind_one(const struct x86_fields *fields, struct instruction *instruction)
{
	uint8_t opcode = fields->opcode;

	if (opcode >= 0x50 && opcode <= 0x57)
		return moved(instruction, -8, fields->half);
	if (opcode == 0x58 + FP && !(fields->rex & 1) && !fields->half)
		return INSTRUCTION_POP_FP;
	if (opcode == 0x58 + SP && !(fields->rex & 1))
		return fields->half ? INSTRUCTION_UNKNOWN : INSTRUCTION_LOAD_SP;
	if (opcode >= 0x58 && opcode <= 0x5f)
		return moved(instruction, 8, fields->half);
	switch (opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return moved(instruction, -8, fields->half);
	case 0x9d:
	case 0x8f:
		return moved(instruction, 8, fields->half);
	case 0x81:
	case 0x83:
		return arithmetic(fields, instruction);
	case 0x89:
		return store(fields, instruction);
	case 0x8b:
		return load(fields, false, instruction);
	case 0x8d:
		return load(fields, true, instruction);
	case 0x01:
	case 0x21:
	case 0x29:
	case 0x31:
	case 0x87:
		return destination_rm(fields) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	case 0x03:
	case 0x2b:
	case 0x23:
		return register_reg(fields) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	case 0xff:
		return group_ff(fields, instruction);
	default:
		return flow_one(fields, instruction);
	}
}

static enum instruction_kind kind_0f(const struct x86_fields *fields, struct instruction *instruction)
{
	uint8_t opcode = fields->opcode;

	if (fields->is_vector)
		return INSTRUCTION_OTHER;
	if (opcode >= 0x80 && opcode <= 0x8f) {
		instruction->value = immediate_value(fields);
		return INSTRUCTION_BRANCH;
	}
	if (opcode == 0xa0 || opcode == 0xa8)
		return moved(instruction, -8, fields->half);
	if (opcode == 0xa1 || opcode == 0xa9)
		return moved(instruction, 8, fields->half);
	if (opcode == 0x1f)
		return INSTRUCTION_NOTHING;
	if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff)
		return INSTRUCTION_STOP;
	return INSTRUCTION_OTHER;
}

bool instruction_decode(const uint8_t *code, size_t size, struct instruction *instruction)
{
	struct x86_fields fields = {.code = code, .size = size};

	*instruction = (struct instruction){0};
	if (!x86_fields_take(&fields))
		return false;
	instruction->length = (unsigned)fields.at;
	if (fields.map == X86_ONE)
		instruction->kind = kind_one(&fields, instruction);
	else if (fields.map == X86_0F)
		instruction->kind = kind_0f(&fields, instruction);
	return true;
}

#else

bool instruction_decode(const uint8_t *code, size_t size, struct instruction *instruction)
{
	(void)code;
	(void)size;
	memset(instruction, 0, sizeof(*instruction));
	return false;
}

#endif
