/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent_stack.c - which spans speak about a stream's line, and which of those that overlap is seen.
 */
#include "timeline/extent_stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/attribute.h"

enum extent_kind extent_kind_of(uint32_t op, bool is_gpu, bool has_samples)
{
	switch (op) {
	case STORE_OP_MONITORED:
		return EXTENT_KIND_MONITORED;
	case STORE_OP_LOST:
		return EXTENT_KIND_LOST;
	case STORE_OP_UNMONITORED:
		return EXTENT_KIND_UNMONITORED;
	case STORE_OP_SYNC:
		return EXTENT_KIND_SYNC;
	case STORE_OP_BLOCKED:
		return EXTENT_KIND_BLOCKED;
	case STORE_OP_RUNNABLE:
		return EXTENT_KIND_RUNNABLE;
	case STORE_OP_NONE:
	case STORE_OP_MARK:
	case STORE_OP_RANGE:
	case STORE_OP_THINNED:
		return EXTENT_KIND_COUNT;
	default:
		/* Samples know better where a thread is. */
		return is_gpu || !has_samples ? EXTENT_KIND_WORK : EXTENT_KIND_COUNT;
	}
}

enum extent_state extent_state_of(uint32_t op, bool is_gpu)
{
	switch (op) {
	case STORE_OP_LOST:
		return EXTENT_LOST;
	case STORE_OP_UNMONITORED:
		return EXTENT_UNMONITORED;
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

enum extent_state extent_copy_state(const char *attributes, size_t size_bytes)
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

bool extent_stack_push(struct extent_stack *stack, const struct extent_span *span)
{
	while (stack->count && stack->spans[stack->count - 1].end_ns <= span->end_ns)
		stack->count--;
	if (stack->count == stack->room) {
		size_t room = stack->room ? stack->room * 2 : 8;
		struct extent_span *spans = realloc(stack->spans, room * sizeof *spans);

		if (!spans)
			return false;
		stack->spans = spans;
		stack->room = room;
	}
	stack->spans[stack->count++] = *span;
	return true;
}

void extent_stack_fini(struct extent_stack *stack)
{
	free(stack->spans);
	*stack = (struct extent_stack){0};
}
