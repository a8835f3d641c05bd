/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_starts.h - functions of a stripped file, from its code alone: main, which the start-up code hands to
 * libc, and where direct calls lead to. x86-64, and for calls aarch64.
 */
#ifndef TIMELINE_CODE_STARTS_H
#define TIMELINE_CODE_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

/* Where main begins, as _start says; 0: not told. The file's bytes are not trusted: the caller checks that a
 * function begins there. */
uint64_t elf_main_find(Elf *elf);

/* All-zero is not read yet. */
struct code_starts {
	uint64_t *starts; /* ascending */
	size_t count, capacity;
	bool is_read;
};

void code_starts_fini(struct code_starts *starts);
/* The function that holds `offset`: from where calls lead to, to the next such place or the end of its
 * segment. Reads all of the file's code the first time, at most CODE_STARTS_BYTES of it. 1: found, 0: none,
 * -1: no memory. */
int code_starts_find(struct code_starts *starts, Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *end);
#define CODE_STARTS_BYTES (UINT64_C(64) << 20)

#endif
