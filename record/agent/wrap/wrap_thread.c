/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_thread.c - measures threads from their trampoline, where their stacks end, to the last round of their
 * key destructors, so that thread-local destructors are included. Records thread names.
 */
#include <stdarg.h>

#include "record/agent/base/real.h"
#include "record/agent/base/ticks.h"
#include "record/agent/base/vdso.h"
#include "record/agent/base/wrap.h"
#include "record/agent/java/java.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/exec_environment.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/thread.h"
#include "record/agent/unwind/gpu_runtime_libraries.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/wrap/sandbox.h"

#define DESTRUCTOR_ROUNDS 4	   /* PTHREAD_DESTRUCTOR_ITERATIONS: libc's number of rounds */
#define STACK_MARGIN (64u * 1024u) /* of a thread's stack, for libc's data at its top */
#define STACK_DEFAULT (8u << 20)

static pthread_key_t key;
static bool key_there;

static void key_set(uintptr_t rounds)
{
	REAL(pthread_setspecific)(key, (void *)rounds);
}

OWN static void key_destroyed(void *rounds)
{
	struct thread *thread = thread_own();

	if ((uintptr_t)rounds > 1)
		key_set((uintptr_t)rounds - 1);
	else if (thread)
		thread_end(thread);
	else
		exec_environment_thread_end(); /* the thread had no ring */
	STAY;
}

void wrap_thread_over(void)
{
	struct thread *thread = thread_here();

	if (thread)
		thread_end(thread);
}

int wrap_thread_open(void)
{
	/* Without a threads library no thread ends. */
	key_there = REAL(pthread_key_create) && !REAL(pthread_key_create)(&key, key_destroyed);
	return 0;
}

void wrap_thread_adopt(void)
{
	if (key_there)
		key_set(DESTRUCTOR_ROUNDS);
}

/* frame: an address in the trampoline's frame; all callees are below it. */
OWN static void begin(struct thread *t, void *frame)
{
	uint64_t bytes = t->stack_bytes;

	thread_place = (struct thread_place){.stack_high = (uintptr_t)frame,
		.stack_low = (uintptr_t)frame - (bytes > 2 * STACK_MARGIN ? bytes - STACK_MARGIN : bytes / 2),
		.start_routine = (uintptr_t)t->routine,
		.program_masked = t->program_masked};
	if (!process_is_live())
		return;
	thread_begin(t, t->index);
	wrap_thread_adopt();
	signal_guards_unblock();
	STAY;
}

FENCE static void *run_thread(void *argument)
{
	struct thread *t = argument;
	void *(*routine)(void *) = t->routine, *result;

	argument = t->argument;
	begin(t, __builtin_frame_address(0));
	result = routine(argument);
	__asm__ volatile("" : "+r"(result)); /* no tail call: this frame is where stacks end */
	return result;
}

FENCE static int run_c11_thread(void *argument)
{
	struct thread *t = argument;
	int (*routine)(void *) = (int (*)(void *))(void (*)(void))t->routine, result;

	argument = t->argument;
	begin(t, __builtin_frame_address(0));
	result = routine(argument);
	__asm__ volatile("" : "+r"(result));
	return result;
}

static uint64_t stack_bytes_of(const pthread_attr_t *attributes)
{
	pthread_attr_t standard;
	size_t bytes = 0;

	if (!attributes) {
		REAL(pthread_attr_init)(&standard);
		attributes = &standard;
	}
	return REAL(pthread_attr_getstacksize)(attributes, &bytes) || !bytes ? STACK_DEFAULT : bytes;
}

/* The block for a thread that code at `caller` creates; NULL: not measured. */
static struct thread *prepare(
	const pthread_attr_t *attributes, void *(*routine)(void *), void *argument, void *caller)
{
	struct thread *t;

	if (!process_is_live() || gpu_runtime_libraries_has_or_driver((uintptr_t)caller))
		return NULL;
	t = thread_new();
	if (!t) {
		atomic_fetch_add(&process.shared->threads_unmonitored, 1);
		return NULL;
	}
	module_map_refresh();
	t->routine = routine;
	t->argument = argument;
	t->index = atomic_fetch_add(&process.shared->thread_count, 1);
	t->program_masked = thread_place.program_masked;
	t->stack_bytes = stack_bytes_of(attributes);
	return t;
}

WRAPPER int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct thread *t;
	int result;

	java_look();
	t = prepare(attributes, routine, argument, __builtin_return_address(0));
	if (!t)
		return REAL(pthread_create)(thread, attributes, routine, argument);
	signal_guards_hold();
	result = REAL(pthread_create)(thread, attributes, run_thread, t);
	signal_guards_let_go();
	if (result)
		thread_free(t);
	return result;
}

WRAPPER int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	struct thread *t = prepare(
		NULL, (void *(*)(void *))(void (*)(void))routine, argument, __builtin_return_address(0));
	int result;

	if (!t)
		return REAL(thrd_create)(thread, routine, argument);
	signal_guards_hold();
	result = REAL(thrd_create)(thread, run_c11_thread, t);
	signal_guards_let_go();
	if (result != thrd_success)
		thread_free(t);
	return result;
}

WRAPPER int pthread_setname_np(pthread_t thread, const char *name)
{
	int result = REAL(pthread_setname_np)(thread, name);
	struct thread *t = result || thread != pthread_self() ? NULL : thread_own();

	if (t)
		thread_name_set(t, name);
	return result;
}

/* The program forbids itself the counter, which the clock reads. */
static void clock_leave(void)
{
	vdso_leave();
	ticks_leave();
}

WRAPPER int prctl(int option, ...)
{
	unsigned long argument[4];
	struct thread *t;
	va_list list;
	bool locks;
	int result;

	va_start(list, option);
	for (unsigned i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_TSC && argument[0] == PR_TSC_SIGSEGV)
		clock_leave();
	locks = option == PR_SET_SECCOMP && sandbox_begin(argument[0], (const void *)argument[1]);
	result = REAL(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
	if (locks && result)
		sandbox_failed();
	t = result || option != PR_SET_NAME ? NULL : thread_own();
	if (t)
		thread_name_set(t, (const char *)argument[0]);
	return result;
}

WRAPPER int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);

	if (!result && process_is_live())
		module_slots_unloaded();
	return result;
}
