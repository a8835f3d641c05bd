/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - records that wrappers publish for the calling thread: spans, launches, texts, on the call path of
 * the wrapper's caller. Not signal safe.
 *
 *   t = trace_begin()  -- NULL: not measured, or we interrupted our own publication
 *   node = trace_callpath(t); text = trace_text(t, "..."); trace_span(t, &span);
 *   trace_end(t)       -- takes samples that came meanwhile at `node`: none is lost
 *
 * Records that do not fit are dropped and counted in the thread's losses. The wrapper saves errno, unless it
 * uses trace_begin_masked.
 */
#ifndef RECORD_AGENT_TRACE_H
#define RECORD_AGENT_TRACE_H

#include "record/agent/sample/thread.h"

#define TRACE_TEXT_BYTES_MAX 1024u

/* Once per claim of a ring. */
void trace_init(struct thread *t);

/* Enters the calling thread's ring. */
struct thread *trace_begin(void);
void trace_end(struct thread *t);

/* The same with all signals blocked: a handler that leaves by longjmp, or cancels the thread, would leave the
 * ring entered. NULL in a vfork child, too: it has its parent's ring, and must not write there. The pair
 * keeps errno. */
struct trace_masked {
	uint64_t before;
	int error;
};
struct thread *trace_begin_masked(struct trace_masked *masked);
void trace_end_masked(struct thread *t, const struct trace_masked *masked);

/* Node of the calling thread's path, without the agent's own frames; valid during the ring's claim. A
 * partial root on failure. About 0.2 us on a known path, a tenth of that if the path equals the last one
 * (callpath_cache.h). */
uint32_t trace_callpath(struct thread *t);

/* Always unwinds: the frames are then t->callpath[0 .. t->callpath_count). */
uint32_t trace_callpath_walk(struct thread *t);

/* With `function`, which is wrapped, as the innermost frame. */
uint32_t trace_callpath_into(struct thread *t, uint64_t function);

/* The same from registers of a frame that has not returned (arch_registers_here), so that the caller may ask
 * callpath_cache_find for them first. */
uint32_t trace_callpath_from(struct thread *t, const struct arch_registers *start, uint64_t function);

/* Id of a string in this ring, 0: none. Caches some thousand strings. */
uint32_t trace_text(struct thread *t, const char *text);

/* With a precomputed hash, for names that are used repeatedly. At most TRACE_TEXT_BYTES_MAX. */
uint32_t trace_text_hashed(struct thread *t, const char *text, size_t length, uint64_t hash);

/* Never 0. */
uint64_t trace_text_hash(const char *text, size_t length);

/* One record. `span->h` needs only its node; type is EVENT_SPAN, EVENT_OPEN or EVENT_CLOSE. */
void trace_span(struct thread *t, uint8_t type, const struct event_span *span);

/* This thread started GPU operation `correlation` in a call from begin_ns to end_ns. */
void trace_launch(struct thread *t, uint32_t node, uint64_t correlation, uint64_t begin_ns, uint64_t end_ns,
	uint8_t flags);

#endif
