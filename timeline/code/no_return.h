/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_return.h - finds calls that do not return (abort, throw): the code after one is unrelated, and an edge
 * to it would make false loops. Known by name: from symbols, PLT entries and bound pointers.
 */
#ifndef TIMELINE_NO_RETURN_H
#define TIMELINE_NO_RETURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

/* All-zero knows none. One thread. */
struct no_return {
	Elf *elf;
	uint64_t *places; /* addresses of functions, and of pointers to them; ascending */
	size_t count, capacity;
	unsigned machine;
};

/* Reads the names; `elf` must outlive it. Returns 0 or -1 (no memory). */
int no_return_init(struct no_return *known, Elf *elf, unsigned machine);
void no_return_fini(struct no_return *known);
/* Returns whether a call to `target` (0: unknown), or through the pointer at `slot` (0: none), returns. */
bool no_return_comes_back(const struct no_return *known, uint64_t target, uint64_t slot);

#endif
