/* SPDX-License-Identifier: Apache-2.0 */
/* python_names.c - see python_names.h. Two threads that make one entry at once may make it twice: the
 * collector stores equal texts once. */
#include "record/agent/python/python_names.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "record/agent/process/process.h"

#define SLOTS (1u << 17) /* a power of two: a name takes some 60 bytes */
#define PROBES 64u

static _Alignas(4096) _Atomic uint64_t slots[SLOTS]; /* hash << 32 | number; 0: free */

static uint64_t hash_of(const char *text, size_t bytes, uint32_t first_line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ first_line;

	for (size_t i = 0; i < bytes; i++) /* FNV-1a */
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

static struct event_name *name_at(uint32_t number)
{
	return (struct event_name *)((char *)process.shared + process.shared->names_at +
				     8 * (uint64_t)number);
}

static bool is_same(uint32_t number, const char *text, size_t bytes, uint32_t first_line)
{
	const struct event_name *name = name_at(number);

	return name->bytes == bytes && name->line == first_line && !memcmp(name->text, text, bytes);
}

static uint32_t name_make(const char *text, size_t bytes, uint32_t first_line)
{
	uint64_t size = (sizeof(struct event_name) + bytes + 7) & ~UINT64_C(7), at;
	struct event_name *name;

	if (atomic_load_explicit(&process.shared->names_used, memory_order_relaxed) + size + 8 >
		EVENT_NAMES_DATA)
		return 0;
	at = 8 + atomic_fetch_add(&process.shared->names_used, size);
	if (at + size > EVENT_NAMES_DATA)
		return 0;
	name = name_at((uint32_t)(at / 8));
	name->bytes = (uint32_t)bytes;
	name->line = first_line;
	memcpy(name->text, text, bytes);
	return (uint32_t)(at / 8);
}

static uint32_t refused(void)
{
	atomic_fetch_add_explicit(&process.shared->names_refused, 1, memory_order_relaxed);
	return 0;
}

uint32_t python_names_number(const char *text, size_t bytes, uint32_t first_line)
{
	uint64_t hash = hash_of(text, bytes, first_line), made = 0;

	if (!process.shared->names_at)
		return refused();
	for (uint32_t i = 0; i < PROBES; i++) {
		_Atomic uint64_t *slot = &slots[(hash + i) & (SLOTS - 1)];
		uint64_t known = atomic_load_explicit(slot, memory_order_acquire);

		if (!known) {
			uint32_t number = made ? (uint32_t)made : name_make(text, bytes, first_line);

			if (!number)
				return refused();
			made = hash << 32 | number;
			if (atomic_compare_exchange_strong(slot, &known, made))
				return number;
		}
		if (known >> 32 == (hash & UINT32_MAX) && is_same((uint32_t)known, text, bytes, first_line))
			return (uint32_t)known;
	}
	return made ? (uint32_t)made : refused();
}

/* A child need not touch what it inherited. */
void python_names_init(void)
{
	if (madvise(slots, sizeof(slots), MADV_DONTNEED))
		memset(slots, 0, sizeof(slots));
}
