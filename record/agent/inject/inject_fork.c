/* SPDX-License-Identifier: Apache-2.0 */
/* inject_fork.c - see inject_fork.h. */
#include "record/agent/inject/inject_fork.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

#define PAUSE_NS 50000
#define PAUSES_MOST 400u /* of a fork: the agent may itself wait for a lock that the forking thread holds */

static _Atomic uint32_t forks; /* that are under way */
static _Atomic bool is_inside; /* the agent's thread is between enter and leave */

static void pause_shortly(void)
{
	static const struct timespec while_ = {0, PAUSE_NS};

	nanosleep(&while_, NULL);
}

static void prepare(void)
{
	int error = errno;

	atomic_fetch_add(&forks, 1);
	for (unsigned i = 0; i < PAUSES_MOST && atomic_load(&is_inside); i++)
		pause_shortly();
	errno = error;
}

static void parent(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void child(void)
{
	atomic_store(&forks, 0);
	atomic_store(&is_inside, false);
}

void inject_fork_init(void)
{
	__register_atfork(prepare, parent, child, NULL);
}

void inject_fork_enter(void)
{
	for (;;) {
		atomic_store(&is_inside, true);
		if (!atomic_load(&forks))
			return;
		atomic_store(&is_inside, false);
		pause_shortly();
	}
}

void inject_fork_leave(void)
{
	atomic_store(&is_inside, false);
}
