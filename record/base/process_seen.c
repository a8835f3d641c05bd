/* SPDX-License-Identifier: Apache-2.0 */
/* process_seen.c - see process_seen.h. */
#include "record/base/process_seen.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/base/proc_read.h"

bool process_seen_look(struct process_seen *seen, uint32_t pid, bool has_ended)
{
	unsigned long user, system;
	char text[1024], words[PROCESS_SEEN_WORDS];
	const char *behind_name;
	char state;
	size_t got;

	if (!proc_read(pid, "stat", text, sizeof(text)))
		return false;
	behind_name = strrchr(text, ')'); /* which may hold anything */
	if (!behind_name ||
		sscanf(behind_name + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
			&system) != 3 ||
		(has_ended && state != 'Z'))
		return false;
	seen->cpu_ns = (uint64_t)(user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	got = proc_read(pid, "cmdline", words, sizeof(words) - 1);
	if (!got) /* it has ended, and its parent has not waited for it yet */
		return true;
	memset(words + got, 0, sizeof(words) - got);
	memcpy(seen->words, words, sizeof(words));
	return true;
}
