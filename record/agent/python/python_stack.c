/* SPDX-License-Identifier: Apache-2.0 */
/* python_stack.c - see python_stack.h. python_code.c names the code of a frame. */
#include "record/agent/python/python_stack.h"

#include "record/agent/base/hot_section.h"
#include "record/agent/python/python_code.h"
#include "record/agent/python/python_memory.h"
#include "record/agent/python/python_states.h"

#define FRAME_BYTES 80u		/* from 3.11 on: up to its local variables */
#define FRAME_OBJECT_BYTES 112u /* before: the fields that are read */
#define SOUND_FRAMES 64u	/* so many that go on are no accident */

struct walk {
	struct python_thread *t;
	const struct python_runtime *runtime;
	uint64_t frame;
	uint64_t control; /* that the frames belong to; 0: there are none in this version */
	unsigned segment; /* the first frame that has no marker yet */
};

enum walked { WALK_ON, WALK_END, WALK_BAD };

/* It is the outermost one of its C frame, or stands for a call from C. */
static inline bool is_entry(const struct python_layout *layout, uint64_t at)
{
	return layout->frame_is_entry ? python_memory_byte(at + layout->frame_is_entry) != 0
				      : layout->owner_entry && python_memory_byte(at + layout->frame_owner) >=
								       layout->owner_entry;
}

static bool frame_read(struct walk *w, struct python_frame_read *read)
{
	const struct python_layout *layout = w->runtime->layout;
	uint64_t at = w->frame;

	if (at % 8 || !python_memory_is_readable(w->t, at,
			      layout->entry == PYTHON_ENTRY_EACH ? FRAME_OBJECT_BYTES : FRAME_BYTES))
		return false;
	read->previous = python_memory_word(at + layout->frame_previous);
	read->code = python_memory_word(at + layout->frame_code) & ~UINT64_C(7);
	read->owner = layout->frame_owner ? python_memory_byte(at + layout->frame_owner) : 0;
	read->is_entry = is_entry(layout, at);
	read->instruction = layout->instruction_bytes ? (uint64_t)(int64_t)(int32_t)python_memory_u32(
								at + layout->frame_instruction)
						      : python_memory_word(at + layout->frame_instruction);
	return true;
}

/* After the last frame of a control frame: those of the one before it go on. */
static bool control_leave(struct walk *w)
{
	const struct python_layout *layout = w->runtime->layout;
	uint64_t control, expected;

	if (!python_memory_get(w->t, w->control + layout->control_previous, &control) || !control ||
		!python_memory_get(w->t, control + layout->control_frame, &expected) || expected != w->frame)
		return false;
	w->control = control;
	return true;
}

/* An outermost frame of its C frame was taken. */
static bool segment_leave(struct walk *w, uint64_t marker)
{
	if (w->control && !control_leave(w))
		return false;
	w->t->asks_anew = false;
	for (; w->segment < w->t->count; w->segment++)
		w->t->frames[w->segment].marker = marker;
	return true;
}

HOT static enum walked frame_take(struct walk *w)
{
	const struct python_layout *layout = w->runtime->layout;
	uint64_t marker = layout->entry == PYTHON_ENTRY_CONTROL ? w->control : w->frame, place = 0;
	struct python_thread *t = w->t;
	struct python_frame_read read;
	enum python_code_result named = PYTHON_CODE_SKIP;

	if (!frame_read(w, &read))
		return WALK_BAD;
	if (!read.is_entry || layout->entry == PYTHON_ENTRY_CONTROL)
		named = python_code_place(t, w->runtime, &read, &place);
	if (named == PYTHON_CODE_BAD)
		return WALK_BAD;
	if (named == PYTHON_CODE_NAMED && t->count == PYTHON_FRAMES_MAX) {
		t->is_cut = true;
		return WALK_END;
	}
	if (named == PYTHON_CODE_NAMED)
		t->frames[t->count++] =
			(struct python_frame){place, layout->entry == PYTHON_ENTRY_EACH ? 0 : UINT64_MAX};
	w->frame = read.previous;
	if (read.is_entry && !segment_leave(w, marker))
		return WALK_BAD;
	return w->frame ? WALK_ON : WALK_END;
}

/* Begins with the frames of the control frame further out. */
static bool control_give_up(struct walk *w)
{
	const struct python_layout *layout = w->runtime->layout;

	return w->control && python_memory_get(w->t, w->control + layout->control_previous, &w->control) &&
	       w->control && python_memory_get(w->t, w->control + layout->control_frame, &w->frame);
}

/* In 3.11 and 3.12 a new control frame is in force some instructions before it knows its frame: what it seems
 * to hold is anything, mostly the frame of an earlier call, whose code may be gone. Then the frames do not go
 * on where those of the control frame before it do; or it is a single frame, which an earlier call from the
 * same place left: its code is read with care, too. */
static bool control_is_sound(struct walk *w)
{
	const struct python_layout *layout = w->runtime->layout;
	struct walk look = *w;
	uint64_t met = w->frame, at;
	unsigned steps = 0;

	w->t->asks_anew = true;
	for (; look.frame && steps < SOUND_FRAMES; steps++) {
		at = look.frame;
		if (at % 8 || !python_memory_is_readable(w->t, at, FRAME_BYTES))
			return false;
		look.frame = python_memory_word(at + layout->frame_previous);
		if (is_entry(layout, at)) {
			w->t->asks_anew = !steps;
			return control_leave(&look);
		}
		if (look.frame == met) /* a ring, of frames that are gone */
			return false;
		if (!(steps & (steps + 1)))
			met = look.frame;
	}
	w->t->asks_anew = false;
	return steps == SOUND_FRAMES;
}

#define CHUNK_SIZE 8 /* in struct _PyStackChunk */
#define CHUNK_BYTES_MAX (1u << 20)

/* A generator's object goes on at least so far behind its exception state, with its frame. */
#define GENERATOR_REST 96u
#define STATE_BYTES 4096u /* a thread state is smaller: without a generator the exception state is in it */

static void sure_take_generator(struct walk *w, uint64_t state)
{
	struct python_thread *t = w->t;
	uint64_t exceptions;

	t->sure_pages[2] = 0;
	if (!python_memory_get(t, state + w->runtime->layout->state_exceptions, &exceptions) ||
		exceptions - state < STATE_BYTES)
		return;
	t->sure_page[2] = exceptions >> 12;
	t->sure_pages[2] = ((exceptions + GENERATOR_REST) >> 12) + 1 - t->sure_page[2];
}

/* Pages that are there for sure: of the chunk where the thread makes its frames now, of the C stack around
 * the control frame, and of the innermost generator that runs. */
static void sure_take(struct walk *w, uint64_t state)
{
	struct python_thread *t = w->t;
	uint64_t chunk, bytes;

	t->sure_page[0] = w->control >> 12;
	t->sure_pages[0] = 2;
	t->sure_pages[1] = 0;
	sure_take_generator(w, state);
	if (!python_memory_get(t, state + w->runtime->layout->state_chunk, &chunk) || !chunk ||
		!python_memory_get(t, chunk + CHUNK_SIZE, &bytes) || bytes > CHUNK_BYTES_MAX)
		return;
	t->sure_page[1] = chunk >> 12;
	t->sure_pages[1] = bytes >> 12;
}

HOT static void walk(struct walk *w)
{
	enum walked walked = w->frame ? WALK_ON : WALK_END;

	for (unsigned steps = 0; walked == WALK_ON && steps < 2 * PYTHON_FRAMES_MAX; steps++) {
		walked = frame_take(w);
		if (walked == WALK_BAD && w->t->asks_anew) {
			w->t->asks_anew = false;
			walked = control_give_up(w) && w->frame ? WALK_ON : WALK_END;
		}
	}
	if (walked != WALK_END)
		w->t->is_cut = true;
	w->t->asks_anew = false;
}

/* Pages may go away, seldom: where other threads free what a stale frame still shows. */
static void pages_age(struct python_thread *t)
{
	if (++t->walks % PYTHON_PAGE_WALKS)
		return;
	for (unsigned i = 0; i < PYTHON_PAGES; i++) {
		t->page[i][0] = t->page[i][1] = 0;
		hot_loop();
	}
}

/* Adds the frames of a thread state. */
HOT static void state_walk(struct python_thread *t, const struct python_runtime *runtime, uint64_t state)
{
	const struct python_layout *layout = runtime->layout;
	struct walk w = {.t = t, .runtime = runtime, .segment = t->count};
	uint64_t first;

	if (!python_memory_get(t, state + layout->state_frame, &first))
		return;
	w.frame = first;
	if (layout->control_frame || layout->control_previous) {
		w.control = first;
		if (!first || !python_memory_get(t, first + layout->control_frame, &w.frame))
			return;
		sure_take(&w, state);
		if (!control_is_sound(&w)) {
			t->asks_anew = false;
			if (!control_give_up(&w))
				return;
		}
	}
	walk(&w);
}

static void frames_reverse(struct python_frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count / 2; i++) {
		struct python_frame other = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = other;
	}
}

/* Frames [from, to) go before those at `at`. */
static void frames_move(struct python_frame *frames, unsigned at, unsigned from, unsigned to)
{
	if (at == from)
		return;
	frames_reverse(frames + at, from - at);
	frames_reverse(frames + from, to - from);
	frames_reverse(frames + at, to - at);
}

/* The frames from `from` on are another state's: those of a C frame go where its place on the stack is. Where
 * that is not known they are further in than those of the first state, further out than those of the `inner`
 * frames, of newer interpreters. */
static void frames_place(struct python_thread *t, unsigned from, unsigned inner)
{
	for (unsigned to; from < t->count; from = to) {
		uint64_t marker = t->frames[from].marker;
		unsigned at = marker ? 0 : inner;

		for (to = from + 1; to < t->count && t->frames[to].marker == marker; to++)
			;
		while (marker && at < from && t->frames[at].marker <= marker)
			at++;
		frames_move(t->frames, at, from, to);
	}
}

/* Frames of other interpreters that are on the thread's stack. */
static void others_walk(struct python_thread *t, const struct python_runtime *runtime, uint64_t known)
{
	uint64_t states[PYTHON_STATES_MAX];
	unsigned count = python_states_find(t, runtime, known, states), inner = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned from = t->count;

		state_walk(t, runtime, states[i]);
		frames_place(t, from, inner);
		inner += t->count - from;
	}
}

HOT bool python_stack_read(struct python_thread *t, const struct python_runtime *runtime)
{
	uint64_t state = (uintptr_t)runtime->state_get();

	t->count = 0;
	t->is_cut = false;
	t->file = 0;
	t->asked = 0;
	/* While the interpreter ends it frees the states of threads that still run. */
	if (!state || runtime->is_finalizing())
		return false;
	pages_age(t);
	state_walk(t, runtime, state);
	others_walk(t, runtime, state);
	return true;
}

uint64_t python_stack_hash(const struct python_thread *t)
{
	uint64_t hash = t->count;

	for (unsigned i = 0; i < t->count; i++) {
		hash = (hash ^ t->frames[i].place) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}
