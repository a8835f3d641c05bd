/* SPDX-License-Identifier: Apache-2.0 */
/* cause_chain.c - see cause_chain.h. */
#include "blame/advise/cause_chain.h"

#define SHARE_LEAST 0.1

/* Index of the first cause of an instruction: they are ordered by use. */
static size_t first_of(const struct causes *causes, uint32_t use)
{
	size_t low = 0, high = causes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (causes->list[middle].use < use)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The cause elsewhere that explains most of an instruction's stalls; NULL: none. */
static const struct cause *main_cause(const struct kernel_function *function, uint32_t use, double *share)
{
	const struct causes *causes = &function->causes;
	const struct cause *best = NULL;
	double stalls = 0;

	for (unsigned s = 0; s < STALL_COUNT; s++)
		stalls += s == STALL_NONE ? 0 : function->samples[use].all[s];
	for (size_t i = first_of(causes, use); i < causes->count && causes->list[i].use == use; i++) {
		const struct cause *cause = &causes->list[i];

		if (cause->class != CAUSE_SELF && cause->define != use &&
			(!best || cause->samples > best->samples))
			best = cause;
	}
	*share = best && stalls > 0 ? best->samples / stalls : 0;
	return best;
}

static bool is_met(uint32_t from, const struct cause_step *steps, unsigned count, uint32_t at)
{
	for (unsigned i = 0; i < count; i++)
		if (steps[i].cause->define == at)
			return true;
	return at == from;
}

unsigned cause_chain_find(
	const struct kernel_function *function, uint32_t from, struct cause_step steps[CAUSE_CHAIN_MAX])
{
	unsigned count = 0;
	uint32_t at = from;

	while (count < CAUSE_CHAIN_MAX) {
		double share;
		const struct cause *cause = main_cause(function, at, &share);

		if (!cause || share < SHARE_LEAST || is_met(from, steps, count, cause->define))
			break;
		steps[count++] = (struct cause_step){cause, share};
		at = cause->define;
	}
	return count;
}
