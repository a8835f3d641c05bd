/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath_cache.h - caches call paths that a thread unwinds repeatedly, as a loop does that launches kernels
 * or allocates. It keeps the stack words that simple unwind rules read, with the path's node. While these
 * words and the initial registers are unchanged, so is the path, and no unwind is needed.
 *
 *   node = callpath_cache_find(t, &begin);          0: unwind, then
 *   callpath_cache_note(t, &begin, node);           the second time it is kept
 *
 * Single thread, with its ring entered.
 */
#ifndef RECORD_AGENT_CALLPATH_CACHE_H
#define RECORD_AGENT_CALLPATH_CACHE_H

#include <stdint.h>

#include "record/agent/unwind/unwind.h"

#define CALLPATH_CACHE_ENTRIES 256u /* a training step launches from a few hundred paths */
#define CALLPATH_CACHE_BUCKETS 64u  /* a power of two */
/* Per path, two words a frame at most: PyTorch launches from some 80 frames deep, twice as deep if
 * Python's perf support names its functions. Memory is touched only as needed. */
#define CALLPATH_CACHE_WORDS 512

struct callpath_cache_entry {
	uint64_t pc, sp, fp, function; /* the first frame */
	uint64_t beside;	       /* callpath_beside */
	uint32_t node;
	uint32_t generation;	 /* module_slots_generation when it was kept */
	unsigned walks;		 /* unwinds that gave this path */
	unsigned count;		 /* number of words; 0: not kept */
	unsigned differed;	 /* index of the word that last mismatched */
	bool with_fp;		 /* the path depends on the initial frame pointer */
	uint16_t next_in_bucket; /* 1 + the next entry of the same bucket, 0: none */
	uint16_t after;		 /* 1 + the entry looked up next after this one, 0: unknown */
	struct unwind_word words[CALLPATH_CACHE_WORDS];
};

struct thread;

/* Where a path begins: its registers, the function that it calls (0: none), what else it depends on. */
struct callpath_begin {
	const struct arch_registers *start;
	uint64_t function;
	uint64_t beside;
};

/* Node of the path that begins there; 0: not cached. */
uint32_t callpath_cache_find(struct thread *t, const struct callpath_begin *begin);

/* Call after that path was unwound completely, to `node`. */
void callpath_cache_note(struct thread *t, const struct callpath_begin *begin, uint32_t node);

/* A new claim of the ring has new nodes: drops all. */
void callpath_cache_clear(struct thread *t);

#endif
