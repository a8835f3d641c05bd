/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - what the wrappers of libc's functions and the rest of the agent need of
 * each other. Wrappers are the library's only exported symbols (agent.map).
 */
#ifndef RECORD_AGENT_WRAP_H
#define RECORD_AGENT_WRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WRAPPER __attribute__((visibility("default")))

/* Code at which stacks end: trampolines carry it. */
#define FENCE __attribute__((section("hpct_fence"), noinline, used))

/* The agent's own business, ahead of and behind what a wrapper calls for the program: what it calls is no
 * part of a call path. */
#define OWN __attribute__((section("hpct_own"), noinline))

/* Last in either: what was called ahead of it was no tail call, which would have left no frame. */
#define STAY __asm__ volatile("" ::: "memory")

/* The key whose destructor ends a thread. 0 or negative. */
int wrap_thread_open(void);

/* The calling thread, new in its process, is measured from here on. */
void wrap_thread_adopt(void);

/* The calling thread ends without its key's destructor: its last record. */
void wrap_thread_over(void);

/* A child was made that the agent does not start in. */
void wrap_process_born(pid_t child, uint64_t since_ns);

#endif
