/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_exception.c - the walk out of the C++ runtime while it goes on where an exception is caught:
 * this very process runs cleanups as exceptions do, one instruction at a time, and is walked at each.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__
#include <unwind.h>

#include "tests/unit/unwind_stepped.h"

#define FRAMES 7

static unsigned steps, partial, lost;
static unsigned cleanups; /* that ran */
static uint64_t bottom;	  /* where the stack that is unwound begins: further out than all of its frames */
static bool is_unwinding;
static volatile int sink;
static jmp_buf out;

__attribute__((noinline)) static void unwind_all(void);

static void walk_at_step(int number, siginfo_t *info, void *context)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	bool found = false;

	(void)number;
	(void)info;
	arch_registers_read(context, start.value);
	unwinder.space.memory.low = start.value[ARCH_SP];
	unwinder.space.memory.high = bottom;
	partial += unwind_walk(&unwinder, &start) != UNWIND_FULL;
	for (unsigned i = 0; i < unwinder.count; i++)
		found |= frames[i].address - (uint64_t)(uintptr_t)unwind_all < 512;
	lost += is_unwinding && !found;
	steps++;
}

/* As a catch does that throws on. */
static void clean(const int *held)
{
	sink += *held;
	cleanups++;
}

static _Unwind_Reason_Code leave(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *argument)
{
	(void)version;
	(void)actions;
	(void)class;
	(void)exception;
	(void)argument;
	if (cleanups == FRAMES || _Unwind_GetCFA(context) >= bottom) {
		is_unwinding = false;
		step_by_step(false);
		longjmp(out, 1);
	}
	return _URC_NO_REASON;
}

/* Frames of several sizes, each with something to clean up. */
#define FRAME(name, bytes, call)                                               \
	__attribute__((noinline)) static void name(unsigned depth)             \
	{                                                                      \
		int held __attribute__((cleanup(clean), unused)) = (int)depth; \
		volatile char room[bytes];                                     \
                                                                               \
		room[0] = (char)depth;                                         \
		call;                                                          \
		sink += room[0];                                               \
	}

static struct _Unwind_Exception exception;

/* This one has a frame pointer, which means nothing to the others. */
FRAME(throw_on, 40 + cleanups,
	(is_unwinding = true, step_by_step(true), _Unwind_ForcedUnwind(&exception, leave, NULL)))
FRAME(small, 8, throw_on(depth))
FRAME(large, 1000, small(depth))
FRAME(again, 200, depth ? again(depth - 1) : large(depth))
FRAME(plain, 72, again(depth))

__attribute__((noinline)) static void unwind_all(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they have frame pointers */
	__asm__ volatile("mov $1, %%rbp" ::: "rbp");
#endif
	plain(2);
	sink++;
}

static void landing(void **state)
{
	(void)state;
	bottom = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof(uint64_t);
	stepped_begin(walk_at_step);
	if (!setjmp(out))
		unwind_all();
	print_message("steps %u partial %u without the function that is unwound %u\n", steps, partial, lost);
	assert_int_equal(cleanups, FRAMES);
	assert_true(steps > 1000);
	assert_int_equal(partial, 0);
	assert_int_equal(lost, 0);
}
#else
static void landing(void **state)
{
	(void)state;
	print_message("return addresses are elsewhere on this processor\n");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(landing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
