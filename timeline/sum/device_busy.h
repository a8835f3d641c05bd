/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy.h - when a device is busy: the union over its queues, never their sum. Where its store has
 * buckets (store/states/device_busy.h) the cost is theirs, elsewhere the queues are swept.
 *
 *   window    |..........................................|
 *   buckets       |==2^24==|=2^21=|      |=2^21=|
 *   gaps      |---|               |------|      |--------|    device_busy_sweep() merges the queues' extents
 */
#ifndef TIMELINE_DEVICE_BUSY_H
#define TIMELINE_DEVICE_BUSY_H

#include "timeline/run/run.h"

struct device_busy_gap {
	uint64_t begin_ns, end_ns;
};

/* All-zero is empty; the caller frees `items`. */
struct device_busy_gaps {
	struct device_busy_gap *items;
	uint32_t count, capacity;
};

/* One device. */
struct device_busy {
	struct run *run;
	uint32_t stream; /* under which its store keeps buckets, a stream id of the store */
	unsigned store;
	bool is_there; /* buckets exist, and are of these queues */
};

/* `queues`: streams of the run, all of one process and device. They must be all queues of it in its store,
 * or there are no buckets. */
int device_busy_open(struct device_busy *busy, struct run *run, const uint32_t *queues, uint32_t count,
	struct error *error);
/* Adds the buckets' part of [begin, end) to *busy_ns, and the rest, in order, to `gaps`. */
int device_busy_add(const struct device_busy *busy, uint64_t begin_ns, uint64_t end_ns, uint64_t *busy_ns,
	struct device_busy_gaps *gaps, struct error *error);

/* Receives the stretches of a union, in order; no two touch. */
typedef void device_busy_stretch(void *own, uint64_t begin_ns, uint64_t end_ns);
/* The union of these streams' busy time in [begin, end), from their extents. */
int device_busy_sweep(struct run *run, const uint32_t *queues, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, device_busy_stretch *stretch, void *own, struct error *error);

/* Calls `take` for each device of more than one queue, with all of them; stops when it returns other than 0.
 */
typedef int device_busy_take(void *own, const uint32_t *queues, uint32_t count, struct error *error);
int device_busy_each(struct run *run, device_busy_take *take, void *own, struct error *error);

#endif
