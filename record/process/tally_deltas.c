/* SPDX-License-Identifier: Apache-2.0 */
/* tally_deltas.c - see tally_deltas.h. */
#include "record/process/tally_deltas.h"

#include <stdlib.h>
#include <string.h>

void tallies_clear(struct tallies *tallies)
{
	if (tallies->count)
		memset(tallies->total, 0, tallies->count * sizeof(*tallies->total));
	tallies->count = 0;
}

void tallies_fini(struct tallies *tallies)
{
	free(tallies->total);
	*tallies = (struct tallies){0};
}

void tallies_walk(struct tallies *tallies, const struct event_tally *shared, uint32_t count,
	void (*put)(void *context, uint32_t node, uint32_t metric, uint64_t more), void *context)
{
	if (count > EVENT_TALLY_MAX)
		count = EVENT_TALLY_MAX;
	if (!tallies->total)
		tallies->total = calloc(EVENT_TALLY_MAX, sizeof(*tallies->total));
	if (!tallies->total)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t total = atomic_load_explicit(&shared[i].total, memory_order_relaxed);

		if (total <= tallies->total[i])
			continue;
		put(context, shared[i].node, shared[i].metric, total - tallies->total[i]);
		tallies->total[i] = total;
	}
	if (count > tallies->count)
		tallies->count = count;
}
