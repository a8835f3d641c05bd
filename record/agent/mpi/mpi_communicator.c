/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_communicator.c - see mpi_communicator.h. A small table with a lock that no caller waits for long. */
#include "record/agent/mpi/mpi_communicator.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "record/agent/process/environment.h"

#define COMMUNICATORS 256u /* when full, the oldest is replaced */
#define TRIES 10000

static struct communicator {
	uint64_t handle;
	uint64_t number; /* number of collective calls */
	bool is_there;
	char name[MPI_COMMUNICATOR_NAME];
} table[COMMUNICATORS];

static unsigned next;
static atomic_flag taken = ATOMIC_FLAG_INIT;

static bool take(void)
{
	for (int i = 0; i < TRIES; i++)
		if (!atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
			return true;
	return false;
}

static void leave(void)
{
	atomic_flag_clear_explicit(&taken, memory_order_release);
}

static struct communicator *find(uint64_t handle)
{
	for (unsigned i = 0; i < COMMUNICATORS; i++)
		if (table[i].is_there && table[i].handle == handle)
			return &table[i];
	return NULL;
}

static struct communicator *put(uint64_t handle)
{
	struct communicator *at = find(handle);

	if (!at)
		at = &table[next++ % COMMUNICATORS];
	*at = (struct communicator){.handle = handle, .is_there = true};
	environment_hexadecimal(at->name, handle);
	return at;
}

static bool append(char *name, const char *more)
{
	if (strlen(name) + strlen(more) + 1 > MPI_COMMUNICATOR_NAME)
		return false;
	strcat(name, more);
	return true;
}

void mpi_communicator_init(uint64_t world, uint64_t self)
{
	if (!take())
		return;
	strcpy(put(world)->name, "world");
	strcpy(put(self)->name, "self");
	leave();
}

uint64_t mpi_communicator_use(uint64_t handle, int counts, char name[MPI_COMMUNICATOR_NAME])
{
	struct communicator *at;
	uint64_t number;

	name[0] = '\0';
	if (!take())
		return 0;
	at = find(handle);
	if (!at)
		at = put(handle);
	strcpy(name, at->name);
	number = counts ? ++at->number : 0;
	leave();
	return number;
}

void mpi_communicator_add(uint64_t handle, const char *parent, uint64_t number, int64_t color)
{
	char name[MPI_COMMUNICATOR_NAME] = "", digits[24];
	bool fits = append(name, parent) && append(name, ".");

	environment_decimal(digits, number);
	fits = fits && append(name, digits);
	if (color >= 0) {
		environment_decimal(digits, (unsigned long)color);
		fits = fits && append(name, ".") && append(name, digits);
	}
	if (!take())
		return;
	if (fits && parent[0] && parent[0] != '0')
		strcpy(put(handle)->name, name);
	else
		put(handle); /* the name would be too long, or the parent is unknown */
	leave();
}

void mpi_communicator_remove(uint64_t handle)
{
	struct communicator *at;

	if (!take())
		return;
	at = find(handle);
	if (at)
		at->is_there = false;
	leave();
}
