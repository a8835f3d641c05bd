/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - frames inside the kernel. The store has them as places in module `[kernel]`, or `[NAME]` of a
 * loadable module, counted from where that begins: an address of one boot says nothing in the next. Names
 * come from /proc/kallsyms, as far as it tells, and are kept (record/kernel/kernel_symbols.h). The collector
 * has one kernel, hence no object.
 */
#ifndef RECORD_KERNEL_H
#define RECORD_KERNEL_H

#include "store/write/writer.h"

/* The context of a chain (record/kernel/kernel_callchains.h) below `parent`. Where addresses are hidden it is
 * one frame,
 * `[kernel]`. */
uint32_t kernel_context(
	struct store_writer *writer, uint32_t parent, const uint64_t *address, uint32_t depth);
/* Names the frames that are new. Those of parts whose functions are not kept take a pass through all symbols:
 * not more often than every few seconds, unless `is_last`. */
void kernel_name(struct store_writer *writer, bool is_last);
void kernel_close(void);

#endif
