/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_go.c - the walk over a copied stack of Go's: through runtime.systemstack by the kernel's call
 * chain, to the ends that Go's runtime makes, and out of leaves whose frame is not whole. Stacks and code are
 * made by hand; nothing is run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/unwind/unwind.h"

#ifdef __x86_64__
#define TEXT 16384u
#define WORDS 64u

/* Functions, and return addresses in them. */
enum {
	SYSTEMSTACK = 0x400,
	IN_SYSTEMSTACK = 0x442,
	GOEXIT = 0x500,
	IN_GOEXIT = 0x501,
	ASSIST = 0x600,
	IN_ASSIST = 0x635,
	ALLOC = 0x700,
	IN_ALLOC = 0x725,
	IN_TOP = 0x825,
	CLOSURE = 0x900,
	IN_CLOSURE = 0x925,
	DRAIN = 0xa00,
	WORKER = 0xb00,
	IN_WORKER = 0xb25,
	IN_MCALL = 0xc12,
	PARK = 0xd00,
	CLONE = 0xe00,
	IN_CLONE = 0xe12,
	MSTART = 0xf00,
	IN_MSTART = 0xf05,
	MORESTACK = 0x1000,
	IN_MORESTACK = 0x1005,
	NEWSTACK = 0x1100,
	ABORT = 0x1200
};

static _Alignas(4096) uint8_t code[TEXT];
static uint64_t stack[WORDS], goroutine[2 * WORDS];
static struct unwinder unwinder;
static struct unwind_frame frames[32];
static struct cfi_module module;
static uint64_t chain[8];
static unsigned chain_count;

static uint64_t in(unsigned offset)
{
	return (uintptr_t)&code[offset];
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)&stack[word];
}

/* Outside the copy. */
static uint64_t away(unsigned word)
{
	return (uintptr_t)&goroutine[word];
}

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	if (address - in(0) >= TEXT || bytes > TEXT - (address - in(0)))
		return -1;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

static int memory_now(void *context, uint64_t address, void *to, size_t bytes)
{
	if (address >= away(0) && address + bytes <= away(2 * WORDS)) {
		memcpy(to, (const void *)(uintptr_t)address, bytes);
		return 0;
	}
	return memory_read(context, address, to, bytes);
}

static const struct cfi_module *module_find(void *context, uint64_t pc)
{
	(void)context;
	return pc - in(0) < TEXT ? &module : NULL;
}

static void put(unsigned offset, const void *bytes, size_t count)
{
	memcpy(&code[offset], bytes, count);
}

/* e8 DISTANCE, or lea DISTANCE(%rip), %rax, which end at that offset. */
static void put_far(unsigned end, const char *what, unsigned target)
{
	int32_t by = (int32_t)target - (int32_t)end;

	put(end - 4 - (unsigned)strlen(what), what, strlen(what));
	put(end - 4, &by, sizeof(by));
}

static void code_make(void)
{
	static const uint8_t look[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff},
			     end[] = {0xbf, 111, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05};

	memset(code, 0x90, sizeof(code));
	for (unsigned i = 0x400; i < 0x1400; i += 0x100)
		put(i - 2, "\xcc\xcc", 2);
	put(IN_SYSTEMSTACK - 2, "\xff\xd7", 2);
	put(IN_SYSTEMSTACK, look, sizeof(look));
	put_far(GOEXIT + 6, "\xe8", PARK);
	put_far(IN_ASSIST, "\xe8", SYSTEMSTACK);
	put_far(IN_ALLOC, "\xe8", ASSIST);
	put_far(IN_TOP, "\xe8", ALLOC);
	put_far(IN_CLOSURE, "\xe8", DRAIN);
	put_far(IN_WORKER - 16, "\x48\x8d\x05", CLOSURE);
	put_far(IN_WORKER, "\xe8", SYSTEMSTACK);
	put(IN_MCALL - 2, "\xff\xd2\x58\xe9", 4);
	put(IN_CLONE - 3, "\x41\xff\xd4", 3);
	put(IN_CLONE, end, sizeof(end));
	put_far(IN_MSTART, "\xe8", PARK);
	put(IN_MSTART, "\xc3\xcc\xcc", 3);
	put_far(IN_MORESTACK, "\xe8", NEWSTACK);
	put_far(IN_MORESTACK + 5, "\xe8", ABORT);
	put(ABORT, "\xcd\x03\xeb\xfe", 4);
}

static int set_up(void **state)
{
	(void)state;
	memset(&unwinder, 0, sizeof(unwinder));
	memset(stack, 0, sizeof(stack));
	memset(goroutine, 0, sizeof(goroutine));
	code_make();
	module = (struct cfi_module){.begin = in(0), .end = in(TEXT)};
	unwinder.frames = frames;
	unwinder.most = sizeof(frames) / sizeof(*frames);
	unwinder.space.memory = (struct cfi_memory){.low = at(0), .high = at(WORDS), .read = memory_read};
	unwinder.space.module_find = module_find;
	unwinder.space.is_go = unwinder.space.is_copy = true;
	chain_count = 0;
	return 0;
}

static void chain_add(unsigned offset)
{
	chain[chain_count++] = in(offset);
}

static enum unwind_result walk(unsigned pc, unsigned sp, uint64_t fp)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};

	start.value[ARCH_PC] = in(pc);
	start.value[ARCH_SP] = at(sp);
	start.value[ARCH_FP] = fp;
	unwinder.space.chain = (struct unwind_chain){chain, chain_count, fp, memory_now};
	return unwind_walk(&unwinder, &start);
}

static void path_is(const unsigned *offsets, unsigned count)
{
	assert_int_equal(unwinder.count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(frames[i].address - in(0), offsets[i]);
}
#define PATH_IS(...) \
	path_is((const unsigned[]){__VA_ARGS__}, sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

/* drain <- closure <- systemstack, on the thread's own stack; what was called there before has left words. */
static void systemstack_put(void)
{
	stack[0] = in(IN_TOP);
	stack[4] = at(8);
	stack[5] = in(IN_CLOSURE);
	stack[8] = away(100);
	stack[9] = in(IN_SYSTEMSTACK);
	chain_add(DRAIN + 0x30);
	chain_add(IN_CLOSURE);
	chain_add(IN_SYSTEMSTACK);
}

static void through_systemstack(void **state)
{
	(void)state;
	systemstack_put();
	chain_add(IN_ALLOC);
	chain_add(IN_TOP);
	chain_add(IN_GOEXIT);
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_SYSTEMSTACK - 1, IN_ASSIST - 1, IN_ALLOC - 1, IN_TOP - 1);
	chain_count--; /* the kernel follows so many and no more */
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_PARTIAL);
	chain_count = 1; /* or cannot read one */
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_PARTIAL);
	PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_SYSTEMSTACK - 1);
}

/* A caller that does not lead to systemstack is of something else. */
static void not_by_another_caller(void **state)
{
	(void)state;
	systemstack_put();
	chain_add(IN_TOP);
	chain_add(IN_GOEXIT);
	put_far(IN_TOP, "\xe8", ABORT);
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_PARTIAL);
	PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_SYSTEMSTACK - 1);
}

/* The function that a goroutine begins with has no caller; its frame tells, if what it runs is what runs. */
static void from_the_goroutines_begin(void **state)
{
	(void)state;
	systemstack_put();
	chain_add(IN_GOEXIT);
	goroutine[84] = in(IN_WORKER);
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_SYSTEMSTACK - 1, IN_WORKER - 1);
	goroutine[84] = in(IN_ASSIST); /* by now it runs another one */
	assert_int_equal(walk(DRAIN + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_SYSTEMSTACK - 1);
}

/* Stacks grow on the thread's stack, for a function that has no frame yet. */
static void through_morestack(void **state)
{
	(void)state;
	stack[4] = away(100);
	stack[5] = in(IN_MORESTACK);
	chain_add(NEWSTACK + 0x30);
	chain_add(IN_MORESTACK);
	chain_add(IN_TOP);
	chain_add(IN_GOEXIT);
	assert_int_equal(walk(NEWSTACK + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(NEWSTACK + 0x30, IN_MORESTACK - 1, ALLOC, IN_TOP - 1);
	chain_count = 2;
	assert_int_equal(walk(NEWSTACK + 0x30, 0, at(4)), UNWIND_FULL); /* as Go's own unwinder ends */
	PATH_IS(NEWSTACK + 0x30, IN_MORESTACK - 1);
}

static void ends(void **state)
{
	(void)state;
	stack[4] = away(100); /* of the goroutine that waits by now */
	stack[5] = in(IN_MCALL);
	chain_add(PARK + 0x30);
	chain_add(IN_MCALL);
	chain_add(IN_TOP);
	chain_add(IN_GOEXIT);
	assert_int_equal(walk(PARK + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(PARK + 0x30, IN_MCALL - 1);
	set_up(state);
	stack[4] = away(100); /* of the thread that made this one */
	stack[5] = in(IN_MSTART);
	stack[6] = in(IN_CLONE);
	chain_add(PARK + 0x30);
	chain_add(IN_MSTART);
	chain_add(IN_TOP);
	chain_add(IN_GOEXIT);
	assert_int_equal(walk(PARK + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(PARK + 0x30, IN_MSTART - 1, IN_CLONE - 1);
	set_up(state);
	stack[4] = 0; /* a goroutine's function has returned */
	stack[5] = in(GOEXIT + 6);
	assert_int_equal(walk(PARK + 0x30, 0, at(4)), UNWIND_FULL);
	PATH_IS(PARK + 0x30, GOEXIT + 5);
}

/* Its frame pointer is its caller's, though its frame is there in part. */
static void out_of_leaves(void **state)
{
	static const struct {
		const char *code;
		unsigned bytes, word; /* the return address is there */
	} leaves[] = {
		{"\x48\x89\x6c\x24\x18", 5, 4}, /* mov %rbp, 24(%rsp) */
		{"\x48\x8d\x6c\x24\x18", 5, 4}, /* lea 24(%rsp), %rbp */
		{"\x48\x89\xac\x24\x18\0\0\0", 8, 4},
		{"\x48\x89\xe5", 3, 1},		/* mov %rsp, %rbp */
		{"\x48\x83\xc4\x20\xc3", 5, 4}, /* add $32, %rsp; ret */
		{"\xc3", 1, 0},
		{"\x90", 1, 0},
	};

	for (unsigned i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		set_up(state);
		stack[0] = in(IN_TOP); /* left over */
		stack[leaves[i].word] = in(IN_CLOSURE);
		stack[20] = at(30);
		stack[21] = in(IN_ALLOC);
		stack[30] = 0;
		stack[31] = in(IN_GOEXIT);
		put(DRAIN + 0x30, leaves[i].code, leaves[i].bytes);
		assert_int_equal(walk(DRAIN + 0x30, 0, at(20)), UNWIND_FULL);
		PATH_IS(DRAIN + 0x30, IN_CLOSURE - 1, IN_ALLOC - 1);
	}
}

/* What a signal interrupted stands on another stack, which is another one by now. */
static void not_below_a_signal(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};

	(void)state;
	goroutine[0] = in(IN_CLOSURE);
	start.value[ARCH_PC] = in(DRAIN + 0x30);
	start.value[ARCH_SP] = away(0);
	start.value[ARCH_FP] = away(4);
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_PARTIAL);
	PATH_IS(DRAIN + 0x30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(through_systemstack, set_up),
		cmocka_unit_test_setup(not_by_another_caller, set_up),
		cmocka_unit_test_setup(from_the_goroutines_begin, set_up),
		cmocka_unit_test_setup(through_morestack, set_up),
		cmocka_unit_test_setup(ends, set_up),
		cmocka_unit_test_setup(out_of_leaves, set_up),
		cmocka_unit_test_setup(not_below_a_signal, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 0;
}
#endif
