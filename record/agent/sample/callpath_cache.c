/* SPDX-License-Identifier: Apache-2.0 */
/* callpath_cache.c - see callpath_cache.h. Callers of one depth begin alike: only the words tell which of
 * them it is. */
#include "record/agent/sample/callpath_cache.h"

#include <string.h>

#include "record/agent/sample/thread.h"
#include "record/agent/unwind/module_slots.h"

#define STACKS_MAX 32 /* of one node, where recursion is folded */

static bool begins(const struct trail *trail, const struct arch_registers *start, uint64_t function)
{
	return trail->sp == start->value[ARCH_SP] && trail->pc == start->value[ARCH_PC] &&
	       (!trail->with_fp || trail->fp == start->value[ARCH_FP]) && trail->function == function &&
	       trail->generation == module_generation();
}

static bool holds_word(const struct trail *trail, const struct unwind_word *word)
{
	return *(const uint64_t *)(uintptr_t)(trail->sp + word->offset) == word->value;
}

/* Callers that are alike differ in the same word again and again. On a stack that is surely there it may be
 * asked first; on another, what lies further out is there only if what lies further in has not changed. */
static bool may_ask(const struct trail *trail, const struct unwind_word *word)
{
	return trail->sp >= thread_place.stack_low && trail->sp + word->offset < thread_place.stack_high;
}

static bool holds(struct trail *trail)
{
	const struct unwind_word *word = &trail->words[trail->differed];

	if (!trail->count || (may_ask(trail, word) && !holds_word(trail, word)))
		return false;
	for (unsigned i = 0; i < trail->count; i++)
		if (!holds_word(trail, &trail->words[i])) {
			trail->differed = i;
			return false;
		}
	return true;
}

static uint16_t *head_of(struct thread *t, uint64_t pc, uint64_t sp, uint64_t function)
{
	uint64_t hash = (pc ^ sp ^ function) * UINT64_C(0x9e3779b97f4a7c15);

	return &t->trail_heads[hash >> 32 & (TRAIL_HEADS - 1)];
}

static bool is_it(struct trail *trail, const struct arch_registers *start, uint64_t function)
{
	return begins(trail, start, function) && holds(trail);
}

/* Loops ask in turn for the same ones. */
static void found(struct thread *t, uint16_t number)
{
	if (t->trail_last)
		t->trails[t->trail_last - 1].after = number;
	t->trail_last = number;
}

uint32_t trail_find(struct thread *t, const struct arch_registers *start, uint64_t function)
{
	uint16_t number = t->trail_last ? t->trails[t->trail_last - 1].after : 0;

	if (!number || !is_it(&t->trails[number - 1], start, function))
		number = *head_of(t, start->value[ARCH_PC], start->value[ARCH_SP], function);
	while (number && !is_it(&t->trails[number - 1], start, function))
		number = t->trails[number - 1].alike;
	if (!number)
		return 0;
	found(t, number);
	return t->trails[number - 1].node;
}

static void keep(struct trail *trail, struct unwinder *unwinder, const struct arch_registers *start)
{
	trail->with_fp = false;
	trail->differed = 0;
	trail->count = unwind_words(unwinder, start, trail->words, TRAIL_WORDS, &trail->with_fp);
	trail->with_fp &= trail->count > 0;
	trail->fp = start->value[ARCH_FP];
}

/* What cannot be kept now, as rules had to make room for others, may be later: tried ever more seldom. */
static bool is_due(const struct trail *trail)
{
	return trail->count || !(trail->walks & (trail->walks - 1));
}

/* The place of the oldest one, out of its list. */
static struct trail *take(struct thread *t)
{
	uint16_t place = t->trail_next, *link;
	struct trail *trail = &t->trails[place];

	if (t->trail_count > place) {
		link = head_of(t, trail->pc, trail->sp, trail->function);
		while (*link != place + 1)
			link = &t->trails[*link - 1].alike;
		*link = trail->alike;
	} else {
		t->trail_count++;
	}
	t->trail_next = (uint16_t)((place + 1u) % TRAILS);
	return trail;
}

static uint16_t add(struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node)
{
	struct trail *trail = take(t);
	uint16_t *head = head_of(t, start->value[ARCH_PC], start->value[ARCH_SP], function);

	*trail = (struct trail){.pc = start->value[ARCH_PC],
		.sp = start->value[ARCH_SP],
		.function = function,
		.generation = t->generation, /* that of the caches it was walked with */
		.node = node,
		.walks = 1,
		.alike = *head};
	*head = (uint16_t)(trail - t->trails + 1);
	return *head;
}

/* The one to be kept now: not yet kept, or one too many, since something in its words changes all the time.
 */
static uint16_t again(struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node)
{
	uint16_t number = *head_of(t, start->value[ARCH_PC], start->value[ARCH_SP], function);
	unsigned others = 0;

	for (; number; number = t->trails[number - 1].alike) {
		const struct trail *trail = &t->trails[number - 1];

		if (begins(trail, start, function) && trail->node == node &&
			(!trail->count || ++others == STACKS_MAX))
			break;
	}
	return number;
}

void trail_note(struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node)
{
	uint16_t number = again(t, start, function, node);
	struct trail *trail;

	if (number) {
		trail = &t->trails[number - 1];
		trail->walks++;
		if (is_due(trail))
			keep(trail, &t->unwinder, start);
	} else {
		number = add(t, start, function, node);
	}
	found(t, number);
}

/* The memory of threads that never ask for a path stays untouched. */
void trail_clear(struct thread *t)
{
	t->trail_next = 0;
	t->trail_count = 0;
	t->trail_last = 0;
	memset(t->trail_heads, 0, sizeof(t->trail_heads));
}
