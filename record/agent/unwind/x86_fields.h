/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_fields.h - an x86-64 instruction taken apart:
 *
 *   prefixes | rex | opcode, of one of four maps | modrm, sib, displacement | immediate
 *
 * Inside instruction_x86_64.c. Signal safe.
 */
#ifndef RECORD_AGENT_X86_FIELDS_H
#define RECORD_AGENT_X86_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of opcodes: without a prefix, behind 0f, 0f 38, 0f 3a. */
enum x86_map { X86_ONE, X86_0F, X86_0F38, X86_0F3A };

struct x86_fields {
	const uint8_t *code;  /* the caller sets it, and its size, the rest to 0 */
	const uint8_t *modrm; /* NULL: there is none */
	size_t size, at;      /* at: bytes taken so far */
	enum x86_map map;
	uint8_t opcode;
	uint8_t rex;
	bool half;	    /* prefix 66 */
	bool is_vector;	    /* VEX, EVEX */
	unsigned immediate; /* bytes of it, the last ones */
};

/* False: it is cut off by its size, longer than any, or none that a compiler makes. */
bool x86_fields_take(struct x86_fields *fields);

#endif
