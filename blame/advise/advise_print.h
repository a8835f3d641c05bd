/* SPDX-License-Identifier: Apache-2.0 */
/* advise_print.h - the report of hpct-advise: text as S2 Fig 8 shows it, or one row for each piece of advice
 * and each of its hotspots (docs/advice.md). */
#ifndef BLAME_ADVISE_PRINT_H
#define BLAME_ADVISE_PRINT_H

#include "blame/advise/run_gain.h"
#include "timeline/report/program.h"

/* Pieces of advice that are asked for, of each kernel. */
uint64_t advise_top(const struct program_call *call);
/* gains: NULL: nothing is said of the run. */
int advise_print(struct program_call *call, const struct kernels *kernels, struct run_gains *gains,
	struct error *error);

#endif
