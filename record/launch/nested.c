/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested.c - see nested.h. The outer agent runs in this process and would add itself to every environment
 * that passes its wrappers, so the exec carries a mark to bypass them.
 */
#include "record/launch/nested.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process/environment.h"
#include "store/ring/handshake.h"

static bool is_word(const char *word, size_t length, const char *wanted)
{
	return length && length == strlen(wanted) && !memcmp(word, wanted, length);
}

/* LD_PRELOAD without the agent and its MPI library; colons or spaces separate entries, as in ld.so. True:
 * it contained them. */
static bool preload_without(const char *preload, const char *agent, char *kept)
{
	char mpi[ENVIRONMENT_PATH] = "";
	bool found = false;
	size_t used = 0, length;

	environment_mpi_path(mpi, sizeof(mpi), agent);
	for (; *preload; preload += length) {
		preload += strspn(preload, ": ");
		length = strcspn(preload, ": ");
		if (is_word(preload, length, agent)) {
			found = true;
		} else if (length && !is_word(preload, length, mpi)) {
			if (used)
				kept[used++] = ':';
			memcpy(kept + used, preload, length);
			used += length;
		}
	}
	kept[used] = '\0';
	return found;
}

void nested_leave(char **argv)
{
	static const char *const ours[] = {
		EVENT_ENV_SOCKET, EVENT_ENV_EVENTS, EVENT_ENV_GENERATION, EVENT_ENV_AGENT};
	const char *preload = getenv("LD_PRELOAD"), *agent = getenv(EVENT_ENV_AGENT);
	char *kept = preload ? malloc(strlen(preload) + 1) : NULL;

	if (kept && agent && preload_without(preload, agent, kept)) {
		if (*kept)
			setenv("LD_PRELOAD", kept, 1);
		else
			unsetenv("LD_PRELOAD");
		for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			unsetenv(ours[i]);
		syscall(SYS_execve, "/proc/self/exe", argv, environ, ENVIRONMENT_LEFT);
	}
	free(kept);
}
