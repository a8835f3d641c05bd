/* SPDX-License-Identifier: Apache-2.0 */
/* address_reserve.c - see address_reserve.h. */
#include "record/agent/process/address_reserve.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process/process.h"

#define RANGES 8192u			  /* more than the number of rings */
#define GROWTH_BYTES (UINT64_C(16) << 30) /* added to a hard limit for future ranges */

struct range {
	_Atomic uint64_t begin; /* 0: free */
	uint64_t bytes;
	bool is_private;
};

static struct range ranges[RANGES];
static _Atomic uint32_t ranges_used; /* upper bound of used slots */
static _Atomic uint64_t all_bytes, private_bytes;
static _Atomic bool is_locked;

static struct limit {
	int resource;
	_Atomic uint64_t *ours;
	_Atomic bool is_set;	/* by the program */
	struct rlimit64 asked;	/* the program's limit */
	struct rlimit64 kernel; /* the kernel's limit for it */
} limits[] = {{.resource = RLIMIT_AS, .ours = &all_bytes}, {.resource = RLIMIT_DATA, .ours = &private_bytes}};

#define LIMITS (sizeof(limits) / sizeof(*limits))

/* ---- limits ---- */

static int kernel_limit(int resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	return (int)syscall(SYS_prlimit64, 0, resource, new, old);
}

static uint64_t add(uint64_t bytes, uint64_t more)
{
	return bytes > RLIM64_INFINITY - more ? RLIM64_INFINITY : bytes + more;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* True if the kernel's limit is still ours: another process may have changed it. */
static bool is_in_force(struct limit *limit, struct rlimit64 *now)
{
	if (kernel_limit(limit->resource, NULL, now))
		return false;
	if (now->rlim_cur != limit->kernel.rlim_cur || now->rlim_max != limit->kernel.rlim_max)
		limit->is_set = false;
	return limit->is_set;
}

/* Adjusts the soft limit to the reserved size. */
static int limit_follow(struct limit *limit)
{
	struct rlimit64 now;
	int result;

	if (!limit->is_set || !is_in_force(limit, &now))
		return 0;
	now.rlim_cur = least(add(limit->asked.rlim_cur, *limit->ours), now.rlim_max);
	result = kernel_limit(limit->resource, &now, NULL);
	if (!result)
		limit->kernel = now;
	return result;
}

static bool limits_follow(void)
{
	bool has_room = true;

	for (unsigned i = 0; i < LIMITS; i++)
		if (limits[i].is_set &&
			(limit_follow(&limits[i]) ||
				(limits[i].is_set && add(limits[i].asked.rlim_cur, *limits[i].ours) >
							     limits[i].kernel.rlim_max)))
			has_room = false;
	return has_room;
}

/* A process that may not raise the kernel's hard limit may not raise the limit it asked for, either. */
static int limit_set(struct limit *limit, const struct rlimit64 *new, const struct rlimit64 *visible)
{
	struct rlimit64 now, wanted;
	int result;

	if (new->rlim_cur > new->rlim_max || kernel_limit(limit->resource, NULL, &now)) {
		errno = EINVAL;
		return -1;
	}
	wanted.rlim_max = add(new->rlim_max, *limit->ours + GROWTH_BYTES);
	if (new->rlim_max <= visible->rlim_max)
		wanted.rlim_max = least(wanted.rlim_max, now.rlim_max);
	else if (wanted.rlim_max <= now.rlim_max)
		wanted.rlim_max = add(now.rlim_max, 1); /* the kernel decides whether it may */
	wanted.rlim_cur = least(add(new->rlim_cur, *limit->ours), wanted.rlim_max);
	result = kernel_limit(limit->resource, &wanted, NULL);
	if (!result) {
		limit->asked = *new;
		limit->kernel = wanted;
		limit->is_set = true;
	}
	return result;
}

int address_reserve_limit(int resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	struct limit *limit = NULL;
	int result;

	for (unsigned i = 0; i < LIMITS; i++)
		if (limits[i].resource == resource)
			limit = &limits[i];
	if (!limit || !all_bytes)
		return kernel_limit(resource, new, old);
	result = kernel_limit(resource, NULL, old);
	if (result)
		return result;
	if (limit->is_set && is_in_force(limit, old))
		*old = limit->asked;
	return new ? limit_set(limit, new, old) : 0;
}

/* A vfork child has its own limits, but its parent's memory. */
void address_reserve_exec_begin(int at, const char *path)
{
	bool is_own, is_sure;

	if (!process_is_live() || (!limits[0].is_set && !limits[1].is_set))
		return; /* without a system call: a sandbox may forbid it */
	is_own = process_is_own();
	is_sure = path && !syscall(SYS_faccessat, at, path, X_OK);

	for (unsigned i = 0; i < LIMITS; i++) {
		struct rlimit64 now;

		if (!limits[i].is_set || (is_own && !is_in_force(&limits[i], &now)) ||
			(!is_own && kernel_limit(limits[i].resource, NULL, &now)))
			continue;
		if (is_sure)
			now.rlim_max = least(limits[i].asked.rlim_max, now.rlim_max);
		now.rlim_cur = least(limits[i].asked.rlim_cur, now.rlim_max);
		if (!kernel_limit(limits[i].resource, &now, NULL) && is_own)
			limits[i].kernel = now;
	}
}

void address_reserve_exec_failed(void)
{
	if (process_is_own())
		limits_follow();
}

/* ---- ranges ---- */

static bool range_note(uint64_t begin, uint64_t bytes, bool is_private)
{
	for (uint32_t i = 0; i < RANGES; i++) {
		uint64_t none = 0;
		uint32_t used = ranges_used;

		if (ranges[i].begin || !atomic_compare_exchange_strong(&ranges[i].begin, &none, begin))
			continue;
		ranges[i].bytes = bytes;
		ranges[i].is_private = is_private;
		while (used <= i && !atomic_compare_exchange_weak(&ranges_used, &used, i + 1))
			;
		return true;
	}
	return false;
}

bool address_reserve_holds(uint64_t address)
{
	for (uint32_t i = 0; i < ranges_used; i++)
		if (ranges[i].begin && address - ranges[i].begin < ranges[i].bytes)
			return true;
	return false;
}

uint64_t address_reserve_bytes(void)
{
	return all_bytes;
}

static void bytes_count(uint64_t bytes, bool is_private)
{
	all_bytes += bytes;
	if (is_private)
		private_bytes += bytes;
}

/* Do not touch it while mapping: the kernel would populate locked memory. */
static void *range_map(size_t bytes, int file)
{
	int flags = (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE;
	bool locks = is_locked;
	void *memory = mmap(NULL, bytes, locks ? PROT_NONE : PROT_READ | PROT_WRITE, flags, file, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (locks && (munlock(memory, bytes) || mprotect(memory, bytes, PROT_READ | PROT_WRITE))) {
		munmap(memory, bytes);
		return NULL;
	}
	madvise(memory, bytes, MADV_DONTDUMP);
	return memory;
}

void *address_reserve_map(size_t bytes, int file)
{
	bool is_private = file < 0;
	void *memory = NULL;
	int error = errno;

	bytes_count(bytes, is_private);
	if (limits_follow())
		memory = range_map(bytes, file);
	if (memory && !range_note((uintptr_t)memory, bytes, is_private)) {
		munmap(memory, bytes);
		memory = NULL;
	}
	if (!memory) {
		bytes_count(-(uint64_t)bytes, is_private);
		limits_follow();
	}
	errno = error;
	return memory;
}

void address_reserve_unmap(void *memory, size_t bytes)
{
	for (uint32_t i = 0; i < ranges_used; i++)
		if (ranges[i].begin == (uintptr_t)memory) {
			bytes_count(-ranges[i].bytes, ranges[i].is_private);
			ranges[i].begin = 0;
			break;
		}
	munmap(memory, bytes);
	limits_follow();
}

void address_reserve_forked(void)
{
	for (uint32_t i = 0; i < ranges_used; i++)
		ranges[i].begin = 0;
	ranges_used = 0;
	all_bytes = private_bytes = 0;
	limits_follow();
}

void address_reserve_unlock(void)
{
	for (uint32_t i = 0; i < ranges_used; i++)
		if (ranges[i].begin)
			munlock((void *)(uintptr_t)ranges[i].begin, ranges[i].bytes);
}

void address_reserve_locked(bool is_on)
{
	is_locked = is_on;
}
