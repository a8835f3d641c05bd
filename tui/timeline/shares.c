/* SPDX-License-Identifier: Apache-2.0 */
/* shares.c - see shares.h. */
#include "tui/timeline/shares.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 64u

static bool widen(struct shares *shares)
{
	uint32_t room = shares->room ? shares->room * 2 : ROOM_MIN;
	struct cell_share *items = reallocarray(shares->items, room, sizeof(*items));
	struct shares_more *more;

	if (!items)
		return false;
	shares->items = items;
	more = reallocarray(shares->more, room, sizeof(*more));
	if (!more)
		return false;
	shares->more = more;
	shares->room = room;
	return true;
}

/* Room for a function's place; functions are told by number + 1, so that none is 0. */
static bool reach(struct shares *shares, uint32_t function)
{
	size_t wanted = (size_t)function + function / 2 + ROOM_MIN;
	uint32_t *places;

	if (function < shares->functions)
		return true;
	places = wanted < UINT32_MAX ? reallocarray(shares->places, wanted, sizeof(*places)) : NULL;
	if (!places)
		return false;
	memset(places + shares->functions, 0, (wanted - shares->functions) * sizeof(*places));
	shares->places = places;
	shares->functions = (uint32_t)wanted;
	return true;
}

static void add_to(struct shares *shares, uint32_t place, const struct cell_share *part)
{
	struct cell_share *share = &shares->items[place];

	share->time_ns += part->time_ns;
	share->records += part->records;
	if (part->time_ns > shares->more[place].largest_ns) {
		shares->more[place].largest_ns = part->time_ns;
		share->is_shorter = part->is_shorter;
	}
}

struct cell_share *shares_add(struct shares *shares, const struct cell_share *part, bool *is_new)
{
	uint32_t function = part->function + 1;

	*is_new = false;
	if (!reach(shares, function))
		return NULL;
	for (uint32_t place = shares->places[function]; place; place = shares->more[place - 1].next)
		if (shares->items[place - 1].state == part->state) {
			add_to(shares, place - 1, part);
			return &shares->items[place - 1];
		}
	if (shares->count == shares->room && !widen(shares))
		return NULL;
	*is_new = true;
	shares->items[shares->count] = *part;
	shares->more[shares->count] = (struct shares_more){part->time_ns, shares->places[function]};
	shares->places[function] = ++shares->count;
	return &shares->items[shares->count - 1];
}

static int compare(const void *x, const void *y)
{
	const struct cell_share *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

static void forget(struct shares *shares)
{
	for (uint32_t i = 0; i < shares->count; i++)
		shares->places[shares->items[i].function + 1] = 0;
}

void shares_sort(struct shares *shares)
{
	forget(shares);
	if (shares->count > 1)
		qsort(shares->items, shares->count, sizeof(*shares->items), compare);
}

void shares_clear(struct shares *shares)
{
	forget(shares);
	shares->count = 0;
}

void shares_fini(struct shares *shares)
{
	free(shares->items);
	free(shares->more);
	free(shares->places);
	*shares = (struct shares){0};
}
