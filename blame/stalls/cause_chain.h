/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause_chain.h - what a cause itself waited for, step by step back to the root: the instruction that no
 * longer waits for another.
 *
 *   FADD waits for LDG (the hotspot)      LDG waits for IMAD, 63 % of its stalls      IMAD waits for S2R ...
 *
 * Where waits are instructions of their own (AMD's s_waitcnt) those that are waited for do not stall
 * themselves: the step is the wait for what their operands were computed from.
 *
 *   s_waitcnt waits for load B (the hotspot)      B <- v_add <- load A: the wait for A, 90 % of that wait's
 * stalls
 */
#ifndef BLAME_CAUSE_CHAIN_H
#define BLAME_CAUSE_CHAIN_H

#include "blame/stalls/kernel.h"

#define CAUSE_CHAIN_MAX 6u /* steps: further back the share of the hotspot that is explained is small */

struct cause_step {
	const struct cause *cause; /* of the instruction of the step before: it waited for cause->define */
	double share;		   /* part of the stalls of cause->use that this cause explains */
};

/* The steps from `from` (an instruction of the function) backward, each by the cause that explains most. Ends
 * at an instruction without a cause elsewhere, at one that is met again (a loop), or where less than a tenth
 * is explained. Returns their number. */
unsigned cause_chain_find(
	const struct kernel_function *function, uint32_t from, struct cause_step steps[CAUSE_CHAIN_MAX]);

#endif
