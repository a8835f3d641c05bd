/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imbalance.h - how evenly the work in a function, path, line or module is spread over the streams of a
 * kind: a stream without it counts as zero.
 */
#ifndef BLAME_IMBALANCE_H
#define BLAME_IMBALANCE_H

#include "blame/base/exact_share.h"

struct imbalance_row {
	const char *key; /* escaped */
	uint64_t total_ns, min_ns, max_ns;
	double mean_ns, sd_ns; /* sd: population standard deviation over the streams */
	double cv;	       /* sd / mean */
	uint32_t streams;      /* of the kind, with or without this work */
	uint32_t busiest;      /* stream of max_ns */
};

struct imbalance {
	struct imbalance_row *rows; /* by descending max - mean (what even work would save), then key */
	size_t count;
};

/* Of these of the selected streams, in the selected window. ERROR_EMPTY: no stream works in the window. In
 * `arena`. */
int imbalance_make(struct imbalance *balance, struct run *run, const struct select *select,
	const uint32_t *streams, uint32_t count, enum row_key_by by, struct arena *arena,
	struct error *error);

#endif
