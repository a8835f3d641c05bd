/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_fields.c - the length of an x86-64 instruction: prefixes, opcode of one of four maps, operands, by the
 * manuals' opcode tables.
 */
#include "record/agent/unwind/x86_fields.h"

#include "record/agent/unwind/instruction.h"

#if defined(__x86_64__)

static bool take(struct x86_fields *fields, unsigned bytes)
{
	fields->at += bytes;
	return fields->at <= fields->size && fields->at <= INSTRUCTION_BYTES_MAX;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 || byte == 0x67;
}

static bool take_prefixes(struct x86_fields *fields)
{
	while (fields->at < fields->size && is_prefix(fields->code[fields->at])) {
		fields->half |= fields->code[fields->at] == 0x66;
		if (!take(fields, 1))
			return false;
	}
	if (fields->at < fields->size && fields->code[fields->at] >> 4 == 4)
		fields->rex = fields->code[fields->at++];
	return fields->at < fields->size;
}

/* C5, C4 and 62 begin vector instructions: their own prefix, then the usual opcode and operands. */
static bool take_vector(struct x86_fields *fields, unsigned prefix_bytes)
{
	const uint8_t *prefix = fields->code + fields->at;

	if (!take(fields, prefix_bytes + 1))
		return false;
	fields->is_vector = true;
	fields->opcode = prefix[prefix_bytes];
	if (prefix[0] == 0x8f) { /* maps 8 and 9: with one immediate byte, without */
		fields->map = (prefix[1] & 31) == 8 ? X86_0F3A : X86_0F38;
		return (prefix[1] & 31) <= 9;
	}
	fields->map = prefix_bytes == 2 ? X86_0F : (enum x86_map)(prefix[1] & (prefix_bytes == 4 ? 7 : 31));
	return fields->map != X86_ONE && fields->map <= X86_0F3A;
}

static bool take_opcode(struct x86_fields *fields)
{
	uint8_t first = fields->code[fields->at];

	if (first == 0xc5)
		return take_vector(fields, 2);
	if (first == 0xc4)
		return take_vector(fields, 3);
	if (first == 0x62)
		return take_vector(fields, 4);
	if (first == 0x8f && fields->at + 1 < fields->size && (fields->code[fields->at + 1] & 31) >= 8)
		return take_vector(fields, 3); /* AMD's XOP */
	if (!take(fields, 1))
		return false;
	fields->opcode = first;
	if (first != 0x0f)
		return true;
	if (fields->at >= fields->size)
		return false;
	fields->map = X86_0F;
	fields->opcode = fields->code[fields->at];
	if (fields->opcode == 0x38 || fields->opcode == 0x3a) {
		fields->map = fields->opcode == 0x38 ? X86_0F38 : X86_0F3A;
		if (!take(fields, 1) || fields->at >= fields->size)
			return false;
		fields->opcode = fields->code[fields->at];
	}
	return take(fields, 1);
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

static bool take_modrm(struct x86_fields *fields)
{
	uint8_t modrm, mod, rm;
	unsigned displacement;

	if (fields->at >= fields->size)
		return false;
	fields->modrm = fields->code + fields->at;
	modrm = *fields->modrm;
	mod = modrm >> 6;
	rm = modrm & 7;
	if (!take(fields, 1))
		return false;
	displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
	if (mod != 3 && rm == 4) {
		if (fields->at >= fields->size)
			return false;
		if (mod == 0 && (fields->code[fields->at] & 7) == 5)
			displacement = 4;
		if (!take(fields, 1))
			return false;
	}
	return take(fields, displacement);
}

static unsigned immediate_one(const struct x86_fields *fields)
{
	uint8_t opcode = fields->opcode, reg = fields->modrm ? *fields->modrm >> 3 & 7 : 0;
	bool is_wide = fields->rex & 8;
	unsigned word = fields->half && !is_wide ? 2 : 4;

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

static unsigned immediate_0f(const struct x86_fields *fields)
{
	uint8_t opcode = fields->opcode;

	if (opcode >= 0x80 && opcode <= 0x8f && !fields->is_vector)
		return 4;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba ||
			       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode == 0x0f
		       ? 1
		       : 0;
}

/* Invalid in 64-bit mode, or very rare: then the bytes are data, or we are out of step. */
static bool is_none(const struct x86_fields *fields)
{
	uint8_t opcode = fields->opcode;

	if (fields->map != X86_ONE)
		return false;
	return (opcode < 0x40 && (opcode & 7) >= 6) || opcode == 0x60 || opcode == 0x61 || opcode == 0x82 ||
	       opcode == 0x9a || opcode == 0xce || (opcode >= 0xd4 && opcode <= 0xd6) || opcode == 0xea ||
	       opcode == 0xf1;
}

bool x86_fields_take(struct x86_fields *fields)
{
	bool has_modrm;

	if (!take_prefixes(fields) || !take_opcode(fields) || is_none(fields))
		return false;
	has_modrm = fields->map == X86_ONE  ? has_modrm_one(fields->opcode)
		    : fields->map == X86_0F ? has_modrm_0f(fields->opcode, fields->is_vector)
					    : true;
	if (has_modrm && !take_modrm(fields))
		return false;
	fields->immediate = fields->map == X86_ONE    ? immediate_one(fields)
			    : fields->map == X86_0F   ? immediate_0f(fields)
			    : fields->map == X86_0F3A ? 1
						      : 0;
	return take(fields, fields->immediate);
}

#endif
