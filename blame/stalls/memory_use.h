/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_use.h - how a function uses global memory, loop by loop: whether its loads wait behind others, and
 * how much more is moved than threads need (lanes.h), and what could be read once, or by other units.
 */
#ifndef BLAME_MEMORY_USE_H
#define BLAME_MEMORY_USE_H

#include "blame/stalls/causes.h"
#include "blame/stalls/lanes.h"

#define MEMORY_SATURATED_CYCLES 1200.0 /* a load that takes longer waits behind others */
#define MEMORY_WASTE_LEAST 1.3	       /* below, as of rows that are not aligned, little is to gain */

/* Of one loop without those in it; of a function: of all. */
struct memory_scope {
	double longest;	      /* cycles that a load is waited for */
	double moved, needed; /* sectors of 32 bytes, in proportion to what issued; of what is known */
	double all, unknown;  /* issued accesses; those with addresses that are not known */
	double repeated;      /* those to the same address in each round */
	unsigned widest;      /* bytes of its widest access; 0: none */
	bool is_product;      /* multiplies values of shared memory with each other, as matrix products do */
};

struct memory_use {
	struct memory_scope *scopes; /* 1 + loop, 0: the function */
	bool has_conflicts; /* some access of shared memory takes several turns, for all that is known */
	double one_turn;    /* share of shared memory's turns that is left without conflicts; 0: none known */
	bool *is_repeated;  /* [instruction] an access in a loop that does not change its address */
};

/* False: no memory. Free in both cases. */
bool memory_use_find(struct memory_use *use, const struct kernel_code *code, const struct lanes *lanes,
	const struct cause_samples *samples);
void memory_use_fini(struct memory_use *use);

/* The scope that an instruction belongs to. */
static inline const struct memory_scope *memory_scope_of(
	const struct memory_use *use, const struct kernel_code *code, uint32_t at)
{
	return &use->scopes[code->loop_of[at] == LOOP_NONE ? 0 : code->loop_of[at] + 1];
}

/* Loads wait behind others. */
static inline bool memory_is_saturated(const struct memory_scope *scope)
{
	return scope->longest > MEMORY_SATURATED_CYCLES;
}

/* How many times more is moved than needed; 0: unknown. */
static inline double memory_waste(const struct memory_scope *scope)
{
	return scope->needed > 0 && scope->unknown * 2 <= scope->all ? scope->moved / scope->needed : 0;
}

/* More may be moved than needed; of unknown addresses that is possible. */
static inline bool memory_is_wasteful(const struct memory_scope *scope)
{
	return scope->unknown > 0 || scope->moved > scope->needed * MEMORY_WASTE_LEAST;
}

#endif
