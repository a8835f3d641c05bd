/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_java_trace.c - faults while a machine is asked for its frames: here a machine of the test's own,
 * whose handler of SIGSEGV goes on behind the loads that it expects to fault, as HotSpot's does (SafeFetch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/agent/java/java_trace.h"

#define STATE_IN_NATIVE 4
#define METHOD UINT64_C(0x5008)

typedef intptr_t (*load_function)(const void *address, intptr_t other);

/* SafeFetch32 and SafeFetchN, of newer machines and of older ones; and where their handler goes on. */
static const struct {
	uint8_t bytes[16], next;
} loads[] = {
#if defined(__x86_64__)
	{{0x8b, 0x07, 0xc3, 0x89, 0xf0, 0xc3}, 3},
	{{0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3}, 4},
	{{0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}, 2},
	{{0x48, 0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}, 3},
#else
	{{0x00, 0x00, 0x40, 0xb9, 0xc0, 0x03, 0x5f, 0xd6, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}, 8},
	{{0x00, 0x00, 0x40, 0xf9, 0xc0, 0x03, 0x5f, 0xd6, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}, 8},
	{{0x01, 0x00, 0x40, 0xb9, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}, 4},
	{{0x01, 0x00, 0x40, 0xf9, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}, 4},
#endif
};
#define LOADS (sizeof(loads) / sizeof(*loads))

/* ASGCT_CallTrace. */
struct trace {
	void *environment;
	int32_t count;
	struct {
		int32_t line;
		uint64_t method;
	} * frames;
};

static int32_t state = STATE_IN_NATIVE;
static load_function load; /* what the machine does when it is asked */
static uint64_t next;	   /* where its handler goes on */
static unsigned expected;

static void handle(int number, siginfo_t *info, void *context)
{
	uint64_t value[ARCH_REGISTERS];

	(void)info;
	java_trace_recover(context);
	if (!next) {
		signal(number, SIG_DFL);
		return;
	}
	expected++;
	arch_registers_read(context, value);
	value[ARCH_PC] = next;
	arch_registers_write(context, value);
}

static int environment_get(void *machine, void **environment, int32_t version)
{
	(void)machine, (void)version;
	*environment = &state;
	return 0;
}

static void trace_get(void *told, int32_t most, void *context)
{
	struct trace *trace = told;

	(void)most, (void)context;
	if (load((const void *)16, 7) != 7)
		abort();
	trace->count = 1;
	trace->frames[0].method = METHOD;
}

static intptr_t load_badly(const void *address, intptr_t other)
{
	return *(const volatile char *)address + other;
}

static const struct java_trace_machine machine = {.get = trace_get, .environment = environment_get};

/* A walk that ended at code made at run time. */
static uint64_t told_method(void)
{
	struct arch_registers at = {.known = ARCH_ALL_KNOWN};
	struct unwind_frame frames[8] = {{.address = 1, .slot = UNWIND_NO_SLOT}};
	bool is_whole = false;

	assert_int_equal(java_trace_join(&at, frames, 1, 8, &is_whole), 1);
	return frames[0].address;
}

static void open_machine(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	java_trace_guarded_by(handle);
	assert_true(java_trace_open(&machine, &state));
}

static void test_expected_faults(void **unused)
{
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	assert_true(code != MAP_FAILED);
	open_machine();
	for (size_t i = 0; i < LOADS; i++) {
		void *at = code + 64 * i;

		memcpy(at, loads[i].bytes, sizeof(loads[i].bytes));
		__builtin___clear_cache(at, (char *)at + 64);
		memcpy(&load, &at, sizeof(load));
		next = (uintptr_t)at + loads[i].next;
		assert_int_equal(told_method(), METHOD);
		assert_int_equal(expected, i + 1);
		assert_true(java_trace_is_open());
	}
	java_trace_close();
	munmap(code, 4096);
}

/* It is not asked again. */
static void test_other_fault(void **unused)
{
	(void)unused;
	open_machine();
	load = load_badly;
	next = 0;
	assert_int_equal(told_method(), 1);
	assert_false(java_trace_is_open());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expected_faults),
		cmocka_unit_test(test_other_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
