/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_isa.c - see gpu_isa.h. */
#include "timeline/code/gpu_isa.h"

static const struct gpu_isa *const rows[] = {&gpu_isa_volta, &gpu_isa_hopper, &gpu_isa_gcn, &gpu_isa_cdna2,
	&gpu_isa_cdna3, &gpu_isa_gen12, &gpu_isa_xe_hp, &gpu_isa_xe_hpc};

const struct gpu_isa *gpu_isa_of(unsigned machine)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i]->machine == machine)
			return rows[i];
	return NULL;
}
