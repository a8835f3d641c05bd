/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_symbols.h - symbols of an ELF file of 64 bits that is read piece by piece: a file that may be cut short
 * meanwhile, or an object in another process's memory. None of it is trusted.
 */
#ifndef RECORD_ELF_SYMBOLS_H
#define RECORD_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_source {
	int (*read)(const struct elf_source *source, uint64_t at, void *to, size_t bytes); /* 0, or not 0 */
	uint64_t bytes;									   /* of the file */
	/* The reader's. */
	int file;
	uint32_t pid;
	uint64_t address;
};

/* A function. Relocatable objects have their sections at the addresses that their headers give. */
struct elf_function {
	uint64_t address, bytes;
	const char *name;
};

/* The address of a variable of `bytes` in the file, by what the file exports (GNU's hash table), then by its
 * table of all symbols; 0: none. */
uint64_t elf_symbols_find(const struct elf_source *source, const char *name, uint64_t bytes);

/* True if its table of all symbols has the name, and not as one that another file defines. */
bool elf_symbols_defines(const struct elf_source *source, const char *name);

/* Where the file's addresses begin if its first page is mapped at `begin`. False: it has no segment there. */
bool elf_symbols_bias(const struct elf_source *source, uint64_t begin, uint64_t *bias);

/* Calls `take` for each function with a size. False: the object could not be read to its end. */
bool elf_symbols_functions(const struct elf_source *source,
	void (*take)(void *own, const struct elf_function *function), void *own);

#endif
