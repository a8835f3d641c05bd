/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - machine code as far as control flow needs it: how long an instruction is, where it leads, and
 * what those that compute jump targets do to registers. One form for all machines; the control-flow graph
 * (timeline/code/cfg.h) knows none of them.
 */
#ifndef TIMELINE_DECODE_H
#define TIMELINE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
	FLOW_NEXT,
	FLOW_BRANCH, /* to the target or on */
	FLOW_JUMP,
	FLOW_JUMP_INDIRECT,
	FLOW_CALL, /* target 0: indirect */
	FLOW_RETURN,
	FLOW_STOP /* traps, halts: nothing follows */
};

struct instruction {
	uint64_t address;
	uint64_t target; /* of FLOW_BRANCH, FLOW_JUMP, FLOW_CALL */
	uint64_t slot;	 /* of an indirect call: address of the pointer, 0: not known */
	uint8_t size;	 /* 1..15 */
	uint8_t flow;	 /* enum flow */
	bool is_bad;	 /* not known to the decoder: the size is a guess */
	bool is_padding; /* does nothing, stands between functions or blocks */
};

/* What an instruction does, for following a jump table's address to the jump. */
enum effect_kind {
	EFFECT_NONE,	  /* nothing that matters; registers written are in `clobbers` */
	EFFECT_ADDRESS,	  /* to = value */
	EFFECT_COPY,	  /* to = a, or its low bits */
	EFFECT_ADD,	  /* to = a + (b << shift); b REGISTER_NONE: a + value */
	EFFECT_LOAD,	  /* to = width bytes at [a + (b << shift) + value], signed or not */
	EFFECT_LOAD_JUMP, /* the same, and jumps there */
	EFFECT_JUMP,	  /* jumps to a */
	EFFECT_COMPARE,	  /* compares a with value */
	EFFECT_BOUND,	  /* to = a number of 0..value */
	EFFECT_ABOVE,	  /* jumps when the compared is above (unsigned) */
	EFFECT_NOT_BELOW  /* the same, or equal */
};
#define REGISTER_NONE 0xff
#define REGISTER_COUNT 32

struct effect {
	enum effect_kind kind;
	uint8_t to, a, b; /* registers, REGISTER_NONE */
	uint8_t shift, width;
	bool is_signed;
	int64_t value;
	uint32_t clobbers; /* a bit for each register, `to` too */
};

struct decoder;

/* Of NVIDIA's generation (75: sm_75) as decoder_open() takes it. */
unsigned decode_sass_machine(unsigned generation);
/* The same of AMD's processor (EF_AMDGPU_MACH of the file's flags). */
unsigned decode_amd_machine(unsigned processor);
/* The same of Intel's family of graphics cores or, where that is 0, product, as its binaries number them. */
unsigned decode_intel_machine(unsigned family, unsigned product);

/* For an ELF machine, in its upper half the generation where encodings differ. Returns 0; 1 when hpct reads
 * no code of that machine; -1: memory. One thread. */
int decoder_open(struct decoder **decoder, unsigned machine);
void decoder_close(struct decoder *decoder);
/* Why hpct, as it was built, finds no loops in code of that machine; NULL: it does. */
const char *decoder_lacks(unsigned machine);
/* Whether only its library is not installed: it may be, the next time. */
bool decoder_may_come(unsigned machine);

/* The instruction at `bytes`, of which `size` (> 0) are there. Never fails: see is_bad. */
void decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction);
void decoder_effect(
	struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect);

/* ---- between decode.c and its machines ---- */

struct decode_machine {
	unsigned machine; /* EM_... */
	const char *(*lacks)(
		void); /* a sentence on why it cannot be opened here; NULL, or gives it: it can */
	void *(*open)(void);
	void (*close)(void *state);
	void (*next)(void *state, const uint8_t *bytes, size_t size, struct instruction *instruction);
	void (*effect)(
		void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect);
};
extern const struct decode_machine decode_x86, decode_arm64, decode_volta, decode_hopper, decode_gcn,
	decode_rdna, decode_gen8, decode_gen12;

/* Length of an instruction by the rules of its encoding alone, prefixes, VEX and EVEX, ModRM, displacement,
 * immediate: for what is newer than the decoder. 0: no such form. */
size_t decode_x86_unknown(const uint8_t *bytes, size_t size);

#endif
