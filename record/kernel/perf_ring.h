/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_ring.h - the collector's end of one perf event's ring: when threads were switched out and in,
 * and how many such records the kernel had to drop. The measured program has the ring mapped too,
 * so nothing in it is trusted: all is copied before it is looked at.
 */
#ifndef RECORD_PERF_RING_H
#define RECORD_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/kernel/kernel_callchains.h"

struct perf_ring {
	void *memory;	  /* struct perf_event_mmap_page, then the data; NULL: not mapped */
	const char *data; /* in it */
	uint32_t bytes;	  /* of data, a power of two */
	int event;	  /* -1: closed, the mapping keeps it alive */
	uint64_t tail;	  /* bytes taken */
	uint64_t last_ns; /* of the last record */
	/* What the kernel had to drop since the reader last set lost to 0, and between which moments. */
	uint64_t lost, lost_begin_ns, lost_end_ns;
	uint64_t reported; /* of that, in all */
	uint64_t recorded; /* likewise, by records, which come once there is room */
	uint64_t dropped;  /* likewise, by the event that is closed; UINT64_MAX: not known */
	struct kernel_callchains *callchains; /* where samples go, the reader's; NULL: nowhere */
	bool is_copy;			      /* memory is not ours to unmap */
	bool is_broken;			      /* its bytes made no sense: skipped from there on */
};

enum switch_kind {
	SWITCH_IN,
	SWITCH_OUT,	 /* the thread waits */
	SWITCH_PREEMPTED /* it could have run on */
};

struct switch_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t kind; /* enum switch_kind */
};

/* Grows as needed; the caller's, freed with switch_events_fini. */
struct switch_events {
	struct switch_event *events;
	size_t count, capacity;
};

/* Makes room for so many more. False: no memory. */
bool switch_events_reserve(struct switch_events *events, size_t more);
void switch_events_fini(struct switch_events *events);

/* Takes the descriptor, whatever comes of it. 0; or negative: it is no perf event or cannot be mapped. */
int perf_ring_open(struct perf_ring *ring, int event, uint32_t bytes);
/* The same for a ring whose copy will do: nothing is mapped, and what is no perf event is closed. It is read
 * after perf_ring_copied or perf_ring_map. */
int perf_ring_keep(struct perf_ring *ring, int event, uint32_t bytes);
/* In place of a copy it is read on where that ended. 0; or negative: it cannot be mapped. */
int perf_ring_map(struct perf_ring *ring);
/* Of one that is mapped: the kernel has written to it, ever. */
bool perf_ring_has_records(const struct perf_ring *ring);
/* Takes up a copy of the ring instead, first page and data, in memory of the caller's. */
void perf_ring_copied(struct perf_ring *ring, void *memory);
/* Adds what is there, in the ring's order, and counts losses, those included of which the kernel could not
 * write since the ring is full. Returns the number of records; stops early when memory fails. */
size_t perf_ring_read(struct perf_ring *ring, struct switch_events *events);
/* Closes the event; the ring is read on. */
void perf_ring_event_close(struct perf_ring *ring);
void perf_ring_close(struct perf_ring *ring);

#endif
