/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trails.c TURNS LIBRARY LIBRARY - marks from call paths that look alike: frames of the same sizes at the
 * same places of the stack, in loops, so that a recorder that remembers where it has been may take one for
 * another.
 *
 * What the trace must show: each mark's name is its path: "left near", "right far", ...; 8 x TURNS of each on
 * the first thread and on another; 6 of each of 300 paths, more than are remembered, "ddddddddd",
 * "udddddddd" and so on; 2 x TURNS of "port" and "starboard" together, in whose paths 240 frames are alike.
 * Of "fore" and "aft" as many, through code made at run time. Then, TURNS of each: "leap near" and "leap
 * far", left by longjmp; "even near" and "odd far" on a stack of their own, which is unmapped and mapped anew
 * between them; "before near" and "after near" through two LIBRARYs, one unloaded ahead of the other, where
 * the other lay. It prints how often it did lie there.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/program/hpct.h"

#define APART __attribute__((noinline, noclone, noipa))
#define NO_TAIL_CALL() __asm__ volatile("")

#define ENDS(name)                              \
	static APART void name(const char *way) \
	{                                       \
		hpct_mark(way);                 \
		NO_TAIL_CALL();                 \
	}
ENDS(near)
ENDS(far)

#define WAYS(name)                           \
	static APART void name(int turn)     \
	{                                    \
		if (turn & 1)                \
			near(#name " near"); \
		else                         \
			far(#name " far");   \
		NO_TAIL_CALL();              \
	}
WAYS(left)
WAYS(right)

/* A frame of a size that only its frame pointer tells. */
static APART void wide(void (*way)(int), int turn, int bytes)
{
	volatile char *room = __builtin_alloca((size_t)bytes);

	room[0] = 1;
	way(turn);
	room[bytes - 1] = 1;
}

/* Runs of the same path, then another, then back: some remembered, some not. */
static APART void *turns(void *count)
{
	for (int turn = 0; turn < *(int *)count; turn++)
		for (int again = 0; again < 4; again++) {
			wide(left, turn + again / 2, 64);
			right(turn + again / 3);
		}
	return NULL;
}

/* Nine times one of two functions with equal frames. */
static char fan_name[10];

static APART void fan_end(unsigned bits)
{
	for (int i = 0; i < 9; i++)
		fan_name[i] = bits >> i & 1 ? 'u' : 'd';
	hpct_mark(fan_name);
	NO_TAIL_CALL();
}

#define FAN(level, inner)                           \
	static APART void d##level(unsigned bits)   \
	{                                           \
		inner(bits);                        \
		NO_TAIL_CALL();                     \
	}                                           \
	static APART void u##level(unsigned bits)   \
	{                                           \
		inner(bits);                        \
		NO_TAIL_CALL();                     \
	}                                           \
	static APART void fan##level(unsigned bits) \
	{                                           \
		if (bits >> (level)&1)              \
			u##level(bits);             \
		else                                \
			d##level(bits);             \
		NO_TAIL_CALL();                     \
	}
FAN(0, fan_end)
FAN(1, fan0)
FAN(2, fan1)
FAN(3, fan2)
FAN(4, fan3)
FAN(5, fan4)
FAN(6, fan5)
FAN(7, fan6)
FAN(8, fan7)

/* Each path three times in a row, so that the third is one remembered, and all again; as fast as the
 * collector surely is. */
#define FAN_PATHS 300
static APART void fans(void)
{
	for (int turn = 0; turn < 2; turn++)
		for (unsigned bits = 0; bits < FAN_PATHS; bits++) {
			for (volatile int again = 0; again < 3; again++) /* from one place */
				fan8(bits);
			usleep(200);
		}
}

/* Alike for so many frames, and told apart by the outermost. */
#define DEPTH 240
static APART void deep(int more, const char *name)
{
	if (more)
		deep(more - 1, name);
	else
		hpct_mark(name);
	NO_TAIL_CALL();
}

static APART void port(void)
{
	deep(DEPTH, "port");
	NO_TAIL_CALL();
}

static APART void starboard(void)
{
	deep(DEPTH, "starboard");
	NO_TAIL_CALL();
}

static APART void dives(int count)
{
	for (volatile int turn = 0; turn < 2 * count; turn++)
		if (turn / 3 & 1)
			port();
		else
			starboard();
}

/* Code made at run time, without tables and frame pointers, as Python makes it for perf: calls its argument.
 */
#if defined(__x86_64__)
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
	0xff, 0xd7,					     /* call *%rdi */
	0x48, 0x83, 0xc4, 0x08,				     /* add $8, %rsp */
	0xc3};
#else
static const unsigned char code[] = {0};
#endif

static void (*made)(void (*)(void));

static APART void fore_end(void)
{
	hpct_mark("fore");
	NO_TAIL_CALL();
}

static APART void aft_end(void)
{
	hpct_mark("aft");
	NO_TAIL_CALL();
}

static APART void through_made(int more, void (*end)(void));
static void (*made_end)(void);
static int made_more;

static APART void made_next(void)
{
	through_made(made_more, made_end);
	NO_TAIL_CALL();
}

static APART void through_made(int more, void (*end)(void))
{
	made_more = more - 1;
	made_end = end;
	if (sizeof(code) == 1)
		end();
	else
		made(more ? made_next : end);
	NO_TAIL_CALL();
}

static APART void fore(void)
{
	through_made(3, fore_end);
	NO_TAIL_CALL();
}

static APART void aft(void)
{
	through_made(3, aft_end);
	NO_TAIL_CALL();
}

static APART void makes(int count)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || !memcpy(memory, code, sizeof(code)) ||
		mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		exit(5);
	memcpy(&made, &memory, sizeof(made));
	for (volatile int turn = 0; turn < 2 * count; turn++)
		if (turn / 3 & 1)
			fore();
		else
			aft();
}

static jmp_buf back;

static APART void leap(int turn)
{
	if (turn & 1)
		near("leap near");
	else
		far("leap far");
	longjmp(back, 1);
}

static APART void leaps(int count)
{
	for (volatile int turn = 0; turn < 2 * count; turn++)
		if (!setjmp(back))
			leap(turn);
}

#define STACK_BYTES 65536u

static ucontext_t here, there;

static APART void even(void)
{
	near("even near");
	NO_TAIL_CALL();
}

static APART void odd(void)
{
	far("odd far");
	NO_TAIL_CALL();
}

static APART void context(char *stack, void (*entry)(void))
{
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, entry, 0);
	swapcontext(&here, &there);
}

/* Each stack lies where the one before it lay. */
static APART void contexts(int count)
{
	char *stack = NULL;

	for (int turn = 0; turn < 2 * count; turn++) {
		stack = mmap(stack, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | (stack ? MAP_FIXED : 0), -1, 0);
		if (stack == MAP_FAILED)
			exit(3);
		context(stack, turn & 1 ? odd : even);
		munmap(stack, STACK_BYTES);
	}
}

/* The library's only function calls what it is given. */
static APART void *through(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	void (*call)(void (*)(const char *)) = NULL;

	if (handle)
		call = (void (*)(void (*)(const char *)))(uintptr_t)dlsym(handle, "call");
	if (!call)
		exit(4);
	for (int again = 0; again < 4; again++)
		call(near);
	dlclose(handle);
	return (void *)(uintptr_t)call;
}

int main(int argc, char **argv)
{
	int count = argc > 3 ? atoi(argv[1]) : 0, there_again = 0;
	void *last = NULL;
	pthread_t other;

	turns(&count);
	pthread_create(&other, NULL, turns, &count);
	pthread_join(other, NULL);
	fans();
	dives(count);
	makes(count);
	leaps(count);
	contexts(count);
	for (int turn = 0; turn < count / 2; turn++) {
		void *place = through(argv[2 + turn % 2]);

		there_again += place == last;
		last = place;
	}
	printf("%d\n", there_again);
	return !count;
}
