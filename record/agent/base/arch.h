/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - all that the unwinder knows of a processor: DWARF's register numbers,
 * where the kernel puts the registers of an interrupted thread, what a call
 * looks like. A new processor is a new arch_NAME.h.
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

/* Registers of one frame. A caller's scratch registers are not known. */
struct arch_registers {
	uint64_t value[ARCH_REGISTERS];
	uint64_t known; /* bit i: value[i] holds */
};

#define ARCH_ALL_KNOWN ((UINT64_C(1) << ARCH_REGISTERS) - 1)

static inline __attribute__((always_inline)) void arch_registers_here(struct arch_registers *to)
{
	arch_values_here(to->value);
	to->known = ARCH_HERE_KNOWN;
}

#endif
