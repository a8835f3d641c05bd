/* SPDX-License-Identifier: Apache-2.0 */
/* hits.c - see hits.h. */
#include "record/hits.h"

#include <stdlib.h>
#include <string.h>

#define HITS_MAX 16384u

void hits_fini(struct hits *hits)
{
	free(hits->list);
	*hits = (struct hits){0};
}

void hits_clear(struct hits *hits)
{
	hits->count = 0;
}

static bool room_make(struct hits *hits)
{
	uint32_t wanted = hits->room ? 2 * hits->room : 16;
	struct hit *grown;

	if (hits->count < hits->room)
		return true;
	grown = wanted <= HITS_MAX ? realloc(hits->list, wanted * sizeof(*grown)) : NULL;
	if (!grown)
		return false;
	hits->list = grown;
	hits->room = wanted;
	return true;
}

bool hits_add(struct hits *hits, const struct hit *hit)
{
	uint32_t at;

	if (!room_make(hits))
		return false;
	/* Rings of processors are read one after the other: nearly always it is the last. */
	for (at = hits->count; at && hits->list[at - 1].time_ns > hit->time_ns; at--)
		;
	memmove(&hits->list[at + 1], &hits->list[at], (hits->count++ - at) * sizeof(*hit));
	hits->list[at] = *hit;
	return true;
}

uint32_t hits_until(const struct hits *hits, uint64_t time_ns)
{
	uint32_t count = 0;

	while (count < hits->count && hits->list[count].time_ns <= time_ns)
		count++;
	return count;
}

void hits_drop(struct hits *hits, uint32_t count)
{
	hits->count -= count;
	memmove(hits->list, hits->list + count, hits->count * sizeof(*hits->list));
}
