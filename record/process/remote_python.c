/* SPDX-License-Identifier: Apache-2.0 */
/* remote_python.c - see remote_python.h. remote_python_code.c names the code of a frame. */
#include "record/process/remote_python_internal.h"

#include <stdlib.h>
#include <string.h>

#include "record/agent/python/python_join.h"
#include "record/process/remote_symbols.h"
#include "store/base/array.h"

#define STATES_MAX 4096u
#define STATES_AGE 64u /* readings after which the list of states is read anew */
#define THREAD_BYTES 2048u
#define FRAME_BYTES 80u		/* from 3.11 on */
#define FRAME_OBJECT_BYTES 112u /* before */
#define PUBLISHED_BYTES 1024u	/* of struct _Py_DebugOffsets, from 3.13 on */
#define TRIES 3

/* ---- the interpreter ---- */

static uint64_t symbol_of(const struct python_symbols *symbols, const char *name, uint64_t shift)
{
	uint64_t here = python_symbols_find(symbols, name);

	return here ? here + shift : 0;
}

/* Names that came with a version of the API, newest first. */
static unsigned minor_by_api(const struct python_symbols *symbols)
{
	static const struct {
		const char *name;
		unsigned minor;
	} since[] = {{"Py_NewRef", 10}, {"PyFrame_GetCode", 9}, {"PyCode_NewWithPosOnlyArgs", 8}};

	for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++)
		if (python_symbols_find(symbols, since[i].name))
			return since[i].minor;
	return 1;
}

/* Py_Version, a variable since 3.11, is 0x03MMuuRS. */
static unsigned minor_of(const struct python_symbols *symbols)
{
	const unsigned long *version = (const void *)(uintptr_t)python_symbols_find(symbols, "Py_Version");

	if (!version)
		return minor_by_api(symbols);
	return *version >> 24 == 3 ? *version >> 16 & 0xff : 1;
}

/* Where the list of thread states is; from 3.13 on the runtime says so, and what else is where. False: it is
 * another build, as one without a GIL. */
static bool lists_take(struct remote_python *python)
{
	const struct python_layout *layout = python->layout;
	_Alignas(8) char published[PUBLISHED_BYTES];
	uint64_t is_free_threaded;

	if (!layout->published.gil)
		return python_layout_lists(layout, 0, &python->lists);
	if (!remote_python_get(python, python->runtime, published, sizeof(published)) ||
		memcmp(published, "xdebugpy", 8) != 0 || !python_layout_agrees(layout, (uintptr_t)published))
		return false;
	memcpy(&is_free_threaded, published + 16, sizeof(is_free_threaded));
	return !is_free_threaded && python_layout_lists(layout, (uintptr_t)published, &python->lists);
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
	python->evaluate = symbol_of(symbols, "_PyEval_EvalFrameDefault", shift);
	return python->layout && python->code_type && python->string_type && python->bytes_type &&
	       python->evaluate && !python_symbols_find(symbols, "_Py_NegativeRefcount") &&
	       lists_take(python);
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

/* Most processes run no Python: nothing so large is allocated for them. */
static bool has_interpreter(const struct remote_unwind_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (may_be(modules->list[i].path))
			return !modules->is_gone;
	return false;
}

struct remote_python *remote_python_open(const struct remote_unwind_modules *modules, unsigned *minor)
{
	struct remote_python *python = has_interpreter(modules) ? calloc(1, sizeof(*python)) : NULL;

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

static bool state_add(struct remote_python *python, const struct remote_python_state *state)
{
	if (!array_widen(&python->states, &python->state_room, python->state_count, sizeof(*python->states)))
		return false;
	python->states[python->state_count++] = *state;
	return true;
}

static bool interpreter_read(struct remote_python *python, uint64_t interpreter)
{
	uint64_t at;

	if (!word_get(python, interpreter + python->lists.threads, &at))
		return false;
	while (at && python->state_count < STATES_MAX) {
		struct remote_python_state state = {.address = at};

		if (!word_get(python, at + python->layout->state_thread, &state.thread) ||
			!word_get(python, at + python->lists.state_next, &at) || !state_add(python, &state))
			return false;
	}
	return true;
}

/* The newest interpreter first: of a thread with states in several it is mostly the one that runs. */
static bool states_read(struct remote_python *python)
{
	uint64_t interpreter;

	python->state_count = 0;
	python->age = 0;
	if (!word_get(python, python->runtime + python->lists.interpreters, &interpreter))
		return false;
	for (unsigned i = 0; interpreter && i < STATES_MAX; i++)
		if (!interpreter_read(python, interpreter) ||
			!word_get(python, interpreter + python->lists.interpreter_next, &interpreter))
			return false;
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

/* Its place in the list; state_count: the thread has none from `from` on. */
static uint32_t state_find(struct remote_python *python, uint32_t tid, uint32_t from)
{
	uint32_t i = from;

	for (; i < python->state_count; i++) {
		struct remote_python_state *state = &python->states[i];
		uint64_t thread;

		if (is_of(python, state, tid) &&
			word_get(python, state->address + python->layout->state_thread, &thread) &&
			thread == state->thread)
			break;
	}
	return i;
}

/* The first of the thread's states; state_count: it has none. */
static uint32_t state_of(struct remote_python *python, uint32_t tid)
{
	uint32_t at = state_find(python, tid, 0);

	if (at < python->state_count || (python->age++ < STATES_AGE && python->state_count))
		return at;
	return states_read(python) ? state_find(python, tid, 0) : python->state_count;
}

/* ---- frames ---- */

struct walk {
	struct remote_python *python;
	struct remote_python_frame *frames;
	unsigned count, segment; /* segment: the first frame that has no marker yet */
	uint64_t frame, control;
};

enum walked { WALK_ON, WALK_END, WALK_BAD };

static bool has_control(const struct python_layout *layout)
{
	return layout->control_frame || layout->control_previous;
}

/* An outermost frame of its C frame was taken: those further out are of another one. Where there are control
 * frames, they go on with the one before. */
static bool segment_leave(struct walk *w, uint64_t marker)
{
	const struct python_layout *layout = w->python->layout;
	uint64_t expected;

	if (has_control(layout) && !word_get(w->python, w->control + layout->control_previous, &w->control))
		return false;
	for (; w->segment < w->count; w->segment++)
		w->frames[w->segment].marker = marker;
	return !has_control(layout) || !w->frame ||
	       (word_get(w->python, w->control + layout->control_frame, &expected) && expected == w->frame);
}

static bool is_entry_of(const struct python_layout *layout, const unsigned char *bytes, uint8_t owner)
{
	return layout->frame_is_entry ? bytes[layout->frame_is_entry] != 0
				      : layout->owner_entry && owner >= layout->owner_entry;
}

/* An address, or an index. */
static uint64_t instruction_of(const struct python_layout *layout, const unsigned char *bytes)
{
	uint64_t address;
	int32_t index;

	memcpy(&address, bytes + layout->frame_instruction, sizeof(address));
	memcpy(&index, bytes + layout->frame_instruction, sizeof(index));
	return layout->instruction_bytes ? (uint64_t)(int64_t)index : address;
}

static enum walked frame_take(struct walk *w)
{
	const struct python_layout *layout = w->python->layout;
	bool is_object = layout->entry == PYTHON_ENTRY_EACH, is_entry;
	struct remote_python_frame *to = &w->frames[w->count];
	unsigned char bytes[FRAME_OBJECT_BYTES] = {0};
	uint64_t marker = layout->entry == PYTHON_ENTRY_CONTROL ? w->control : w->frame, code;
	uint8_t owner;
	enum python_code_result named = PYTHON_CODE_SKIP;

	if (w->frame % 8 ||
		!remote_python_get(w->python, w->frame, bytes, is_object ? FRAME_OBJECT_BYTES : FRAME_BYTES))
		return WALK_BAD;
	memcpy(&code, bytes + layout->frame_code, sizeof(code));
	owner = layout->frame_owner ? bytes[layout->frame_owner] : 0;
	is_entry = is_entry_of(layout, bytes, owner);
	*to = (struct remote_python_frame){
		.frame = w->frame, .code = code & ~UINT64_C(7), .marker = is_object ? 0 : UINT64_MAX};
	if (!is_entry || layout->entry == PYTHON_ENTRY_CONTROL)
		named = remote_python_code_find(w->python, to, instruction_of(layout, bytes), owner);
	if (named == PYTHON_CODE_BAD)
		return WALK_BAD;
	w->count += named == PYTHON_CODE_NAMED;
	memcpy(&w->frame, bytes + layout->frame_previous, sizeof(w->frame));
	if (is_entry && !segment_leave(w, marker))
		return WALK_BAD;
	return w->frame && w->count < REMOTE_PYTHON_FRAMES_MAX ? WALK_ON : WALK_END;
}

/* One reading. False: something moved, or is damaged. */
static bool walk(struct remote_python *python, uint64_t state, struct remote_python_frame *frames,
	unsigned *count, bool *is_cut)
{
	const struct python_layout *layout = python->layout;
	struct walk w = {.python = python, .frames = frames};
	enum walked walked = WALK_ON;
	uint64_t first;

	*count = 0;
	if (!word_get(python, state + layout->state_frame, &first) || !first)
		return false;
	w.frame = first;
	w.control = has_control(layout) ? first : 0;
	if (w.control && !word_get(python, first + layout->control_frame, &w.frame))
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
		same = 0; /* what an earlier try found has been overwritten */
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
	uint32_t at = state_of(python, tid);

	python->count = 0;
	for (; at < python->state_count && !python->count; at = state_find(python, tid, at + 1))
		python->count = stack_read(python, python->states[at].address, stands);
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
	*count = python_join(&python->thread, &runtime, python->joined, *count, most,
		(uint32_t)python->evaluate, is_whole);
	return python->joined;
}
