/* SPDX-License-Identifier: Apache-2.0 */
/* own_stack.c - see own_stack.h. A frame with a frame pointer, so that debuggers find their way out. */
#include "record/agent/own_stack.h"

#include "record/agent/arch.h"

__asm__(".text\n"
	".p2align 4\n"
	".globl own_stack_call\n"
	".hidden own_stack_call\n"
	".type own_stack_call, %function\n"
	"own_stack_call:\n\t"
	".cfi_startproc\n\t" ARCH_CALL_ON ".cfi_endproc\n\t"
	".size own_stack_call, . - own_stack_call\n");
