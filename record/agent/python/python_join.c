/* SPDX-License-Identifier: Apache-2.0 */
/* python_join.c - see python_join.h. */
#include "record/agent/python/python_join.h"

#include "record/agent/base/hot_section.h"

/* A merge from the outer end, in place: what is written never overtakes what is read. */
struct join {
	const struct python_thread *t;
	const struct python_runtime *runtime;
	struct unwind_frame *frames;
	unsigned count; /* C frames that are left, at the buffer's begin */
	unsigned at;	/* the outermost place that is not written */
	unsigned left;	/* Python frames that are left */
	uint64_t end;	/* where the memory of the next C frame ends; 0: unknown */
};

static void python_put(struct join *j)
{
	uint64_t place = j->t->frames[--j->left].place;

	j->frames[--j->at] = (struct unwind_frame){.address = place,
		.slot = j->runtime->python_slot,
		.exact = 1,
		.function = (uint32_t)(place >> EVENT_PYTHON_LINE_BITS) * 2654435761u};
}

/* A frame's memory ends where its caller's begins, unless the stack was switched in between. */
static bool is_inside(uint64_t marker, const struct unwind_frame *frame, uint64_t end)
{
	return marker >= frame->sp && (end <= frame->sp || marker < end);
}

static bool is_interpreter(const struct join *j, const struct unwind_frame *frame)
{
	return frame->slot == j->runtime->slot;
}

/* The Python frames that the next C frame runs. */
static unsigned run_by(const struct join *j, uint32_t evaluate)
{
	const struct unwind_frame *frame = &j->frames[j->count - 1];
	unsigned count = 0;

	if (!j->left || !is_interpreter(j, frame))
		return 0;
	if (j->runtime->layout->entry == PYTHON_ENTRY_EACH)
		return frame->function == evaluate;
	while (count < j->left && is_inside(j->t->frames[j->left - 1 - count].marker, frame, j->end))
		count++;
	return count;
}

/* Python frames outside all C frames that are known. */
static unsigned outside(const struct join *j, uint32_t evaluate, bool is_whole)
{
	unsigned evaluates = 0, count = 0;

	if (j->runtime->layout->entry == PYTHON_ENTRY_EACH) {
		for (unsigned i = 0; i < j->count; i++)
			evaluates += is_interpreter(j, &j->frames[i]) && j->frames[i].function == evaluate;
		return is_whole || evaluates >= j->left ? 0 : j->left - evaluates;
	}
	while (count < j->left && j->t->frames[j->left - 1 - count].marker == UINT64_MAX)
		count++;
	if (is_whole || !j->count || is_interpreter(j, &j->frames[j->count - 1]))
		return count;
	/* The outermost C frame is an extension's: it ends at an unknown place, and runs none itself. */
	while (count < j->left && j->t->frames[j->left - 1 - count].marker >= j->frames[j->count - 1].sp)
		count++;
	return count;
}

static uint16_t slot_of(const struct join *j, const struct unwind_frame *frame)
{
	if (is_interpreter(j, frame))
		return j->runtime->hidden_slot;
	for (unsigned i = 0; i < PYTHON_BESIDE_COUNT; i++) {
		uint32_t pair = atomic_load_explicit(&python_beside[i], memory_order_relaxed);

		if (pair && pair >> 16 == frame->slot)
			return (uint16_t)pair;
	}
	return frame->slot;
}

HOT unsigned python_join(const struct python_thread *t, const struct python_runtime *runtime,
	struct unwind_frame *frames, unsigned count, unsigned most, uint32_t evaluate, bool is_whole)
{
	struct join j = {.t = t, .runtime = runtime, .frames = frames, .count = count, .left = t->count};
	unsigned total;

	if (j.left > most - count) {
		j.left = most - count;
		is_whole = false;
	}
	total = j.at = count + j.left;
	if (!j.left)
		return count;
	for (unsigned n = outside(&j, evaluate, is_whole); n; n--)
		python_put(&j);
	while (j.count) {
		struct unwind_frame frame = frames[j.count - 1];
		unsigned n = run_by(&j, evaluate);

		j.end = frame.sp;
		j.count--;
		frame.slot = slot_of(&j, &frame);
		frames[--j.at] = frame;
		for (; n; n--)
			python_put(&j);
	}
	while (j.left)
		python_put(&j);
	return total;
}
