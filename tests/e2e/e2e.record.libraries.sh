#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Libraries that are found by their caller's RUNPATH, in a namespace of their own too; programs that gprof watches.
. "$(dirname -- "$0")/expect.sh"
need gcc

cat >spend.h <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
static inline long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
#define SPEND(ms) for (long end = now_ms() + (ms); now_ms() < end;) for (volatile int i = 0; i < 20000;) i++
END
cat >inner.c <<'END'
#include "spend.h"
__attribute__((noipa)) static void inner_work(int ms) { SPEND(ms); }
void inner(int ms) { inner_work(ms); __asm__ volatile(""); }
END
cat >outer.c <<'END'
#include "spend.h"
int outer(int ms)
{
	void *library = dlopen("inner.so", RTLD_NOW); /* in a directory that this library alone names */
	void (*inner)(int) = library ? (void (*)(int))dlsym(library, "inner") : NULL;
	if (!inner)
		return 1;
	inner(ms);
	return 0;
}
END
cat >caller.c <<'END'
#include "spend.h"
static int call(void *library, int ms)
{
	int (*outer)(int) = library ? (int (*)(int))dlsym(library, "outer") : NULL;
	return outer ? outer(ms) : 2;
}
__attribute__((noipa)) static int here(void)
{
	return call(dlopen("outer.so", RTLD_NOW), 600) + 0;
}
__attribute__((noipa)) static int apart(void)
{
	return call(dlmopen(LM_ID_NEWLM, "outer.so", RTLD_NOW), 600) + 0;
}
int main(void)
{
	printf("%d %d\n", here(), apart());
	return 0;
}
END
mkdir -p outer/inner
gcc -O2 -g -fPIC -shared -o outer/inner/inner.so inner.c || fail "inner.so"
gcc -O2 -g -fPIC -shared -Wl,--enable-new-dtags,-rpath,"\$ORIGIN/inner" -o outer/outer.so outer.c || fail "outer.so"
gcc -O2 -g -fno-optimize-sibling-calls -Wl,--enable-new-dtags,-rpath,"\$ORIGIN/outer" -o caller caller.c -ldl || fail "caller"
both libraries ./caller
same "each was found" "0 0" "$(cat measured.out)"
weights_agree libraries
limit="$(edge libraries 72e6) / 12e6" # percent of 1200 ms
near "by RUNPATH" 50 "$(share libraries here)" "$limit"
near "in a namespace of its own" 50 "$(share libraries apart)" "$limit"
near "named in both" 100 "$(share libraries inner_work)" "$limit"
same "partial stacks" 0 "$(info libraries partial_stacks)"

# -pg: the program's own profile is written as ever, by a signal and a timer that are not ours.
cat >profiled.c <<'END'
#include "spend.h"
__attribute__((noipa)) static int step(int n) { volatile int x = n; return x * 3; }
__attribute__((noipa)) static long stepping(int ms)
{
	long sum = 0;
	for (long end = now_ms() + ms; now_ms() < end;)
		for (int i = 0; i < 20000; i++)
			sum += step(i);
	return sum;
}
int main(void) { return stepping(1200) == 1; }
END
gcc -O2 -g -pg -o profiled profiled.c || skip "no profiling start files (libc6-dev)"
both profiled ./profiled
check "gmon.out is written" [ -s gmon.out ]
weights_agree profiled
near "stepping" 100 "$(share profiled stepping)" "$(edge profiled 72e6) / 12e6"
check "whole stacks: $(info profiled partial_stacks) of $(info profiled samples) are partial" \
	calc "$(info profiled partial_stacks) <= 0.01 * $(info profiled samples)"

# Asked to, the recorder keeps it from that; a static one, too.
# undisturbed RUN PROGRAM
undisturbed() {
	rm -f gmon.out
	record "$1" --disable-gprof -- "$2" || fail "$1: exit code $?"
	check "$1: gmon.out is written" [ ! -e gmon.out ]
	near "$1: stepping" 100 "$(share "$1" stepping)" "$(edge "$1" 72e6) / 12e6"
}
undisturbed quiet ./profiled
hpct-link gcc -O2 -g -pg -static -o profiled_static profiled.c 2>err || skip "static: $(head -n 1 err)"
undisturbed quiet_static ./profiled_static
./profiled_static
check "a static program alone writes its gmon.out" [ -s gmon.out ]

# A program with gaps between its segments, as linkers like to leave them: libc finds its code alone, and its tables
# are elsewhere. Without them a function that never returns is left by no reading of its code.
cat >gap.c <<'END'
#include <stdlib.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
APART static void leaf(void)
{
	volatile char room[200];
	for (int i = 0; i < 20000; i++)
		room[i % 200] = (char)i;
}
APART static void forever(void)
{
	struct timespec now;
	for (;;) {
		leaf();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		if (now.tv_nsec > 300000000)
			exit(4);
	}
}
int main(void)
{
	forever();
}
END
gcc -O2 -fomit-frame-pointer -Wl,-z,max-page-size=2097152 -o gap gap.c
code "gaps" 4 record gap -- ./gap
check "gaps: partial stacks: $(info gap partial_stacks)" [ "$(info gap partial_stacks)" -le 2 ]
check "gaps: most of it is below main" calc "$(share gap main) > 50"
