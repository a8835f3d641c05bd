/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_memory.c - the program's memory objects, with the program's own reference counts: the runtime's
 * count includes running commands.
 */
#include <stdlib.h>
#include <string.h>

#include "record/agent/base/lock.h"
#include "record/agent/gpu/opencl/gpu_opencl.h"
#include "record/agent/process/environment.h"

#define BUCKETS 1024u

#define PLACES_BEGIN (UINT64_C(1) << 47) /* above all valid pointers */
#define PLACES_APART 4096u
#define PARTS_MAX 65536u /* copies of sub-buffers with a recorded range: each is a text of its own */

struct memory {
	struct memory *next, *next_shared;
	const void *handle;
	uint64_t bytes;
	uint64_t begin, whole_begin, whole_bytes; /* its range, and the range it is a part of */
	uint32_t number;			  /* of the whole memory object */
	bool is_part;
	enum gpu_memory_kind kind;
	unsigned references;
};

/* Of a buffer, for writing. */
struct mapping {
	struct mapping *next;
	const void *handle, *mapped;
	uint64_t offset, bytes;
};

static struct {
	struct lock lock;
	struct memory *buckets[BUCKETS];
	struct memory *shared; /* allocations into which pointers may point */
	struct mapping *mappings;
	uint64_t places;
	uint32_t count, parts_published;
} known;

static struct memory **link_of(const void *handle)
{
	struct memory **link = &known.buckets[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 14) % BUCKETS];

	while (*link && (*link)->handle != handle)
		link = &(*link)->next;
	return link;
}

static void shared_remove(const struct memory *memory)
{
	struct memory **link = &known.shared;

	while (*link && *link != memory)
		link = &(*link)->next_shared;
	if (*link)
		*link = memory->next_shared;
}

/* Call with the lock held. */
static void put(struct memory *memory)
{
	struct memory **link = link_of(memory->handle);

	if (*link) { /* its release was not seen */
		memory->next = (*link)->next;
		shared_remove(*link);
		free(*link);
	}
	*link = memory;
}

void opencl_memory_add(const void *handle, uint64_t bytes, enum gpu_memory_kind kind, const void *address)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return;
	*memory = (struct memory){.handle = handle, .bytes = bytes, .kind = kind, .references = 1};
	lock_take(&known.lock);
	memory->number = ++known.count;
	memory->begin = (uint64_t)(uintptr_t)address;
	if (!address) {
		memory->begin = PLACES_BEGIN + known.places;
		known.places += (bytes / PLACES_APART + 1) * PLACES_APART;
	}
	memory->whole_begin = memory->begin;
	memory->whole_bytes = bytes;
	put(memory);
	if (kind == GPU_MEMORY_MANAGED) {
		memory->next_shared = known.shared;
		known.shared = memory;
	}
	lock_give(&known.lock);
}

void opencl_memory_add_part(const void *handle, const void *whole_handle, uint64_t offset, uint64_t bytes)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	const struct memory *whole;

	if (!memory)
		return;
	lock_take(&known.lock);
	whole = *link_of(whole_handle);
	if (whole) {
		*memory = *whole;
		memory->next = memory->next_shared = NULL;
		memory->handle = handle;
		memory->begin += offset;
		memory->bytes = bytes;
		memory->references = 1;
		memory->is_part = true;
		put(memory);
	}
	lock_give(&known.lock);
	if (!whole)
		free(memory);
}

void opencl_memory_retain(const void *handle)
{
	struct memory *memory;

	lock_take(&known.lock);
	memory = *link_of(handle);
	if (memory)
		memory->references++;
	lock_give(&known.lock);
}

bool opencl_memory_release(const void *handle, uint64_t *bytes, enum gpu_memory_kind *kind)
{
	struct memory **link, *memory;
	bool is_last, is_part = false;

	lock_take(&known.lock);
	link = link_of(handle);
	memory = *link;
	is_last = memory && --memory->references == 0;
	if (is_last) {
		*link = memory->next;
		shared_remove(memory);
		is_part = memory->is_part;
		*bytes = memory->bytes;
		*kind = memory->kind;
	}
	lock_give(&known.lock);
	if (is_last)
		free(memory);
	return is_last && !is_part;
}

bool opencl_memory_range(const void *handle, struct opencl_range *range)
{
	const struct memory *memory;

	lock_take(&known.lock);
	memory = handle ? *link_of(handle) : NULL;
	if (memory)
		*range = (struct opencl_range){memory->begin, memory->bytes};
	lock_give(&known.lock);
	return memory;
}

bool opencl_memory_range_shared(const void *pointer, struct opencl_range *range)
{
	uint64_t at = (uint64_t)(uintptr_t)pointer;
	const struct memory *memory;

	lock_take(&known.lock);
	memory = known.shared;
	while (memory && at - memory->begin >= memory->bytes)
		memory = memory->next_shared;
	if (memory)
		*range = (struct opencl_range){memory->begin, memory->bytes};
	lock_give(&known.lock);
	return memory;
}

void opencl_mapping_add(const void *handle, const void *mapped, uint64_t offset, uint64_t bytes)
{
	struct mapping *mapping = malloc(sizeof(*mapping));

	if (!mapping)
		return;
	*mapping = (struct mapping){.handle = handle, .mapped = mapped, .offset = offset, .bytes = bytes};
	lock_take(&known.lock);
	mapping->next = known.mappings;
	known.mappings = mapping;
	lock_give(&known.lock);
}

bool opencl_mapping_end(const void *handle, const void *mapped, uint64_t *offset, uint64_t *bytes)
{
	struct mapping **link, *mapping;

	lock_take(&known.lock);
	link = &known.mappings;
	while (*link && ((*link)->handle != handle || (*link)->mapped != mapped))
		link = &(*link)->next;
	mapping = *link;
	if (mapping)
		*link = mapping->next;
	lock_give(&known.lock);
	if (!mapping)
		return false;
	*offset = mapping->offset;
	*bytes = mapping->bytes;
	free(mapping);
	return true;
}

void opencl_memory_uses(char text[OPENCL_USES_BYTES], const void *handle, uint64_t offset, uint64_t bytes)
{
	const struct memory *memory;
	uint64_t at = 0;
	uint32_t number = 0;
	bool is_part = false;

	text[0] = '\0';
	lock_take(&known.lock);
	memory = *link_of(handle);
	if (memory) {
		at = memory->begin - memory->whole_begin + offset;
		is_part = at || bytes < memory->whole_bytes;
		if (!is_part || known.parts_published++ < PARTS_MAX)
			number = memory->number;
	}
	lock_give(&known.lock);
	if (!number)
		return;
	strcpy(text, "buffer=");
	environment_decimal(text + strlen(text), number);
	if (!is_part)
		return;
	strcat(text, ",at=");
	environment_decimal(text + strlen(text), at);
}

void opencl_memory_forget(void)
{
	memset(known.buckets, 0, sizeof(known.buckets));
	known.shared = NULL;
	known.mappings = NULL;
	known.count = known.parts_published = 0;
	known.places = 0;
	atomic_store(&known.lock.state, 0);
}
