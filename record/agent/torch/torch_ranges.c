/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_ranges.c - ranges of PyTorch (torch.profiler.record_function, and those that PyTorch itself marks:
 * optimizers, loaders of data) become `range` spans of the thread. PyTorch marks each call of an optimizer's
 * step() by a name of its own, whatever the optimizer, so that such a call's end is a step's end:
 *
 *   next(loader)  forward  backward  optimizer.step()  next(loader) ...
 *   [------------------ mark `step` -----------------][----------------
 *
 * The first step begins with the first range that PyTorch tells of in the thread. An optimizer that calls
 * another one's step() counts once. A program that names marks or ranges `step` itself has only its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/agent/gpu/nvtx_name.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/trace.h"
#include "record/agent/torch/torch.h"

#define DEPTH_MAX 32u
#define STEP_PREFIX "Optimizer.step#" /* its class and ".step" follow */
#define OPTIMIZER_BYTES 64u

/* An open range, with the path of its begin. */
struct range {
	const void *function; /* identifies it */
	uint64_t begin_ns;
	uint32_t node, text;
	char optimizer[OPTIMIZER_BYTES]; /* whose step it is; "": it is none */
};

/* Of a thread, in its block. */
struct ranges {
	uint64_t epoch;	  /* of the claim that all of this is of */
	uint64_t step_ns; /* when the current step began; 0: none has */
	uint32_t depth;
	struct range open[DEPTH_MAX];
};

_Static_assert(
	sizeof(struct ranges) <= sizeof(((struct thread *)NULL)->torch_open), "enlarge THREAD_TORCH_WORDS");

static const char *(*name_of)(const void *function);

static struct ranges *ranges_of(struct thread *t)
{
	struct ranges *ranges = (struct ranges *)(void *)t->torch_open;

	if (ranges->epoch != t->epoch) {
		ranges->epoch = t->epoch;
		ranges->step_ns = 0;
		ranges->depth = 0;
	}
	return ranges;
}

/* The innermost open range of that function + 1; 0: there is none. */
static unsigned find(const struct ranges *ranges, const void *function)
{
	unsigned at = ranges->depth;

	while (at && ranges->open[at - 1].function != function)
		at--;
	return at;
}

/* "Optimizer.step#Adam.step": Adam. */
static void optimizer_copy(char to[OPTIMIZER_BYTES], const char *name)
{
	const char *begin = name + strlen(STEP_PREFIX), *end;
	size_t bytes;

	to[0] = '\0';
	if (strncmp(name, STEP_PREFIX, strlen(STEP_PREFIX)) != 0)
		return;
	end = strrchr(begin, '.');
	bytes = end ? (size_t)(end - begin) : strlen(begin);
	if (bytes >= OPTIMIZER_BYTES)
		bytes = OPTIMIZER_BYTES - 1;
	for (size_t i = 0; i < bytes; i++) /* a class's name has none of these, unless it is made up */
		to[i] = begin[i] == ',' || begin[i] == '=' || begin[i] == '\\' ||
					(unsigned char)begin[i] < ' '
				? '_'
				: begin[i];
	to[bytes] = '\0';
	if (!bytes)
		memcpy(to, "?", 2);
}

static void range_open(struct thread *t, const void *function)
{
	const char *name = name_of(function);
	struct nvtx_name text = nvtx_name_ascii(name);
	struct ranges *ranges = ranges_of(t);
	unsigned stale = find(ranges, function);
	struct range *range;

	if (stale) /* it ended in another thread */
		ranges->depth = stale - 1;
	if (ranges->depth == DEPTH_MAX)
		return;
	range = &ranges->open[ranges->depth++];
	range->function = function;
	range->node = trace_callpath(t);
	range->text = nvtx_name_text(t, &text);
	optimizer_copy(range->optimizer, name ? name : "");
	start_stop_step_note(name);
	range->begin_ns = process_now_ns();
	if (!ranges->step_ns)
		ranges->step_ns = range->begin_ns;
}

static void put(struct thread *t, const struct range *range, uint32_t operation, uint64_t begin_ns,
	uint64_t end_ns, uint32_t text)
{
	struct event_span span = {.h.node = range->node,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.operation = operation,
		.attributes = text};

	trace_span(t, EVENT_SPAN, &span);
}

static bool is_step(const struct ranges *ranges, const struct range *range)
{
	if (!range->optimizer[0])
		return false;
	for (unsigned i = 0; i < ranges->depth; i++)
		if (ranges->open[i].optimizer[0])
			return false;
	return true;
}

static void range_close(struct thread *t, const void *function)
{
	struct ranges *ranges = ranges_of(t);
	unsigned at = find(ranges, function);
	uint64_t now_ns = process_now_ns();
	struct range *range;
	char text[sizeof("name=step,optimizer=") + OPTIMIZER_BYTES];

	if (!at)
		return;
	range = &ranges->open[at - 1];
	ranges->depth = at - 1;
	put(t, range, STORE_OP_RANGE, range->begin_ns, now_ns, range->text);
	if (!is_step(ranges, range))
		return;
	snprintf(text, sizeof(text), "name=step,optimizer=%s", range->optimizer);
	if (!start_stop_has_steps())
		put(t, range, STORE_OP_MARK, ranges->step_ns, now_ns, trace_text(t, text));
	ranges->step_ns = now_ns;
}

/* ---- what PyTorch calls ---- */

static void call(void (*work)(struct thread *, const void *), const void *function)
{
	int error = errno;
	struct thread *t = process_is_own() ? trace_begin() : NULL;

	if (t) {
		work(t, function);
		trace_end(t);
	}
	errno = error;
}

__attribute__((used)) static void range_begin(const void *function)
{
	call(range_open, function);
}

TORCH_START(range_start, range_begin)

static void range_end(const void *function, void *context)
{
	(void)context;
	call(range_close, function);
}

void torch_ranges_open(const struct torch_library *torch)
{
	struct torch_callback callback = {.start = (void *)range_start,
		.end = (void *)range_end,
		.probability = 1,
		.scopes = {[TORCH_SCOPE_USER] = 1}};

	name_of = torch->name;
	torch->add(callback);
}
