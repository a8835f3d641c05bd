/* SPDX-License-Identifier: Apache-2.0 */
/* tally_deltas.c - see tally_deltas.h. */
#include "record/process/tally_deltas.h"

#include <stdlib.h>
#include <string.h>

void tally_deltas_clear(struct tally_deltas *tally_deltas)
{
	if (tally_deltas->count)
		memset(tally_deltas->total, 0, tally_deltas->count * sizeof(*tally_deltas->total));
	tally_deltas->count = 0;
}

void tally_deltas_fini(struct tally_deltas *tally_deltas)
{
	free(tally_deltas->total);
	*tally_deltas = (struct tally_deltas){0};
}

void tally_deltas_walk(struct tally_deltas *tally_deltas, const struct event_tally *shared, uint32_t count,
	void (*put)(void *context, uint32_t node, uint32_t metric, uint64_t more), void *context)
{
	if (count > EVENT_TALLY_MAX)
		count = EVENT_TALLY_MAX;
	if (!tally_deltas->total)
		tally_deltas->total = calloc(EVENT_TALLY_MAX, sizeof(*tally_deltas->total));
	if (!tally_deltas->total)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t total = atomic_load_explicit(&shared[i].total, memory_order_relaxed);

		if (total <= tally_deltas->total[i])
			continue;
		put(context, shared[i].node, shared[i].metric, total - tally_deltas->total[i]);
		tally_deltas->total[i] = total;
	}
	if (count > tally_deltas->count)
		tally_deltas->count = count;
}
