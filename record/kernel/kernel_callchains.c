/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_callchains.c - see kernel_callchains.h. What was taken away leaves a gap, closed when room is short:
 * no hit moves often. */
#include "record/kernel/kernel_callchains.h"

#include <stdlib.h>
#include <string.h>

#define HITS_MAX 16384u
#define ADDRESSES_MAX (HITS_MAX * HIT_DEPTH_MAX)

void hits_fini(struct hits *hits)
{
	free(hits->list);
	free(hits->address);
	*hits = (struct hits){0};
}

void hits_clear(struct hits *hits)
{
	hits->first = hits->end = hits->address_count = 0;
}

uint32_t hits_count(const struct hits *hits)
{
	return hits->end - hits->first;
}

static bool list_room(struct hits *hits)
{
	uint32_t wanted = hits->room ? 2 * hits->room : 16, count = hits_count(hits);
	struct hit_place *grown;

	if (hits->end < hits->room)
		return true;
	if (count <= hits->room / 2 && hits->first) {
		memmove(hits->list, hits->list + hits->first, count * sizeof(*hits->list));
		hits->first = 0;
		hits->end = count;
		return true;
	}
	grown = wanted <= 2 * HITS_MAX ? realloc(hits->list, wanted * sizeof(*grown)) : NULL;
	if (!grown)
		return false;
	hits->list = grown;
	hits->room = wanted;
	return true;
}

/* Copies the chains that are still wanted to new memory, with room for as many again. */
static bool address_room(struct hits *hits, uint32_t more)
{
	uint32_t used = 0, room;
	uint64_t *fresh;

	if (hits->address_room - hits->address_count >= more)
		return true;
	for (uint32_t i = hits->first; i < hits->end; i++)
		used += hits->list[i].depth;
	room = 2 * (used + more);
	room = room < 4 * HIT_DEPTH_MAX ? 4 * HIT_DEPTH_MAX : room;
	fresh = used + more <= ADDRESSES_MAX ? malloc(room * sizeof(*fresh)) : NULL;
	if (!fresh)
		return false;
	hits->address_count = 0;
	for (uint32_t i = hits->first; i < hits->end; i++) {
		struct hit_place *place = &hits->list[i];

		if (!place->depth)
			continue;
		memcpy(fresh + hits->address_count, hits->address + place->at, place->depth * sizeof(*fresh));
		place->at = hits->address_count;
		hits->address_count += place->depth;
	}
	free(hits->address);
	hits->address = fresh;
	hits->address_room = room;
	return true;
}

bool hits_add(struct hits *hits, const struct hit *hit)
{
	struct hit_place place = {.time_ns = hit->time_ns, .tid = hit->tid, .depth = hit->depth};
	uint32_t at;

	if (hits_count(hits) == HITS_MAX || !list_room(hits) ||
		(place.depth && !address_room(hits, place.depth)))
		return false;
	place.at = hits->address_count;
	if (place.depth)
		memcpy(hits->address + place.at, hit->address, place.depth * sizeof(*hits->address));
	hits->address_count += place.depth;
	/* Rings of processors are read one after the other: nearly always it is the last. */
	for (at = hits->end; at > hits->first && hits->list[at - 1].time_ns > hit->time_ns; at--)
		;
	memmove(&hits->list[at + 1], &hits->list[at], (hits->end++ - at) * sizeof(*hits->list));
	hits->list[at] = place;
	return true;
}

struct hit hits_at(const struct hits *hits, uint32_t index)
{
	const struct hit_place *place = &hits->list[hits->first + index];

	return (struct hit){.time_ns = place->time_ns,
		.tid = place->tid,
		.depth = place->depth,
		.address = place->depth ? hits->address + place->at : NULL};
}

uint32_t hits_until(const struct hits *hits, uint64_t time_ns)
{
	uint32_t at = hits->first;

	while (at < hits->end && hits->list[at].time_ns <= time_ns)
		at++;
	return at - hits->first;
}

void hits_drop(struct hits *hits, uint32_t count)
{
	hits->first += count;
	if (hits->first == hits->end)
		hits_clear(hits);
}
