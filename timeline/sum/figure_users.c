/* SPDX-License-Identifier: Apache-2.0 */
/* figure_users.c - see figure_users.h. */
#include "timeline/sum/figure_users.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

struct figure_user {
	unsigned store;
	int32_t rank;
	uint32_t pid, generation, device;
	const char *uuid; /* "" if unknown */
};

/* The next character that counts, and past it. */
static int uuid_next(const char **at)
{
	while (**at == '-')
		++*at;
	return **at ? tolower((unsigned char)*(*at)++) : 0;
}

bool figure_uuids_equal(const char *a, const char *b)
{
	int x, y;

	a += strncmp(a, "GPU-", 4) ? 0 : 4;
	b += strncmp(b, "GPU-", 4) ? 0 : 4;
	do {
		x = uuid_next(&a);
		y = uuid_next(&b);
	} while (x && x == y);
	return x == y;
}

/* By store, then by process: those of a host lie together, and those of a process. */
static int user_compare(const void *left, const void *right)
{
	const struct figure_user *a = left, *b = right;

	if (a->store != b->store)
		return a->store < b->store ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->generation != b->generation)
		return a->generation < b->generation ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static struct figure_user user_of(const struct run_stream *r)
{
	return (struct figure_user){.store = r->store,
		.rank = r->s.rank,
		.pid = r->s.pid,
		.generation = r->s.generation,
		.device = r->s.device,
		.uuid = ""};
}

static bool is_one_process(const struct figure_user *a, const struct figure_user *b)
{
	return a->store == b->store && a->pid == b->pid && a->generation == b->generation &&
	       a->rank == b->rank;
}

/* The first that is not before it. */
static uint32_t user_at(const struct figure_users *users, const struct figure_user *user)
{
	uint32_t low = 0, high = users->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (user_compare(&users->users[middle], user) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int figure_users_find(struct figure_users *users, struct run *run, struct arena *arena, struct error *error)
{
	struct figure_user *found = NULL;
	size_t room = 0;
	uint32_t count = 0;

	*users = (struct figure_users){.run = run};
	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *r = run_stream_peek_unnamed(run, i);
		struct figure_user user = user_of(r);

		if (r->s.kind != STORE_STREAM_GPU || (count && !user_compare(&found[count - 1], &user)))
			continue; /* another queue of the same */
		if (!array_reserve(&found, &room, count + 1, sizeof *found)) {
			free(found);
			return error_memory(error);
		}
		r = run_stream_read(run, i);
		user.uuid = r->uuid ? r->uuid : "";
		found[count++] = user;
	}
	if (count)
		qsort(found, count, sizeof *found, user_compare);
	users->users = arena_calloc(arena, (size_t)count + 1, sizeof *found);
	users->count = count;
	if (users->users && count)
		memcpy(users->users, found, count * sizeof *found);
	free(found);
	return users->users ? 0 : error_memory(error);
}

static bool is_device(const struct figure_user *user, const struct run_stream *gauges)
{
	return *user->uuid && *gauges->name ? figure_uuids_equal(user->uuid, gauges->name)
					    : user->device == gauges->s.device;
}

/* A queue is near its own device; a thread, the devices of its process. */
static enum figure_nearness device_nearness(
	const struct figure_users *users, const struct run_stream *r, const struct run_stream *gauges)
{
	const bool is_queue = r->s.kind == STORE_STREAM_GPU || r->s.kind == STORE_STREAM_PC;
	const struct figure_user of_store = {.store = r->store, .rank = INT32_MIN};
	struct figure_user of_stream = user_of(r);
	uint32_t first = user_at(users, &of_store);
	bool has_users = first < users->count && users->users[first].store == r->store;

	of_stream.device = 0;
	first = user_at(users, &of_stream);
	for (uint32_t i = first; i < users->count && is_one_process(&users->users[i], &of_stream); i++)
		if ((!is_queue || users->users[i].device == r->s.device) &&
			is_device(&users->users[i], gauges))
			return FIGURE_OF_DEVICE;
	return has_users ? FIGURE_OF_A_DEVICE : FIGURE_OF_HOST;
}

/* Series of other tools are in a store of their own; those of no host tell of all. */
static bool is_same_host(const struct run_stream *gauges, const struct run_stream *r)
{
	return gauges->store == r->store ||
	       (gauges->s.kind == STORE_STREAM_GAUGES && (!*gauges->host || !strcmp(gauges->host, r->host)));
}

enum figure_nearness figure_nearness(
	const struct figure_users *users, uint32_t stream, const struct figure *figure)
{
	const struct run_stream *r = run_stream(users->run, stream),
				*of = run_stream(users->run, figure->stream);

	if (!is_same_host(of, r))
		return FIGURE_OF_OTHERS;
	if (figure->stream == stream)
		return FIGURE_OF_STREAM;
	if (of->s.kind != STORE_STREAM_GAUGES)
		return FIGURE_OF_OTHERS;
	if (of->s.device != UINT32_MAX)
		return device_nearness(users, r, of);
	if (of->s.pid == UINT32_MAX)
		return FIGURE_OF_HOST;
	return of->s.pid == r->s.pid && of->s.generation == r->s.generation && of->s.rank == r->s.rank
		       ? FIGURE_OF_PROCESS
		       : FIGURE_OF_OTHERS;
}
