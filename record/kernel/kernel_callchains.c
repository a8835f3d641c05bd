/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_callchains.c - see kernel_callchains.h. Removal leaves a gap at the front, closed when space is
 * short, so that entries rarely move.
 */
#include "record/kernel/kernel_callchains.h"

#include <stdlib.h>
#include <string.h>

#define KERNEL_CALLCHAINS_MAX 16384u
#define ADDRESSES_MAX (KERNEL_CALLCHAINS_MAX * KERNEL_CALLCHAIN_DEPTH_MAX)

void kernel_callchains_fini(struct kernel_callchains *callchains)
{
	free(callchains->list);
	free(callchains->address);
	*callchains = (struct kernel_callchains){0};
}

void kernel_callchains_clear(struct kernel_callchains *callchains)
{
	callchains->first = callchains->end = callchains->address_count = 0;
}

uint32_t kernel_callchains_count(const struct kernel_callchains *callchains)
{
	return callchains->end - callchains->first;
}

static bool list_reserve(struct kernel_callchains *callchains)
{
	uint32_t wanted = callchains->capacity ? 2 * callchains->capacity : 16,
		 count = kernel_callchains_count(callchains);
	struct kernel_callchain_slot *grown;

	if (callchains->end < callchains->capacity)
		return true;
	if (count <= callchains->capacity / 2 && callchains->first) {
		memmove(callchains->list, callchains->list + callchains->first,
			count * sizeof(*callchains->list));
		callchains->first = 0;
		callchains->end = count;
		return true;
	}
	grown = wanted <= 2 * KERNEL_CALLCHAINS_MAX ? realloc(callchains->list, wanted * sizeof(*grown))
						    : NULL;
	if (!grown)
		return false;
	callchains->list = grown;
	callchains->capacity = wanted;
	return true;
}

/* Copies the chains still in use to new memory, twice as large. */
static bool address_reserve(struct kernel_callchains *callchains, uint32_t more)
{
	uint32_t used = 0, room;
	uint64_t *fresh;

	if (callchains->address_capacity - callchains->address_count >= more)
		return true;
	for (uint32_t i = callchains->first; i < callchains->end; i++)
		used += callchains->list[i].depth;
	room = 2 * (used + more);
	room = room < 4 * KERNEL_CALLCHAIN_DEPTH_MAX ? 4 * KERNEL_CALLCHAIN_DEPTH_MAX : room;
	fresh = used + more <= ADDRESSES_MAX ? malloc(room * sizeof(*fresh)) : NULL;
	if (!fresh)
		return false;
	callchains->address_count = 0;
	for (uint32_t i = callchains->first; i < callchains->end; i++) {
		struct kernel_callchain_slot *place = &callchains->list[i];

		if (!place->depth)
			continue;
		memcpy(fresh + callchains->address_count, callchains->address + place->at,
			place->depth * sizeof(*fresh));
		place->at = callchains->address_count;
		callchains->address_count += place->depth;
	}
	free(callchains->address);
	callchains->address = fresh;
	callchains->address_capacity = room;
	return true;
}

bool kernel_callchains_add(struct kernel_callchains *callchains, const struct kernel_callchain *callchain)
{
	struct kernel_callchain_slot place = {
		.time_ns = callchain->time_ns, .tid = callchain->tid, .depth = callchain->depth};
	uint32_t at;

	if (kernel_callchains_count(callchains) == KERNEL_CALLCHAINS_MAX || !list_reserve(callchains) ||
		(place.depth && !address_reserve(callchains, place.depth)))
		return false;
	place.at = callchains->address_count;
	if (place.depth)
		memcpy(callchains->address + place.at, callchain->address,
			place.depth * sizeof(*callchains->address));
	callchains->address_count += place.depth;
	/* Per-CPU rings are read one after the other: nearly always it belongs at the end. */
	for (at = callchains->end;
		at > callchains->first && callchains->list[at - 1].time_ns > callchain->time_ns; at--)
		;
	memmove(&callchains->list[at + 1], &callchains->list[at],
		(callchains->end++ - at) * sizeof(*callchains->list));
	callchains->list[at] = place;
	return true;
}

struct kernel_callchain kernel_callchains_at(const struct kernel_callchains *callchains, uint32_t index)
{
	const struct kernel_callchain_slot *place = &callchains->list[callchains->first + index];

	return (struct kernel_callchain){.time_ns = place->time_ns,
		.tid = place->tid,
		.depth = place->depth,
		.address = place->depth ? callchains->address + place->at : NULL};
}

uint32_t kernel_callchains_until(const struct kernel_callchains *callchains, uint64_t time_ns)
{
	uint32_t at = callchains->first;

	while (at < callchains->end && callchains->list[at].time_ns <= time_ns)
		at++;
	return at - callchains->first;
}

void kernel_callchains_drop(struct kernel_callchains *callchains, uint32_t count)
{
	callchains->first += count;
	if (callchains->first == callchains->end)
		kernel_callchains_clear(callchains);
}
