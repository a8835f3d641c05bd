/* SPDX-License-Identifier: Apache-2.0 */
/* proc_read.h - reads a small file of a process in /proc. */
#ifndef RECORD_PROC_READ_H
#define RECORD_PROC_READ_H

#include <stddef.h>
#include <stdint.h>

/* `name`: "stat", "task/17/comm" ... of /proc/PID. The text, which may hold anything, is cut to room - 1
 * bytes and ends with a zero. Returns its size; 0: unreadable, or empty. */
size_t proc_read(uint32_t pid, const char *name, char *text, size_t room);
/* A thread's state: R runs or wants to, S waits, T stopped, Z ended ... '\0': unreadable. */
char proc_read_state(uint32_t pid, uint32_t tid);

/* A thread of the process that has not ended: its first one, whose number is pid, unless that has left the
 * others (pthread_exit in main). It has no memory then, and /proc/TID tells of the process instead. 0: all
 * have ended. */
uint32_t proc_read_living(uint32_t pid);

/* Names the program that the process executes: the kernel gives each one an auxiliary vector of its own, with
 * addresses that are random; a child of fork has its parent's. 0: it cannot be read (errno), or has ended. */
uint64_t proc_read_program(uint32_t pid);

#endif
