/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_told.c - the walk through code whose maker tells its frames, as HotSpot does: compiled code
 * at each of its instructions, the interpreter, stubs. Stack and code are made by hand; nothing is run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/unwind/unwind.h"

#ifdef __x86_64__
#define FRAME 48u
#define WORDS 64u

/* push rbp; sub rsp, 32; nop ...; add rsp, 32; pop rbp; cmp rsp, [r15 + ...]; ja ...; ret */
static const uint8_t compiled[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x90, 0x90, 0xe8, 1, 2, 3, 4, 0x90, 0x48,
	0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x0f, 0x87, 5, 6, 7, 8, 0xc3};
enum {
	AT_PUSHED = 1,
	AT_COMPLETE = 5,
	AT_RETURN = 12,
	AT_FREED = 17,
	AT_POPPED = 18,
	AT_ASKED = 25,
	AT_RET = 31
};
static const uint8_t interpreter[32], stub[32];

static struct unwinder unwinder;
static struct unwind_frame frames[16];
static uint64_t stack[WORDS];

static bool is_in(const uint8_t *code, size_t bytes, uint64_t pc)
{
	return pc - (uintptr_t)code < bytes;
}

static bool told_find(uint64_t pc, struct unwind_told *told)
{
	if (is_in(compiled, sizeof(compiled), pc))
		*told = (struct unwind_told){
			.begin = (uintptr_t)compiled, .frame_bytes = FRAME, .complete = AT_COMPLETE};
	else if (is_in(interpreter, sizeof(interpreter), pc))
		*told = (struct unwind_told){.begin = (uintptr_t)interpreter, .is_interpreter = true};
	else if (is_in(stub, sizeof(stub), pc))
		*told = (struct unwind_told){.begin = (uintptr_t)stub, .complete = -1};
	else
		return false;
	return true;
}

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	if (!is_in(compiled, sizeof(compiled), address))
		return -1;
	memset(to, 0, bytes);
	if (bytes > sizeof(compiled) - (address - (uintptr_t)compiled))
		bytes = sizeof(compiled) - (address - (uintptr_t)compiled);
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

static const struct cfi_module *module_find(void *context, uint64_t pc)
{
	(void)context;
	(void)pc;
	return NULL;
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)&stack[word];
}

static int set_up(void **state)
{
	(void)state;
	memset(&unwinder, 0, sizeof(unwinder));
	memset(stack, 0, sizeof(stack));
	unwinder.frames = frames;
	unwinder.most = sizeof(frames) / sizeof(*frames);
	unwinder.space.memory = (struct cfi_memory){.low = at(0), .high = at(WORDS), .read = memory_read};
	unwinder.space.module_find = module_find;
	unwinder.space.told_find = told_find;
	return 0;
}

/* The word after the frames is no place in code: the walk ends there, having found what it could. */
static void walk(const uint8_t *pc, unsigned sp, uint64_t fp)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};

	start.value[ARCH_PC] = (uintptr_t)pc;
	start.value[ARCH_SP] = at(sp);
	start.value[ARCH_FP] = fp;
	unwind_walk(&unwinder, &start);
}

static void frame_is(unsigned number, const uint8_t *return_address, unsigned sp)
{
	assert_true(unwinder.count > number);
	assert_int_equal(frames[number].address, (uintptr_t)return_address - 1);
	assert_int_equal(frames[number].sp, at(sp));
}

/* A caller of fixed size at word 10, whose caller is one more. */
static void callers_put(void)
{
	stack[15] = (uintptr_t)&compiled[AT_RETURN];
	stack[21] = (uintptr_t)&compiled[AT_RETURN];
}

static void each_place_of_a_leaf(void **state)
{
	static const struct {
		unsigned place, sp, return_word; /* the return address is there */
	} places[] = {{0, 9, 9}, {AT_PUSHED, 8, 9}, {AT_COMPLETE, 4, 9}, {AT_COMPLETE + 1, 4, 9},
		{AT_RETURN, 4, 9}, {AT_FREED, 8, 9}, {AT_POPPED, 9, 9}, {AT_ASKED, 9, 9}, {AT_RET, 9, 9}};

	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
		set_up(state);
		callers_put();
		stack[places[i].return_word] = (uintptr_t)&compiled[AT_RETURN];
		stack[places[i].return_word - 1] = 0x1234; /* not a place in code */
		walk(&compiled[places[i].place], places[i].sp, 0x777);
		frame_is(1, &compiled[AT_RETURN], 10);
		frame_is(2, &compiled[AT_RETURN], 16);
		frame_is(3, &compiled[AT_RETURN], 22);
	}
}

/* The frame of the interpreter hangs on the frame pointer that compiled code saved for it. Its compiled
 * caller ends where it was before an adapter moved the arguments. */
static void through_the_interpreter(void **state)
{
	(void)state;
	stack[8] = at(14); /* the caller's frame pointer, and its place */
	stack[9] = (uintptr_t)&interpreter[8];
	stack[13] = at(20); /* the caller's stack pointer */
	stack[14] = 0x777;
	stack[15] = (uintptr_t)&compiled[AT_RETURN];
	stack[25] = (uintptr_t)&compiled[AT_RETURN];
	walk(&compiled[AT_COMPLETE], 4, 0x999);
	frame_is(1, &interpreter[8], 10);
	frame_is(2, &compiled[AT_RETURN], 20);
	frame_is(3, &compiled[AT_RETURN], 26);
	assert_int_equal(unwinder.count, 4);
}

static void through_a_stub(void **state)
{
	(void)state;
	stack[9] = (uintptr_t)&stub[8]; /* compiled code, called by a stub with a frame pointer */
	stack[8] = at(14);
	stack[14] = 0x777;
	stack[15] = (uintptr_t)&compiled[AT_RETURN];
	walk(&compiled[AT_COMPLETE], 4, 0x999);
	frame_is(1, &stub[8], 10);
	frame_is(2, &compiled[AT_RETURN], 16);
	set_up(state);
	stack[4] = (uintptr_t)&compiled[AT_RETURN]; /* a stub that pushes nothing */
	walk(&stub[4], 4, 0x999);
	frame_is(1, &compiled[AT_RETURN], 5);
}

/* Sizes that lead nowhere, and frame pointers that do: nothing is made up. */
static void leads_nowhere(void **state)
{
	(void)state;
	stack[9] = 0x1234;
	walk(&compiled[AT_COMPLETE], 4, 0x999);
	assert_int_equal(unwinder.count, 1);
	set_up(state);
	stack[9] = (uintptr_t)&interpreter[8];
	stack[8] = at(14);
	stack[13] = at(2); /* the stack grows towards lower addresses */
	stack[15] = (uintptr_t)&compiled[AT_RETURN];
	walk(&compiled[AT_COMPLETE], 4, 0x999); /* by the frame pointer alone, as without being told */
	frame_is(2, &compiled[AT_RETURN], 16);
	assert_int_equal(unwinder.count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_place_of_a_leaf, set_up),
		cmocka_unit_test_setup(through_the_interpreter, set_up),
		cmocka_unit_test_setup(through_a_stub, set_up),
		cmocka_unit_test_setup(leads_nowhere, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 0;
}
#endif
