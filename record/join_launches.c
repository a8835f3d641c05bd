/* SPDX-License-Identifier: Apache-2.0 */
/* join_launches.c - the launches that operations may still ask for, see join_state.h. */
#include <stdlib.h>
#include <string.h>

#include "record/join_state.h"

#define ROOM_LEAST 1024u

static struct join_launch *launch_at(struct join_launches *launches, uint64_t number)
{
	return &launches->list[number & (launches->room - 1)];
}

static struct map_key key_of(uint64_t correlation)
{
	return (struct map_key){0, correlation};
}

static void oldest_drop(struct join_launches *launches)
{
	uint32_t place = (uint32_t)(launches->first & (launches->room - 1));
	uint64_t correlation = launches->list[place].correlation;

	/* The number may have been launched again since. */
	if (map_get(&launches->by_correlation, key_of(correlation)) == place)
		map_remove(&launches->by_correlation, key_of(correlation));
	launches->first++;
	if (launches->unmatched < launches->first)
		launches->unmatched = launches->first;
}

/* Places change with the room: all are entered anew. */
static bool room_widen(struct join_launches *launches)
{
	uint32_t room = launches->room ? 2 * launches->room : ROOM_LEAST;
	struct join_launch *wider = malloc(room * sizeof(*wider));

	if (!wider)
		return false;
	for (uint64_t n = launches->first; n < launches->next; n++)
		wider[n & (room - 1)] = *launch_at(launches, n);
	free(launches->list);
	launches->list = wider;
	launches->room = room;
	map_fini(&launches->by_correlation);
	for (uint64_t n = launches->first; n < launches->next; n++)
		map_put(&launches->by_correlation, key_of(launch_at(launches, n)->correlation),
			(uint32_t)(n & (room - 1)));
	return true;
}

bool join_launches_add(struct join_launches *launches, const struct join_launch *launch)
{
	if (launches->next - launches->first == launches->room &&
		(launches->room >= JOIN_LAUNCHES_MAX || !room_widen(launches))) {
		if (!launches->room)
			return false;
		oldest_drop(launches);
	}
	*launch_at(launches, launches->next) = *launch;
	if (!map_put(&launches->by_correlation, key_of(launch->correlation),
		    (uint32_t)(launches->next & (launches->room - 1))))
		return false;
	launches->next++;
	return true;
}

struct join_launch *join_launches_find(struct join_launches *launches, uint64_t correlation)
{
	uint32_t place = correlation ? map_get(&launches->by_correlation, key_of(correlation)) : MAP_NONE;

	return place == MAP_NONE ? NULL : &launches->list[place];
}

uint64_t join_launches_oldest(struct join_launches *launches, uint64_t since_ns)
{
	while (launches->unmatched < launches->next) {
		const struct join_launch *launch = launch_at(launches, launches->unmatched);

		if (!launch->is_matched && launch->begin_ns >= since_ns)
			return launch->begin_ns;
		launches->unmatched++;
	}
	return UINT64_MAX;
}

void join_launches_fini(struct join_launches *launches)
{
	free(launches->list);
	map_fini(&launches->by_correlation);
}
