/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_return.h - calls that do not come back (abort, throw): what lies behind one is other code, and an edge
 * to it would tie cold code into loops that are not there. Known by name: symbols, and what PLT entries and
 * pointers are bound to.
 */
#ifndef TIMELINE_NO_RETURN_H
#define TIMELINE_NO_RETURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

/* All-zero knows nothing. One thread. */
struct no_return {
	Elf *elf;
	uint64_t *places; /* functions, and pointers to them; ascending */
	size_t count, capacity;
	unsigned machine;
};

/* Reads the names; `elf` must outlive it. Returns 0 or -1 (memory). */
int no_return_init(struct no_return *known, Elf *elf, unsigned machine);
void no_return_fini(struct no_return *known);
/* Does a call to `target` (0: not known), or through the pointer at `slot` (0: none), come back? */
bool no_return_comes_back(const struct no_return *known, uint64_t target, uint64_t slot);

#endif
