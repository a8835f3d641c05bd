/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capstone.h - loads capstone when the first x86-64 code is read: its 80,000 relocations take longer than
 * the start of a reader that needs no loops.
 */
#ifndef TIMELINE_CAPSTONE_H
#define TIMELINE_CAPSTONE_H

#include <capstone/capstone.h>

/* The functions of capstone in use, without their prefix cs_. */
struct capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_regs_access) *regs_access;
};

/* NULL: not installed. Always the same result; thread-safe. */
const struct capstone *capstone_load(void);

#endif
