/* SPDX-License-Identifier: Apache-2.0 */
/* passage.c - see passage.h. */
#include "record/agent/wrap/passage.h"

#include "record/agent/base/wrap.h"
#include "record/agent/sample/handler_stack.h"
#include "record/agent/sample/trace.h"

struct publication {
	struct thread *thread;
	const struct arch_registers *start;
	const void *function;
	const struct wait_call *call;
	struct event_span span;
};

/* On the agent's own stack: the program's may be small, or a fiber's. */
static void publish(void *argument)
{
	struct publication *p = argument;

	p->span.h.node = trace_callpath_from(p->thread, p->start, (uintptr_t)p->function);
	wait_publish_call(p->thread, &p->span, p->call);
	ring_count(&p->thread->ring.shared->handler_ns, process_now_ns() - p->span.end_ns);
}

OWN void passage_end(const struct passage *passage, const void *function, const struct wait_call *call)
{
	struct publication p = {.function = function,
		.call = call,
		.span = {.begin_ns = passage->begin_ns, .operation = STORE_OP_IO}};
	struct arch_registers start;
	struct trace_masked masked;

	if (!passage->begin_ns || !process_is_live() || passage->measurement != adopt_measurement() ||
		!adopt_may_enter() || start_stop_is_off())
		return;
	p.span.end_ns = process_now_ns();
	arch_registers_here(&start);
	p.start = &start;
	p.thread = trace_begin_masked(&masked);
	if (!p.thread)
		return;
	/* The measurement ends only when nobody is inside, so that from here on it stays the same one. */
	if (passage->measurement == adopt_measurement() && thread_stack_take(p.thread)) {
		handler_stack_call(p.thread->handler_stack + HANDLER_STACK_BYTES, publish, &p);
		thread_stack_give(p.thread);
	}
	trace_end_masked(p.thread, &masked);
}
