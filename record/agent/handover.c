/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - see handover.h. */
#include "record/agent/handover.h"

#include <sys/mman.h>
#include <unistd.h>

#include "record/agent/thread.h"

static struct handover *block_map(size_t bytes)
{
	struct handover *block =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	block->bytes = bytes;
	return block;
}

struct handover *handover_take(char *const *envp)
{
	size_t words = environment_count(envp) + ENVIRONMENT_EXTRA;
	size_t bytes = (sizeof(struct handover) + words * sizeof(char *) + 4095) & ~(size_t)4095;
	struct handover *kept = thread_place.handover, *taken = kept;
	pid_t user = getpid();

	/* Who is at it already was interrupted by a signal, whose handler calls us. */
	if (!kept || kept->user == user || kept->bytes < bytes)
		taken = block_map(bytes);
	if (taken)
		taken->user = user;
	if (!taken || taken == kept || !thread_self() || (kept && kept->user == user))
		return taken;
	if (kept)
		munmap(kept, kept->bytes);
	thread_place.handover = taken;
	return taken;
}

void handover_leave(struct handover *handover)
{
	if (handover && handover == thread_place.handover)
		handover->user = 0;
	else if (handover)
		munmap(handover, handover->bytes);
}

void handover_thread_end(void)
{
	struct handover *kept = thread_place.handover;

	thread_place.handover = NULL;
	if (kept)
		munmap(kept, kept->bytes);
}
