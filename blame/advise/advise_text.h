/* SPDX-License-Identifier: Apache-2.0 */
/* advise_text.h - the report of hpct-advise as text, as S2 Fig 8 shows it: of hpct-advise and of the view. */
#ifndef BLAME_ADVISE_TEXT_H
#define BLAME_ADVISE_TEXT_H

#include <stdio.h>

#include "blame/advise/run_gain.h"

#define ADVISE_TOP 5u /* pieces of advice of a kernel (S2 VI) */

/* `top`: most pieces of advice of each kernel; gains: NULL: nothing is said of the run. */
int advise_text(FILE *out, struct run *run, const struct kernels *kernels, struct run_gains *gains,
	uint64_t top, struct error *error);

#endif
