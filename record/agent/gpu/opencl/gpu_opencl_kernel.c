/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_kernel.c - which memory a kernel's arguments are, to see whether they overlap at a launch (S3
 * IV-B-c). Formatted when they change, not at every launch.
 */
#include <stdlib.h>
#include <string.h>

#include "record/agent/base/lock.h"
#include "record/agent/gpu/opencl/gpu_opencl.h"
#include "record/agent/process/environment.h"

#define BUCKETS 256u
#define ARGUMENTS_MAX 63u
#define RANGE_BYTES 44u /* maximum of ":BEGIN+SIZE" */

struct kernel {
	struct kernel *next;
	const void *handle;
	struct opencl_range arguments[ARGUMENTS_MAX]; /* bytes 0: no memory */
	uint64_t unknown;			      /* a bit per argument; the last: any argument beyond */
	bool is_written;
	char uses[OPENCL_USES_BYTES];
};

static_assert(ARGUMENTS_MAX < 64, "a bit for each");

static struct {
	struct lock lock;
	struct kernel *buckets[BUCKETS];
} known;

static struct kernel *find(const void *handle)
{
	struct kernel *kernel = known.buckets[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 12) % BUCKETS];

	while (kernel && kernel->handle != handle)
		kernel = kernel->next;
	return kernel;
}

/* Entries stay when their kernel is released: handles are usually reused. NULL: no memory. */
static struct kernel *find_or_add(const void *handle)
{
	struct kernel **bucket = &known.buckets[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 12) % BUCKETS];
	struct kernel *kernel = find(handle);

	if (kernel)
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return NULL;
	kernel->handle = handle;
	kernel->next = *bucket;
	*bucket = kernel;
	return kernel;
}

void opencl_kernel_new(const void *handle, const void *like)
{
	const struct kernel *from;
	struct kernel *kernel;

	lock_take(&known.lock);
	from = like ? find(like) : NULL;
	kernel = from ? find_or_add(handle) : find(handle);
	if (kernel) {
		memset(kernel->arguments, 0, sizeof(kernel->arguments));
		kernel->unknown = from ? from->unknown : 0;
		kernel->is_written = false;
		if (from)
			memcpy(kernel->arguments, from->arguments, sizeof(kernel->arguments));
	}
	lock_give(&known.lock);
}

static void argument_put(const void *handle, unsigned index, struct opencl_range range, bool is_unknown)
{
	uint64_t bit = UINT64_C(1) << (index < ARGUMENTS_MAX ? index : ARGUMENTS_MAX);
	struct kernel *kernel;

	lock_take(&known.lock);
	kernel = range.bytes || is_unknown ? find_or_add(handle) : find(handle);
	if (kernel) {
		uint64_t unknown = is_unknown ? kernel->unknown | bit : kernel->unknown & ~bit;

		/* For arguments beyond the limit, records only whether one of them is memory. */
		if (index >= ARGUMENTS_MAX)
			unknown = range.bytes || is_unknown ? kernel->unknown | bit : kernel->unknown;
		kernel->is_written &= unknown == kernel->unknown;
		kernel->unknown = unknown;
		if (index < ARGUMENTS_MAX && (kernel->arguments[index].begin != range.begin ||
						     kernel->arguments[index].bytes != range.bytes)) {
			kernel->arguments[index] = range;
			kernel->is_written = false;
		}
	}
	lock_give(&known.lock);
}

void opencl_kernel_argument(const void *handle, unsigned index, const void *memory)
{
	struct opencl_range range = {0};

	opencl_memory_range(memory, &range);
	argument_put(handle, index, range, false);
}

void opencl_kernel_argument_range(const void *handle, unsigned index, struct opencl_range range)
{
	argument_put(handle, index, range, false);
}

void opencl_kernel_argument_unknown(const void *handle, unsigned index)
{
	argument_put(handle, index, (struct opencl_range){0}, true);
}

static void uses_write(struct kernel *kernel)
{
	char *text = kernel->uses;
	unsigned count = 0;

	strcpy(text, "args=");
	for (unsigned i = 0; i < ARGUMENTS_MAX && !kernel->unknown; i++) {
		const struct opencl_range *range = &kernel->arguments[i];

		if (!range->bytes)
			continue;
		if (strlen(text) + RANGE_BYTES > OPENCL_USES_BYTES) {
			count = 0;
			break;
		}
		if (count++)
			strcat(text, ":");
		environment_decimal(text + strlen(text), range->begin);
		strcat(text, "+");
		environment_decimal(text + strlen(text), range->bytes);
	}
	if (count < 2)
		text[0] = '\0';
	kernel->is_written = true;
}

void opencl_kernel_uses(char text[OPENCL_USES_BYTES], const void *handle)
{
	struct kernel *kernel;

	text[0] = '\0';
	lock_take(&known.lock);
	kernel = find(handle);
	if (kernel && !kernel->is_written)
		uses_write(kernel);
	if (kernel)
		strcpy(text, kernel->uses);
	lock_give(&known.lock);
}

void opencl_kernel_forget(void)
{
	memset(known.buckets, 0, sizeof(known.buckets));
	atomic_store(&known.lock.state, 0);
}
