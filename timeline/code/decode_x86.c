/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_x86.c - x86-64 through capstone (only here; capstone.h): instruction lengths, and operands of
 * instructions that compute jump targets. Branch targets are read from the bytes, which is faster than
 * decoding operands each time.
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/capstone.h"

#define SIZE_MAX_BYTES 15u
/* rax, rcx, rdx, rsi, rdi, r8..r11: what a call may change */
#define CALL_CLOBBERS 0x0fc7u

struct x86 {
	const struct capstone *capstone;
	csh plain, detailed;
	cs_insn *instruction; /* of `plain` */
	cs_insn *details;     /* of `detailed` */
};

static void x86_close(void *state)
{
	struct x86 *x86 = state;

	if (x86->instruction)
		x86->capstone->free(x86->instruction, 1);
	if (x86->details)
		x86->capstone->free(x86->details, 1);
	if (x86->plain)
		x86->capstone->close(&x86->plain);
	if (x86->detailed)
		x86->capstone->close(&x86->detailed);
	free(x86);
}

static const char *x86_lacks(void)
{
	return capstone_load() ? NULL : "capstone is not installed: no loops";
}

static void *x86_open(void)
{
	struct x86 *x86 = calloc(1, sizeof *x86);

	if (!x86)
		return NULL;
	x86->capstone = capstone_load();
	if (x86->capstone->open(CS_ARCH_X86, CS_MODE_64, &x86->plain) == CS_ERR_OK &&
		x86->capstone->open(CS_ARCH_X86, CS_MODE_64, &x86->detailed) == CS_ERR_OK &&
		x86->capstone->option(x86->detailed, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK) {
		x86->instruction = x86->capstone->malloc(x86->plain);
		x86->details = x86->capstone->malloc(x86->detailed);
	}
	if (x86->instruction && x86->details)
		return x86;
	x86_close(x86);
	return NULL;
}

/* ---- where it leads ---- */

static int64_t signed_at(const uint8_t *bytes, size_t size)
{
	int32_t four;

	if (size == 1)
		return (int8_t)bytes[0];
	memcpy(&four, bytes, sizeof four);
	return four;
}

static size_t prefixes_skip(const uint8_t *bytes, size_t size)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
	size_t at = 0;

	while (at < size && (memchr(prefixes, bytes[at], sizeof prefixes) || (bytes[at] & 0xf0) == 0x40))
		at++;
	return at;
}

static void flow_to(struct instruction *in, enum flow flow, const uint8_t *bytes, size_t displacement_bytes)
{
	in->flow = (uint8_t)flow;
	in->target = in->address + in->size +
		     (uint64_t)signed_at(bytes + in->size - displacement_bytes, displacement_bytes);
}

/* 0F xx; `rest`: bytes from xx on. */
static void flow_of_two(struct instruction *in, const uint8_t *bytes, size_t at, size_t rest)
{
	uint8_t opcode = bytes[at];

	if ((opcode & 0xf0) == 0x80 && rest == 5)
		flow_to(in, FLOW_BRANCH, bytes, 4);
	else if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff)
		in->flow = FLOW_STOP; /* ud2, ud1, ud0 */
	else if (opcode == 0x07 || opcode == 0x35)
		in->flow = FLOW_RETURN; /* sysret, sysexit */
	else if (opcode == 0x1f)
		in->is_padding = true;
}

static void flow_of_group(struct instruction *in, const uint8_t *bytes, size_t at, size_t rest)
{
	unsigned operation = (bytes[at + 1] >> 3) & 7;

	if (operation == 4 || operation == 5)
		in->flow = FLOW_JUMP_INDIRECT;
	if (operation != 2 && operation != 3)
		return;
	in->flow = FLOW_CALL;
	if ((bytes[at + 1] & 0xc7) == 0x05 && rest == 6)
		in->slot = in->address + in->size + (uint64_t)signed_at(bytes + at + 2, 4);
}

static void x86_flow(struct instruction *in, const uint8_t *bytes)
{
	size_t at = prefixes_skip(bytes, in->size), rest = in->size - at;
	uint8_t opcode;

	if (!rest)
		return;
	opcode = bytes[at];
	if (opcode == 0x0f && rest >= 2)
		flow_of_two(in, bytes, at + 1, rest - 1);
	else if ((opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3))
		flow_to(in, FLOW_BRANCH, bytes, 1);
	else if (opcode == 0xeb)
		flow_to(in, FLOW_JUMP, bytes, 1);
	else if (opcode == 0xe9 && rest >= 5)
		flow_to(in, FLOW_JUMP, bytes, 4);
	else if (opcode == 0xe8 && rest >= 5)
		flow_to(in, FLOW_CALL, bytes, 4);
	else if (opcode == 0xc7 && rest == 6 && bytes[at + 1] == 0xf8)
		flow_to(in, FLOW_BRANCH, bytes, 4); /* xbegin */
	else if (opcode == 0xff && rest >= 2)
		flow_of_group(in, bytes, at, rest);
	else if (opcode == 0xc3 || opcode == 0xc2 || opcode == 0xcb || opcode == 0xca || opcode == 0xcf)
		in->flow = FLOW_RETURN;
	else if (opcode == 0xf4 || opcode == 0xcc)
		in->flow = FLOW_STOP;
	in->is_pause = opcode == 0x90 && in->size == 2 && bytes[0] == 0xf3;
	in->is_padding |= (opcode == 0x90 && !in->is_pause) || opcode == 0xcc;
}

static void x86_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	struct x86 *x86 = state;
	const uint8_t *code = bytes;
	size_t left = size < SIZE_MAX_BYTES ? size : SIZE_MAX_BYTES, guess;
	uint64_t address = in->address;

	in->size = (uint8_t)decode_x86_common(bytes, size);
	if (in->size) {
		x86_flow(in, bytes);
		return;
	}
	if (x86->capstone->disasm_iter(x86->plain, &code, &left, &address, x86->instruction) &&
		code > bytes) {
		in->size = (uint8_t)(code - bytes);
		x86_flow(in, bytes);
		return;
	}
	in->is_bad = true;
	guess = decode_x86_unknown(bytes, size);
	in->size = (uint8_t)(guess ? guess : 1);
}

/* ---- what it computes ---- */

static uint8_t register_of(x86_reg name)
{
	static const struct {
		x86_reg name[4];
	} registers[16] = {
		{{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL}},
		{{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL}},
		{{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL}},
		{{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL}},
		{{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL}},
		{{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}},
		{{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}},
		{{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}},
		{{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}},
		{{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}},
		{{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}},
		{{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}},
		{{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}},
		{{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}},
		{{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}},
		{{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}},
	};

	for (uint8_t i = 0; i < 16; i++)
		for (unsigned width = 0; width < 4; width++)
			if (registers[i].name[width] == name)
				return i;
	return REGISTER_NONE;
}

static uint8_t shift_of(int scale)
{
	return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
}

/* [base + index * scale + displacement]; the next instruction's address counts as a base that is known. */
static void effect_memory(struct effect *effect, const x86_op_mem *memory, uint64_t next)
{
	effect->a = register_of(memory->base);
	effect->b = register_of(memory->index);
	effect->shift = shift_of(memory->scale);
	effect->value = memory->disp;
	if (memory->base == X86_REG_RIP)
		effect->value += (int64_t)next;
}

static bool is_signed_load(unsigned id)
{
	return id == X86_INS_MOVSXD || id == X86_INS_MOVSX;
}

static void effect_move(
	struct effect *effect, const cs_x86_op *to, const cs_x86_op *from, unsigned id, uint64_t next)
{
	if (to->type != X86_OP_REG)
		return;
	effect->to = register_of(to->reg);
	if (from->type == X86_OP_MEM && from->mem.segment == X86_REG_INVALID) {
		effect_memory(effect, &from->mem, next);
		effect->kind = EFFECT_LOAD;
		effect->width = from->size;
		effect->is_signed = is_signed_load(id);
	} else if (from->type == X86_OP_REG) {
		effect->kind = EFFECT_COPY;
		effect->a = register_of(from->reg);
		effect->width = from->size;
		effect->is_signed = is_signed_load(id);
	} else if (from->type == X86_OP_IMM && to->size >= 4) {
		effect->kind = EFFECT_ADDRESS;
		effect->value = from->imm;
	}
}

static void effect_of_lea(struct effect *effect, const cs_x86_op *to, const cs_x86_op *from, uint64_t next)
{
	effect->to = register_of(to->reg);
	effect_memory(effect, &from->mem, next);
	if (from->mem.base == X86_REG_RIP)
		effect->kind = EFFECT_ADDRESS;
	else if (effect->b == REGISTER_NONE || !effect->value)
		effect->kind = EFFECT_ADD;
}

static void effect_of_two(
	struct effect *effect, const cs_insn *in, const cs_x86_op *to, const cs_x86_op *from, uint64_t next)
{
	switch (in->id) {
	case X86_INS_LEA:
		effect_of_lea(effect, to, from, next);
		break;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVSXD:
	case X86_INS_MOVSX:
	case X86_INS_MOVZX:
		effect_move(effect, to, from, in->id, next);
		break;
	case X86_INS_ADD:
		if (to->type != X86_OP_REG)
			break;
		effect->to = effect->a = register_of(to->reg);
		if (from->type == X86_OP_REG)
			effect->b = register_of(from->reg);
		if (from->type == X86_OP_IMM)
			effect->value = from->imm;
		if (from->type != X86_OP_MEM && to->size == 8)
			effect->kind = EFFECT_ADD;
		break;
	case X86_INS_CMP:
		if (from->type != X86_OP_IMM)
			break;
		effect->kind = EFFECT_COMPARE;
		effect->a = to->type == X86_OP_REG ? register_of(to->reg) : REGISTER_NONE;
		effect->value = from->imm;
		break;
	case X86_INS_AND:
		if (to->type != X86_OP_REG || from->type != X86_OP_IMM || from->imm < 0)
			break;
		effect->kind = EFFECT_BOUND;
		effect->to = effect->a = register_of(to->reg);
		effect->value = from->imm;
		break;
	default:
		break;
	}
}

static void effect_of_jump(struct effect *effect, const cs_x86_op *to, uint64_t next)
{
	if (to->type == X86_OP_REG) {
		effect->kind = EFFECT_JUMP;
		effect->a = register_of(to->reg);
	} else if (to->type == X86_OP_MEM && to->mem.segment == X86_REG_INVALID) {
		effect->kind = EFFECT_LOAD_JUMP;
		effect->width = 8;
		effect_memory(effect, &to->mem, next);
	}
}

static uint32_t registers_written(const struct x86 *x86)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	uint32_t registers = 0;

	if (x86->capstone->regs_access(
		    x86->detailed, x86->details, read, &read_count, written, &written_count))
		return ~0u;
	for (uint8_t i = 0; i < written_count; i++)
		if (register_of((x86_reg)written[i]) != REGISTER_NONE)
			registers |= 1u << register_of((x86_reg)written[i]);
	return registers;
}

static void x86_effect(
	void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	struct x86 *x86 = state;
	size_t left = size < SIZE_MAX_BYTES ? size : SIZE_MAX_BYTES;
	const cs_x86 *x;

	if (!x86->capstone->disasm_iter(x86->detailed, &bytes, &left, &address, x86->details))
		return;
	x = &x86->details->detail->x86;
	if (x86->details->id == X86_INS_CALL) {
		effect->clobbers = CALL_CLOBBERS;
		return;
	}
	if (x86->details->id == X86_INS_JMP && x->op_count == 1)
		effect_of_jump(effect, &x->operands[0], address);
	else if (x86->details->id == X86_INS_JA || x86->details->id == X86_INS_JBE)
		effect->kind = EFFECT_ABOVE;
	else if (x86->details->id == X86_INS_JAE || x86->details->id == X86_INS_JB)
		effect->kind = EFFECT_NOT_BELOW;
	else if (x86->details->id == X86_INS_CDQE)
		*effect = (struct effect){.kind = EFFECT_COPY,
			.a = 0,
			.to = 0,
			.b = REGISTER_NONE,
			.width = 4,
			.is_signed = true};
	else if (x->op_count == 2)
		effect_of_two(effect, x86->details, &x->operands[0], &x->operands[1], address);
	effect->clobbers = registers_written(x86);
	if (effect->to == REGISTER_NONE && effect->kind >= EFFECT_ADDRESS && effect->kind <= EFFECT_LOAD)
		effect->kind = EFFECT_NONE;
}

const struct decode_machine decode_x86 = {
	.machine = EM_X86_64,
	.lacks = x86_lacks,
	.open = x86_open,
	.close = x86_close,
	.next = x86_next,
	.effect = x86_effect,
};
