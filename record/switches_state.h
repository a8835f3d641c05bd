/* SPDX-License-Identifier: Apache-2.0 */
/* switches_state.h - inside the switch records of one process: its rings, and what was read from them. Only
 * switches*.c and their test include it. */
#ifndef RECORD_SWITCHES_STATE_H
#define RECORD_SWITCHES_STATE_H

#include "record/perf_ring.h"
#include "record/switches.h"

struct process_ring {
	struct perf_ring perf;
	uint32_t tid;	   /* 0: of all threads */
	uint64_t since_ns; /* see switches_begin */
};

struct switches {
	struct process_ring *rings;
	uint32_t count, room;
	struct switch_events fresh;   /* read, not yet in order */
	struct switch_events waiting; /* in order, not yet taken */
	struct switch_events scratch; /* to put them in order */
	struct hits hits;	      /* read, not yet handed out */
	uint64_t read_ns;	      /* what happened before is here */
	struct tid_slot {
		uint32_t tid;
		uint32_t ring; /* index of the thread's ring, plus 1; 0: empty slot */
	} * slots;
	uint32_t slot_count; /* a power of two */
	bool has_losses;     /* the kernel told of them */
};

#endif
