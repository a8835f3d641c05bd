/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_memory.c - memory that the program has, and how many references of
 * its own to each: the runtime's count also holds those of commands under way.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/agent/gpu_opencl.h"

#define BUCKETS 1024u

struct memory {
	struct memory *next;
	const void *handle;
	uint64_t bytes;
	enum gpu_memory_kind kind;
	unsigned references;
};

static struct {
	atomic_flag lock;
	struct memory *buckets[BUCKETS];
} known = {.lock = ATOMIC_FLAG_INIT};

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&known.lock, memory_order_acquire))
		nanosleep(&(struct timespec){0, 20000}, NULL);
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&known.lock, memory_order_release);
}

static struct memory **link_of(const void *handle)
{
	struct memory **link = &known.buckets[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 14) % BUCKETS];

	while (*link && (*link)->handle != handle)
		link = &(*link)->next;
	return link;
}

void opencl_memory_add(const void *handle, uint64_t bytes, enum gpu_memory_kind kind)
{
	struct memory *memory = calloc(1, sizeof(*memory)), **link;

	if (!memory)
		return;
	*memory = (struct memory){NULL, handle, bytes, kind, 1};
	lock();
	link = link_of(handle);
	if (*link) { /* it ended without our seeing it */
		memory->next = (*link)->next;
		free(*link);
	}
	*link = memory;
	unlock();
}

void opencl_memory_retain(const void *handle)
{
	struct memory *memory;

	lock();
	memory = *link_of(handle);
	if (memory)
		memory->references++;
	unlock();
}

bool opencl_memory_release(const void *handle, uint64_t *bytes, enum gpu_memory_kind *kind)
{
	struct memory **link, *memory;
	bool is_last;

	lock();
	link = link_of(handle);
	memory = *link;
	is_last = memory && --memory->references == 0;
	if (is_last) {
		*link = memory->next;
		*bytes = memory->bytes;
		*kind = memory->kind;
	}
	unlock();
	if (is_last)
		free(memory);
	return is_last;
}

void opencl_memory_forget(void)
{
	memset(known.buckets, 0, sizeof(known.buckets));
	atomic_flag_clear(&known.lock);
}
