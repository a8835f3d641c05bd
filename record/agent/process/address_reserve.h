/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_reserve.h - the one place that takes large ranges of addresses for the agent, of which little is
 * ever touched. The program is not to notice them: they are in no core file, are not locked into memory with
 * the program's own (wrap_limit.c), and do not count where the program limits itself:
 *
 *   setrlimit(RLIMIT_AS, 1 GiB)   the kernel has 1 GiB and what is reserved, now and as that grows;
 *                                 getrlimit() gives 1 GiB
 */
#ifndef RECORD_AGENT_ADDRESS_RESERVE_H
#define RECORD_AGENT_ADDRESS_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* Zeros to read and write, private or of the file. NULL: there is no room, or the program has locked what is
 * to come and may lock no more. */
void *address_reserve_map(size_t bytes, int file_or_none);
void address_reserve_unmap(void *memory, size_t bytes);

/* Is the address in one of them? */
bool address_reserve_holds(uint64_t address);

/* All of them in bytes. */
uint64_t address_reserve_bytes(void);

/* A fork child has none, but for those that it is given. */
void address_reserve_forked(void);

/* None of them is locked into memory any longer. */
void address_reserve_unlock(void);

/* What is mapped from here on is locked into memory, or no longer. */
void address_reserve_locked(bool is_on);

/* setrlimit and getrlimit of the calling process; *old is filled either way, `new` may be NULL. What the real
 * call gives. */
int address_reserve_limit(int resource, const struct rlimit64 *new, struct rlimit64 *old);

/* Around an exec of `path`, relative to `at`, NULL: not known: the limits are what the program has asked for;
 * hard ones, which nobody gets back, only if the file is there. */
void address_reserve_exec_begin(int at, const char *path);
void address_reserve_exec_failed(void);

#endif
