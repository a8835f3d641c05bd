/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath_cache.c - see callpath_cache.h. Callers at one depth have equal initial registers: only the stack
 * words distinguish them.
 */
#include "record/agent/sample/callpath_cache.h"

#include <string.h>

#include "record/agent/sample/thread.h"
#include "record/agent/unwind/module_slots.h"

#define STACKS_MAX 32 /* of one node, if recursion is folded */

static bool begins(const struct callpath_cache_entry *entry, const struct callpath_begin *begin)
{
	const uint64_t *value = begin->start->value;

	return entry->sp == value[ARCH_SP] && entry->pc == value[ARCH_PC] &&
	       (!entry->with_fp || entry->fp == value[ARCH_FP]) && entry->function == begin->function &&
	       entry->beside == begin->beside && entry->generation == module_slots_generation();
}

static bool holds_word(const struct callpath_cache_entry *entry, const struct unwind_word *word)
{
	return *(const uint64_t *)(uintptr_t)(entry->sp + word->offset) == word->value;
}

/* Similar paths usually differ in the same word. If the stack is known to be mapped, that word may be
 * checked first; otherwise, outer words are mapped only if the inner ones are unchanged. */
static bool may_ask(const struct callpath_cache_entry *entry, const struct unwind_word *word)
{
	return entry->sp >= thread_place.stack_low && entry->sp + word->offset < thread_place.stack_high;
}

static bool holds(struct callpath_cache_entry *entry)
{
	const struct unwind_word *word = &entry->words[entry->differed], *end = &entry->words[entry->count];
	const char *stack = (const char *)(uintptr_t)entry->sp;

	if (!entry->count || (may_ask(entry, word) && !holds_word(entry, word)))
		return false;
	for (word = entry->words; word < end; word++)
		if (*(const uint64_t *)(const void *)(stack + word->offset) != word->value) {
			entry->differed = (unsigned)(word - entry->words);
			return false;
		}
	return true;
}

static uint16_t *bucket_of(struct thread *t, uint64_t pc, uint64_t sp, uint64_t function)
{
	uint64_t hash = (pc ^ sp ^ function) * UINT64_C(0x9e3779b97f4a7c15);

	return &t->callpath_cache_buckets[hash >> 32 & (CALLPATH_CACHE_BUCKETS - 1)];
}

static uint16_t *bucket_of_begin(struct thread *t, const struct callpath_begin *begin)
{
	return bucket_of(t, begin->start->value[ARCH_PC], begin->start->value[ARCH_SP], begin->function);
}

static bool is_it(struct callpath_cache_entry *entry, const struct callpath_begin *begin)
{
	return begins(entry, begin) && holds(entry);
}

/* Records the order of lookups: loops repeat it. */
static void found(struct thread *t, uint16_t number)
{
	if (t->callpath_cache_last)
		t->callpath_cache[t->callpath_cache_last - 1].after = number;
	t->callpath_cache_last = number;
}

uint32_t callpath_cache_find(struct thread *t, const struct callpath_begin *begin)
{
	uint16_t number = t->callpath_cache_last ? t->callpath_cache[t->callpath_cache_last - 1].after : 0;

	if (!number || !is_it(&t->callpath_cache[number - 1], begin))
		number = *bucket_of_begin(t, begin);
	while (number && !is_it(&t->callpath_cache[number - 1], begin))
		number = t->callpath_cache[number - 1].next_in_bucket;
	if (!number)
		return 0;
	found(t, number);
	return t->callpath_cache[number - 1].node;
}

static void keep(
	struct callpath_cache_entry *entry, struct unwinder *unwinder, const struct arch_registers *start)
{
	entry->with_fp = false;
	entry->differed = 0;
	entry->count = unwind_words(unwinder, start, entry->words, CALLPATH_CACHE_WORDS, &entry->with_fp);
	entry->with_fp &= entry->count > 0;
	entry->fp = start->value[ARCH_FP];
}

/* A path that could not be kept, because rules were evicted, is tried again at growing intervals. */
static bool is_due(const struct callpath_cache_entry *entry)
{
	return entry->count || !(entry->walks & (entry->walks - 1));
}

/* Unlinks and returns the oldest entry. */
static struct callpath_cache_entry *take(struct thread *t)
{
	uint16_t place = t->callpath_cache_next, *link;
	struct callpath_cache_entry *entry = &t->callpath_cache[place];

	if (t->callpath_cache_count > place) {
		link = bucket_of(t, entry->pc, entry->sp, entry->function);
		while (*link != place + 1)
			link = &t->callpath_cache[*link - 1].next_in_bucket;
		*link = entry->next_in_bucket;
	} else {
		t->callpath_cache_count++;
	}
	t->callpath_cache_next = (uint16_t)((place + 1u) % CALLPATH_CACHE_ENTRIES);
	return entry;
}

static uint16_t add(struct thread *t, const struct callpath_begin *begin, uint32_t node)
{
	struct callpath_cache_entry *entry = take(t);
	uint16_t *head = bucket_of_begin(t, begin);

	*entry = (struct callpath_cache_entry){.pc = begin->start->value[ARCH_PC],
		.sp = begin->start->value[ARCH_SP],
		.function = begin->function,
		.beside = begin->beside,
		.generation = t->generation, /* that of the caches used by the walk */
		.node = node,
		.walks = 1,
		.next_in_bucket = *head};
	*head = (uint16_t)(entry - t->callpath_cache + 1);
	return *head;
}

/* The entry to fill now: one that is not kept yet, or the last one of a path with STACKS_MAX entries, some
 * word of which always changes. */
static uint16_t again(struct thread *t, const struct callpath_begin *begin, uint32_t node)
{
	uint16_t number = *bucket_of_begin(t, begin);
	unsigned others = 0;

	for (; number; number = t->callpath_cache[number - 1].next_in_bucket) {
		const struct callpath_cache_entry *entry = &t->callpath_cache[number - 1];

		if (begins(entry, begin) && entry->node == node && (!entry->count || ++others == STACKS_MAX))
			break;
	}
	return number;
}

void callpath_cache_note(struct thread *t, const struct callpath_begin *begin, uint32_t node)
{
	uint16_t number = again(t, begin, node);
	struct callpath_cache_entry *entry;

	if (number) {
		entry = &t->callpath_cache[number - 1];
		entry->walks++;
		if (is_due(entry))
			keep(entry, &t->unwinder, begin->start);
	} else {
		number = add(t, begin, node);
	}
	found(t, number);
}

/* Does not touch the memory of threads that never use the cache. */
void callpath_cache_clear(struct thread *t)
{
	t->callpath_cache_next = 0;
	t->callpath_cache_count = 0;
	t->callpath_cache_last = 0;
	memset(t->callpath_cache_buckets, 0, sizeof(t->callpath_cache_buckets));
}
