/* SPDX-License-Identifier: Apache-2.0 */
/* exec_environment.c - see exec_environment.h. */
#include "record/agent/sample/exec_environment.h"

#include <sys/mman.h>
#include <unistd.h>

#include "record/agent/sample/thread.h"

static struct exec_environment *block_map(size_t bytes)
{
	struct exec_environment *block =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	block->bytes = bytes;
	return block;
}

/* Keeps the buffer for the thread and frees the one that a signal handler may have kept in between. */
static void keep(struct exec_environment *exec_environment)
{
	struct exec_environment *before =
		__atomic_exchange_n(&thread_place.exec_environment, exec_environment, __ATOMIC_RELAXED);

	if (before)
		munmap(before, before->bytes);
}

struct exec_environment *exec_environment_take(char *const *envp)
{
	struct exec_environment *kept = thread_place.exec_environment, *taken = kept;
	pid_t user = process_number();
	size_t words, bytes;

	if (!process.settings.agent[0])
		return NULL; /* this program is not measured */
	words = environment_count(envp) + ENVIRONMENT_EXTRA;
	bytes = (sizeof(struct exec_environment) + words * sizeof(char *) + 4095) & ~(size_t)4095;
	/* If the buffer is in use, we are in a signal handler that interrupted its user. */
	if (!kept || kept->user == user || kept->bytes < bytes)
		taken = block_map(bytes);
	if (taken)
		taken->user = user;
	if (taken && taken != kept && !(kept && kept->user == user))
		keep(taken);
	return taken;
}

/* The end of an unmeasured thread is not seen, so it frees its buffer here; buffers of its vfork children
 * stay. */
void exec_environment_release(struct exec_environment *exec_environment)
{
	if (!exec_environment)
		return;
	if (exec_environment != thread_place.exec_environment)
		munmap(exec_environment, exec_environment->bytes);
	else if (thread_self())
		exec_environment->user = 0;
	else
		keep(NULL);
}

void exec_environment_thread_end(void)
{
	keep(NULL);
}
