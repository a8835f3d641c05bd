/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_anchor.h - relates this host's CLOCK_MONOTONIC to the wall clock, with an error bound, so that
 * readers can align several hosts. The difference between two anchors, at begin and end, shows how far the
 * wall clock was adjusted in between.
 */
#ifndef RECORD_CLOCK_ANCHOR_H
#define RECORD_CLOCK_ANCHOR_H

#include <stdint.h>

#define CLOCK_ANCHOR_UNKNOWN UINT64_MAX

struct clock_anchor {
	uint64_t monotonic_ns, wall_ns; /* both at the same moment */
	uint64_t error_ns;		/* of the pair, plus the kernel's estimate for the wall clock;
					   CLOCK_ANCHOR_UNKNOWN: no daemon keeps the clock */
};

struct clock_anchor clock_anchor_take(void);

struct store_writer;
/* Writes facts: wall_ns (at the origin) and wall_error_ns of the first anchor; wall_drift_ns if `last` is
 * given. */
void clock_anchor_put_first(
	struct store_writer *writer, const struct clock_anchor *first, uint64_t origin_ns);
void clock_anchor_put_last(
	struct store_writer *writer, const struct clock_anchor *first, const struct clock_anchor *last);

#endif
