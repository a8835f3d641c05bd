/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - what the unwinder needs to know about a processor: DWARF register numbers, the layout of an
 * interrupted thread's registers, the form of a call. A new processor is a new arch_NAME.h.
 */
#ifndef RECORD_AGENT_ARCH_H
#define RECORD_AGENT_ARCH_H

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "record/agent/base/arch_x86_64.h"
#elif defined(__aarch64__)
#include "record/agent/base/arch_aarch64.h"
#else
#error "the unwinder does not know this processor yet: describe it in a record/agent/arch_NAME.h"
#endif

/* Registers of one frame. In a caller's frame, scratch registers are unknown. */
struct arch_registers {
	uint64_t value[ARCH_REGISTERS];
	uint64_t known; /* bit i: value[i] is known */
};

#define ARCH_ALL_KNOWN ((UINT64_C(1) << ARCH_REGISTERS) - 1)

static inline __attribute__((always_inline)) void arch_registers_here(struct arch_registers *to)
{
	arch_values_here(to->value);
	to->known = ARCH_HERE_KNOWN;
}

#endif
