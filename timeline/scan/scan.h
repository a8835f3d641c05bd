/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - the first operator of every query: the records of one stream and track in a window, in order,
 * whatever chunks they are in, late and open ones included.
 *
 *   scan | window | filter | project | union | sweep | aggregate
 *
 * Each operator reads batches from the one before it.
 */
#ifndef TIMELINE_SCAN_H
#define TIMELINE_SCAN_H

#include "timeline/run/batch.h"

enum scan_flags {
	/* Cuts spans at the window; a cut span keeps its amount and its place in the order. An open span
	 * ends at the window's or the run's end, whichever is first, and stays open if the window's end is
	 * STORE_OPEN_NS. */
	SCAN_CLIP = 1,
	/* Samples: the last timeline sample before the window comes first, unchanged; with SCAN_CLIP at the
	 * window's begin and with weight 0. Not if a timeline sample is exactly there. */
	SCAN_CARRY = 2
};

struct scan;

/* Records that overlap [begin, end): samples and values in it; spans that end after its begin, or begin in
 * it. Ordered by begin, end, then like store_record_compare() over the requested columns. Do not renew the
 * run while it is open. */
int scan_open(struct scan **scan, struct run *run, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, unsigned columns, unsigned flags, struct error *error);
/* The next rows, in a batch valid until the next call: returns their number, 0 at the end, negative: error
 * (ERROR_RUN: damaged). */
long scan_next(struct scan *scan, const struct batch **batch, struct error *error);
void scan_close(struct scan *scan);

#endif
