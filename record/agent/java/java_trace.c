/* SPDX-License-Identifier: Apache-2.0 */
/* java_trace.c - see java_trace.h. */
#include "record/agent/java/java_trace.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"

#define FRAMES_MOST 1024 /* 16 KiB of the handler's stack */
#define METHODS 32768u	 /* a power of two */
#define PROBES 32u
#define WANTED_LEAST 32u /* a few paths of a whole run are not worth what opening it takes */
#define JNI_VERSION 0x00010006

/* JavaThreadState, without those of threads that begin, end, or pass from one to another. */
enum { STATE_IN_NATIVE = 4, STATE_IN_VM = 6, STATE_IN_JAVA = 8, STATE_BLOCKED = 10 };

/* ASGCT_CallFrame, ASGCT_CallTrace. */
struct call_frame {
	int32_t line;
	uint64_t method;
};
struct call_trace {
	void *environment;
	int32_t count; /* negative: why there are none */
	struct call_frame *frames;
};

static struct java_trace_machine machine;
static void (*guards)(int, siginfo_t *, void *);
static _Atomic bool is_open;
static _Atomic uint32_t wanted;
/* Ids of methods, by hash, and in the order in which they were met. */
static _Atomic uint64_t known[METHODS], met[METHODS];
static _Atomic uint32_t met_count, named_count;

/* Where a fault of the machine leads back to, in call_guarded()'s frame; NULL: it is not being asked. */
static __thread jmp_buf *volatile way_back __attribute__((tls_model("initial-exec")));

void java_trace_want(void)
{
	if (atomic_load_explicit(&wanted, memory_order_relaxed) < WANTED_LEAST)
		atomic_fetch_add(&wanted, 1);
}

bool java_trace_is_wanted(void)
{
	return atomic_load(&wanted) >= WANTED_LEAST;
}

/* 0: not known. */
static int32_t state_of(const void *environment)
{
	uint64_t place = (uint64_t)(uintptr_t)environment + (uint64_t)machine.thread + machine.state;
	int32_t state = 0;

	memcpy(&state, (const void *)(uintptr_t)place, sizeof(state));
	return state;
}

void java_trace_guarded_by(void (*handler)(int, siginfo_t *, void *))
{
	guards = handler;
}

static bool is_guarded(void)
{
	struct sigaction now;

	return guards && !REAL(sigaction)(SIGSEGV, NULL, &now) && now.sa_sigaction == guards;
}

bool java_trace_open(const struct java_trace_machine *of, void *environment)
{
	uint64_t place = (uint64_t)(uintptr_t)environment + (uint64_t)of->thread + of->state;
	int32_t state;

	if (atomic_load(&is_open) || !of->get || !is_guarded() || place % sizeof(state) ||
		!safe_read(&state, (const void *)(uintptr_t)place, sizeof(state)) || state != STATE_IN_NATIVE)
		return false;
	machine = *of;
	atomic_store_explicit(&is_open, true, memory_order_release);
	return true;
}

void java_trace_close(void)
{
	atomic_store(&is_open, false);
}

bool java_trace_is_open(void)
{
	return atomic_load(&is_open);
}

void java_trace_child(void)
{
	atomic_store(&is_open, false);
	way_back = NULL;
}

/* SafeFetch32 and SafeFetchN: a load, and what its handler goes on with, which returns the other argument. Of
 * newer machines in libjvm, of older ones (until 17) in code made at run time; neither has a symbol that is
 * sure to be there. */
#if defined(__x86_64__)
static const struct {
	uint8_t count, bytes[8];
} safe_loads[] = {
	{6, {0x8b, 0x07, 0xc3, 0x89, 0xf0, 0xc3}},	       /* mov (%rdi),%eax; ret; mov %esi,%eax; ret */
	{8, {0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3}}, /* the same of 64 bits */
	{6, {0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}},	       /* mov (%rdi),%esi; mov %rsi,%rax; ret */
	{7, {0x48, 0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}},
};
#else
static const struct {
	uint8_t count, bytes[16];
} safe_loads[] = {
	/* ldr w0,[x0]; ret; mov x0,x1; ret */
	{16, {0x00, 0x00, 0x40, 0xb9, 0xc0, 0x03, 0x5f, 0xd6, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f,
		     0xd6}},
	{16, {0x00, 0x00, 0x40, 0xf9, 0xc0, 0x03, 0x5f, 0xd6, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f,
		     0xd6}},
	/* ldr w1,[x0]; mov x0,x1; ret */
	{12, {0x01, 0x00, 0x40, 0xb9, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}},
	{12, {0x01, 0x00, 0x40, 0xf9, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6}},
};
#endif

static bool is_safe_load(const void *context)
{
	uint64_t value[ARCH_REGISTERS];
	uint8_t code[sizeof(safe_loads->bytes)];

	arch_registers_read(context, value);
	for (unsigned i = 0; i < sizeof(safe_loads) / sizeof(*safe_loads); i++)
		if (safe_read(code, (const void *)(uintptr_t)value[ARCH_PC], safe_loads[i].count) &&
			!memcmp(code, safe_loads[i].bytes, safe_loads[i].count))
			return true;
	return false;
}

void java_trace_recover(const void *context)
{
	jmp_buf *back = way_back;

	if (!back || is_safe_load(context))
		return;
	way_back = NULL;
	atomic_store(&is_open, false);
	REAL(siglongjmp)(*back, 1);
}

/* The handler has all signals blocked: one for a fault would end the process. */
static __attribute__((noinline)) bool call_guarded(struct call_trace *trace, ucontext_t *context)
{
	const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1);
	volatile bool is_done = false;
	uint64_t before = 0;
	jmp_buf back;

	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, &before, sizeof(before));
	if (!_setjmp(back)) {
		way_back = &back;
		atomic_signal_fence(memory_order_seq_cst);
		machine.get(trace, FRAMES_MOST, context);
		atomic_signal_fence(memory_order_seq_cst);
		way_back = NULL;
		is_done = true;
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return is_done;
}

static void method_note(uint64_t id)
{
	uint32_t at = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 40);

	for (unsigned i = 0; i < PROBES; i++, at++) {
		_Atomic uint64_t *place = &known[at % METHODS];
		uint64_t here = 0;
		uint32_t index;

		if (atomic_load_explicit(place, memory_order_relaxed) == id)
			return;
		if (!atomic_compare_exchange_strong(place, &here, id)) {
			if (here == id)
				return;
			continue;
		}
		index = atomic_fetch_add(&met_count, 1);
		if (index < METHODS)
			atomic_store(&met[index], id);
		return;
	}
}

uint64_t java_trace_next(void)
{
	uint32_t index = atomic_load(&named_count);
	uint64_t id;

	do {
		id = index < METHODS && index < atomic_load(&met_count) ? atomic_load(&met[index]) : 0;
	} while (id && !atomic_compare_exchange_weak(&named_count, &index, index + 1));
	return id;
}

/* Of a path that is whole, the native frames outside stay. */
static unsigned frames_put(const struct call_trace *trace, struct unwind_frame *frames, unsigned at,
	unsigned count, unsigned most, bool is_whole)
{
	unsigned outer = count, kept;

	while (is_whole && frames[outer - 1].slot != UNWIND_NO_SLOT)
		outer--;
	kept = count - outer;
	memmove(frames + most - kept, frames + outer, kept * sizeof(*frames));
	for (int32_t i = 0; i < trace->count && at < most - kept; i++) {
		uint64_t id = trace->frames[i].method;

		if (!id)
			continue;
		method_note(id);
		frames[at++] = (struct unwind_frame){.address = id,
			.slot = UNWIND_NO_SLOT,
			.exact = 1,
			.function = (uint32_t)(id >> 3) | 1};
	}
	memmove(frames + at, frames + most - kept, kept * sizeof(*frames));
	return at + kept;
}

static bool may_ask(void **environment)
{
	*environment = NULL;
	if (machine.environment(machine.machine, environment, JNI_VERSION) || !*environment)
		return false;
	switch (state_of(*environment)) {
	case STATE_IN_NATIVE:
	case STATE_IN_VM:
	case STATE_IN_JAVA:
	case STATE_BLOCKED:
		return true;
	default:
		return false;
	}
}

unsigned java_trace_join(const struct arch_registers *at, struct unwind_frame *frames, unsigned count,
	unsigned most, bool *is_whole)
{
	struct call_frame told[FRAMES_MOST];
	struct call_trace trace = {.frames = told};
	ucontext_t context;
	unsigned own = 0;

	while (own < count && frames[own].slot != UNWIND_NO_SLOT)
		own++;
	if (own == count || !atomic_load_explicit(&is_open, memory_order_acquire) ||
		!may_ask(&trace.environment))
		return count;
	memset(&context, 0, sizeof(context));
	arch_registers_write(&context, at->value);
	if (!call_guarded(&trace, &context) || trace.count <= 0)
		return count;
	count = frames_put(&trace, frames, own, count, most, *is_whole);
	*is_whole = trace.count < FRAMES_MOST && count < most;
	return count;
}
