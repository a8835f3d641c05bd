/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_symbols.h - what a module of another process exports, by name, from a copy of the module as it lies
 * in that process's memory: its file may be gone, or another one by now.
 */
#ifndef RECORD_REMOTE_SYMBOLS_H
#define RECORD_REMOTE_SYMBOLS_H

#include "record/agent/python/python_symbols.h"
#include "record/modules/remote_unwind_modules.h"

struct remote_symbols {
	struct python_symbols table; /* of the copy: addresses here */
	uint64_t shift;		     /* what to add to them, for addresses there */
	char *image;		     /* the copy; pages that are not mapped there are zero */
	uint64_t begin, bytes;	     /* begin: of the module, there */
};

/* False: it exports nothing, cannot be read or is too large (64 MiB). */
bool remote_symbols_open(
	struct remote_symbols *symbols, uint32_t pid, const struct remote_unwind_module *module);
void remote_symbols_close(struct remote_symbols *symbols);

/* Address of a defined symbol there, and its size; 0: none. */
uint64_t remote_symbols_find(const struct remote_symbols *symbols, const char *name, uint64_t *bytes);

#endif
