/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_slots.h - leads the program's calls of some functions through the agent's wrappers, and back: by the
 * slots of the loaded objects' tables of calls (R_X86_64_JUMP_SLOT; the System V ABI's procedure linkage).
 *
 *   program or library     call f@plt -> jmp *slot      slot: f of libc  <->  wrapper of f
 *
 * A slot is changed only while it holds the very address of the function that its name stands for, with one
 * store of 8 bytes, and given back by the same rule. Slots that the loader has not filled yet are looked at
 * again; those by which a program takes a function's address (GLOB_DAT) are left alone: it may compare it.
 * Pages that the loader has made read-only (RELRO) are writable meanwhile.
 *
 * Only the agent's own thread calls this, between inject_fork_enter and inject_fork_leave.
 */
#ifndef RECORD_AGENT_INJECT_SLOTS_H
#define RECORD_AGENT_INJECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define INJECT_SLOTS_CALLS_MAX 224u

struct inject_slots_call {
	const char *name;
	void *wrapper;
	void **real; /* where the wrapper has its function from: set before it is called first */
};

/* No slot is known to lead to a wrapper, though some may (a fork child has those of its parent). `locks`: the
 * loader's lock of loading (a pthread_mutex_t); 0: it is not known, and nothing will be changed. */
void inject_slots_begin(uint64_t locks);

/* The calls to lead to wrappers: those of the last time, and more. The list stays the caller's. */
void inject_slots_calls(const struct inject_slots_call *calls, unsigned count);

/* Takes up what was loaded, or bound, since the last look. While some thread loads a library nothing is done:
 * its slots are still being written. Returns how many slots lead to wrappers by what has been done so far. */
uint32_t inject_slots_look(void);

/* The address of a name that the program's own search would find; NULL: nothing defines it. */
void *inject_slots_find(const char *name);

/* Gives all of them back. */
void inject_slots_restore(void);

#endif
