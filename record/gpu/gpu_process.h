/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_process.h - the correlator's (correlate.h) state of one measured process: its activity ring, its GPU
 * binaries and counts. record/process/process.h embeds it and maintains the first group of fields.
 */
#ifndef RECORD_GPU_PROCESS_H
#define RECORD_GPU_PROCESS_H

#include "record/gpu/gpu_module.h"

struct event_ring;
struct correlate;

struct gpu_process {
	/* -- set by the owner -- */
	struct event_ring *activity; /* in the process's shared memory; NULL: none */
	uint32_t pid, generation;
	int32_t rank;
	uint64_t begin_ns;
	const char *command; /* shell-quoted; the owner's memory */
	uint64_t *lost;	     /* the owner's count of lost records, of all kinds */
	bool is_discarded;   /* the store cannot be written: operations count as lost */
	/* -- set here -- */
	struct correlate *correlate; /* NULL: no GPU operation yet */
	struct gpu_module_kernels kernels;
	uint64_t operations, launches, lost_operations;
	uint64_t unmatched;		/* operations whose launch never arrived */
	uint64_t untimed;		/* operations with missing or impossible times */
	uint64_t kernels_pending;	/* kernels launched whose operation has not arrived */
	uint64_t samples, samples_lost; /* of GPU instructions */
	char unsampled[128];		/* why there are none, or fewer; "": as asked */
	char uncounted[128];		/* the same of counters over time */
	char unwatched[96];		/* why GPU tracing last failed; "": it works */
};

#endif
