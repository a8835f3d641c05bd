/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - see ranks.h. */
#include "timeline/ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A message is its kind, then bytes. */
enum kind { KIND_ROWS, KIND_END };

static const struct ranks_plugin *plugin;
static uint32_t own_rank, rank_count = 1;
static bool *has_ended; /* [rank] */

uint32_t ranks_count(void)
{
	return rank_count;
}

uint32_t ranks_own(void)
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

int ranks_begin(struct error *error)
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

static void send(enum kind kind, const void *bytes, size_t size)
{
	struct store_bytes message = {0};
	uint8_t word = (uint8_t)kind;

	store_bytes_put(&message, &word, 1);
	if (size)
		store_bytes_put(&message, bytes, size);
	if (!message.failed)
		plugin->send(message.data, message.size);
	else /* without memory, the end at least */
		plugin->send((uint8_t[]){KIND_END}, 1);
	store_bytes_fini(&message);
}

int ranks_send(const struct store_bytes *bytes, struct error *error)
{
	(void)error;
	send(KIND_ROWS, bytes->data, bytes->size);
	return 0;
}

static int take_message(uint32_t from, struct store_bytes *bytes, struct error *error)
{
	uint64_t size = plugin->probe(from);
	uint8_t *room;

	bytes->size = 0;
	room = store_bytes_reserve(bytes, size);
	if (!room)
		return error_memory(error);
	plugin->receive(from, room, size);
	bytes->size = size;
	return 0;
}

/* An end carries the exit code and the sentence. */
int ranks_receive(uint32_t from, struct store_bytes *bytes, struct error *error)
{
	int code = has_ended[from] ? 0 : take_message(from, bytes, error);

	if (code)
		return code;
	if (has_ended[from] || bytes->data[0] == KIND_END) {
		has_ended[from] = true;
		return error_set(error, ERROR_IO,
			"rank %u ended early: it may not see the run; read it without mpirun", from);
	}
	memmove(bytes->data, bytes->data + 1, --bytes->size);
	return 0;
}

int ranks_end(int exit_code)
{
	struct store_bytes bytes = {0};
	struct error error;

	if (!plugin || !has_ended)
		return exit_code;
	if (own_rank > 0)
		send(KIND_END, NULL, 0);
	for (uint32_t from = 1; own_rank == 0 && from < rank_count; from++)
		while (!has_ended[from] && (ranks_receive(from, &bytes, &error) == 0 || !has_ended[from]))
			;
	store_bytes_fini(&bytes);
	fflush(NULL);
	plugin->end();
	return own_rank > 0 ? 0 : exit_code;
}
