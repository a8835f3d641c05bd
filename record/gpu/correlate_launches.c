/* SPDX-License-Identifier: Apache-2.0 */
/* correlate_launches.c - the launches to which operations may still refer, see correlate_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "record/base/hash_seed.h"
#include "record/gpu/correlate_internal.h"
#include "store/base/hash.h"

#define ROOM_LEAST 1024u
#define NEAR 512u /* adjacent chains, one page: those of consecutive correlation ids */

static struct correlate_launch *launch_at(const struct correlate_launches *launches, uint32_t number)
{
	return &launches->list[number & (launches->capacity - 1)];
}

/* Runtimes count correlation ids up, so that neighbours are looked up together. A program cannot choose
 * ids that collide: it knows neither the page nor its first chain. */
static struct correlate_chain *chain_of(struct correlate_launches *launches, uint64_t correlation)
{
	uint64_t page = correlation / NEAR;

	if (page != launches->page) {
		launches->page = page;
		launches->mixed = store_hash64(&page, sizeof(page), launches->seed);
	}
	return &launches->chains[(launches->mixed * NEAR + (correlation ^ launches->mixed >> 48) % NEAR) &
				 (launches->capacity - 1)];
}

/* Age of a number, 1 is the newest; larger than the count: overwritten. */
static uint32_t age_of(const struct correlate_launches *launches, uint32_t number)
{
	return (uint32_t)launches->next - number;
}

static bool is_there(const struct correlate_launches *launches, uint32_t age)
{
	return age && age <= launches->next - launches->first;
}

/* Puts the newest launch at the head of its chain. It hides older ones with the same correlation id. */
static inline void chain_enter(struct correlate_launches *launches, uint32_t number)
{
	struct correlate_launch *launch = launch_at(launches, number);
	struct correlate_chain *chain = chain_of(launches, launch->correlation);

	launch->older = chain->newest;
	if (chain->tag == (uint32_t)launch->correlation &&
		is_there(launches, age_of(launches, chain->newest)) &&
		launch_at(launches, chain->newest)->correlation == launch->correlation)
		launch->older = launch_at(launches, chain->newest)->older;
	*chain = (struct correlate_chain){number, (uint32_t)launch->correlation};
}

/* Slots and chains depend on the capacity: enters all again. */
static bool array_widen(struct correlate_launches *launches)
{
	const struct correlate_launches old = *launches;
	uint32_t room = old.capacity ? 2 * old.capacity : ROOM_LEAST;
	struct correlate_launch *list = malloc(room * sizeof(*list));
	struct correlate_chain *chains = calloc(room, sizeof(*chains));

	if (!list || !chains) {
		free(list);
		free(chains);
		return false;
	}
	if (!old.capacity) {
		launches->seed = hash_seed_new();
		launches->page = UINT64_MAX; /* none cached */
	}
	launches->list = list;
	launches->chains = chains;
	launches->capacity = room;
	for (launches->next = old.first; launches->next < old.next; launches->next++) {
		*launch_at(launches, (uint32_t)launches->next) = *launch_at(&old, (uint32_t)launches->next);
		chain_enter(launches, (uint32_t)launches->next);
	}
	free(old.list);
	free(old.chains);
	return true;
}

struct correlate_launch *correlate_launches_add(struct correlate_launches *launches, uint64_t correlation)
{
	struct correlate_launch *launch;

	if (launches->next - launches->first == launches->capacity &&
		(launches->capacity >= CORRELATE_LAUNCHES_MAX || !array_widen(launches))) {
		if (!launches->capacity)
			return NULL;
		launches->first++;
		if (launches->unmatched < launches->first)
			launches->unmatched = launches->first;
	}
	launch = launch_at(launches, (uint32_t)launches->next);
	launch->correlation = correlation;
	launch->is_matched = launch->is_untimed = launch->is_open = false;
	launch->said = 0;
	launch->said_bytes = 0;
	chain_enter(launches, (uint32_t)launches->next);
	launches->next++;
	return launch;
}

struct correlate_launch *correlate_launches_find(struct correlate_launches *launches, uint64_t correlation)
{
	uint32_t number, age, last_age = 0;

	if (!correlation || !launches->capacity)
		return NULL;
	number = chain_of(launches, correlation)->newest;
	/* Numbers of overwritten launches may collide with younger ones: in a chain ages only grow. */
	while (is_there(launches, age = age_of(launches, number)) && age > last_age) {
		struct correlate_launch *launch = launch_at(launches, number);

		if (launch->correlation == correlation)
			return launch;
		last_age = age;
		number = launch->older;
	}
	return NULL;
}

uint64_t correlate_launches_oldest(struct correlate_launches *launches, uint64_t since_ns)
{
	while (launches->unmatched < launches->next) {
		const struct correlate_launch *launch = launch_at(launches, (uint32_t)launches->unmatched);

		if (launch->is_queued && !launch->is_matched && launch->begin_ns >= since_ns)
			return launch->begin_ns;
		launches->unmatched++;
	}
	return UINT64_MAX;
}

bool correlate_launches_missing(
	const struct correlate_launches *launches, uint64_t *number, struct correlate_missing *missing)
{
	*missing = (struct correlate_missing){.end_ns = STORE_OPEN_NS};
	if (*number < launches->first)
		*number = launches->first;
	for (; *number < launches->next; ++*number) {
		const struct correlate_launch *launch = launch_at(launches, (uint32_t)*number);

		if (!launch->is_kernel)
			continue;
		if (!launch->is_matched && !missing->count++)
			missing->begin_ns = launch->begin_ns;
		if (launch->is_matched && missing->count) {
			missing->end_ns = launch->end_ns;
			break;
		}
	}
	return missing->count;
}

uint64_t correlate_launches_doubtful(const struct correlate_launches *launches, uint64_t begin_ns,
	uint64_t end_ns, const struct correlate_launch **first)
{
	uint64_t count = 0;

	*first = NULL;
	for (uint64_t number = launches->first; number < launches->next; number++) {
		const struct correlate_launch *launch = launch_at(launches, (uint32_t)number);

		if (!launch->is_kernel || (launch->is_matched && !launch->is_untimed) ||
			launch->begin_ns < begin_ns || launch->begin_ns > end_ns)
			continue;
		count++;
		if (!*first || launch->begin_ns < (*first)->begin_ns)
			*first = launch;
	}
	return count;
}

struct correlate_launch *correlate_launches_said(
	const struct correlate_launches *launches, uint64_t *number, uint64_t back)
{
	uint64_t last = launches->next > back ? launches->next - back : 0;

	last = last > launches->first ? last : launches->first;
	if (*number > launches->next)
		*number = launches->next;
	while (*number > last) {
		struct correlate_launch *launch = launch_at(launches, (uint32_t)-- * number);

		if (launch->said && !launch->is_matched)
			return launch;
	}
	return NULL;
}

void correlate_launches_fini(struct correlate_launches *launches)
{
	free(launches->list);
	free(launches->chains);
}
