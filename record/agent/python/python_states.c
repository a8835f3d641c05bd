/* SPDX-License-Identifier: Apache-2.0 */
/* python_states.c - see python_states.h. */
#include "record/agent/python/python_states.h"

#include <pthread.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/python/python_memory.h"

struct search {
	struct python_thread *t;
	const struct python_runtime *runtime;
	uint64_t known, *states;
	unsigned count, seen;
};

/* The states of an interpreter, its newest first. One that is about to run for the first time may have its
 * creator's thread up to 3.11: it has no frames. */
static void interpreter_search(struct search *s, uint64_t interpreter)
{
	const struct python_lists *lists = &s->runtime->lists;
	uint64_t state, thread;

	if (!python_memory_get(s->t, interpreter + lists->threads, &state))
		return;
	for (; state && s->count < PYTHON_STATES_MAX && s->seen < PYTHON_STATES_SEEN; s->seen++) {
		if (!python_memory_get(s->t, state + s->runtime->layout->state_thread, &thread))
			return;
		if (state != s->known && thread == (uint64_t)pthread_self())
			s->states[s->count++] = state;
		if (!python_memory_get(s->t, state + lists->state_next, &state))
			return;
	}
}

HOT unsigned python_states_find(struct python_thread *t, const struct python_runtime *runtime, uint64_t known,
	uint64_t states[PYTHON_STATES_MAX])
{
	const struct python_lists *lists = &runtime->lists;
	struct search s = {.t = t, .runtime = runtime, .known = known, .states = states};
	uint64_t interpreter, next;

	if (!python_memory_get(t, runtime->base + lists->interpreters, &interpreter) || !interpreter ||
		!python_memory_get(t, interpreter + lists->interpreter_next, &next) || !next)
		return 0;
	while (s.seen < PYTHON_STATES_SEEN) {
		interpreter_search(&s, interpreter);
		s.seen++;
		if (!next)
			break;
		interpreter = next;
		if (!python_memory_get(t, interpreter + lists->interpreter_next, &next))
			break;
	}
	return s.count;
}
