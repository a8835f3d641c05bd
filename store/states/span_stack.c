/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_stack.c - which spans affect a stream's timeline, and which of overlapping ones is visible.
 */
#include "store/states/span_stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/states/tie_break.h"

enum span_kind span_kind_of(uint32_t op, bool is_gpu, bool has_samples)
{
	switch (op) {
	case STORE_OP_MONITORED:
		return SPAN_KIND_MONITORED;
	case STORE_OP_LOST:
		return SPAN_KIND_LOST;
	case STORE_OP_UNMONITORED:
		return SPAN_KIND_UNMONITORED;
	case STORE_OP_THINNED:
		return SPAN_KIND_THINNED;
	case STORE_OP_SYNC:
		return SPAN_KIND_SYNC;
	case STORE_OP_BLOCKED:
		return SPAN_KIND_BLOCKED;
	case STORE_OP_RUNNABLE:
		return SPAN_KIND_RUNNABLE;
	case STORE_OP_NONE:
	case STORE_OP_MARK:
	case STORE_OP_RANGE:
		return SPAN_KIND_COUNT;
	default:
		/* Samples know better where a thread is. */
		return is_gpu || !has_samples ? SPAN_KIND_WORK : SPAN_KIND_COUNT;
	}
}

enum extent_state span_state_of(uint32_t op, bool is_gpu)
{
	switch (op) {
	case STORE_OP_LOST:
		return EXTENT_LOST;
	case STORE_OP_UNMONITORED:
		return EXTENT_UNMONITORED;
	case STORE_OP_THINNED:
		return EXTENT_UNKNOWN;
	case STORE_OP_SYNC:
		return EXTENT_SYNC;
	case STORE_OP_BLOCKED:
		return EXTENT_BLOCKED;
	case STORE_OP_RUNNABLE:
		return EXTENT_RUNNABLE;
	case STORE_OP_KERNEL:
	case STORE_OP_GRAPH:
		return is_gpu ? EXTENT_KERNEL : EXTENT_WORK;
	default:
		return is_gpu ? EXTENT_SET : EXTENT_WORK;
	}
}

enum extent_state span_copy_state(const char *attributes, size_t size_bytes)
{
	char kind[16] = "";
	size_t size;
	bool from_host, to_host;

	attribute_get(attributes, size_bytes, "kind", kind, sizeof kind);
	size = strlen(kind);
	if (size < 2)
		return EXTENT_SET;
	from_host = toupper((unsigned char)kind[0]) == 'H';
	to_host = toupper((unsigned char)kind[size - 1]) == 'H';
	if (from_host == to_host)
		return EXTENT_SET;
	return from_host ? EXTENT_COPY_IN : EXTENT_COPY_OUT;
}

static bool gives_way(
	const struct tie_names *names, const struct state_span *span, const struct state_span *other)
{
	return span->begin_ns == other->begin_ns && span->end_ns == other->end_ns &&
	       tie_break(names, span, other) < 0;
}

bool span_stack_push(struct span_stack *stack, const struct state_span *span, const struct tie_names *names)
{
	if (stack->count && gives_way(names, span, &stack->spans[stack->count - 1]))
		return true;
	while (stack->count && stack->spans[stack->count - 1].end_ns <= span->end_ns)
		stack->count--;
	if (!array_widen(&stack->spans, &stack->room, stack->count, sizeof *stack->spans))
		return false;
	stack->spans[stack->count++] = *span;
	return true;
}

void span_stack_fini(struct span_stack *stack)
{
	free(stack->spans);
	*stack = (struct span_stack){0};
}
