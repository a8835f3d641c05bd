/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_ranks.c - see mpi_ranks.h. */
#include "timeline/sum/mpi_ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A message is its kind; rows are one more. */
enum kind { KIND_ROWS, KIND_END };

static const struct mpi_ranks_plugin *plugin;
static uint32_t own_rank, rank_count = 1;
static bool *has_ended; /* [rank] */

uint32_t mpi_ranks_count(void)
{
	return rank_count;
}

uint32_t mpi_ranks_own(void)
{
	return own_rank;
}

/* Which implementation started this process, NULL: none, or as the only rank. */
static const char *implementation(void)
{
	static const char *const known[][2] = {{"OMPI_COMM_WORLD_SIZE", "openmpi"}, {"PMI_SIZE", "mpich"}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const char *size = getenv(known[i][0]);

		if (size && atoi(size) > 1)
			return known[i][1];
	}
	return NULL;
}

static void *load(const char *name)
{
	char path[PATH_MAX], *slash;
	ssize_t size = readlink("/proc/self/exe", path, sizeof path - 64);

	if (size <= 0)
		return NULL;
	path[size] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash, (size_t)(path + sizeof path - slash), "/../" HPCT_LIBRARY_PLACE "/hpct-ranks-%s.so",
		name);
	/* Open MPI's own plug-ins look for its symbols among everybody's. */
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void be_silent(void)
{
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(5);
}

int mpi_ranks_begin(struct error *error)
{
	const char *name = implementation();
	void *library = name ? load(name) : NULL;

	if (!name)
		return 0;
	plugin = library ? dlsym(library, "hpct_ranks") : NULL;
	if (!plugin)
		return error_set(error, ERROR_USAGE,
			"hpct was built without %s, so that ranks cannot share the work; read the run "
			"without mpirun",
			name);
	plugin->begin(&own_rank, &rank_count);
	has_ended = calloc(rank_count, sizeof *has_ended);
	if (!has_ended)
		return error_memory(error);
	if (own_rank > 0)
		be_silent();
	return 0;
}

static void send_kind(enum kind kind)
{
	const uint8_t word = (uint8_t)kind;

	plugin->send(&word, 1);
}

int mpi_ranks_send(const struct store_bytes *bytes, struct error *error)
{
	(void)error;
	send_kind(KIND_ROWS);
	plugin->send(bytes->data, bytes->size);
	return 0;
}

/* Is the next of it rows? What comes after its end is nothing more. */
static bool rows_follow(uint32_t from)
{
	uint8_t word = KIND_END;

	if (has_ended[from])
		return false;
	plugin->probe(from);
	plugin->receive(from, &word, 1);
	has_ended[from] = word == KIND_END;
	return !has_ended[from];
}

int mpi_ranks_receive(uint32_t from, struct store_bytes *bytes, struct error *error)
{
	uint64_t size;
	uint8_t *room;

	if (!rows_follow(from))
		return error_set(error, ERROR_IO,
			"rank %u ended early: it may not see the run; read it without mpirun", from);
	size = plugin->probe(from);
	bytes->size = 0;
	room = store_bytes_reserve(bytes, size);
	plugin->receive(from, room, size); /* without room it is taken, too: its rank waits for that */
	if (!room)
		return error_set(error, ERROR_IO,
			"out of memory: %llu bytes of rank %u's answer do not fit; read the run without "
			"mpirun",
			(unsigned long long)size, from);
	bytes->size = size;
	return 0;
}

int mpi_ranks_end(int exit_code)
{
	if (!plugin || !has_ended)
		return exit_code;
	if (own_rank > 0)
		send_kind(KIND_END);
	for (uint32_t from = 1; own_rank == 0 && from < rank_count; from++)
		while (rows_follow(from))
			plugin->receive(from, NULL, plugin->probe(from));
	fflush(NULL);
	plugin->end();
	return own_rank > 0 ? 0 : exit_code;
}
