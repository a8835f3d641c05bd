/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - stores kernel frames as offsets in module `[kernel]`, or `[NAME]` of a loadable module, because
 * addresses change at each boot. Symbols come from /proc/kallsyms, as far as it is readable, and are cached
 * (record/kernel/kernel_symbols.h). A collector sees one kernel, so the state is static.
 */
#ifndef RECORD_KERNEL_H
#define RECORD_KERNEL_H

#include "store/write/writer.h"

/* Returns the context of a kernel call chain (record/kernel/kernel_callchains.h) below `parent`. If
 * addresses are hidden, the chain is the single frame `[kernel]`. */
uint32_t kernel_context(
	struct store_writer *writer, uint32_t parent, const uint64_t *address, uint32_t depth);
/* Symbolizes new frames. Modules without cached symbols need a pass through /proc/kallsyms: at most one
 * every few seconds, unless `is_last`. */
void kernel_name(struct store_writer *writer, bool is_last);
void kernel_close(void);

#endif
