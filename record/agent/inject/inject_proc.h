/* SPDX-License-Identifier: Apache-2.0 */
/* inject_proc.h - what an agent that came later reads of its own process in /proc, without allocating. */
#ifndef RECORD_AGENT_INJECT_PROC_H
#define RECORD_AGENT_INJECT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a file whole, as far as it fits, and ends it with a zero; its bytes, 0: none. */
size_t inject_proc_read(const char *path, char *text, size_t room);

/* Splits text of words that each end with a zero; `words` has room for `most` and a NULL. */
void inject_proc_words(char *text, size_t bytes, char **words, size_t most);

/* Threads of this process; 0: not known. */
uint32_t inject_proc_threads(void);

/* Calls take for each thread. */
void inject_proc_threads_each(void (*take)(uint32_t tid));

/* Publishes the ranges that stacks may lie in: adopt_ranges_set. */
void inject_proc_stacks_read(void);

/* Reads the protection of all memory; then: PROT_READ, PROT_READ | PROT_WRITE, or another combination, of the
 * private mapping at the address; PROT_NONE where none is known. */
void inject_proc_protections_read(void);
int inject_proc_protection(uint64_t address);

/* True if the thread has that name. */
bool inject_proc_is_called(uint32_t tid, const char *name);

/* Whether the thread blocks that signal. While it waits in sigwait, the kernel shows its mask without the
 * signals that it waits for: of a thread that waits the call tells; one that runs, or wants to, may just have
 * been woken there. And libc blocks all signals for moments, as when it begins a thread. */
enum inject_mask {
	INJECT_BLOCKED,
	INJECT_OPEN,
	INJECT_RUNS,	    /* it runs, and seems not to */
	INJECT_RUNS_BLOCKED /* it runs, and seems to */
};
/* *sleeps: how often it has slept so far. */
enum inject_mask inject_proc_mask(uint32_t tid, int signal, uint64_t *sleeps);

#endif
