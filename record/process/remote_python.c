/* SPDX-License-Identifier: Apache-2.0 */
/* remote_python.c - see remote_python.h. remote_python_code.c names the code of a frame. */
#include "record/process/remote_python_internal.h"

#include <stdlib.h>
#include <string.h>

#include "record/agent/python/python_join.h"
#include "record/process/remote_symbols.h"

#define STATES_MAX 4096u
#define STATES_AGE 64u /* readings after which the list of states is read anew */
#define THREAD_BYTES 2048u
#define FRAME_BYTES 80u
#define TRIES 3

/* ---- the interpreter ---- */

static uint64_t symbol_of(const struct python_symbols *symbols, const char *name, uint64_t shift)
{
	uint64_t here = python_symbols_find(symbols, name);

	return here ? here + shift : 0;
}

/* Py_Version, a variable since 3.11, is 0x03MMuuRS. */
static unsigned minor_of(const struct python_symbols *symbols)
{
	const unsigned long *version = (const void *)(uintptr_t)python_symbols_find(symbols, "Py_Version");

	return version && *version >> 24 == 3 ? *version >> 16 & 0xff : 1;
}

/* Fills what is known by name. False: no interpreter; *minor: one that cannot be read. */
static bool names_take(
	struct remote_python *python, const struct python_symbols *symbols, uint64_t shift, unsigned *minor)
{
	python->runtime = symbol_of(symbols, "_PyRuntime", shift);
	if (!python->runtime)
		return false;
	*minor = minor_of(symbols);
	python->layout = python_layout_find(*minor);
	python->code_type = symbol_of(symbols, "PyCode_Type", shift);
	python->string_type = symbol_of(symbols, "PyUnicode_Type", shift);
	python->bytes_type = symbol_of(symbols, "PyBytes_Type", shift);
	return python->layout && python->layout->state_next && python->code_type && python->string_type &&
	       python->bytes_type && !python_symbols_find(symbols, "_Py_NegativeRefcount");
}

static bool module_look(
	struct remote_python *python, const struct remote_unwind_module *module, unsigned *minor)
{
	struct remote_symbols symbols;
	bool is_known;

	if (!remote_symbols_open(&symbols, python->pid, module))
		return false;
	is_known = names_take(python, &symbols.table, symbols.shift, minor);
	remote_symbols_close(&symbols);
	return is_known;
}

/* "python3.11", "libpython3.11.so.1.0" */
static bool may_be(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path;

	return base && (!strncmp(base, "python", 6) || !strncmp(base, "libpython", 9));
}

struct remote_python *remote_python_open(const struct remote_unwind_modules *modules, unsigned *minor)
{
	struct remote_python *python = calloc(1, sizeof(*python));

	*minor = 0;
	if (!python)
		return NULL;
	python->pid = modules->pid;
	for (unsigned i = 0; i < modules->count; i++)
		if (may_be(modules->list[i].path) && module_look(python, &modules->list[i], minor))
			return python;
	free(python);
	return NULL;
}

void remote_python_free(struct remote_python *python)
{
	if (!python)
		return;
	remote_python_codes_free(python);
	free(python->states);
	free(python);
}

/* ---- thread states ---- */

bool remote_python_get(const struct remote_python *python, uint64_t address, void *to, size_t bytes)
{
	return address && !remote_unwind_read(python->pid, address, to, bytes);
}

static bool word_get(const struct remote_python *python, uint64_t address, uint64_t *word)
{
	return address % 8 == 0 && remote_python_get(python, address, word, sizeof(*word));
}

static bool states_read(struct remote_python *python)
{
	const struct python_layout *layout = python->layout;
	uint64_t interpreter, at;

	python->state_count = 0;
	python->age = 0;
	if (!word_get(python, python->runtime + layout->runtime_interpreters, &interpreter) ||
		!word_get(python, interpreter + layout->interpreter_threads, &at))
		return false;
	while (at && python->state_count < STATES_MAX) {
		struct remote_python_state state = {.address = at};

		if (python->state_count == python->state_room) {
			uint32_t room = python->state_room ? 2 * python->state_room : 16;
			struct remote_python_state *grown = realloc(python->states, room * sizeof(*grown));

			if (!grown)
				return false;
			python->states = grown;
			python->state_room = room;
		}
		if (!word_get(python, at + layout->state_thread, &state.thread) ||
			!word_get(python, at + layout->state_next, &at))
			return false;
		python->states[python->state_count++] = state;
	}
	return true;
}

/* A state names its thread by pthread_self(), where libc keeps, among others, the kernel's number. */
static bool is_of(const struct remote_python *python, struct remote_python_state *state, uint32_t tid)
{
	uint32_t words[THREAD_BYTES / sizeof(uint32_t)];

	if (state->tid || !state->thread)
		return state->tid == tid;
	if (remote_unwind_read(python->pid, state->thread, words, sizeof(words)) &&
		remote_unwind_read(python->pid, state->thread, words, sizeof(words) / 2))
		return false;
	for (unsigned i = 0; i < THREAD_BYTES / 2 / sizeof(uint32_t) && !state->tid; i++)
		if (words[i] == tid)
			state->tid = tid;
	return state->tid == tid;
}

/* The thread's state; 0: it has none. */
static uint64_t state_of(struct remote_python *python, uint32_t tid)
{
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < python->state_count; i++) {
			struct remote_python_state *state = &python->states[i];
			uint64_t thread;

			if (is_of(python, state, tid) &&
				word_get(python, state->address + python->layout->state_thread, &thread) &&
				thread == state->thread)
				return state->address;
		}
		if ((round || python->age++ < STATES_AGE) && python->state_count)
			return 0;
		if (!states_read(python))
			return 0;
	}
	return 0;
}

/* ---- frames ---- */

struct walk {
	struct remote_python *python;
	struct remote_python_frame *frames;
	unsigned count, segment; /* segment: the first frame that has no marker yet */
	uint64_t frame, control;
};

enum walked { WALK_ON, WALK_END, WALK_BAD };

/* After the last frame of a control frame those of the one before it go on. */
static bool control_leave(struct walk *w)
{
	const struct python_layout *layout = w->python->layout;
	uint64_t marker = w->control, expected;

	if (!word_get(w->python, w->control + layout->control_previous, &w->control))
		return false;
	for (; w->segment < w->count; w->segment++)
		w->frames[w->segment].marker = marker;
	return !w->frame ||
	       (word_get(w->python, w->control + layout->control_frame, &expected) && expected == w->frame);
}

static enum walked frame_take(struct walk *w)
{
	const struct python_layout *layout = w->python->layout;
	struct remote_python_frame *to = &w->frames[w->count];
	unsigned char bytes[FRAME_BYTES];
	uint64_t previous, code, instruction;
	enum python_code_result named;

	if (w->frame % 8 || !remote_python_get(w->python, w->frame, bytes, sizeof(bytes)))
		return WALK_BAD;
	memcpy(&previous, bytes + layout->frame_previous, sizeof(previous));
	memcpy(&code, bytes + layout->frame_code, sizeof(code));
	memcpy(&instruction, bytes + layout->frame_instruction, sizeof(instruction));
	*to = (struct remote_python_frame){
		.frame = w->frame, .code = code & ~UINT64_C(7), .marker = UINT64_MAX};
	named = remote_python_code_find(w->python, to, instruction, bytes[layout->frame_owner]);
	if (named == PYTHON_CODE_BAD)
		return WALK_BAD;
	w->count += named == PYTHON_CODE_NAMED;
	w->frame = previous;
	if (bytes[layout->frame_is_entry] && !control_leave(w))
		return WALK_BAD;
	return w->frame && w->count < REMOTE_PYTHON_FRAMES_MAX ? WALK_ON : WALK_END;
}

/* One reading. False: something moved, or is damaged. */
static bool walk(struct remote_python *python, uint64_t state, struct remote_python_frame *frames,
	unsigned *count, bool *is_cut)
{
	struct walk w = {.python = python, .frames = frames};
	enum walked walked = WALK_ON;

	*count = 0;
	if (!word_get(python, state + python->layout->state_frame, &w.control) || !w.control ||
		!word_get(python, w.control + python->layout->control_frame, &w.frame))
		return false;
	for (unsigned steps = 0; w.frame && walked == WALK_ON && steps < 2 * REMOTE_PYTHON_FRAMES_MAX;
		steps++)
		walked = frame_take(&w);
	*count = w.count;
	*is_cut = w.frame != 0;
	return walked != WALK_BAD;
}

/* How many outer frames of both are the same. */
static unsigned same_of(const struct remote_python_frame *one, unsigned one_count,
	const struct remote_python_frame *other, unsigned other_count)
{
	unsigned same = 0;

	while (same < one_count && same < other_count &&
		one[one_count - 1 - same].frame == other[other_count - 1 - same].frame &&
		one[one_count - 1 - same].code == other[other_count - 1 - same].code)
		same++;
	return same;
}

static unsigned stack_read(struct remote_python *python, uint64_t state, bool stands)
{
	unsigned count = 0, again = 0, same = 0;
	bool is_cut, is_cut_again;

	for (int i = 0; i < TRIES; i++) {
		if (!walk(python, state, python->read, &count, &is_cut))
			continue;
		if (stands)
			return count;
		if (!walk(python, state, python->again, &again, &is_cut_again) || is_cut != is_cut_again)
			continue;
		same = same_of(python->read, count, python->again, again);
		if (same == count && same == again)
			return count;
	}
	if (same && same < count) /* what was on top of them has moved */
		memmove(python->read, python->read + count - same, same * sizeof(*python->read));
	return same;
}

unsigned remote_python_read(struct remote_python *python, uint32_t tid, bool stands)
{
	uint64_t state = state_of(python, tid);

	python->count = state ? stack_read(python, state, stands) : 0;
	return python->count;
}

/* ---- both languages ---- */

const struct remote_python_frame *remote_python_frame(const struct remote_python *python, uint64_t address)
{
	uint64_t at = address >> EVENT_PYTHON_LINE_BITS;

	return at && at <= python->count ? &python->read[at - 1] : NULL;
}

const struct unwind_frame *remote_python_join(struct remote_python *python,
	struct remote_unwind_modules *modules, const struct unwind_frame *frames, unsigned *count,
	bool is_whole)
{
	const struct remote_unwind_module *module = remote_unwind_modules_find(modules, python->runtime);
	struct python_runtime runtime = {.layout = python->layout,
		.slot = module ? (uint16_t)(module - modules->list) : REMOTE_PYTHON_HIDDEN,
		.hidden_slot = REMOTE_PYTHON_HIDDEN,
		.python_slot = REMOTE_PYTHON_SLOT};
	unsigned most = sizeof(python->joined) / sizeof(*python->joined);

	python->thread.count = python->count;
	for (unsigned i = 0; i < python->count; i++)
		python->thread.frames[i] = (struct python_frame){
			(uint64_t)(i + 1) << EVENT_PYTHON_LINE_BITS, python->read[i].marker};
	memcpy(python->joined, frames, *count * sizeof(*frames));
	*count = python_join(&python->thread, &runtime, python->joined, *count, most, 0, is_whole);
	return python->joined;
}
