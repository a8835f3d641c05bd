/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - the first operator of every question: the records of one stream and track in a window, in
 * order, whatever chunks they lie in, late and still open ones included.
 *
 *   scan | window | filter | project | union | sweep | aggregate
 *
 * Each operator pulls batches out of the one before it.
 */
#ifndef TIMELINE_SCAN_H
#define TIMELINE_SCAN_H

#include "timeline/run/batch.h"

enum scan_flags {
	/* Spans are cut at the window; what was cut keeps its amount and its place in the order. A span
	 * still open ends at the window's end or the run's, whatever comes first, and stays open when the
	 * window's is STORE_OPEN_NS. */
	SCAN_CLIP = 1,
	/* Samples: the last extent sample before the window comes first, as it is; with SCAN_CLIP at the
	 * window's begin and with weight 0. Not when an extent sample lies exactly there. */
	SCAN_CARRY = 2
};

struct scan;

/* Records that overlap [begin, end): samples and values in it; spans that end behind its begin, or begin in
 * it. Ordered by begin, end, then as store_record_compare() as far as the columns asked for tell. Nothing may
 * renew the run while it is open. */
int scan_open(struct scan **scan, struct run *run, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, unsigned columns, unsigned flags, struct error *error);
/* The next rows, in a batch of the scan's own that lasts until the next call: their number, 0 at the end,
 * negative: error (ERROR_RUN: damaged). */
long scan_next(struct scan *scan, const struct batch **batch, struct error *error);
void scan_close(struct scan *scan);

#endif
