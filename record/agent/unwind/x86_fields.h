/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_fields.h - splits an x86-64 instruction into its fields:
 *
 *   prefixes | rex | opcode, of one of four maps | modrm, sib, displacement | immediate
 *
 * Only for instruction_x86_64.c. Signal safe.
 */
#ifndef RECORD_AGENT_X86_FIELDS_H
#define RECORD_AGENT_X86_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opcode maps: no prefix, 0f, 0f 38, 0f 3a. */
enum x86_map { X86_ONE, X86_0F, X86_0F38, X86_0F3A };

struct x86_fields {
	const uint8_t *code;  /* the caller sets code and size, and zeroes the rest */
	const uint8_t *modrm; /* NULL: none */
	size_t size, at;      /* at: bytes read so far */
	enum x86_map map;
	uint8_t opcode;
	uint8_t rex;
	bool half;	    /* prefix 66 */
	bool is_vector;	    /* VEX, EVEX */
	unsigned immediate; /* its size in bytes; it comes last */
};

/* False: truncated, too long, or not produced by compilers. */
bool x86_fields_take(struct x86_fields *fields);

#endif
