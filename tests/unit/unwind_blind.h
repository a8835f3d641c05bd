/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_blind.h - a space in which a walk finds neither tables nor memory: it has what it knows. */
#ifndef TESTS_UNIT_UNWIND_BLIND_H
#define TESTS_UNIT_UNWIND_BLIND_H

#include "record/agent/unwind/unwind_step.h"

static unsigned asked; /* for tables */

static const struct cfi_module *no_module(void *context, uint64_t pc)
{
	(void)context;
	(void)pc;
	asked++;
	return NULL;
}

static int no_memory(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	(void)address;
	(void)to;
	(void)size;
	return -1;
}

#endif
