/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep.c - a chain of thirty functions. Argument: CPU seconds (default 0.5).
 *
 * What the trace must show: main;f01;f02;...;f30, every function in every path that reaches f30, and
 * all time but a trace of it in f30. Frames differ in size, f10 allocates on the stack by a number
 * that the compiler does not know, and f20 keeps all callee-saved registers busy.
 */
#include "samples/burn.h"

#include <alloca.h>
#include <stdlib.h>

APART static void f30(double ns)
{
	BURN(ns);
}

#define LINK(name, next, ...)             \
	APART static void name(double ns) \
	{                                 \
		__VA_ARGS__               \
		next(ns);                 \
		NO_TAIL_CALL();           \
	}
#define KEEP(bytes)                 \
	volatile char keep_[bytes]; \
	keep_[0] = keep_[(bytes)-1] = 1;

LINK(f29, f30)
LINK(f28, f29)
LINK(f27, f28, KEEP(16))
LINK(f26, f27)
LINK(f25, f26, KEEP(4096))
LINK(f24, f25)
LINK(f23, f24)
LINK(f22, f23, KEEP(40))
LINK(f21, f22)

APART static void f20(double ns)
{
	uint64_t a = cpu_now_ns(), b = a * 3, c = a * 5, d = a * 7, e = a * 11;

	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	f21(ns);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
}

LINK(f19, f20)
LINK(f18, f19, KEEP(200))
LINK(f17, f18)
LINK(f16, f17)
LINK(f15, f16)
LINK(f14, f15, KEEP(70000))
LINK(f13, f14)
LINK(f12, f13)
LINK(f11, f12)

APART static void f10(double ns)
{
	volatile char *keep = alloca((size_t)(cpu_now_ns() % 512) + 1);

	keep[0] = 1;
	f11(ns);
	NO_TAIL_CALL();
}

LINK(f09, f10)
LINK(f08, f09)
LINK(f07, f08, KEEP(24))
LINK(f06, f07)
LINK(f05, f06)
LINK(f04, f05)
LINK(f03, f04, KEEP(1000))
LINK(f02, f03)
LINK(f01, f02)

int main(int argc, char **argv)
{
	f01(1e9 * (argc > 1 ? atof(argv[1]) : 0.5));
	return 0;
}
