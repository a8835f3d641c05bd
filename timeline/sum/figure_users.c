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

static bool is_user(const struct figure_user *user, const struct run_stream *r)
{
	return user->store == r->store && user->pid == r->s.pid && user->generation == r->s.generation &&
	       user->rank == r->s.rank;
}

int figure_users_find(struct figure_users *users, struct run *run, struct arena *arena, struct error *error)
{
	struct figure_user *found = NULL;
	size_t room = 0;
	uint32_t count = 0;

	*users = (struct figure_users){.run = run};
	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *r = run_stream_peek_unnamed(run, i);
		uint32_t last = count - 1;

		if (r->s.kind != STORE_STREAM_GPU ||
			(count && is_user(&found[last], r) && found[last].device == r->s.device))
			continue; /* another queue of the same */
		if (!array_reserve(&found, &room, count + 1, sizeof *found)) {
			free(found);
			return error_memory(error);
		}
		r = run_stream_read(run, i);
		found[count++] = (struct figure_user){
			r->store, r->s.rank, r->s.pid, r->s.generation, r->s.device, r->uuid ? r->uuid : ""};
	}
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
	bool has_users = false;

	for (uint32_t i = 0; i < users->count; i++) {
		const struct figure_user *user = &users->users[i];

		has_users |= user->store == r->store;
		if (is_user(user, r) && (!is_queue || user->device == r->s.device) && is_device(user, gauges))
			return FIGURE_OF_DEVICE;
	}
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
