/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_objects.h - names of JIT code, from the objects that a program registers for a debugger (GDB's JIT
 * interface: __jit_debug_descriptor of LLVM's, Julia's, LuaJIT's and others' libraries): a list in the
 * program's memory of ELF objects there, whose symbols name functions. Reads them from outside, while the
 * process lives.
 *
 *   descriptor { version, action, relevant, first } -> entry { next, previous, object, bytes } -> entry ...
 *
 * The program changes all of it meanwhile: nothing is trusted, and what is torn is read again.
 */
#ifndef RECORD_JIT_OBJECTS_H
#define RECORD_JIT_OBJECTS_H

#include <stdint.h>

#include "record/base/u64_map.h"
#include "record/modules/jit_dump.h"

#define JIT_DESCRIPTORS_MAX 4u /* libraries that have one, in one process */

/* All-zero has found nothing yet. */
struct jit_objects {
	struct jit_descriptor {
		uint64_t address;
		uint64_t relevant, first; /* as it was read last */
		bool is_behind;		  /* not all of its objects could be read then */
	} descriptors[JIT_DESCRIPTORS_MAX];
	unsigned descriptor_count;
	struct u64_map files;	/* that were searched for a descriptor */
	struct u64_map objects; /* that were taken */
	uint64_t searched_ns;	/* when the process's files were searched last; 0: never */
};

/* Calls `take` for each function of new objects of the living process `pid`. */
void jit_objects_read(struct jit_objects *objects, uint32_t pid, uint64_t now_ns,
	void (*take)(void *own, const struct jit_dump_code *code), void *own);
void jit_objects_fini(struct jit_objects *objects);

#endif
