/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent_stack.h - for extent.c alone: what a span means to the line, and the spans of one kind that hold at
 * a moment.
 *
 * A span that begins later covers what began before it until it ends, so what ends before it never
 * shows again and leaves: towards the top, begins rise and ends fall.
 */
#ifndef TIMELINE_EXTENT_STACK_H
#define TIMELINE_EXTENT_STACK_H

#include "timeline/extent.h"

enum extent_kind {
	EXTENT_KIND_MONITORED,
	EXTENT_KIND_LOST,
	EXTENT_KIND_UNMONITORED,
	EXTENT_KIND_SYNC,
	EXTENT_KIND_BLOCKED,
	EXTENT_KIND_RUNNABLE,
	EXTENT_KIND_WORK,
	EXTENT_KIND_COUNT
};

/* COUNT: it says nothing about the line (marks, ranges, a CPU thread's other spans beside its samples). */
enum extent_kind extent_kind_of(uint32_t op, bool is_gpu, bool has_samples);
enum extent_state extent_state_of(uint32_t op, bool is_gpu);
/* By the attribute kind=: H2D, D2H, HtoD, D2D, ... */
enum extent_state extent_copy_state(const char *attributes, size_t size_bytes);

struct extent_span {
	uint64_t begin_ns, end_ns;
	uint64_t serial;
	uint32_t context, op;
	enum extent_state state;
};

struct extent_stack {
	struct extent_span *spans;
	size_t count, room;
};

/* False when memory is out. Spans come by begin, then end. */
bool extent_stack_push(struct extent_stack *stack, const struct extent_span *span);
void extent_stack_fini(struct extent_stack *stack);

/* The span that began last of those that have not ended at now_ns; NULL: none. now_ns never falls. */
static inline const struct extent_span *extent_stack_top(struct extent_stack *stack, uint64_t now_ns)
{
	while (stack->count && stack->spans[stack->count - 1].end_ns <= now_ns)
		stack->count--;
	return stack->count ? &stack->spans[stack->count - 1] : NULL;
}

#endif
