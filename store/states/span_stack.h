/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_stack.h - the state that a span gives its stream's timeline, and the open spans of one kind at a
 * moment.
 *
 * A span that begins later hides the earlier ones until it ends. So an earlier one that ends first never
 * shows again and is removed: towards the top of the stack begins rise and ends fall.
 */
#ifndef STORE_SPAN_STACK_H
#define STORE_SPAN_STACK_H

#include "store/store.h"

#define EXTENT_STATES(X)                                                                 \
	X(ABSENT, "absent", ' ') /* before the stream's begin or after its end */        \
	X(WORK, "work", '=')	 /* CPU code in a context */                             \
	X(KERNEL, "kernel", '#')                                                         \
	X(COPY_IN, "copy", '>')	 /* host to device */                                    \
	X(COPY_OUT, "copy", '<') /* device to host */                                    \
	X(SET, "set", '^')	 /* memory set, copy on the device, other device work */ \
	X(SYNC, "sync", '~')	 /* waiting in a synchronization call */                 \
	X(IDLE, "idle", '.')	 /* GPU queue without work */                            \
	X(BLOCKED, "blocked", '-')                                                       \
	X(RUNNABLE, "runnable", '/') /* ready, waiting for a core */                     \
	X(UNMONITORED, "unmonitored", '?')                                               \
	X(LOST, "lost", '!')                                                             \
	X(UNKNOWN, "unknown", '\'')
enum extent_state {
#define X(name, text, glyph) EXTENT_##name,
	EXTENT_STATES(X)
#undef X
		EXTENT_STATE_COUNT
};

/* True for states in which work is done. */
static inline bool span_state_is_busy(enum extent_state state)
{
	return state >= EXTENT_WORK && state <= EXTENT_SET;
}

enum span_kind {
	SPAN_KIND_MONITORED,
	SPAN_KIND_LOST,
	SPAN_KIND_UNMONITORED,
	SPAN_KIND_THINNED, /* the timeline's records here were dropped */
	SPAN_KIND_SYNC,
	SPAN_KIND_BLOCKED,
	SPAN_KIND_RUNNABLE,
	SPAN_KIND_WORK,
	SPAN_KIND_COUNT
};

/* COUNT: it has no effect on the timeline (marks, ranges, a CPU thread's other spans beside its samples). */
enum span_kind span_kind_of(uint32_t op, bool is_gpu, bool has_samples);
enum extent_state span_state_of(uint32_t op, bool is_gpu);
/* By the attribute kind=: H2D, D2H, HtoD, D2D, ... */
enum extent_state span_copy_state(const char *attributes, size_t size_bytes);

struct state_span {
	uint64_t begin_ns, end_ns;
	uint64_t serial;
	uint32_t context, op;
	enum extent_state state;
};

struct span_stack {
	struct state_span *spans;
	size_t count, room;
};

/* False: no memory. Push spans by begin, then end; of spans equal in both one is kept (tie_break.h). */
struct tie_names;
bool span_stack_push(struct span_stack *stack, const struct state_span *span, const struct tie_names *names);
void span_stack_fini(struct span_stack *stack);

/* The latest-begun span that has not ended at now_ns; NULL: none. now_ns never decreases. */
static inline const struct state_span *span_stack_top(struct span_stack *stack, uint64_t now_ns)
{
	while (stack->count && stack->spans[stack->count - 1].end_ns <= now_ns)
		stack->count--;
	return stack->count ? &stack->spans[stack->count - 1] : NULL;
}

#endif
