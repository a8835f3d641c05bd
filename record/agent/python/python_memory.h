/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_memory.h - reads the interpreter's memory with its pages checked first: the kernel is asked once per
 * page, and again after PYTHON_PAGE_WALKS walks. While python_thread.asks_anew is set, what was known before
 * does not count: for what may have been given back since.
 */
#ifndef RECORD_AGENT_PYTHON_MEMORY_H
#define RECORD_AGENT_PYTHON_MEMORY_H

#include "record/agent/python/python_stack.h"

/* Asks the kernel whether a page can be read, and keeps that it can. Signal safe, as all here. */
bool python_memory_ask(struct python_thread *t, uint64_t page);

static inline bool python_memory_page(struct python_thread *t, uint64_t page)
{
	const uint64_t *set = t->page[(page * UINT64_C(0x9e3779b97f4a7c15)) >> 55];

	if (t->asks_anew ? t->asked == page || page - t->sure_page[0] < t->sure_pages[0] ||
				   page - t->sure_page[1] < t->sure_pages[1] ||
				   page - t->sure_page[2] < t->sure_pages[2]
			 : set[0] == page + 1 || set[1] == page + 1)
		return true;
	return python_memory_ask(t, page);
}
_Static_assert(PYTHON_PAGES == 1u << (64 - 55), "the hash keeps nine bits");

/* True if [address, address + bytes) can be read; at most a page. */
static inline bool python_memory_is_readable(struct python_thread *t, uint64_t address, uint64_t bytes)
{
	uint64_t first = address >> 12, last = (address + bytes - 1) >> 12;

	return first && python_memory_page(t, first) && (first == last || python_memory_page(t, last));
}

static inline uint64_t python_memory_word(uint64_t address)
{
	uint64_t word;

	__builtin_memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	return word;
}

static inline uint32_t python_memory_u32(uint64_t address)
{
	uint32_t word;

	__builtin_memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	return word;
}

static inline uint8_t python_memory_byte(uint64_t address)
{
	return *(const uint8_t *)(uintptr_t)address;
}

/* A word with its page checked; false: unreadable. */
static inline bool python_memory_get(struct python_thread *t, uint64_t address, uint64_t *word)
{
	if (address % 8 || !python_memory_is_readable(t, address, sizeof(*word)))
		return false;
	*word = python_memory_word(address);
	return true;
}

#endif
