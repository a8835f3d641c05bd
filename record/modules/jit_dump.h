/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_dump.h - names of JIT code, from the file jit-PID.dump that a program writes for perf, and maps so that
 * perf meets it (perf's jitdump specification): a header, then records, as code is made or moved.
 *
 *   header { magic "JiTD", version, bytes, machine, -, pid, time, flags }
 *   record { kind, bytes, time } load { pid, tid, -, address, bytes, number, name, code } | move { ... } |
 * ...
 *
 * The program writes it meanwhile: it is read as far as it is whole, and none of it is trusted.
 */
#ifndef RECORD_JIT_DUMP_H
#define RECORD_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All-zero has found nothing yet. */
struct jit_dump {
	int file; /* descriptor + 1; 0: not found yet */
	bool is_bad;
	uint64_t read_bytes; /* of whole records */
};

/* Code of a function at [begin, begin + size). */
struct jit_dump_code {
	uint64_t begin, size;
	uint64_t from; /* it was moved from there, and has no name of its own; 0: new code */
	const char *name;
	size_t name_bytes;
};

/* Looks for the file among the mappings of a living process. */
void jit_dump_find(struct jit_dump *dump, uint32_t pid);
/* Calls `take` for each new record of code. */
void jit_dump_read(
	struct jit_dump *dump, void (*take)(void *own, const struct jit_dump_code *code), void *own);
void jit_dump_fini(struct jit_dump *dump);

#endif
