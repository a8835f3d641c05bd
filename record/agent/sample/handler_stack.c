/* SPDX-License-Identifier: Apache-2.0 */
/* handler_stack.c - see handler_stack.h. Uses a frame pointer, so that debuggers can unwind through it. */
#include "record/agent/sample/handler_stack.h"

#include "record/agent/base/arch.h"
#include "record/agent/base/hot_section.h"

#define CODE(name, body)                                        \
	__asm__(".section " HOT_SECTION ", \"ax\", %progbits\n" \
		".p2align 4\n"                                  \
		".globl " name "\n"                             \
		".hidden " name "\n"                            \
		".type " name ", %function\n" name ":\n\t"      \
		".cfi_startproc\n\t" body ".cfi_endproc\n\t"    \
		".size " name ", . - " name "\n.text\n");

HOT_DATA _Atomic uint64_t handler_stack_missed;

CODE("handler_stack_call", ARCH_CALL_ON)
CODE("handler_stack_sample", ARCH_HANDLER("sample_handle", "handler_stack_missed"))
CODE("handler_stack_trap", ARCH_HANDLER("source_trap_handle", "handler_stack_missed"))
