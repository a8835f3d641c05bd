/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath_cache.h - call paths that a thread walks again and again, as a loop does that
 * launches kernels or allocates. All that simple unwind rules take from the stack is
 * kept with the path's node: as long as these words, and the registers that the walk
 * began with, are what they were, so is the path, and nobody has to walk.
 *
 *   node = callpath_cache_find(t, &start, function);          0: walk, then
 *   callpath_cache_note(t, &start, function, node);           the second time it is kept
 *
 * One thread, its ring entered.
 */
#ifndef RECORD_AGENT_CALLPATH_CACHE_H
#define RECORD_AGENT_CALLPATH_CACHE_H

#include <stdint.h>

#include "record/agent/unwind/unwind.h"

#define CALLPATH_CACHE_ENTRIES 256u /* a step of a neural network launches from some hundred paths */
#define CALLPATH_CACHE_BUCKETS 64u  /* a power of two */
/* Of one path, two a frame at most: PyTorch launches some 80 frames deep, and twice as deep where Python
 * tells the names of its functions. A thread's memory for them is touched as it is needed. */
#define CALLPATH_CACHE_WORDS 512

struct callpath_cache_entry {
	uint64_t pc, sp, fp, function; /* where the walk began */
	uint32_t node;
	uint32_t generation;	 /* of the modules' places, see module_slots_generation */
	unsigned walks;		 /* that led here */
	unsigned count;		 /* of words; 0: not kept */
	unsigned differed;	 /* the word that did when the path was last found to be another */
	bool with_fp;		 /* the path hangs on the frame pointer that the walk began with */
	uint16_t next_in_bucket; /* 1 + the next one of the same head, 0: none */
	uint16_t after;		 /* 1 + the one that was asked for after it, 0: not known */
	struct unwind_word words[CALLPATH_CACHE_WORDS];
};

struct thread;

/* Node of the path that begins at `start`, inside `function` (0: none); 0: it is not kept. */
uint32_t callpath_cache_find(struct thread *t, const struct arch_registers *start, uint64_t function);

/* That path was walked, in full, to `node`. */
void callpath_cache_note(
	struct thread *t, const struct arch_registers *start, uint64_t function, uint32_t node);

/* A new claim of the ring has nodes of its own. */
void callpath_cache_clear(struct thread *t);

#endif
