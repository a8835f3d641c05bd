/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capstone.h - capstone, loaded when the first x86-64 code is to be read: it has 80,000 pointers to relocate,
 * which takes longer than a reader that needs no loops takes to start.
 */
#ifndef TIMELINE_CAPSTONE_H
#define TIMELINE_CAPSTONE_H

#include <capstone/capstone.h>

/* The functions of capstone's that are used, by their names there without cs_. */
struct capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_regs_access) *regs_access;
};

/* NULL: it is not installed. The same each time, for all threads' first calls come one after the other. */
const struct capstone *capstone_load(void);

#endif
