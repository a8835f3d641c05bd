/* SPDX-License-Identifier: Apache-2.0 */
/* sigsegv.c - see sigsegv.h. */
#include "record/agent/sample/sigsegv.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/real.h"
#include "record/agent/java/java_trace.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/thread.h"

#define FRAME_SLOP 160u		 /* maximum alignment padding of a frame */
#define AGAIN_NS UINT64_C(20000) /* our signals are further apart than repeated faults */
#define AGAIN_MOST 3

static struct sigsegv_handler program;
static struct sigaction installed;

/* The last frame that had no space. */
static __thread struct {
	uint64_t pc, sp, now_ns;
	unsigned again;
} last __attribute__((tls_model("initial-exec")));

/* Cannot fault; overwrites 8 bytes. */
static bool is_writable(uint64_t address)
{
	return !syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, (void *)(uintptr_t)address, 8);
}

/* Our own frame, at the end of the alternate stack, has the size that the other would need. */
static bool has_room(const ucontext_t *context, uint64_t sp)
{
	uint64_t low = (uintptr_t)context->uc_stack.ss_sp, high = low + context->uc_stack.ss_size;
	uint64_t here = (uintptr_t)context;

	if ((context->uc_stack.ss_flags & SS_DISABLE) || sp - low < high - low || here - low >= high - low)
		return true;
	return is_writable((sp - ARCH_RED_ZONE - (high - here) - FRAME_SLOP) & ~UINT64_C(7));
}

/* A fault from a missing frame comes once; a faulting instruction of the program would fault again at
 * once. */
static bool is_new(const uint64_t value[ARCH_REGISTERS])
{
	uint64_t now_ns = process_now_ns();
	bool is_same =
		last.pc == value[ARCH_PC] && last.sp == value[ARCH_SP] && now_ns - last.now_ns < AGAIN_NS;

	last.again = is_same ? last.again + 1 : 0;
	last.pc = value[ARCH_PC];
	last.sp = value[ARCH_SP];
	last.now_ns = now_ns;
	return last.again < AGAIN_MOST;
}

/* The kernel does not say which signal it was: it could be the program's own, which have the same problem. */
static bool is_ours(const siginfo_t *info, const ucontext_t *context)
{
	uint64_t value[ARCH_REGISTERS];
	struct thread *t = thread_self();

	if (!t || info->si_code != SI_KERNEL || info->si_addr)
		return false;
	arch_registers_read(context, value);
	if (has_room(context, value[ARCH_SP]) || !is_new(value))
		return false;
	ring_lose(&t->ring, RING_LOST_REENTERED, 0, last.now_ns);
	return true;
}

static void handle(int number, siginfo_t *info, void *context)
{
	struct sigsegv_handler to = program;

	java_trace_recover(context);
	if (is_ours(info, context)) {
		if (to.flags & SA_RESETHAND)
			REAL(sigaction)(number, &installed, NULL);
		return;
	}
	to.handle(number, info, context); /* a one-argument handler ignores the others */
}

struct sigsegv_handler sigsegv_now(void)
{
	return program;
}

struct sigsegv_handler sigsegv_guard(struct sigaction *action)
{
	struct sigsegv_handler before = program;

	if ((!(action->sa_flags & SA_ONSTACK) && !process.settings.java) || action->sa_handler == SIG_DFL ||
		action->sa_handler == SIG_IGN || action->sa_sigaction == handle)
		return before;
	program = (struct sigsegv_handler){action->sa_sigaction, action->sa_flags};
	action->sa_sigaction = handle;
	action->sa_flags |= SA_SIGINFO;
	installed = *action;
	java_trace_guarded_by(handle);
	return before;
}

void sigsegv_restore(struct sigsegv_handler before)
{
	program = before;
}

void sigsegv_reveal(struct sigaction *old, struct sigsegv_handler before)
{
	if (old->sa_sigaction != handle)
		return;
	old->sa_sigaction = before.handle;
	if (!(before.flags & SA_SIGINFO))
		old->sa_flags &= ~SA_SIGINFO;
}

void (*sigsegv_reveal_plain(void (*old)(int), struct sigsegv_handler before))(int)
{
	struct sigaction action = {.sa_handler = old};

	sigsegv_reveal(&action, before);
	return action.sa_handler;
}
