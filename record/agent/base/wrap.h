/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - shared between the wrappers of libc functions and the rest of the agent. Wrappers are the
 * library's only exported symbols (agent.map).
 */
#ifndef RECORD_AGENT_WRAP_H
#define RECORD_AGENT_WRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WRAPPER __attribute__((visibility("default")))

/* Code at which stacks end: trampolines are in this section. */
#define FENCE __attribute__((section("hpct_fence"), noinline, used))

/* The agent's own work in a wrapper, before and after the wrapped call: its frames and what it calls do
 * not appear in call paths. */
#define OWN __attribute__((section("hpct_own"), noinline))

/* Put it last in such functions: prevents a tail call, which would leave no frame. */
#define STAY __asm__ volatile("" ::: "memory")

/* Creates the key whose destructor ends a thread. Returns 0 or a negative code. */
int wrap_thread_open(void);

/* Starts measuring the calling thread, new in its process. */
void wrap_thread_adopt(void);

/* Writes the calling thread's last record, if it ends without its key's destructor. */
void wrap_thread_over(void);

/* Records a child process in which the agent does not start. */
void wrap_process_born(pid_t child, uint64_t since_ns);

#endif
