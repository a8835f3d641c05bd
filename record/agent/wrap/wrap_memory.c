/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_memory.c - the malloc family, in front of libc's or the program's allocator. Nothing else in the agent
 * may call it: the loader calls it first of all, and looking up the real functions may call it, too. Such
 * calls are served from a small arena here.
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/wrap/alloc_tally.h"

#define ARENA_BYTES 65536u
#define ARENA_HEADER 16u /* holds the size, and keeps the alignment */

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*reallocarray)(void *, size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} allocator;

static _Alignas(16) unsigned char arena[ARENA_BYTES];
static _Atomic size_t arena_used;

/* An allocator may call its own public functions: only the outermost call counts. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static __thread bool is_resolving __attribute__((tls_model("initial-exec")));

static void *arena_take(size_t bytes)
{
	size_t whole = (bytes + ARENA_HEADER + 15) & ~(size_t)15, at;

	if (bytes > ARENA_BYTES)
		return NULL;
	at = atomic_fetch_add(&arena_used, whole);
	if (at + whole > ARENA_BYTES)
		return NULL;
	memcpy(arena + at, &bytes, sizeof(bytes));
	return arena + at + ARENA_HEADER;
}

static bool is_of_arena(const void *address)
{
	return (uintptr_t)address - (uintptr_t)arena < ARENA_BYTES;
}

static size_t arena_size(const void *address)
{
	size_t bytes;

	memcpy(&bytes, (const unsigned char *)address - ARENA_HEADER, sizeof(bytes));
	return bytes;
}

/* False: the real functions are being looked up. malloc comes last and shows that all are there. */
static bool is_ready(void)
{
	if (__builtin_expect(allocator.malloc != NULL, 1))
		return true;
	if (is_resolving)
		return false;
	is_resolving = true;
	real_resolve("calloc", &allocator.calloc);
	real_resolve("realloc", &allocator.realloc);
	real_resolve("free", &allocator.free);
	real_resolve("reallocarray", &allocator.reallocarray);
	real_resolve("posix_memalign", &allocator.posix_memalign);
	real_resolve("aligned_alloc", &allocator.aligned_alloc);
	real_resolve("memalign", &allocator.memalign);
	real_resolve("valloc", &allocator.valloc);
	real_resolve("pvalloc", &allocator.pvalloc);
	real_resolve("malloc", &allocator.malloc);
	is_resolving = false;
	return allocator.malloc != NULL;
}

/* The result of a call that allocates `bytes`; ignores calls by the allocator itself. */
#define ALLOCATED(bytes, call)                                 \
	__extension__({                                        \
		void *result_;                                 \
                                                               \
		depth++;                                       \
		result_ = call;                                \
		if (!--depth)                                  \
			alloc_tally_allocated(result_, bytes); \
		result_;                                       \
	})

WRAPPER void *malloc(size_t bytes)
{
	if (!is_ready())
		return arena_take(bytes);
	return ALLOCATED(bytes, allocator.malloc(bytes));
}

WRAPPER void *calloc(size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all))
		all = SIZE_MAX; /* the real function fails on it */
	if (!is_ready())
		return arena_take(all);
	return ALLOCATED(all, allocator.calloc(count, bytes));
}

WRAPPER void free(void *address)
{
	struct live_block block;

	if (!address || is_of_arena(address) || !is_ready())
		return;
	alloc_tally_free_begin(address, &block);
	allocator.free(address);
	alloc_tally_free_end(&block);
}

static void *arena_leave(void *old, size_t bytes)
{
	void *fresh = malloc(bytes);
	size_t most = arena_size(old);

	if (fresh)
		memcpy(fresh, old, most < bytes ? most : bytes);
	return fresh;
}

/* Call after a realloc: `fresh` replaces `old`, or the call failed. */
static void replaced(void *old, struct live_block *block, const void *fresh, size_t bytes)
{
	if (fresh || !bytes)
		alloc_tally_free_end(block);
	else
		alloc_tally_free_failed(old, block);
	if (fresh && !depth)
		alloc_tally_allocated(fresh, bytes);
}

WRAPPER void *realloc(void *old, size_t bytes)
{
	struct live_block block;
	void *fresh;

	if (is_of_arena(old))
		return arena_leave(old, bytes);
	if (!is_ready())
		return old ? NULL : arena_take(bytes);
	alloc_tally_free_begin(old, &block);
	depth++;
	fresh = allocator.realloc(old, bytes);
	depth--;
	replaced(old, &block, fresh, bytes);
	return fresh;
}

WRAPPER void *reallocarray(void *old, size_t count, size_t bytes)
{
	struct live_block block;
	size_t all;
	void *fresh;

	if (is_of_arena(old) || !is_ready() || !allocator.reallocarray ||
		__builtin_mul_overflow(count, bytes, &all)) {
		if (!__builtin_mul_overflow(count, bytes, &all))
			return realloc(old, all);
		errno = ENOMEM;
		return NULL;
	}
	alloc_tally_free_begin(old, &block);
	depth++;
	fresh = allocator.reallocarray(old, count, bytes);
	depth--;
	replaced(old, &block, fresh, all);
	return fresh;
}

WRAPPER int posix_memalign(void **address, size_t alignment, size_t bytes)
{
	int result;

	if (!is_ready() || !allocator.posix_memalign)
		return ENOMEM;
	depth++;
	result = allocator.posix_memalign(address, alignment, bytes);
	if (!--depth && !result)
		alloc_tally_allocated(*address, bytes);
	return result;
}

#define ALIGNED(name, parameters, arguments)                       \
	WRAPPER void *name parameters                              \
	{                                                          \
		if (!is_ready() || !allocator.name) {              \
			errno = ENOMEM;                            \
			return NULL;                               \
		}                                                  \
		return ALLOCATED(bytes, allocator.name arguments); \
	}

ALIGNED(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
ALIGNED(memalign, (size_t alignment, size_t bytes), (alignment, bytes))
ALIGNED(valloc, (size_t bytes), (bytes))
ALIGNED(pvalloc, (size_t bytes), (bytes))
