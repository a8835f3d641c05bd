/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_x86_64.c - see instruction.h. Of an instruction that was taken apart (x86_fields.h), what it
 * does: only the few that move the stack or lead elsewhere are told apart.
 */
#include "record/agent/unwind/instruction.h"

#include <string.h>

#include "record/agent/base/arch.h"
#include "record/agent/unwind/x86_fields.h"

#if defined(__x86_64__)

enum { SP = 4, FP = 5 };

/* The last bytes of the instruction, as a number with a sign. */
static int32_t immediate_value(const struct x86_parts *parts)
{
	const uint8_t *end = parts->code + parts->at;
	int32_t value;

	if (parts->immediate == 1)
		return (int8_t)end[-1];
	memcpy(&value, end - 4, sizeof(value));
	return value;
}

/* Displacement of a memory operand [base + displacement], which nothing follows. */
static bool based_on(const struct x86_parts *parts, unsigned base, int32_t *displacement)
{
	uint8_t mod = *parts->modrm >> 6, rm = *parts->modrm & 7;
	const uint8_t *at = parts->modrm + 1;

	if (mod == 3 || parts->rex & 3 || rm != base)
		return false;
	if (rm == SP && *at++ != 0x24)
		return false;
	if (mod == 0) {
		*displacement = 0;
		return base != FP; /* that would be the program counter */
	}
	if (mod == 1)
		*displacement = *at < 128 ? *at : *at - 256;
	else
		memcpy(displacement, at, sizeof(*displacement));
	return true;
}

static unsigned destination_rm(const struct x86_parts *parts)
{
	return *parts->modrm >> 6 == 3 ? (unsigned)(*parts->modrm & 7) | (parts->rex & 1u) << 3 : 16;
}

static unsigned register_reg(const struct x86_parts *parts)
{
	return (unsigned)(*parts->modrm >> 3 & 7) | (parts->rex & 4u) << 1;
}

static enum instruction_kind arithmetic(const struct x86_parts *parts, struct instruction *instruction)
{
	unsigned operation = *parts->modrm >> 3 & 7;

	if (destination_rm(parts) != SP || operation == 7) /* a comparison changes nothing */
		return INSTRUCTION_OTHER;
	if (parts->rex & 8 && operation == 4)
		return INSTRUCTION_ALIGN;
	if (!(parts->rex & 8) || (operation != 0 && operation != 5))
		return INSTRUCTION_UNKNOWN;
	instruction->value = operation ? -immediate_value(parts) : immediate_value(parts);
	return INSTRUCTION_STACK;
}

/* The stack pointer is what a register holds, or the register what it holds. */
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

/* Number and displacement of a memory operand that is one register and no more; 16: it is something else. */
static unsigned based_on_any(const struct x86_parts *parts, int32_t *displacement)
{
	struct x86_parts plain = *parts;
	unsigned base = *parts->modrm & 7;

	plain.rex &= 0xfcu;
	return parts->rex & 2 || !based_on(&plain, base, displacement) ? 16 : base | (parts->rex & 1u) << 3;
}

/* mov and lea into a register. */
static enum instruction_kind load(
	const struct x86_parts *parts, bool is_address, struct instruction *instruction)
{
	unsigned to = register_reg(parts), base;
	int32_t displacement = 0;

	if (to == FP && !is_address && based_on(parts, SP, &instruction->value))
		return INSTRUCTION_LOAD_FP;
	if (to != SP && parts->rex & 8 &&
		(is_address ? based_on(parts, SP, &displacement) : destination_rm(parts) == SP))
		return keep(to, displacement, instruction);
	if (to != SP)
		return INSTRUCTION_OTHER;
	if (!(parts->rex & 8))
		return INSTRUCTION_UNKNOWN;
	if (based_on(parts, SP, &instruction->value))
		return is_address ? INSTRUCTION_STACK : INSTRUCTION_LOAD_SP;
	base = is_address ? based_on_any(parts, &displacement) : destination_rm(parts);
	return base < 16 ? from(base, displacement, instruction) : INSTRUCTION_UNKNOWN;
}

static enum instruction_kind store(const struct x86_parts *parts, struct instruction *instruction)
{
	unsigned to = destination_rm(parts);

	if (to < 16 && to != SP && register_reg(parts) == SP && parts->rex & 8)
		return keep(to, 0, instruction);
	if (to != SP)
		return INSTRUCTION_OTHER;
	return parts->rex & 8 ? from(register_reg(parts), 0, instruction) : INSTRUCTION_UNKNOWN;
}

static enum instruction_kind group_ff(const struct x86_parts *parts, struct instruction *instruction)
{
	switch (*parts->modrm >> 3 & 7) {
	case 2:
	case 3:
		return INSTRUCTION_CALL;
	case 4:
	case 5:
		return INSTRUCTION_END;
	case 6:
		instruction->value = -8;
		return INSTRUCTION_STACK;
	case 0:
	case 1:
		return destination_rm(parts) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	default:
		return INSTRUCTION_OTHER;
	}
}

static enum instruction_kind moved(struct instruction *instruction, int32_t by, bool half)
{
	instruction->value = half ? by / 4 : by;
	return INSTRUCTION_STACK;
}

static enum instruction_kind flow_one(const struct x86_parts *parts, struct instruction *instruction)
{
	uint8_t opcode = parts->opcode;

	switch (opcode) {
	case 0xc2:
	case 0xc3:
		return INSTRUCTION_RETURN;
	case 0x90:
		return parts->rex & 1 ? INSTRUCTION_OTHER : INSTRUCTION_NOTHING;
	case 0xe8:
		return INSTRUCTION_CALL;
	case 0xe9:
	case 0xeb:
		instruction->value = immediate_value(parts);
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
		instruction->value = immediate_value(parts);
		return INSTRUCTION_BRANCH;
	}
	return INSTRUCTION_OTHER;
}

static enum instruction_kind kind_one(const struct x86_parts *parts, struct instruction *instruction)
{
	uint8_t opcode = parts->opcode;

	if (opcode >= 0x50 && opcode <= 0x57)
		return moved(instruction, -8, parts->half);
	if (opcode == 0x58 + FP && !(parts->rex & 1) && !parts->half)
		return INSTRUCTION_POP_FP;
	if (opcode == 0x58 + SP && !(parts->rex & 1))
		return parts->half ? INSTRUCTION_UNKNOWN : INSTRUCTION_LOAD_SP;
	if (opcode >= 0x58 && opcode <= 0x5f)
		return moved(instruction, 8, parts->half);
	switch (opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return moved(instruction, -8, parts->half);
	case 0x9d:
	case 0x8f:
		return moved(instruction, 8, parts->half);
	case 0x81:
	case 0x83:
		return arithmetic(parts, instruction);
	case 0x89:
		return store(parts, instruction);
	case 0x8b:
		return load(parts, false, instruction);
	case 0x8d:
		return load(parts, true, instruction);
	case 0x01:
	case 0x21:
	case 0x29:
	case 0x31:
	case 0x87:
		return destination_rm(parts) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	case 0x03:
	case 0x2b:
	case 0x23:
		return register_reg(parts) == SP ? INSTRUCTION_UNKNOWN : INSTRUCTION_OTHER;
	case 0xff:
		return group_ff(parts, instruction);
	default:
		return flow_one(parts, instruction);
	}
}

static enum instruction_kind kind_0f(const struct x86_parts *parts, struct instruction *instruction)
{
	uint8_t opcode = parts->opcode;

	if (parts->is_vector)
		return INSTRUCTION_OTHER;
	if (opcode >= 0x80 && opcode <= 0x8f) {
		instruction->value = immediate_value(parts);
		return INSTRUCTION_BRANCH;
	}
	if (opcode == 0xa0 || opcode == 0xa8)
		return moved(instruction, -8, parts->half);
	if (opcode == 0xa1 || opcode == 0xa9)
		return moved(instruction, 8, parts->half);
	if (opcode == 0x1f)
		return INSTRUCTION_NOTHING;
	if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff)
		return INSTRUCTION_STOP;
	return INSTRUCTION_OTHER;
}

bool instruction_decode(const uint8_t *code, size_t size, struct instruction *instruction)
{
	struct x86_parts parts = {.code = code, .size = size};

	*instruction = (struct instruction){0};
	if (!x86_parts_take(&parts))
		return false;
	instruction->length = (unsigned)parts.at;
	if (parts.map == X86_ONE)
		instruction->kind = kind_one(&parts, instruction);
	else if (parts.map == X86_0F)
		instruction->kind = kind_0f(&parts, instruction);
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
