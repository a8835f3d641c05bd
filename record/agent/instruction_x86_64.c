/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_x86_64.c - see instruction.h. First the length: prefixes, opcode of one of
 * four maps, operands; then the few instructions that move the stack.
 */
#include "record/agent/instruction.h"

#include <string.h>

#include "record/agent/arch.h"

#if defined(__x86_64__)

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { SP = 4, FP = 5 };

struct parts {
	const uint8_t *code, *modrm; /* NULL: there is none */
	size_t size, at;	     /* bytes taken so far */
	enum map map;
	uint8_t opcode;
	uint8_t rex;
	bool half;	/* prefix 66 */
	bool is_vector; /* VEX, EVEX */
	unsigned immediate;
};

static bool take(struct parts *parts, unsigned bytes)
{
	parts->at += bytes;
	return parts->at <= parts->size && parts->at <= INSTRUCTION_BYTES_MAX;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 || byte == 0x67;
}

static bool take_prefixes(struct parts *parts)
{
	while (parts->at < parts->size && is_prefix(parts->code[parts->at])) {
		parts->half |= parts->code[parts->at] == 0x66;
		if (!take(parts, 1))
			return false;
	}
	if (parts->at < parts->size && parts->code[parts->at] >> 4 == 4)
		parts->rex = parts->code[parts->at++];
	return parts->at < parts->size;
}

/* C5, C4 and 62 begin vector instructions: their own prefix, then opcode and operands as ever. */
static bool take_vector(struct parts *parts, unsigned prefix_bytes)
{
	const uint8_t *prefix = parts->code + parts->at;

	if (!take(parts, prefix_bytes + 1))
		return false;
	parts->is_vector = true;
	parts->opcode = prefix[prefix_bytes];
	if (prefix[0] == 0x8f) { /* its maps 8 and 9: with a byte behind, without */
		parts->map = (prefix[1] & 31) == 8 ? MAP_0F3A : MAP_0F38;
		return (prefix[1] & 31) <= 9;
	}
	parts->map = prefix_bytes == 2 ? MAP_0F : (enum map)(prefix[1] & (prefix_bytes == 4 ? 7 : 31));
	return parts->map != MAP_ONE && parts->map <= MAP_0F3A;
}

static bool take_opcode(struct parts *parts)
{
	uint8_t first = parts->code[parts->at];

	if (first == 0xc5)
		return take_vector(parts, 2);
	if (first == 0xc4)
		return take_vector(parts, 3);
	if (first == 0x62)
		return take_vector(parts, 4);
	if (first == 0x8f && parts->at + 1 < parts->size && (parts->code[parts->at + 1] & 31) >= 8)
		return take_vector(parts, 3); /* AMD's XOP */
	if (!take(parts, 1))
		return false;
	parts->opcode = first;
	if (first != 0x0f)
		return true;
	if (parts->at >= parts->size)
		return false;
	parts->map = MAP_0F;
	parts->opcode = parts->code[parts->at];
	if (parts->opcode == 0x38 || parts->opcode == 0x3a) {
		parts->map = parts->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		if (!take(parts, 1) || parts->at >= parts->size)
			return false;
		parts->opcode = parts->code[parts->at];
	}
	return take(parts, 1);
}

static bool has_modrm_one(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) ||
	       opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
	       (opcode >= 0xd0 && opcode <= 0xd3) || (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xf6 ||
	       opcode == 0xf7 || opcode == 0xfe || opcode == 0xff;
}

static bool has_modrm_0f(uint8_t opcode, bool is_vector)
{
	if (is_vector)
		return opcode != 0x77;
	return !((opcode >= 0x05 && opcode <= 0x0b) || (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
		 (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0x0e || (opcode >= 0xa0 && opcode <= 0xa2) ||
		 (opcode >= 0xa8 && opcode <= 0xaa) || (opcode >= 0xc8 && opcode <= 0xcf));
}

static bool take_modrm(struct parts *parts)
{
	uint8_t modrm, mod, rm;
	unsigned displacement;

	if (parts->at >= parts->size)
		return false;
	parts->modrm = parts->code + parts->at;
	modrm = *parts->modrm;
	mod = modrm >> 6;
	rm = modrm & 7;
	if (!take(parts, 1))
		return false;
	displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
	if (mod != 3 && rm == 4) {
		if (parts->at >= parts->size)
			return false;
		if (mod == 0 && (parts->code[parts->at] & 7) == 5)
			displacement = 4;
		if (!take(parts, 1))
			return false;
	}
	return take(parts, displacement);
}

static unsigned immediate_one(const struct parts *parts)
{
	uint8_t opcode = parts->opcode, reg = parts->modrm ? *parts->modrm >> 3 & 7 : 0;
	bool is_wide = parts->rex & 8;
	unsigned word = parts->half && !is_wide ? 2 : 4;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? word : 0;
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return is_wide ? 8 : word;
	if (opcode >= 0xa0 && opcode <= 0xa3)
		return 8;
	switch (opcode) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return word;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? word : 0;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x82:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	default:
		return (opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xb0 && opcode <= 0xb7) ||
				       (opcode >= 0xe0 && opcode <= 0xe7)
			       ? 1
			       : 0;
	}
}

static unsigned immediate_0f(const struct parts *parts)
{
	uint8_t opcode = parts->opcode;

	if (opcode >= 0x80 && opcode <= 0x8f && !parts->is_vector)
		return 4;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba ||
			       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode == 0x0f
		       ? 1
		       : 0;
}

/* Not in 64-bit mode, or so rare that nobody misses it: then the bytes are data, or we are out of step. */
static bool is_none(const struct parts *parts)
{
	uint8_t opcode = parts->opcode;

	if (parts->map != MAP_ONE)
		return false;
	return (opcode < 0x40 && (opcode & 7) >= 6) || opcode == 0x60 || opcode == 0x61 || opcode == 0x82 ||
	       opcode == 0x9a || opcode == 0xce || (opcode >= 0xd4 && opcode <= 0xd6) || opcode == 0xea ||
	       opcode == 0xf1;
}

static bool measure(struct parts *parts)
{
	bool has_modrm;

	if (!take_prefixes(parts) || !take_opcode(parts) || is_none(parts))
		return false;
	has_modrm = parts->map == MAP_ONE  ? has_modrm_one(parts->opcode)
		    : parts->map == MAP_0F ? has_modrm_0f(parts->opcode, parts->is_vector)
					   : true;
	if (has_modrm && !take_modrm(parts))
		return false;
	parts->immediate = parts->map == MAP_ONE    ? immediate_one(parts)
			   : parts->map == MAP_0F   ? immediate_0f(parts)
			   : parts->map == MAP_0F3A ? 1
						    : 0;
	return take(parts, parts->immediate);
}

/* ---- what it does ---- */

/* The last bytes of the instruction, as a number with a sign. */
static int32_t immediate_value(const struct parts *parts)
{
	const uint8_t *end = parts->code + parts->at;
	int32_t value;

	if (parts->immediate == 1)
		return (int8_t)end[-1];
	memcpy(&value, end - 4, sizeof(value));
	return value;
}

/* Displacement of a memory operand [base + displacement], which nothing follows. */
static bool based_on(const struct parts *parts, unsigned base, int32_t *displacement)
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

static unsigned destination_rm(const struct parts *parts)
{
	return *parts->modrm >> 6 == 3 ? (unsigned)(*parts->modrm & 7) | (parts->rex & 1u) << 3 : 16;
}

static unsigned register_reg(const struct parts *parts)
{
	return (unsigned)(*parts->modrm >> 3 & 7) | (parts->rex & 4u) << 1;
}

static enum instruction_kind arithmetic(const struct parts *parts, struct instruction *instruction)
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
static unsigned based_on_any(const struct parts *parts, int32_t *displacement)
{
	struct parts plain = *parts;
	unsigned base = *parts->modrm & 7;

	plain.rex &= 0xfcu;
	return parts->rex & 2 || !based_on(&plain, base, displacement) ? 16 : base | (parts->rex & 1u) << 3;
}

/* mov and lea into a register. */
static enum instruction_kind load(const struct parts *parts, bool is_address, struct instruction *instruction)
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

static enum instruction_kind store(const struct parts *parts, struct instruction *instruction)
{
	unsigned to = destination_rm(parts);

	if (to < 16 && to != SP && register_reg(parts) == SP && parts->rex & 8)
		return keep(to, 0, instruction);
	if (to != SP)
		return INSTRUCTION_OTHER;
	return parts->rex & 8 ? from(register_reg(parts), 0, instruction) : INSTRUCTION_UNKNOWN;
}

static enum instruction_kind group_ff(const struct parts *parts, struct instruction *instruction)
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

static enum instruction_kind flow_one(const struct parts *parts, struct instruction *instruction)
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

static enum instruction_kind kind_one(const struct parts *parts, struct instruction *instruction)
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

static enum instruction_kind kind_0f(const struct parts *parts, struct instruction *instruction)
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
	struct parts parts = {.code = code, .size = size};

	*instruction = (struct instruction){0};
	if (!measure(&parts))
		return false;
	instruction->length = (unsigned)parts.at;
	if (parts.map == MAP_ONE)
		instruction->kind = kind_one(&parts, instruction);
	else if (parts.map == MAP_0F)
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
