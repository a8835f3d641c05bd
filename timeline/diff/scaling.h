/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.h - how a program scales over any number of runs: each run, or mean of repeats, is a point at its
 * number of parts p; of each key the cost at every point, what it grows like (scaling_fit.h), and the scaling
 * loss from the first to the last point (S4 4.4.1: 100 (X_q - X_p) / T_q).
 *
 *   p          1      2      4      8
 *   solve   100 ms 101 ms  99 ms 100 ms     constant: scales as expected
 *   reduce    5 ms  10 ms  15 ms  20 ms     log: 5 ms + 5 ms log2(p), grows
 *
 * Strong scaling expects the sum over all threads to stay, weak scaling that over one part.
 */
#ifndef TIMELINE_SCALING_H
#define TIMELINE_SCALING_H

#include "store/base/arena.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/scaling_fit.h"

struct scaling_row {
	const char *key;
	const double *costs; /* by point, with callees; weak scaling: of a part */
	const double *own;   /* without */
	struct scaling_fit fit, own_fit;
	double loss, own_loss; /* per cent of all at the last point */
	double share;	       /* with callees, of all at the last point, per cent */
};

struct scaling {
	const double *parts; /* by point, ascending, all different */
	size_t points;
	const char *part_name; /* "processes", "threads", "parts" */
	const char *unit;
	struct scaling_row *rows; /* by descending |loss|, then key */
	size_t count;
	struct scaling_row whole; /* all of the cost; no key */
};

/* Of a comparison with a scaling to which side 0, 1, ... `sides` - 1 have been added, each a point; sides
 * with equal parts are repeats. `parts`: of each side, NULL: they are counted. In `arena`. ERROR_USAGE: fewer
 * than SCALING_POINTS_LEAST different numbers of parts. */
int scaling_make(struct scaling *scaling, const struct diff *diff, size_t sides, const uint64_t *parts,
	struct arena *arena, struct error *error);

#endif
