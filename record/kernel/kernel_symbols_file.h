/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols_file.h - a cached symbol table: interface between kernel_symbols.c and
 * kernel_symbols_file.c.
 */
#ifndef RECORD_KERNEL_SYMBOLS_FILE_H
#define RECORD_KERNEL_SYMBOLS_FILE_H

#include "record/kernel/kernel_symbols.h"

struct kernel_symbols_file;

/* NULL is allowed. */
void kernel_symbols_file_close(struct kernel_symbols_file *file);
/* The fetched block that covers `at`; the file owns it. False: none covers it, or it was not fetched. */
bool kernel_symbols_file_block(
	const struct kernel_symbols_file *file, uint32_t at, struct kernel_symbols *block);

#endif
