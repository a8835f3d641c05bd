/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy.h - when a device is busy: the union over its queues, never their sum. Stretches that its store
 * has united (store/states/device_busy.h) cost what they have buckets, the others are swept.
 *
 *   window    |..........................................|
 *   buckets       |==2^24==|=2^21=|      |=2^21=|
 *   gaps      |---|               |------|      |--------|    device_busy_sweep() unites the queues' extents
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
	uint32_t stream; /* below which its store keeps buckets, by the store's number */
	unsigned store;
	bool is_there; /* there are some, and they are of these queues */
};

/* `queues`: streams of the run, all of one process and device. They must be all that its store has of it, or
 * nothing was united. */
int device_busy_open(struct device_busy *busy, struct run *run, const uint32_t *queues, uint32_t count,
	struct error *error);
/* Adds to *busy_ns what buckets tell of [begin, end), and to `gaps`, in order, what they do not. */
int device_busy_add(const struct device_busy *busy, uint64_t begin_ns, uint64_t end_ns, uint64_t *busy_ns,
	struct device_busy_gaps *gaps, struct error *error);

/* Takes the stretches of a union, in order; none touches the next. */
typedef void device_busy_stretch(void *own, uint64_t begin_ns, uint64_t end_ns);
/* The union of what these streams do in [begin, end), extent by extent. */
int device_busy_sweep(struct run *run, const uint32_t *queues, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, device_busy_stretch *stretch, void *own, struct error *error);

/* Calls `take` for each device of more than one queue, with all of them, and stops when it does not give 0.
 */
typedef int device_busy_take(void *own, const uint32_t *queues, uint32_t count, struct error *error);
int device_busy_each(struct run *run, device_busy_take *take, void *own, struct error *error);

#endif
