/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_python.c - tables of lines as four versions of CPython wrote them, the reader of Python's stack on
 * memory that looks like an interpreter's in 3.11, whole, stale and damaged, and the path of both languages.
 */
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "record/agent/process/process.h"
#include "record/agent/python/python_join.h"
#include "record/agent/python/python_lines.h"
#include "record/agent/python/python_names.h"
#include "record/agent/python/python_symbols.h"

/* ---- lines: of
 *
 *	2 def f(a,          5     x = [               9     try:               12     finally:
 *	3       b=2):       6         i              10         y = (a +       13         x = None
 *	4                   7         for i in ...   11              b)        14     return y
 */

struct table {
	enum python_lines kind;
	const uint8_t *bytes;
	size_t size;
	const uint8_t *lines; /* of each instruction, by CPython's own reader */
	size_t count;
};

static const uint8_t bytes_3_8[] = {0x00, 0x03, 0x06, 0x02, 0x06, 0xfe, 0x06, 0x04, 0x02, 0x01, 0x02, 0x01,
	0x02, 0xff, 0x08, 0x03, 0x06, 0x01};
static const uint8_t lines_3_8[] = {5, 5, 5, 7, 7, 7, 5, 5, 5, 9, 10, 11, 10, 10, 10, 10, 13, 13, 13, 14, 14};
static const uint8_t bytes_3_10[] = {0x06, 0x03, 0x06, 0x02, 0x06, 0xfe, 0x02, 0x04, 0x02, 0x01, 0x02, 0x01,
	0x06, 0xff, 0x04, 0x03, 0x04, 0x01, 0x06, 0xff};
static const uint8_t lines_3_10[] = {
	5, 5, 5, 7, 7, 7, 5, 5, 5, 9, 10, 11, 10, 10, 10, 13, 13, 14, 14, 13, 13, 13};
static const uint8_t bytes_3_11[] = {0x80, 0x00, 0xf0, 0x06, 0x03, 0x09, 0x06, 0xf0, 0x00, 0x03, 0x09, 0x06,
	0xe5, 0x11, 0x16, 0x90, 0x71, 0x91, 0x18, 0x94, 0x18, 0xf0, 0x05, 0x03, 0x09, 0x06, 0xf1, 0x00, 0x03,
	0x09, 0x06, 0xf4, 0x00, 0x03, 0x09, 0x06, 0x80, 0x41, 0xf0, 0x08, 0x04, 0x05, 0x11, 0xd8, 0x0d, 0x0e,
	0xd8, 0x0d, 0x0e, 0xf1, 0x03, 0x01, 0x0e, 0x0f, 0x88, 0x01, 0xf0, 0x06, 0x00, 0x0d, 0x11, 0x88, 0x01,
	0x88, 0x01, 0xf8, 0x88, 0x44, 0x88, 0x01, 0x88, 0x08, 0x88, 0x08, 0x88, 0x08, 0x88, 0x08, 0xd8, 0x0b,
	0x0c, 0x80, 0x48};
static const uint8_t lines_3_11[] = {2, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 5, 5, 5, 5, 5, 5, 5,
	5, 5, 9, 10, 11, 10, 10, 10, 13, 13, 13, 0, 13, 13, 13, 13, 13, 13, 14, 14};
static const uint8_t bytes_3_13[] = {0x80, 0x00, 0xf4, 0x0a, 0x00, 0x12, 0x17, 0x90, 0x71, 0x94, 0x18, 0xf3,
	0x05, 0x03, 0x09, 0x06, 0xe1, 0x11, 0x19, 0x88, 0x41, 0xf3, 0x03, 0x00, 0x09, 0x0a, 0xd9, 0x11, 0x19,
	0xf0, 0x05, 0x00, 0x05, 0x06, 0xf0, 0x00, 0x03, 0x09, 0x06, 0xf0, 0x08, 0x04, 0x05, 0x11, 0xd8, 0x0d,
	0x0e, 0xd8, 0x0d, 0x0e, 0xf1, 0x03, 0x01, 0x0e, 0x0f, 0x88, 0x01, 0xf0, 0x06, 0x00, 0x0d, 0x11, 0x88,
	0x01, 0xd8, 0x0b, 0x0c, 0x80, 0x48, 0xf9, 0xf2, 0x13, 0x03, 0x09, 0x06, 0xf8, 0xf0, 0x10, 0x00, 0x0d,
	0x11, 0x89, 0x01, 0xfa};
static const uint8_t lines_3_13[] = {2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 5, 5, 5, 5, 7, 7, 7, 6, 6, 6, 6, 7,
	7, 5, 5, 9, 10, 11, 10, 10, 10, 13, 13, 14, 14, 0, 0, 5, 5, 5, 0, 13, 13, 13, 0, 0, 0};

#define TABLE(kind, version)                                                                           \
	{                                                                                              \
		kind, bytes_##version, sizeof bytes_##version, lines_##version, sizeof lines_##version \
	}

static void test_lines(void **state)
{
	static const struct table tables[] = {TABLE(PYTHON_LINES_LNOTAB, 3_8), TABLE(PYTHON_LINES_3_10, 3_10),
		TABLE(PYTHON_LINES_3_11, 3_11), TABLE(PYTHON_LINES_3_11, 3_13)};

	(void)state;
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		const struct table *of = &tables[t];

		for (size_t i = 0; i < of->count; i++)
			assert_int_equal(python_lines_find(of->kind, of->bytes, of->size, 2, 2 * (int64_t)i),
				of->lines[i]);
		assert_int_equal(python_lines_find(of->kind, of->bytes, of->size, 2, -1), 2);
		for (size_t cut = 0; cut < of->size; cut++) { /* nothing is read behind the end */
			uint8_t *copy = malloc(cut ? cut : 1);

			memcpy(copy, of->bytes, cut);
			python_lines_find(of->kind, copy, cut, 2, 1 << 20);
			free(copy);
		}
	}
}

/* ---- an interpreter's memory ---- */

#define SLOT 3
#define HIDDEN 4
#define PYTHON 5

static uint64_t code_type[4], string_type[4], bytes_type[4];
static uint8_t thread_state[512];
static void *state_now = thread_state;
static int ending;
static struct python_thread *thread;

static void *get_state(void)
{
	return state_now;
}

static int is_ending(void)
{
	return ending;
}

static struct python_runtime runtime = {.state_get = get_state,
	.is_finalizing = is_ending,
	.slot = SLOT,
	.hidden_slot = HIDDEN,
	.python_slot = PYTHON};

struct fake_string {
	uint64_t count, type, length, hash;
	uint32_t state, _pad;
	uint64_t wide;
	char text[64];
};

struct fake_lines {
	uint64_t count, type, size, hash;
	uint8_t bytes[16];
};

struct fake_code {
	_Alignas(8) uint8_t bytes[256];
	struct fake_string name, file;
	struct fake_lines lines;
};

struct fake_frame {
	_Alignas(8) uint8_t bytes[80];
};

struct fake_control {
	uint64_t pad, frame, previous;
};

static void word_put(uint8_t *to, unsigned at, uint64_t word)
{
	memcpy(to + at, &word, sizeof word);
}

static void string_fill(struct fake_string *s, const char *text, uint64_t hash)
{
	*s = (struct fake_string){
		.type = (uintptr_t)string_type, .length = strlen(text), .hash = hash, .state = 0x64};
	memcpy(s->text, text, strlen(text));
}

/* A function of one line, its first. */
static void code_fill(struct fake_code *c, const char *name, uint64_t hash, uint32_t line)
{
	const struct python_layout *l = runtime.layout;

	memset(c, 0, sizeof *c);
	string_fill(&c->name, name, hash);
	string_fill(&c->file, "f.py", 77);
	c->lines = (struct fake_lines){.type = (uintptr_t)bytes_type, .size = 2, .bytes = {0x87, 0x00}};
	word_put(c->bytes, 8, (uintptr_t)code_type);
	word_put(c->bytes, l->code_qualified, (uintptr_t)&c->name);
	word_put(c->bytes, l->code_file, (uintptr_t)&c->file);
	word_put(c->bytes, l->code_lines, (uintptr_t)&c->lines);
	memcpy(c->bytes + l->code_first_line, &line, sizeof line);
}

static void frame_fill(struct fake_frame *f, struct fake_code *c, const void *previous, bool is_entry)
{
	const struct python_layout *l = runtime.layout;

	memset(f, 0, sizeof *f);
	word_put(f->bytes, l->frame_previous, (uintptr_t)previous);
	word_put(f->bytes, l->frame_code, (uintptr_t)c);
	word_put(f->bytes, l->frame_instruction, (uintptr_t)c + l->code_begin + 4);
	f->bytes[l->frame_is_entry] = is_entry;
}

static const char *name_of(unsigned frame)
{
	static char none[] = "";
	uint64_t number = thread->frames[frame].place >> EVENT_PYTHON_LINE_BITS;

	return number ? ((struct event_name *)((char *)process.shared + process.shared->names_at +
					       8 * number))
				->text
		      : none;
}

static int setup(void **state)
{
	size_t bytes = 65536 + EVENT_NAMES_DATA;

	(void)state;
	process.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	process.shared->names_at = 65536;
	thread = calloc(1, sizeof *thread);
	runtime.layout = python_layout_find(11);
	runtime.code_type = (uintptr_t)code_type;
	runtime.string_type = (uintptr_t)string_type;
	runtime.bytes_type = (uintptr_t)bytes_type;
	state_now = thread_state;
	ending = 0;
	python_names_init();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(process.shared, 65536 + EVENT_NAMES_DATA);
	free(thread);
	return 0;
}

/* Two control frames: `outer` runs <module>; `inner` runs f, which runs g. */
static struct fake_code module_code, f_code, g_code;
static struct fake_frame module_frame, f_frame, g_frame;
static struct fake_control root, outer, inner;

static void world(void)
{
	code_fill(&module_code, "<module>", 1, 1);
	code_fill(&f_code, "C.f", 2, 10);
	code_fill(&g_code, "g", 3, 20);
	frame_fill(&module_frame, &module_code, NULL, true);
	frame_fill(&f_frame, &f_code, &module_frame, true);
	frame_fill(&g_frame, &g_code, &f_frame, false);
	root = (struct fake_control){0};
	outer = (struct fake_control){0, (uintptr_t)&module_frame, (uintptr_t)&root};
	inner = (struct fake_control){0, (uintptr_t)&g_frame, (uintptr_t)&outer};
	word_put(thread_state, runtime.layout->state_frame, (uintptr_t)&inner);
}

static void test_stack(void **state)
{
	(void)state;
	world();
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 3);
	assert_false(thread->is_cut);
	assert_string_equal(name_of(0), "g");
	assert_string_equal(name_of(1), "C.f");
	assert_string_equal(name_of(2), "<module>");
	assert_int_equal(thread->frames[1].place & EVENT_PYTHON_LINE_MAX, 10);
	assert_int_equal(thread->frames[0].marker, (uintptr_t)&inner);
	assert_int_equal(thread->frames[1].marker, (uintptr_t)&inner);
	assert_int_equal(thread->frames[2].marker, (uintptr_t)&outer);
	state_now = NULL;
	assert_false(python_stack_read(thread, &runtime));
	state_now = thread_state;
	ending = 1;
	assert_false(python_stack_read(thread, &runtime));
}

/* A new control frame holds what an earlier call left in its memory: a frame that is gone, but whole. */
static void test_stale_control(void **state)
{
	struct fake_frame gone;

	(void)state;
	world();
	frame_fill(&gone, &g_code, &f_frame, true); /* of a call from f, which now runs nothing */
	inner.frame = (uintptr_t)&gone;
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 1);
	assert_string_equal(name_of(0), "<module>");
	inner.frame = 0x1000; /* or of no frame */
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 1);
	inner.frame = 0;
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 1);
}

/* What an earlier call left may lead back to itself. */
static void test_ring(void **state)
{
	struct fake_frame gone[3];

	(void)state;
	world();
	frame_fill(&gone[0], &g_code, &gone[0], false);
	inner.frame = (uintptr_t)&gone[0];
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 1);
	assert_string_equal(name_of(0), "<module>");
	frame_fill(&gone[0], &g_code, &gone[1], false);
	frame_fill(&gone[1], &g_code, &gone[2], false);
	frame_fill(&gone[2], &g_code, &gone[1], false);
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 1);
}

/* A thread in a sub-interpreter has a state in each: main's <module> calls h of the other one, from where
 * main's f is called back, which runs g. */
static void test_two_interpreters(void **state)
{
	static uint8_t sub_state[512];
	static struct fake_code h_code;
	static struct fake_frame h_frame;
	static struct fake_control stack[3], sub_root;
	struct {
		uint64_t next, states;
	} main_interpreter = {0, (uintptr_t)thread_state},
	  sub_interpreter = {(uintptr_t)&main_interpreter, (uintptr_t)sub_state};
	uint64_t interpreters = (uintptr_t)&sub_interpreter;

	(void)state;
	world();
	code_fill(&h_code, "h", 4, 30);
	frame_fill(&h_frame, &h_code, NULL, true);
	stack[0] = (struct fake_control){0, (uintptr_t)&g_frame, (uintptr_t)&stack[2]};
	stack[1] = (struct fake_control){0, (uintptr_t)&h_frame, (uintptr_t)&sub_root};
	stack[2] = (struct fake_control){0, (uintptr_t)&module_frame, (uintptr_t)&root};
	sub_root = (struct fake_control){0};
	word_put(thread_state, runtime.layout->state_frame, (uintptr_t)&stack[0]);
	word_put(sub_state, runtime.layout->state_frame, (uintptr_t)&stack[1]);
	word_put(thread_state, runtime.layout->state_thread, (uint64_t)pthread_self());
	word_put(sub_state, runtime.layout->state_thread, (uint64_t)pthread_self());
	runtime.base = (uintptr_t)&interpreters;
	runtime.lists = (struct python_lists){0, 0, 8, runtime.layout->state_next};
	for (int i = 0; i < 2; i++) {
		state_now = i ? (void *)sub_state : (void *)thread_state;
		assert_true(python_stack_read(thread, &runtime));
		assert_int_equal(thread->count, 4);
		assert_string_equal(name_of(0), "g");
		assert_string_equal(name_of(1), "C.f");
		assert_string_equal(name_of(2), "h");
		assert_string_equal(name_of(3), "<module>");
	}
	word_put(sub_state, runtime.layout->state_thread, 1); /* another thread's */
	state_now = thread_state;
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 3);
	runtime.base = 0;
}

static void test_damage(void **state)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	world();
	word_put(f_frame.bytes, runtime.layout->frame_previous, (uintptr_t)page);
	assert_true(python_stack_read(thread, &runtime)); /* reads <module>, where it knows that it must be */
	assert_int_equal(thread->count, 1);
	world();
	word_put(module_code.bytes, runtime.layout->code_file, (uintptr_t)page);
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 2);
	assert_true(thread->is_cut);
	world();
	word_put(module_frame.bytes, runtime.layout->frame_previous, (uintptr_t)&module_frame); /* a ring */
	assert_true(python_stack_read(thread, &runtime));
	assert_true(thread->is_cut);
	word_put(thread_state, runtime.layout->state_frame, (uintptr_t)page);
	assert_true(python_stack_read(thread, &runtime));
	assert_int_equal(thread->count, 0);
	munmap(page, 4096);
}

/* The same addresses, other functions; and the same function again has the same number. */
static void test_recycled(void **state)
{
	uint64_t before;

	(void)state;
	world();
	python_stack_read(thread, &runtime);
	before = thread->frames[0].place;
	python_stack_read(thread, &runtime);
	assert_int_equal(thread->frames[0].place, before);
	code_fill(&g_code, "h", 4, 20);
	python_stack_read(thread, &runtime);
	assert_string_equal(name_of(0), "h");
	code_fill(&g_code, "i", UINT64_MAX, 20); /* no hash: the bytes are read each time */
	python_stack_read(thread, &runtime);
	assert_string_equal(name_of(0), "i");
	code_fill(&g_code, "j", UINT64_MAX, 20);
	python_stack_read(thread, &runtime);
	assert_string_equal(name_of(0), "j");
	code_fill(&g_code, "g", 3, 20);
	python_stack_read(thread, &runtime);
	assert_int_equal(thread->frames[0].place, before);
	g_code.lines.bytes[0] = 0xff; /* another table at the same place: the line is not known there */
	g_code.lines.size = 1;
	python_stack_read(thread, &runtime);
	assert_string_equal(name_of(0), "g");
	assert_int_not_equal(thread->frames[0].place, before);
}

static void test_names_are_bounded(void **state)
{
	char text[1000];
	uint32_t last = 1, i = 0;

	(void)state;
	memset(text, 'x', sizeof text);
	for (; last && i < 100000; i++) {
		text[900] = '\0';
		snprintf(text, 16, "%u", i);
		last = python_names_number(text, sizeof text, 1);
	}
	assert_int_equal(last, 0);
	assert_true(i > 8000);
	assert_true(process.shared->names_used <= EVENT_NAMES_DATA);
	assert_int_equal(process.shared->names_refused, 1);
}

/* ---- both languages ---- */

static struct unwind_frame c_frame(uint64_t address, uint64_t sp, uint16_t slot, uint32_t function)
{
	return (struct unwind_frame){.address = address, .sp = sp, .slot = slot, .function = function};
}

static void places_are(
	const struct unwind_frame *frames, unsigned count, const uint64_t *wanted, unsigned most)
{
	assert_int_equal(count, most);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(frames[i].address, wanted[i]);
}

static void test_join_by_address(void **state)
{
	struct unwind_frame frames[16] = {c_frame(1, 0x100, SLOT, 0), c_frame(2, 0x120, SLOT, 9),
		c_frame(3, 0x200, 7, 0), c_frame(4, 0x220, SLOT, 9), c_frame(5, 0x300, SLOT, 0)};
	static const uint64_t wanted[] = {1, 31 << 24, 32 << 24, 2, 3, 33 << 24, 4, 5};
	unsigned count;

	(void)state;
	thread->count = 3;
	thread->frames[0] = (struct python_frame){31 << 24, 0x130};
	thread->frames[1] = (struct python_frame){32 << 24, 0x130};
	thread->frames[2] = (struct python_frame){33 << 24, 0x220};
	count = python_join(thread, &runtime, frames, 5, 16, 0, true);
	places_are(frames, count, wanted, 8);
	assert_int_equal(frames[0].slot, HIDDEN);
	assert_int_equal(frames[1].slot, PYTHON);
	assert_int_equal(frames[4].slot, 7);
	assert_int_equal(frames[6].slot, HIDDEN);
}

/* The C stack ends in the extension: who called it stands outside. */
static void test_join_partial(void **state)
{
	struct unwind_frame frames[16] = {c_frame(2, 0x120, SLOT, 9), c_frame(3, 0x200, 7, 0)};
	static const uint64_t wanted[] = {31 << 24, 2, 3, 33 << 24};
	unsigned count;

	(void)state;
	thread->count = 2;
	thread->frames[0] = (struct python_frame){31 << 24, 0x130};
	thread->frames[1] = (struct python_frame){33 << 24, 0x260};
	count = python_join(thread, &runtime, frames, 2, 16, 0, false);
	places_are(frames, count, wanted, 4);
}

/* Up to 3.10 the frames are counted from the outer end: a C frame may be one ahead, or one behind. */
static void test_join_by_count(void **state)
{
	struct unwind_frame frames[16] = {c_frame(2, 0x120, SLOT, 9), c_frame(3, 0x200, 7, 0),
		c_frame(4, 0x220, SLOT, 9), c_frame(5, 0x300, SLOT, 9)};
	static const uint64_t ahead[] = {2, 3, 31 << 24, 4, 32 << 24, 5},
			      behind[] = {31 << 24, 32 << 24, 4, 33 << 24, 5};
	unsigned count;

	(void)state;
	runtime.layout = python_layout_find(10);
	thread->count = 2;
	thread->frames[0] = (struct python_frame){31 << 24, 0};
	thread->frames[1] = (struct python_frame){32 << 24, 0};
	count = python_join(thread, &runtime, frames, 4, 16, 9, true);
	places_are(frames, count, ahead, 6);
	frames[0] = c_frame(4, 0x220, SLOT, 9);
	frames[1] = c_frame(5, 0x300, SLOT, 9);
	thread->count = 3;
	thread->frames[2] = (struct python_frame){33 << 24, 0};
	count = python_join(thread, &runtime, frames, 2, 16, 9, true);
	places_are(frames, count, behind, 5);
}

/* A runtime that publishes another layout than its version has is not read; one of before 3.13 publishes
 * none. */
static void test_published(void **state)
{
	const struct python_layout *layout = python_layout_find(14);
	uint64_t words[128] = {0};
	unsigned counted = 0;

	(void)state;
	assert_null(python_layout_find(7));
	assert_null(python_layout_find(16));
	for (unsigned minor = 8; minor <= 15; minor++) {
		assert_int_equal(python_layout_find(minor)->minor, minor);
		assert_int_equal(
			python_layout_agrees(python_layout_find(minor), (uintptr_t)words), minor < 13);
	}
	words[layout->published.gil / 8] = layout->interpreter_gil;
	words[layout->published.state_frame / 8] = layout->state_frame;
	words[layout->published.state_thread / 8] = layout->state_thread;
	words[layout->published.frame_previous / 8] = layout->frame_previous;
	words[layout->published.frame_code / 8] = layout->frame_code;
	words[layout->published.frame_instruction / 8] = layout->frame_instruction;
	words[layout->published.frame_owner / 8] = layout->frame_owner;
	words[layout->published.code_file / 8] = layout->code_file;
	words[layout->published.code_qualified / 8] = layout->code_qualified;
	words[layout->published.code_lines / 8] = layout->code_lines;
	words[layout->published.code_first_line / 8] = layout->code_first_line;
	words[layout->published.code_begin / 8] = layout->code_begin;
	assert_true(python_layout_agrees(layout, (uintptr_t)words));
	for (unsigned i = 0; i < 128; i++) {
		words[i] ^= 8;
		counted += !python_layout_agrees(layout, (uintptr_t)words);
		words[i] ^= 8;
	}
	assert_int_equal(counted, 12); /* each of them */
}

/* A module's header says where its table of segments lies: not ahead of it, by a sum that wraps. */
static void test_a_hostile_module(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct python_symbols symbols;
	ElfW(Ehdr) header = {.e_phentsize = sizeof(ElfW(Phdr)), .e_phnum = 1};

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE), 0);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_phoff = -(uint64_t)sizeof(ElfW(Phdr));
	memcpy(pages + 4096, &header, sizeof(header));
	assert_false(python_symbols_open(&symbols, (uintptr_t)pages + 4096, (uintptr_t)pages + 8192, 0));
	munmap(pages, 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_hostile_module),
		cmocka_unit_test_setup_teardown(test_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_control, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_interpreters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recycled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_join_by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_join_partial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_join_by_count, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
