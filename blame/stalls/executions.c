/* SPDX-License-Identifier: Apache-2.0 */
/* executions.c - see executions.h. */
#include "blame/stalls/executions.h"

#define BLOCK_MAX 64u

struct executions executions_from(
	const struct dependency_code *flow, const struct cause_samples *samples, double period, uint32_t at)
{
	struct executions executions = {0, 0};

	for (;; at = flow->to[flow->first_to[at]]) {
		executions.sum += samples[at].all[STALL_NONE] / period;
		executions.count++;
		if (flow->first_to[at + 1] != flow->first_to[at] + 1 || executions.count == BLOCK_MAX)
			break;
		if (flow->first_from[flow->to[flow->first_to[at]] + 1] !=
			flow->first_from[flow->to[flow->first_to[at]]] + 1)
			break;
	}
	return executions;
}

uint32_t executions_block(const struct dependency_code *flow, uint32_t at)
{
	for (unsigned i = 0; i < BLOCK_MAX; i++) {
		uint32_t first = flow->first_from[at], from;

		if (flow->first_from[at + 1] != first + 1)
			break;
		from = flow->from[first];
		if (flow->first_to[from + 1] != flow->first_to[from] + 1)
			break;
		at = from;
	}
	return at;
}
