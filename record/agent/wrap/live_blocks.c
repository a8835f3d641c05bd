/* SPDX-License-Identifier: Apache-2.0 */
/* live_blocks.c - see live_blocks.h. */
#include "record/agent/wrap/live_blocks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define BUCKET 16u /* keys, two cache lines */
#define LEVELS 8u
#define LEVEL0_BITS 12u /* log2 of its buckets: 65536 blocks */
#define LEVEL_GROWTH 2u /* log2: the next has 4 times as many */
#define TAKEN 1u	/* not an address: the slot is being filled */

struct bucket {
	_Atomic uintptr_t keys[BUCKET]; /* 0: free */
	struct live_block blocks[BUCKET];
};

/* Fork children find this page and the levels empty. */
static _Atomic(struct bucket *) *levels;

static void *map(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (!madvise(memory, bytes, MADV_WIPEONFORK))
		return memory;
	munmap(memory, bytes);
	return NULL;
}

bool live_blocks_open(void)
{
	if (!levels)
		levels = map(LEVELS * sizeof(*levels));
	return levels != NULL;
}

static size_t bucket_count(unsigned level)
{
	return (size_t)1 << (LEVEL0_BITS + level * LEVEL_GROWTH);
}

static struct bucket *bucket_of(struct bucket *buckets, unsigned level, uintptr_t key)
{
	return &buckets[(key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (bucket_count(level) - 1)];
}

static struct bucket *level_add(unsigned level)
{
	size_t bytes = bucket_count(level) * sizeof(struct bucket);
	struct bucket *fresh = map(bytes), *there = NULL;

	if (!fresh || atomic_compare_exchange_strong(&levels[level], &there, fresh))
		return fresh;
	munmap(fresh, bytes);
	return there;
}

static bool bucket_add(struct bucket *bucket, uintptr_t key, const struct live_block *block)
{
	for (unsigned i = 0; i < BUCKET; i++) {
		uintptr_t none = 0;

		if (atomic_load_explicit(&bucket->keys[i], memory_order_relaxed) ||
			!atomic_compare_exchange_strong(&bucket->keys[i], &none, TAKEN))
			continue;
		bucket->blocks[i] = *block;
		atomic_store_explicit(&bucket->keys[i], key, memory_order_release);
		return true;
	}
	return false;
}

bool live_blocks_add(const void *address, const struct live_block *block)
{
	for (unsigned level = 0; levels && level < LEVELS; level++) {
		struct bucket *buckets = atomic_load_explicit(&levels[level], memory_order_acquire);

		if (!buckets)
			buckets = level_add(level);
		if (!buckets)
			return false;
		if (bucket_add(bucket_of(buckets, level, (uintptr_t)address), (uintptr_t)address, block))
			return true;
	}
	return false;
}

bool live_blocks_take(const void *address, struct live_block *block)
{
	for (unsigned level = 0; levels && level < LEVELS; level++) {
		struct bucket *buckets = atomic_load_explicit(&levels[level], memory_order_acquire), *bucket;

		if (!buckets)
			return false;
		bucket = bucket_of(buckets, level, (uintptr_t)address);
		for (unsigned i = 0; i < BUCKET; i++) {
			if (atomic_load_explicit(&bucket->keys[i], memory_order_acquire) !=
				(uintptr_t)address)
				continue;
			*block = bucket->blocks[i];
			atomic_store_explicit(&bucket->keys[i], 0, memory_order_release);
			return true;
		}
	}
	return false;
}
