/* SPDX-License-Identifier: Apache-2.0 */
/* trail.c - see trail.h. Callers of one depth begin alike: only the words tell which of them it is. */
#include "record/agent/trail.h"

#include "record/agent/module.h"
#include "record/agent/thread.h"

static bool begins(const struct trail *trail, const struct arch_registers *start, uint64_t function)
{
	return trail->sp == start->value[ARCH_SP] && trail->pc == start->value[ARCH_PC] &&
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

static unsigned used(const struct thread *t)
{
	return t->trail_next < TRAILS ? t->trail_next : TRAILS;
}

uint32_t trail_find(const struct thread *t, const struct arch_registers *start, uint64_t function)
{
	for (const struct trail *trail = t->trails; trail < t->trails + used(t); trail++)
		if (begins(trail, start, function) && holds(trail))
			return trail->node;
	return 0;
}

static void keep(struct trail *trail, struct unwinder *unwinder, const struct arch_registers *start)
{
	trail->with_fp = false;
	trail->count = unwind_words(unwinder, start, trail->words, TRAIL_WORDS, &trail->with_fp);
	trail->with_fp &= trail->count > 0;
	trail->fp = start->value[ARCH_FP];
}

/* What cannot be kept now, as rules had to make room for others, may be later: tried ever more seldom. */
static bool is_due(const struct trail *trail)
{
	return trail->count || !(trail->walks & (trail->walks - 1));
}

void trail_note(struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node)
{
	struct trail *trail = t->trails, *end = t->trails + used(t);

	while (trail < end && !(begins(trail, start, function) && trail->node == node))
		trail++;
	if (trail < end) {
		trail->walks++;
		if (is_due(trail))
			keep(trail, &t->unwinder, start);
		return;
	}
	trail = &t->trails[t->trail_next++ % TRAILS];
	trail->pc = start->value[ARCH_PC];
	trail->sp = start->value[ARCH_SP];
	trail->with_fp = false;
	trail->function = function;
	trail->generation = t->generation; /* that of the caches it was walked with */
	trail->node = node;
	trail->walks = 1;
	trail->count = 0;
}

/* The memory of threads that never ask for a path stays untouched. */
void trail_clear(struct thread *t)
{
	t->trail_next = 0;
}
