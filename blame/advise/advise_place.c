/* SPDX-License-Identifier: Apache-2.0 */
/* advise_place.c - see advise_place.h. */
#include "blame/advise/advise_place.h"

#include <stdio.h>

void advise_place_find(struct advise_place *place, const struct kernel_function *function, uint32_t at)
{
	const struct kernel_code *code = &function->code;

	*place = (struct advise_place){.file = "",
		.address = code->addresses[at] - code->start,
		.instruction = code->instructions[at].name};
	if (!demangle_symbol(code->name, place->function, sizeof place->function))
		snprintf(place->function, sizeof place->function, "%s", code->name);
	if (!gpu_code_line(code->binary, code->addresses[at], &place->file, &place->line))
		place->file = "";
	if (code->loop_of[at] != LOOP_NONE)
		place->loop_line = code->loop_line[code->loop_of[at]];
}

double advise_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

double advise_explained(const struct kernel *kernel, double *single)
{
	double dependent = 0, explained = 0;
	size_t nodes = 0, alone = 0;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct causes *causes = &kernel->functions[f].causes;

		dependent += causes->dependent;
		explained += causes->explained;
		nodes += causes->nodes;
		alone += causes->single_after;
	}
	*single = nodes ? (double)alone / (double)nodes : 1;
	return advise_percent(explained, dependent);
}
