/* SPDX-License-Identifier: Apache-2.0 */
/* process_seen.h - what /proc tells of a process that nobody measures: its command and its CPU time so far.
 */
#ifndef RECORD_PROCESS_SEEN_H
#define RECORD_PROCESS_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_SEEN_WORDS 512

struct process_seen {
	uint64_t cpu_ns;		/* of all its threads, without its children */
	char words[PROCESS_SEEN_WORDS]; /* its command line, each word ended by NUL, then an empty word; cut
					   to fit */
};

/* Brings *seen up to date. false, and *seen as it was: it is gone. `has_ended`: only what its parent has not
 * waited for yet is still the same process. */
bool process_seen_look(struct process_seen *seen, uint32_t pid, bool has_ended);

#endif
