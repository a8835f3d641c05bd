/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause_chain.h - what a cause itself waited for, step by step back to the root: the instruction that no
 * longer waits for another.
 *
 *   FADD waits for LDG (the hotspot)      LDG waits for IMAD, 63 % of its stalls      IMAD waits for S2R ...
 *
 * A step may also lead on
 *
 *   through memory    a load of local or shared memory: to the store that it reads, if that one waited
 *   through copies    a wait for a barrier in memory (SYNCS): to the copy on which it is told
 *   through barriers  a barrier: to the line that stalls most since the barrier before, since the
 *                     threads that are waited for are late by that
 *   through calls     what a device function computes with was handed over: to where its caller computed it
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

#define CAUSE_CHAIN_MAX 8u /* steps: further back the share of the hotspot that is explained is small */

enum cause_link {
	CAUSE_LINK_WAIT,
	CAUSE_LINK_MEMORY,
	CAUSE_LINK_COPY,
	CAUSE_LINK_BARRIER,
	CAUSE_LINK_CALL,
	CAUSE_LINKS
};
const char *cause_link_name(enum cause_link link); /* wait memory copy barrier call */

struct cause_step {
	enum cause_link link;
	const struct kernel_function *function; /* that the step leads to, */
	uint32_t at;				/* and its instruction */
	const struct cause *cause; /* of a wait: the step before waited for cause->define; else NULL */
	/* Of a wait: part of the stalls of cause->use that this cause explains; else: of the stalls of all
	 * stores that the load may read, of all such copies alike, of all between the barriers, of all places
	 * that compute the operand.
	 */
	double share;
};

/* The steps from `from` (an instruction of the function, which is the kernel's) backward, each by the cause
 * that explains most. Ends at an instruction without a cause elsewhere, at one that is met again (a loop), or
 * where less than a tenth is explained. Returns their number. */
unsigned cause_chain_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t from,
	struct cause_step steps[CAUSE_CHAIN_MAX]);

#endif
