/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_process.h - what correlation (correlate.h) knows of one measured process: its activity ring, its GPU
 * binaries and counts. process/process.h embeds it and keeps the first group of fields up to date.
 */
#ifndef RECORD_GPU_PROCESS_H
#define RECORD_GPU_PROCESS_H

#include "record/gpu/gpu_module.h"

struct event_ring;
struct correlate;

struct gpu_process {
	/* -- of the process, set by its owner -- */
	struct event_ring *activity; /* in its shared memory; NULL: it has none */
	uint32_t pid, generation;
	int32_t rank;
	uint64_t begin_ns;
	const char *command; /* shell-quoted; the owner's */
	uint64_t *lost;	     /* the owner's count of lost records, of all kinds */
	bool is_discarded;   /* the store takes no more: operations are counted as lost */
	/* -- set here -- */
	struct correlate *correlate; /* NULL: no GPU operation so far */
	struct gpu_module_kernels kernels;
	uint64_t operations, launches, lost_operations;
	uint64_t unmatched;	  /* operations whose launch never came */
	uint64_t untimed;	  /* operations that the runtime gave no times, or impossible ones */
	uint64_t kernels_pending; /* launched for certain, and no operation has come so far */
	char unwatched[96];	  /* why its GPUs were not watched, the last time; "": they were */
};

#endif
