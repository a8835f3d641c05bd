/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_aligned.c - the walk out of a function whose frame is aligned and that has arguments on the
 * stack, from each of its instructions, to one that hangs on its frame pointer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__
#include "tests/unit/unwind_stepped.h"

static unsigned steps, partial, lost;
static volatile char sink;

static void each_instruction(void **state);

__attribute__((noinline, noclone)) static char touch(volatile char *bytes)
{
	return sink = bytes[0];
}

__attribute__((noinline, noclone)) static long aligned(
	int a, int b, int c, int d, int e, int f, long room, long more)
{
	_Alignas(64) volatile char wide[64];
	volatile char *narrow = __builtin_alloca((size_t)room);

	wide[a & 63] = narrow[0] = (char)more;
	return wide[b & 63] + narrow[0] + touch(wide) + touch(narrow) + c + d + e + f + more;
}

__attribute__((noinline, noclone)) static void caller(long room)
{
	volatile char *bytes = __builtin_alloca((size_t)room);

	bytes[0] = 0;
	step_by_step(true);
	bytes[0] = (char)aligned(1, 2, 3, 4, 5, 6, room, 8);
	step_by_step(false);
	touch(bytes);
}

static bool is_frame(unsigned number, void (*function)(void))
{
	return unwinder.count > number && frames[number].function == (uint32_t)(uintptr_t)function;
}

static void walk_at_step(int number, siginfo_t *info, void *context)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	enum unwind_result result;

	(void)number;
	(void)info;
	arch_registers_read(context, start.value);
	result = unwind_walk(&unwinder, &start);
	if (!is_frame(0, (void (*)(void))aligned))
		return;
	steps++;
	partial += result != UNWIND_FULL;
	lost += !is_frame(1, (void (*)(void))caller) || !is_frame(2, (void (*)(void))each_instruction);
}

static void each_instruction(void **state)
{
	(void)state;
	stepped_begin(walk_at_step);
	caller(100);
	print_message("steps %u partial %u on another path %u\n", steps, partial, lost);
	assert_true(steps > 20);
	assert_int_equal(partial, 0);
	assert_int_equal(lost, 0);
}
#else
static void each_instruction(void **state)
{
	(void)state;
	print_message("other processors restore their frame pointers otherwise\n");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_instruction)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
