/* SPDX-License-Identifier: Apache-2.0 */
/* switches_internal.h - inside the switch records of one process: its rings, and what was read from them.
 * Only switches*.c and their test include it. */
#ifndef RECORD_SWITCHES_INTERNAL_H
#define RECORD_SWITCHES_INTERNAL_H

#include "record/kernel/perf_ring.h"
#include "record/process/switches.h"

#define SWITCHES_FRESH_MAX (4u << 20) /* of 16 bytes; behind that the kernel drops them */

struct process_ring {
	struct perf_ring perf;
	uint32_t tid;	   /* 0: of all threads */
	uint64_t since_ns; /* see switches_begin */
};

/* The reader (switch_reader.h) has its part in the first ones. */
struct switches {
	struct switches *next; /* in the reader's list, if it is watched */
	bool is_watched;
	struct process_ring *rings;
	uint32_t count, capacity;
	struct switch_events fresh;   /* read, not yet in order */
	uint64_t records, read;	      /* since the collector has counted last: all, and those of switches */
	size_t behind;		      /* of the fresh ones, when the collector read last */
	struct switch_events waiting; /* in order, not yet taken */
	struct switch_events scratch; /* to put them in order */
	struct kernel_callchains callchains; /* read, not yet handed out */
	uint64_t read_ns;		     /* what happened before is here */
	struct tid_slot {
		uint32_t tid;
		uint32_t ring; /* index of the thread's ring, plus 1; 0: empty slot */
	} * slots;
	uint32_t slot_count; /* a power of two */
	bool has_losses;     /* the kernel told of them */
	bool has_copies;     /* what the process left at its end or ahead of an exec, see switches_resume */
};

/* With the lock held: what is there becomes fresh. */
void switches_ring_read(struct switches *switches, struct process_ring *ring);

/* After a pass: where an exec that was under way has failed, copies give way to the rings, which go on. */
void switches_resume(struct measured_process *process);

#endif
