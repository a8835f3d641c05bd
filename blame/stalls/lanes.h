/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - how values differ between the threads of a warp, by abstract interpretation of integer arithmetic
 * from the thread's index on. It tells which accesses to memory are coalesced, and which branches take the
 * threads of a warp different ways:
 *
 *   i = blockIdx.x * blockDim.x + threadIdx.x     step 1
 *   in[i * 8]                                     step 32 bytes: each thread its own sector
 *   i >> 5                                        step 0: the same for the warp
 *   i & 1                                         differs, by the thread's index
 *   in[i] > 0                                     differs, by data
 *
 * Control dependence is ignored: what differs only by the way that a thread came counts as the same.
 *
 * AMD's branches are the same for all threads of a wave; which of them are active stands in EXEC, and a
 * branch is taken where none is, or where one is. So a branch by EXEC has the value of the condition that
 * EXEC was made of, turned round where those go on that are active.
 */
#ifndef BLAME_LANES_H
#define BLAME_LANES_H

#include "blame/stalls/kernel_code.h"

enum lanes_kind {
	LANES_NONE,   /* no path is known on which it has a value */
	LANES_STEP,   /* from thread to thread the value grows by `step`; 0: it is the same */
	LANES_DIFFER, /* differs by the thread's index, in no such way */
	LANES_DATA,   /* may differ: it was loaded */
	LANES_UNKNOWN /* left by a callee, or an argument */
};
/* Of a condition that differs by the thread's index: for which it is true. */
enum lanes_part {
	LANES_SOME, /* not known */
	LANES_ONE,  /* a single one */
	LANES_ALL_BUT_ONE,
	LANES_FIRST /* all up to some one, or from there on: an index beside a limit */
};

struct lanes_value {
	uint8_t kind;
	uint8_t align; /* the first thread's value is a multiple of 2^align; 31: zero */
	bool is_wide;  /* the first thread's value differs from warp to warp */
	uint8_t part;  /* of a condition: enum lanes_part */
	int32_t step;
};

/* Threads that run together, and bytes of the pieces in which global memory is moved. */
struct lanes_machine {
	unsigned threads, line_bytes;
};

struct lanes {
	uint32_t count;
	struct lanes_machine machine;
	/* [count] Of an access to memory its address; of a branch under a predicate whether it is taken; of
	 * all others kind LANES_NONE. AMD's, by EXEC: whether a thread has nothing to do on the way that goes
	 * on. */
	struct lanes_value *values;
};

/* block: threads of a block in x, y and z; 0: unknown, taken as whole warps in x. Returns 0, negative: no
 * memory. Code too large to interpret has values of LANES_UNKNOWN. Free in both cases. */
int lanes_find(struct lanes *lanes, const struct kernel_code *code, bool is_kernel, const uint32_t block[3],
	struct error *error);
void lanes_fini(struct lanes *lanes);

/* How many times more an access of 1 to 32 bytes a thread moves, in sectors of 32 bytes (AMD: lines of its
 * cache), than threads need: 1 of coalesced ones, 0: unknown. */
double lanes_waste(const struct lanes_machine *machine, const struct lanes_value *address, unsigned bytes);
/* How many accesses of shared memory one takes because threads meet in its banks: 1: none, 0: unknown. */
unsigned lanes_conflicts(const struct lanes_value *address, unsigned bytes);

#endif
