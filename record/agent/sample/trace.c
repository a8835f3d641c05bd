/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - see trace.h. */
#include "record/agent/sample/trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sample/adopt.h"
#include "record/agent/sample/callpath.h"
#include "record/agent/sample/callpath_cache.h"
#include "record/agent/sample/sample.h"

#define TEXTS_MAX (1u << 22) /* of one claim: the collector stores a number for each */

void trace_init(struct thread *t)
{
	static _Atomic uint64_t epochs;

	t->epoch = atomic_fetch_add_explicit(&epochs, 1, memory_order_relaxed) + 1;
	t->is_tracing = false;
	t->deferred_ns = 0;
	if (t->text_count) /* otherwise they are zero, and mostly untouched pages */
		memset(t->texts, 0, sizeof(t->texts));
	t->text_count = 0;
	t->wait_frame = 0;
	t->polled_end_ns = 0;
	callpath_cache_clear(t);
	atomic_store_explicit(&t->ring.shared->wait_begin_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->ring.shared->wait_node, 0, memory_order_relaxed);
}

struct thread *trace_begin(void)
{
	bool is_injected = process.settings.injected;
	struct thread *t = is_injected ? adopt_enter((uintptr_t)__builtin_frame_address(0)) : thread_self();

	if (!t || t->ring.busy) {
		if (is_injected)
			adopt_leave();
		return NULL;
	}
	t->is_tracing = true;
	atomic_signal_fence(memory_order_seq_cst);
	ring_enter(&t->ring);
	return t;
}

/* A signal may come until the ring is left, and again while its sample is taken. */
void trace_end(struct thread *t)
{
	for (;;) {
		uint64_t weight;

		ring_leave(&t->ring);
		if (!t->deferred_ns)
			break;
		ring_enter(&t->ring);
		/* Exchange atomically: a signal between a read and a clear would lose its weight. */
		weight = __atomic_exchange_n(&t->deferred_ns, 0, __ATOMIC_RELAXED);
		if (!sample_try(t, t->node, weight, process_now_ns()))
			sample_save(t, weight);
	}
	atomic_signal_fence(memory_order_seq_cst);
	t->is_tracing = false;
	if (process.settings.injected)
		adopt_leave();
}

struct thread *trace_begin_masked(struct trace_masked *masked)
{
	uint64_t all = UINT64_MAX;
	struct thread *t = NULL;

	masked->error = errno;
	if (process_is_own() &&
		!syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &masked->before, sizeof(all))) {
		t = trace_begin();
		if (!t)
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &masked->before, NULL, sizeof(all));
	}
	errno = masked->error;
	return t;
}

void trace_end_masked(struct thread *t, const struct trace_masked *masked)
{
	trace_end(t);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &masked->before, NULL, sizeof(masked->before));
	errno = masked->error;
}

static uint32_t callpath_from(
	struct thread *t, const struct arch_registers *start, uint64_t function, bool *is_partial)
{
	const struct callpath_begin begin = {start, function, callpath_beside(t)};
	uint32_t node = callpath_cache_find(t, &begin);

	*is_partial = false;
	if (node)
		return node;
	if (callpath_open_into(t, start, function, 0, 0, &node) != CALLPATH_OPEN) {
		*is_partial = true;
		return thread_partial_root(t);
	}
	*is_partial = thread_root_is_partial(t->callpath_root);
	if (!*is_partial)
		callpath_cache_note(t, &begin, node);
	return node;
}

static uint32_t callpath_into(struct thread *t, uint64_t function, bool *is_partial)
{
	struct arch_registers start;

	arch_registers_here(&start);
	return callpath_from(t, &start, function, is_partial);
}

/* Samples deferred from here on belong to the caller's path. */
uint32_t trace_callpath(struct thread *t)
{
	t->node = callpath_into(t, 0, &t->node_is_partial);
	return t->node;
}

uint32_t trace_callpath_into(struct thread *t, uint64_t function)
{
	bool is_partial;

	return callpath_into(t, function, &is_partial);
}

uint32_t trace_callpath_from(struct thread *t, const struct arch_registers *start, uint64_t function)
{
	bool is_partial;

	return callpath_from(t, start, function, &is_partial);
}

uint32_t trace_callpath_walk(struct thread *t)
{
	callpath_cache_clear(t);
	return trace_callpath(t);
}

uint64_t trace_text_hash(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++) /* FNV-1a */
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

uint32_t trace_text(struct thread *t, const char *text)
{
	size_t length = strnlen(text, TRACE_TEXT_BYTES_MAX);

	return trace_text_hashed(t, text, length, trace_text_hash(text, length));
}

uint32_t trace_text_hashed(struct thread *t, const char *text, size_t length, uint64_t hash)
{
	uint64_t bytes = sizeof(struct event_text) + length;
	struct trace_text *known = &t->texts[hash & (TRACE_TEXTS - 1)];
	struct event_text *record;

	if (known->hash == hash)
		return known->id;
	if (!length || t->text_count == TEXTS_MAX ||
		!ring_begin(&t->ring, bytes + 8, bytes + 8, process_now_ns()))
		return 0;
	record = ring_put(&t->ring, EVENT_TEXT, 0, (uint32_t)length, bytes);
	record->id = ++t->text_count;
	memcpy(record->bytes, text, length);
	ring_commit(&t->ring);
	*known = (struct trace_text){hash, t->text_count};
	return t->text_count;
}

void trace_span(struct thread *t, uint8_t type, const struct event_span *span)
{
	struct event_header header;
	struct event_span *record;
	uint64_t now_ns = span->end_ns ? span->end_ns : span->begin_ns;

	if (!ring_begin(&t->ring, sizeof(*record), sizeof(*record), now_ns)) {
		ring_lose_kind(&t->ring, RING_LOST_FULL, EVENT_LOST_SPAN, 0, now_ns);
		return;
	}
	record = ring_put(&t->ring, type, 0, span->h.node, sizeof(*record));
	header = record->h;
	*record = *span;
	record->h = header;
	ring_commit(&t->ring);
}

void trace_launch(struct thread *t, uint32_t node, uint64_t correlation, uint64_t begin_ns, uint64_t end_ns,
	uint8_t flags)
{
	struct event_launch *record;

	if (!ring_begin(&t->ring, sizeof(*record), sizeof(*record), end_ns)) {
		ring_lose_kind(&t->ring, RING_LOST_FULL, EVENT_LOST_LAUNCH, 0, end_ns);
		return;
	}
	record = ring_put(&t->ring, EVENT_LAUNCH, flags, node, sizeof(*record));
	record->correlation = correlation;
	record->begin_ns = begin_ns;
	record->end_ns = end_ns;
	ring_commit(&t->ring);
}
