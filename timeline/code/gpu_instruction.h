/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_instruction.h - what one instruction of a GPU does with registers, predicates and barriers, for
 * analyses of dependencies (S2 II-B); independent of the machine. decode.h tells where control goes.
 *
 * All that an instruction may define or use is a resource, one number space:
 *
 *   0    registers of a thread          336  NVIDIA's barriers B0-B5
 *   256  NVIDIA's uniform registers     344  AMD's scalar registers, by their number as an operand
 *   320  NVIDIA's predicates            480  AMD's accumulation registers
 *   328  NVIDIA's uniform ones          736  counters of AMD and Intel
 *                                      744  Intel's tokens: results, 776: operands
 *
 * B0-B5 are virtual registers: an instruction of variable latency defines the ones that its control code
 * sets, and whatever waits for them uses them (S2 IV); Intel's tokens likewise. A counter counts instructions
 * under way: each defines it, none ends what the earlier ones defined, and a wait uses it until no more than
 * so many are left. B0-B5 count, too: a wait is for all that set the barrier since the wait before, but
 * for DEPBAR's, which may leave some.
 */
#ifndef TIMELINE_GPU_INSTRUCTION_H
#define TIMELINE_GPU_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#define GPU_RESOURCES 808u
#define GPU_UNIFORM 256u
#define GPU_PREDICATE 320u
#define GPU_UNIFORM_PREDICATE 328u
#define GPU_BARRIER 336u
#define GPU_BARRIERS 6u
#define GPU_NO_BARRIER 7u
#define GPU_ALWAYS 7u /* a guard that is always true */
#define GPU_SCALAR 344u
#define GPU_SCALARS 129u /* the last: SCC */
#define GPU_ACCUMULATOR 480u
#define GPU_COUNTER 736u
#define GPU_TOKEN 744u
#define GPU_TOKENS 32u /* of results, and as many of operands */

enum gpu_counter {
	GPU_COUNTER_VECTOR_MEMORY,
	GPU_COUNTER_SHARED_MEMORY, /* and scalar memory, messages */
	GPU_COUNTER_EXPORT,
	GPU_COUNTER_IN_ORDER, /* Intel's: instructions of the pipes that end in order */
	GPU_COUNTER_MATH,     /* and of the math pipe alone */
	GPU_COUNTERS
};

struct gpu_set {
	uint64_t words[(GPU_RESOURCES + 63) / 64];
};

static inline void gpu_set_add(struct gpu_set *set, unsigned resource)
{
	set->words[resource / 64] |= UINT64_C(1) << resource % 64;
}

static inline bool gpu_set_has(const struct gpu_set *set, unsigned resource)
{
	return set->words[resource / 64] >> resource % 64 & 1;
}

enum gpu_kind {
	GPU_KIND_OPAQUE, /* unknown: sets hold its barriers and guard alone */
	GPU_KIND_MOVE,	 /* moves, selects, reads of special registers */
	GPU_KIND_INTEGER,
	GPU_KIND_FLOAT, /* 16 and 32 bits */
	GPU_KIND_DOUBLE,
	GPU_KIND_CONVERT, /* between types */
	GPU_KIND_SPECIAL, /* reciprocals, roots, sines: the special function unit */
	GPU_KIND_MATRIX,
	GPU_KIND_LOAD,
	GPU_KIND_STORE,
	GPU_KIND_ATOMIC,
	GPU_KIND_COPY,	  /* asynchronous, from global to shared memory or back */
	GPU_KIND_FENCE,	  /* orders memory */
	GPU_KIND_BARRIER, /* waits for other threads */
	GPU_KIND_WAIT,	  /* waits for barriers of its own thread */
	GPU_KIND_CONTROL, /* branches, calls, convergence */
};
enum gpu_space {
	GPU_SPACE_NONE,
	GPU_SPACE_GLOBAL,
	GPU_SPACE_LOCAL,
	GPU_SPACE_SHARED,
	GPU_SPACE_CONSTANT,
	GPU_SPACE_TEXTURE,
	GPU_SPACE_ANY, /* a generic address */
	GPU_SPACE_COUNT
};

struct gpu_instruction {
	const char *name; /* its operation as the vendor spells it; "?" if unknown */
	uint8_t kind, space;
	uint8_t bytes; /* that a thread accesses in memory; 0: none, or unknown */
	/* Guard: runs only if this predicate is true, or false; GPU_ALWAYS: always. */
	uint8_t guard;
	bool is_guard_negated, is_guard_uniform;
	/* Control code */
	uint8_t stall;			     /* cycles until the next instruction of the warp may issue */
	uint8_t write_barrier, read_barrier; /* set; GPU_NO_BARRIER: none */
	uint8_t wait_mask;		     /* bit b: waits for barrier b */
	uint8_t barrier_left;		     /* of GPU_KIND_WAIT: so many that set its barrier may be left */
	/* Counters */
	uint8_t counts;		    /* bit c: is under way by counter c until it has ended */
	uint8_t waits;		    /* bit c: waits until counter c is at most left[c] */
	uint8_t left[GPU_COUNTERS]; /* instructions */
	/* What it defines and uses, its guard, barriers, wait mask and counters included. */
	struct gpu_set defines, uses;
};

/* True when the table knows the instruction in these two words, which are the same from sm_70 on. Sets of
 * unknown instructions hold what the encoding tells of every instruction. Never fails. */
bool sass_instruction(uint64_t word_low, uint64_t word_high, struct gpu_instruction *instruction);

#endif
