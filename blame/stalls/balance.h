/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.h - how much of the waits at a barrier comes from work that few warps do while the others wait.
 *
 * Code before the barrier that a part e of the warps runs (how often it issued, beside the barrier) takes
 * them o samples; meanwhile the others wait, o * (1 - e) / e samples:
 *
 *   all 8 warps   |-- load --|                             wait |- barrier
 *   one of them   |-- load --|-- sum of all: o = 90 samples ---|     the others: 90 * (7 / 8) / (1 / 8) = 630
 *
 * Where all warps do all, they still do not come at the same time; that is no work that could be spread.
 */
#ifndef BLAME_BALANCE_H
#define BLAME_BALANCE_H

#include "blame/stalls/kernel.h"

/* Samples x period of waits that uneven work before this barrier explains; 0 where too few samples tell. */
double balance_uneven(
	const struct kernel_function *function, uint32_t barrier, double period, struct parse_budget *budget);

#endif
