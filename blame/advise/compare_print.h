/* SPDX-License-Identifier: Apache-2.0 */
/* compare_print.h - the report of hpct-advise --before --after: text, or one row for each kernel, each piece
 * of advice that it got before, and each reason of its stalls. */
#ifndef BLAME_COMPARE_PRINT_H
#define BLAME_COMPARE_PRINT_H

#include "blame/advise/compare.h"
#include "timeline/report/program.h"

int compare_print(struct program_call *call, const struct kernels *before, const struct kernels *after,
	struct error *error);

#endif
