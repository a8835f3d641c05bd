/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - memory of one query: a list of blocks, the newest first; pieces are cut from the newest.
 *
 *   blocks -> [next | size | piece piece ... free] -> [next | size | pieces] -> NULL
 */
#include "store/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN 16u
#define ARENA_FIRST_BYTES 4096u
#define ARENA_BLOCK_BYTES (1u << 20) /* blocks double up to this size */

struct arena_block {
	struct arena_block *next;
	size_t size_bytes; /* of `bytes` */
	_Alignas(ARENA_ALIGN) unsigned char bytes[];
};

void arena_fini(struct arena *arena)
{
	struct arena_block *next;

	for (struct arena_block *block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct arena){0};
}

/* A block with room for `size_bytes`. A large piece gets its own and leaves the newest block in use. */
static void *arena_grow(struct arena *arena, size_t size_bytes)
{
	size_t wanted = arena->blocks ? arena->blocks->size_bytes * 2 : ARENA_FIRST_BYTES;
	struct arena_block *block;

	if (wanted > ARENA_BLOCK_BYTES)
		wanted = ARENA_BLOCK_BYTES;
	if (size_bytes > wanted)
		wanted = size_bytes;
	block = malloc(sizeof *block + wanted);
	if (!block)
		return NULL;
	block->size_bytes = wanted;
	arena->total_bytes += sizeof *block + wanted;
	if (arena->blocks && size_bytes == wanted) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
		arena->used_bytes = size_bytes;
	}
	return block->bytes;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	void *piece;

	if (size_bytes > SIZE_MAX / 2)
		return NULL;
	size_bytes = size_bytes ? (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1) : ARENA_ALIGN;
	if (!arena->blocks || arena->blocks->size_bytes - arena->used_bytes < size_bytes)
		return arena_grow(arena, size_bytes);
	piece = arena->blocks->bytes + arena->used_bytes;
	arena->used_bytes += size_bytes;
	return piece;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size_bytes)
{
	size_t total;
	void *piece;

	if (__builtin_mul_overflow(count, size_bytes, &total))
		return NULL;
	piece = arena_alloc(arena, total);
	if (piece)
		memset(piece, 0, total);
	return piece;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t size_bytes)
{
	char *copy = size_bytes < SIZE_MAX ? arena_alloc(arena, size_bytes + 1) : NULL;

	if (!copy)
		return NULL;
	if (size_bytes)
		memcpy(copy, bytes, size_bytes);
	copy[size_bytes] = '\0';
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (size < 0)
		return NULL;
	text = arena_alloc(arena, (size_t)size + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)size + 1, format, args);
	va_end(args);
	return text;
}
