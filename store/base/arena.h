/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory of one query: allocated piece by piece, freed once. Not thread-safe:
 * one arena belongs to one thread at a time.
 */
#ifndef STORE_ARENA_H
#define STORE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used_bytes; /* in the newest block */
	size_t total_bytes;
};

/* An all-zero arena is ready for use. */
void arena_fini(struct arena *arena);

/* Aligned to 16 bytes, not cleared. NULL: no memory, or the size overflows. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
void *arena_calloc(struct arena *arena, size_t count, size_t size_bytes);
/* Copies `size_bytes` bytes and adds a NUL. */
char *arena_copy(struct arena *arena, const char *bytes, size_t size_bytes);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
