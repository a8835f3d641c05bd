/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_ring.h - reads one perf event's ring: context switches, samples, and how many records the kernel
 * dropped. The measured program maps the ring, too, so its content is untrusted: every record is copied
 * before it is checked.
 */
#ifndef RECORD_PERF_RING_H
#define RECORD_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/kernel/kernel_callchains.h"

struct perf_ring {
	void *memory;	  /* struct perf_event_mmap_page, then the data; NULL: not mapped */
	const char *data; /* in `memory` */
	uint32_t bytes;	  /* size of data, a power of two */
	int event;	  /* -1: closed; the mapping keeps the ring readable */
	uint64_t tail;	  /* bytes taken */
	uint64_t last_ns; /* of the last record */
	/* Records that the kernel dropped since the reader last zeroed `lost`, and the interval in which
	 * it did. */
	uint64_t lost, lost_begin_ns, lost_end_ns;
	uint64_t reported; /* total so far */
	uint64_t recorded; /* total of lost records, which the kernel writes once there is room */
	uint64_t dropped;  /* total counted by the closed event; UINT64_MAX: not known */
	struct kernel_callchains *callchains; /* destination of samples, the reader's; NULL: discard them */
	bool is_copy;			      /* memory is a copy that we must not unmap */
	bool is_broken;			      /* an invalid record was read: the rest is skipped */
};

enum switch_kind {
	SWITCH_IN,
	SWITCH_OUT,	 /* the thread blocked */
	SWITCH_PREEMPTED /* the thread was still runnable */
};

struct switch_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t kind; /* enum switch_kind */
};

/* A growing array; the caller frees it with switch_events_fini. */
struct switch_events {
	struct switch_event *events;
	size_t count, capacity;
};

/* Reserves space for `more` events. False: no memory. */
bool switch_events_reserve(struct switch_events *events, size_t more);
void switch_events_fini(struct switch_events *events);

/* Maps the ring. Owns the descriptor, also on failure. Negative: not a perf event, or mmap fails. */
int perf_ring_open(struct perf_ring *ring, int event, uint32_t bytes);
/* Like perf_ring_open, for a ring of which a copy may arrive: does not map it, and closes a descriptor
 * that is no perf event. Read it after perf_ring_copied or perf_ring_map. */
int perf_ring_keep(struct perf_ring *ring, int event, uint32_t bytes);
/* Maps the ring and continues at the position where its copy was read to. Negative: mmap fails. */
int perf_ring_map(struct perf_ring *ring);
/* True if the kernel ever wrote to this mapped ring. */
bool perf_ring_has_records(const struct perf_ring *ring);
/* Reads from a copy instead, first page and data, in the caller's memory. */
void perf_ring_copied(struct perf_ring *ring, void *memory);
/* Appends the ring's records to `events`, in the ring's order, and counts losses, also those that the
 * kernel could not record yet because the ring is full. Returns the number of records, fewer if memory is
 * out. */
size_t perf_ring_read(struct perf_ring *ring, struct switch_events *events);
/* Closes the event; the ring stays readable. */
void perf_ring_event_close(struct perf_ring *ring);
void perf_ring_close(struct perf_ring *ring);

#endif
