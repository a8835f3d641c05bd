/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches_internal.h - the rings of one process's switch records, and the records read from them. Only
 * switches*.c and their test include it.
 */
#ifndef RECORD_SWITCHES_INTERNAL_H
#define RECORD_SWITCHES_INTERNAL_H

#include "record/kernel/perf_ring.h"
#include "record/process/switches.h"

#define SWITCHES_FRESH_MAX (4u << 20) /* of 16 bytes each; beyond that the kernel drops records */

struct process_ring {
	struct perf_ring perf;
	uint32_t tid;	   /* 0: of all threads */
	uint64_t since_ns; /* see switches_begin */
};

/* switch_reader.h uses the first fields, under its lock. */
struct switches {
	struct switches *next; /* in the reader's list, if watched */
	bool is_watched;
	struct process_ring *rings;
	uint32_t count, capacity;
	struct switch_events fresh;   /* read, not yet sorted */
	uint64_t records, read;	      /* since the collector last counted: all records, switch records */
	size_t behind;		      /* fresh records at the collector's last read */
	struct switch_events waiting; /* sorted, not yet taken */
	struct switch_events scratch; /* for sorting */
	struct kernel_callchains callchains; /* read, not yet passed to threads */
	uint64_t read_ns;		     /* all records before this time have been read */
	struct tid_slot {
		uint32_t tid;
		uint32_t ring; /* index of the thread's ring, plus 1; 0: empty slot */
	} * slots;
	uint32_t slot_count; /* a power of two */
	bool is_streamed;    /* see switches_stream */
	bool has_losses;     /* the kernel reported losses */
	bool has_copies;     /* holds copies left at the process's end or before an exec, see
				switches_resume */
};

/* With the lock held: appends the ring's records to `fresh`. */
void switches_ring_read(struct switches *switches, struct process_ring *ring);

/* After a pass: if an exec failed, replaces the copies by the rings, which continue. */
void switches_resume(struct measured_process *process);

#endif
