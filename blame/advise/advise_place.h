/* SPDX-License-Identifier: Apache-2.0 */
/* advise_place.h - what both reports of hpct-advise say of a kernel: places in its code, and what share of
 * its stalls has a cause. */
#ifndef BLAME_ADVISE_PLACE_H
#define BLAME_ADVISE_PLACE_H

#include "blame/stalls/kernel.h"
#include "timeline/debug/demangle.h"

/* A place in code, in words and as columns. */
struct advise_place {
	char function[DEMANGLE_MAX];
	const char *file;
	uint32_t line, loop_line;
	uint64_t address;
	const char *instruction;
};

void advise_place_find(struct advise_place *place, const struct kernel_function *function, uint32_t at);

/* 0 where the whole is nothing. */
double advise_percent(double part, double whole);
/* Percent of the dependency stalls whose cause was found; *single: S2's single dependency coverage. */
double advise_explained(const struct kernel *kernel, double *single);

#endif
