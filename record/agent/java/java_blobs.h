/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_blobs.h - what a HotSpot machine in this process publishes of the code that it makes
 * (gHotSpotVMStructs of libjvm, as its own debugger reads it): where each blob of code begins and how large
 * its frames are, so that frames without a frame pointer can be unwound. No option is needed: the library is
 * found as soon as a call path has met it. A machine that publishes something else is left unknown. Signal
 * safe, any thread, no lock is waited for.
 *
 *   CodeCache::_heaps -> CodeHeap { memory, segment map } -> HeapBlock | CodeBlob { frame size, code begin }
 */
#ifndef RECORD_AGENT_JAVA_BLOBS_H
#define RECORD_AGENT_JAVA_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/agent/unwind/unwind.h"

/* False: the machine, if there is one, publishes nothing of its code. */
bool java_blobs_is_known(void);

/* Once per process, before the others. */
void java_blobs_init(void);

/* Looks at modules that are new since the last call. True: the machine's library has just been found. */
bool java_blobs_look(void);

/* The blob of code at pc; false: none, or no machine is known. Signature of unwind_space.told_find. */
bool java_blobs_find(uint64_t pc, struct unwind_told *told);

/* One field as the machine publishes it: an array of these, ended by one without a type. */
struct java_field {
	const char *type, *name, *kind;
	int32_t is_static;
	uint64_t offset;
	uint64_t address;
};

/* Takes these fields as those of the machine's library, all of whose texts lie in [begin, end); they are not
 * read before *field_bytes (NULL: not asked) is the size of one. For java_blobs_look and tests. */
void java_blobs_open(
	const struct java_field *fields, uint64_t begin, uint64_t end, const uint64_t *field_bytes);

#endif
