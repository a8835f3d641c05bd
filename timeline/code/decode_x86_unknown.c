/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_x86_unknown.c - the length of an x86-64 instruction that the decoder does not know (AMX and later):
 * new instructions are new opcodes in old forms, and the form gives the length.
 */
#include "timeline/code/decode.h"

#include <string.h>

#define SIZE_MAX_BYTES 15u

struct reader {
	const uint8_t *bytes;
	size_t size, at;
	bool failed;
};

static uint8_t take(struct reader *in)
{
	if (in->at < in->size)
		return in->bytes[in->at++];
	in->failed = true;
	return 0;
}

/* ModRM, SIB, displacement. */
static void take_operand(struct reader *in)
{
	uint8_t modrm = take(in), mode = modrm >> 6, sib = 0;

	if (mode == 3)
		return;
	if ((modrm & 7) == 4)
		sib = take(in);
	if (mode == 1)
		in->at += 1;
	else if (mode == 2 || (modrm & 7) == 5 || ((modrm & 7) == 4 && (sib & 7) == 5))
		in->at += 4;
}

/* Map 1 is 0F, 2 is 0F 38, 3 is 0F 3A: shuffles and the like of map 1, and all of map 3, have an immediate
 * byte. */
static void take_immediate(struct reader *in, unsigned map, uint8_t opcode)
{
	if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
					     (opcode >= 0xc4 && opcode <= 0xc6))))
		in->at++;
}

static void take_mapped(struct reader *in, unsigned map)
{
	uint8_t opcode = take(in);

	if (map != 1 || opcode != 0x77) /* vzeroupper */
		take_operand(in);
	take_immediate(in, map, opcode);
}

static void take_escape(struct reader *in)
{
	unsigned map = 1;

	if (in->at < in->size && in->bytes[in->at] == 0x38)
		map = 2;
	else if (in->at < in->size && in->bytes[in->at] == 0x3a)
		map = 3;
	in->at += map > 1;
	take_mapped(in, map);
}

size_t decode_x86_unknown(const uint8_t *bytes, size_t size)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
	struct reader in = {bytes, size < SIZE_MAX_BYTES ? size : SIZE_MAX_BYTES, 0, false};
	uint8_t first;

	while (in.at < in.size && memchr(prefixes, bytes[in.at], sizeof prefixes))
		in.at++;
	if (in.at < in.size && (bytes[in.at] & 0xf0) == 0x40)
		in.at++;
	first = take(&in);
	if (first == 0x0f) {
		take_escape(&in);
	} else if (first == 0xc5) {
		in.at++;
		take_mapped(&in, 1);
	} else if (first == 0xc4) {
		unsigned map = take(&in) & 31;

		in.at++;
		take_mapped(&in, map);
	} else if (first == 0x62) {
		unsigned map = take(&in) & 7;

		in.at += 2;
		take_mapped(&in, map);
	} else {
		return 0;
	}
	return in.failed || in.at > in.size ? 0 : in.at;
}
