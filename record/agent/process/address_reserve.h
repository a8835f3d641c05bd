/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_reserve.h - the only place that reserves large address ranges for the agent, of which little is
 * ever touched. They are hidden from the program: excluded from core files, from mlockall (wrap_limit.c), and
 * from the limits that the program sets:
 *
 *   setrlimit(RLIMIT_AS, 1 GiB)   sets 1 GiB plus the reserved size, and adjusts as that grows;
 *                                 getrlimit() returns 1 GiB
 */
#ifndef RECORD_AGENT_ADDRESS_RESERVE_H
#define RECORD_AGENT_ADDRESS_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* Maps zeroed memory, private or of the file. NULL: no address space, or the program has locked future
 * mappings and is at its lock limit. */
void *address_reserve_map(size_t bytes, int file_or_none);
void address_reserve_unmap(void *memory, size_t bytes);

/* True if the address is in a reserved range. */
bool address_reserve_holds(uint64_t address);

/* Total size in bytes. */
uint64_t address_reserve_bytes(void);

/* Call in a fork child: it has only the ranges that are passed to it. */
void address_reserve_forked(void);

/* Unlocks all ranges. */
void address_reserve_unlock(void);

/* Sets whether the program locks future mappings into memory. */
void address_reserve_locked(bool is_on);

/* setrlimit and getrlimit of the calling process; sets *old in both cases, `new` may be NULL. Returns the
 * real call's result. */
int address_reserve_limit(int resource, const struct rlimit64 *new, struct rlimit64 *old);

/* Call around an exec of `path`, relative to `at`; NULL: unknown. Sets the limits that the program asked
 * for; hard limits, which cannot be raised again, only if the file exists. */
void address_reserve_exec_begin(int at, const char *path);
void address_reserve_exec_failed(void);

#endif
