/* SPDX-License-Identifier: Apache-2.0 */
/* host_clocks.c - see host_clocks.h. */
#include "blame/base/host_clocks.h"

#include <string.h>

#define NO_BOUND (INT64_MAX / 4)

static const char *boot_of(const struct run *run, uint32_t stream)
{
	const char *boot = store_reader_meta(run_store(run, run_stream(run, stream)->store), "boot");

	return boot ? boot : "";
}

/* A store without a boot may be a slice of several hosts; two stores of one boot are of one kernel. */
static bool is_same_clock(const struct run *run, uint32_t stream, uint32_t other)
{
	const struct run_stream *a = run_stream(run, stream), *b = run_stream(run, other);

	if (a->store == b->store)
		return !strcmp(a->host, b->host);
	return *boot_of(run, stream) && !strcmp(boot_of(run, stream), boot_of(run, other));
}

static int64_t *most_of(const struct host_clocks *clocks, uint32_t row, uint32_t column)
{
	return &clocks->most[(size_t)row * clocks->count + column];
}

static void bound(struct host_clocks *clocks, uint32_t row, uint32_t column, int64_t most_ns)
{
	int64_t *most = most_of(clocks, row, column);

	if (row != column && most_ns < *most)
		*most = most_ns;
}

void host_clocks_clear(struct host_clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->count; i++)
		for (uint32_t j = 0; j < clocks->count; j++)
			*most_of(clocks, i, j) = i == j ? 0 : NO_BOUND;
}

/* Two hosts of one store were put together by another program, and how well is not known. */
static void bound_by_wall(struct host_clocks *clocks, const struct run *run, const uint32_t *stream)
{
	for (uint32_t i = 0; i < clocks->count; i++)
		for (uint32_t j = 0; j < clocks->count; j++) {
			unsigned a = run_stream(run, stream[i])->store, b = run_stream(run, stream[j])->store;
			struct run_clock one = run_clock(run, a), other = run_clock(run, b);

			if (a != b && one.is_known && other.is_known &&
				one.error_ns + other.error_ns < (uint64_t)NO_BOUND)
				bound(clocks, i, j, (int64_t)(one.error_ns + other.error_ns));
		}
}

int host_clocks_make(struct host_clocks *clocks, const struct run *run, const struct process *processes,
	uint32_t count, struct arena *arena, struct error *error)
{
	uint32_t *stream = arena_calloc(arena, count + 1u, sizeof(*stream));
	size_t cells;

	*clocks = (struct host_clocks){.host = arena_calloc(arena, count + 1u, sizeof(*clocks->host))};
	clocks->of = arena_calloc(arena, count + 1u, sizeof(*clocks->of));
	if (!stream || !clocks->host || !clocks->of)
		return error_memory(error);
	for (uint32_t p = 0; p < count; p++) {
		uint32_t clock = 0;

		while (clock < clocks->count && !is_same_clock(run, stream[clock], processes[p].streams[0]))
			clock++;
		clocks->of[p] = clock;
		if (clock < clocks->count)
			continue;
		stream[clocks->count] = processes[p].streams[0];
		clocks->host[clocks->count++] = run_stream(run, processes[p].streams[0])->host;
	}
	cells = (size_t)clocks->count * clocks->count + 1;
	clocks->most = arena_calloc(arena, cells, sizeof(*clocks->most));
	clocks->wall = arena_calloc(arena, cells, sizeof(*clocks->wall));
	clocks->kept = arena_calloc(arena, cells, sizeof(*clocks->kept));
	clocks->shift_ns = arena_calloc(arena, clocks->count + 1u, sizeof(*clocks->shift_ns));
	if (!clocks->most || !clocks->wall || !clocks->kept || !clocks->shift_ns)
		return error_memory(error);
	host_clocks_clear(clocks);
	bound_by_wall(clocks, run, stream);
	memcpy(clocks->wall, clocks->most, cells * sizeof(*clocks->wall));
	host_clocks_clear(clocks);
	host_clocks_close(clocks);
	return 0;
}

void host_clocks_order(
	struct host_clocks *clocks, uint32_t before, uint64_t before_ns, uint32_t after, uint64_t after_ns)
{
	int64_t apart_ns = (int64_t)(after_ns - before_ns);

	if (apart_ns < NO_BOUND && apart_ns > -NO_BOUND)
		bound(clocks, before, after, apart_ns);
}

/* Shortest paths between all (Floyd, Warshall). */
static bool shorten(struct host_clocks *clocks)
{
	const uint32_t count = clocks->count;

	for (uint32_t by = 0; by < count; by++)
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t j = 0; j < count; j++) {
				int64_t first = *most_of(clocks, i, by), second = *most_of(clocks, by, j);

				if (first < NO_BOUND && second < NO_BOUND &&
					first + second < *most_of(clocks, i, j))
					*most_of(clocks, i, j) = first + second;
				if (i == j && *most_of(clocks, i, i) < 0)
					return false;
			}
	return true;
}

/* The middle of what is possible; where only one side is known, no shift unless that side rules it out. */
static int64_t middle(int64_t most_ns, int64_t least_ns)
{
	if (most_ns < NO_BOUND && least_ns > -NO_BOUND)
		return least_ns + (most_ns - least_ns) / 2;
	if (most_ns < NO_BOUND)
		return most_ns < 0 ? most_ns : 0;
	return least_ns > 0 ? least_ns : 0;
}

/* The anchors count only where the records leave them possible: a clock may be set wrong. */
static void narrow_by_wall(struct host_clocks *clocks)
{
	const size_t bytes = (size_t)clocks->count * clocks->count * sizeof(*clocks->most);

	memcpy(clocks->kept, clocks->most, bytes);
	for (uint32_t i = 0; i < clocks->count; i++)
		for (uint32_t j = 0; j < clocks->count; j++)
			bound(clocks, i, j, clocks->wall[(size_t)i * clocks->count + j]);
	if (!shorten(clocks))
		memcpy(clocks->most, clocks->kept, bytes);
}

bool host_clocks_close(struct host_clocks *clocks)
{
	bool is_possible = shorten(clocks);

	if (is_possible)
		narrow_by_wall(clocks);
	else
		host_clocks_clear(clocks);
	for (uint32_t i = 0; i < clocks->count; i++)
		clocks->shift_ns[i] = middle(*most_of(clocks, i, 0), -*most_of(clocks, 0, i));
	return is_possible;
}

uint64_t host_clocks_time(const struct host_clocks *clocks, uint32_t clock, uint64_t time_ns)
{
	int64_t shift_ns = clocks->shift_ns[clock];

	if (shift_ns < 0 && time_ns < 0 - (uint64_t)shift_ns)
		return 0;
	return time_ns + (uint64_t)shift_ns;
}

bool host_clocks_is_surely(const struct host_clocks *clocks, uint32_t before, uint64_t before_ns,
	uint32_t after, uint64_t after_ns)
{
	int64_t most_ns = *most_of(clocks, before, after);

	/* The shift used is one of those possible; by another, the first may be later by the rest. */
	return most_ns < NO_BOUND && (int64_t)(before_ns - after_ns) + most_ns -
						     (clocks->shift_ns[before] - clocks->shift_ns[after]) <=
					     0;
}

uint64_t host_clocks_error(const struct host_clocks *clocks, uint32_t clock)
{
	int64_t most_ns = *most_of(clocks, clock, 0), least_ns = -*most_of(clocks, 0, clock);

	if (most_ns >= NO_BOUND || least_ns <= -NO_BOUND)
		return HOST_CLOCK_UNKNOWN;
	return (uint64_t)(most_ns - least_ns + 1) / 2;
}
