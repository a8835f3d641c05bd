/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_jump.c - jumps out of handlers on small alternate stacks (sigaltstack.h). Our signals are blocked
 * there; the jump goes first to a function on the target stack, which unblocks them and completes the jump.
 */
#include <errno.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/sample/handler_stack.h"
#include "record/agent/sample/sigaltstack.h"
#include "record/agent/sample/signal_guard.h"

#define BELOW 512u /* red zone of the jump's target, and the space we use below it */

typedef void jump_function(struct __jmp_buf_tag buffer[1], int value);

struct jump {
	jump_function *real; /* NULL: setcontext */
	void *to;
	int value;
	int result;
};

static void go(void *what)
{
	struct jump *jump = what;

	sigaltstack_unblock();
	if (jump->real)
		jump->real(jump->to, jump->value);
	else
		jump->result = REAL(setcontext)(jump->to);
}

/* True if the target's stack is mapped: memory below it is unused, but the target may be invalid. */
static bool is_stack(uint64_t sp)
{
	return sp > 2 * BELOW && !sigaltstack_is_narrow(sp) &&
	       !syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL,
		       (void *)(uintptr_t)((sp - BELOW - 16) & ~UINT64_C(7)), 8);
}

static void jump_to(struct jump *jump, uint64_t sp)
{
	if (is_stack(sp))
		handler_stack_call((void *)(uintptr_t)((sp - BELOW) & ~UINT64_C(15)), go, jump);
}

static void jump_by(jump_function *real_jump, struct __jmp_buf_tag buffer[1], int value)
{
	uint64_t sp;

	if (sigaltstack_is_here() && arch_jump_stack(buffer, &sp))
		jump_to(&(struct jump){real_jump, buffer, value, 0}, sp);
}

#define JUMP(name)                                                                             \
	WRAPPER __attribute__((noreturn)) void name(struct __jmp_buf_tag buffer[1], int value) \
	{                                                                                      \
		jump_by(REAL(name), buffer, value);                                            \
		REAL(name)(buffer, value);                                                     \
		__builtin_unreachable();                                                       \
	}

JUMP(__longjmp_chk)
JUMP(_longjmp)
JUMP(longjmp)
JUMP(siglongjmp)

WRAPPER int setcontext(const ucontext_t *context)
{
	struct jump jump = {NULL, (void *)(uintptr_t)context, 0, 0};

	if (sigaltstack_is_here()) {
		jump_to(&jump, arch_stack_pointer(context));
		if (jump.result)
			return jump.result;
	}
	return REAL(setcontext)(context);
}
