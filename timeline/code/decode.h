/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - decodes machine code as far as control flow needs it: instruction length, branch targets, and
 * the register effects of instructions that compute jump targets. One interface for all machines; the
 * control-flow graph (timeline/code/cfg.h) depends on none of them.
 */
#ifndef TIMELINE_DECODE_H
#define TIMELINE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
	FLOW_NEXT,
	FLOW_BRANCH, /* to the target or to the next instruction */
	FLOW_JUMP,
	FLOW_JUMP_INDIRECT,
	FLOW_CALL, /* target 0: indirect */
	FLOW_RETURN,
	FLOW_STOP /* traps, halts: nothing follows */
};

struct instruction {
	uint64_t address;
	uint64_t target; /* of FLOW_BRANCH, FLOW_JUMP, FLOW_CALL */
	uint64_t slot;	 /* of an indirect call: address of the pointer, 0: unknown */
	uint8_t size;	 /* 1..15 */
	uint8_t flow;	 /* enum flow */
	bool is_bad;	 /* unknown to the decoder: the size is a guess */
	bool is_padding; /* does nothing; fills space between functions or blocks */
	bool is_pause;	 /* tells the processor that a loop waits: pause, yield, isb, wfe */
};

/* Register effects, for following a jump table's address to the jump. */
enum effect_kind {
	EFFECT_NONE,	  /* none of the below; registers written are in `clobbers` */
	EFFECT_ADDRESS,	  /* to = value */
	EFFECT_COPY,	  /* to = a, or its low bits */
	EFFECT_ADD,	  /* to = a + (b << shift); b REGISTER_NONE: a + value */
	EFFECT_LOAD,	  /* to = width bytes at [a + (b << shift) + value], signed or not */
	EFFECT_LOAD_JUMP, /* the same, and jumps there */
	EFFECT_JUMP,	  /* jumps to a */
	EFFECT_COMPARE,	  /* compares a with value */
	EFFECT_BOUND,	  /* to = a number of 0..value */
	EFFECT_ABOVE,	  /* jumps if the compared value is above (unsigned) */
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

/* The machine number that decoder_open() takes for an NVIDIA generation (75: sm_75). */
unsigned decode_sass_machine(unsigned generation);
/* The same for an AMD processor (EF_AMDGPU_MACH of the file's flags). */
unsigned decode_amd_machine(unsigned processor);
/* The same for an Intel family of graphics cores or, if that is 0, product, as Intel's binaries number them.
 */
unsigned decode_intel_machine(unsigned family, unsigned product);

/* Opens a decoder for an ELF machine; its upper half is the generation where encodings differ. Returns 0; 1:
 * hpct cannot read code of that machine; -1: no memory. One thread. */
int decoder_open(struct decoder **decoder, unsigned machine);
void decoder_close(struct decoder *decoder);
/* Why this build finds no loops in code of that machine; NULL: it does. */
const char *decoder_lacks(unsigned machine);
/* True when only the decoder's library is missing: it may be installed later. */
bool decoder_may_come(unsigned machine);

/* Decodes the instruction at `bytes`, of which `size` (> 0) exist. Never fails: see is_bad. */
void decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction);
void decoder_effect(
	struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect);

/* ---- between decode.c and the machines' decoders ---- */

struct decode_machine {
	unsigned machine;	    /* EM_... */
	const char *(*lacks)(void); /* why it cannot be opened here; NULL, or returns NULL: it can */
	void *(*open)(void);
	void (*close)(void *state);
	void (*next)(void *state, const uint8_t *bytes, size_t size, struct instruction *instruction);
	void (*effect)(
		void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect);
};
extern const struct decode_machine decode_x86, decode_arm64, decode_volta, decode_hopper, decode_gcn,
	decode_cdna2, decode_cdna3, decode_rdna, decode_gen8, decode_gen12, decode_xe_hp, decode_xe_hpc;

/* Length of an instruction of those that compilers write most; 0: of the others, and of what might be none.
 */
size_t decode_x86_common(const uint8_t *bytes, size_t size);

/* Length of an instruction from its encoding only (prefixes, VEX and EVEX, ModRM, displacement, immediate):
 * for instructions newer than the decoder. 0: no such form. */
size_t decode_x86_unknown(const uint8_t *bytes, size_t size);

#endif
