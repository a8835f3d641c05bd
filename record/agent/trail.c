/* SPDX-License-Identifier: Apache-2.0 */
/* trail.c - see trail.h. Callers of one depth begin alike: only the words tell which of them it is. */
#include "record/agent/trail.h"

#include "record/agent/module.h"
#include "record/agent/thread.h"

static bool begins(const struct trail *trail, const struct arch_registers *start, uint64_t function)
{
	return trail->node && trail->sp == start->value[ARCH_SP] && trail->pc == start->value[ARCH_PC] &&
	       (!trail->with_fp || trail->fp == start->value[ARCH_FP]) && trail->function == function &&
	       trail->generation == module_generation();
}

static bool holds(const struct trail *trail)
{
	for (unsigned i = 0; i < trail->count; i++)
		if (*(const uint64_t *)(uintptr_t)trail->words[i].place != trail->words[i].value)
			return false;
	return trail->count;
}

uint32_t trail_find(const struct thread *t, const struct arch_registers *start, uint64_t function)
{
	for (const struct trail *trail = t->trails; trail < t->trails + TRAILS; trail++)
		if (begins(trail, start, function) && holds(trail))
			return trail->node;
	return 0;
}

void trail_note(struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node)
{
	struct trail *trail = t->trails;

	while (trail < t->trails + TRAILS && !(begins(trail, start, function) && trail->node == node))
		trail++;
	if (trail < t->trails + TRAILS) {
		trail->count = unwind_words(&t->unwinder, start, trail->words, TRAIL_WORDS, &trail->with_fp);
		trail->fp = start->value[ARCH_FP];
		return;
	}
	trail = &t->trails[t->trail_next++ % TRAILS];
	trail->pc = start->value[ARCH_PC];
	trail->sp = start->value[ARCH_SP];
	trail->with_fp = false;
	trail->function = function;
	trail->generation = module_generation();
	trail->node = node;
	trail->count = 0;
}

void trail_clear(struct thread *t)
{
	for (unsigned i = 0; i < TRAILS; i++)
		t->trails[i].node = 0;
}
