/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.h - how much faster a kernel may get (S2 V-B), from its samples: T all, A active, L latency, M
 * those that an optimizer matches, M_L the latency samples among them.
 */
#ifndef BLAME_ESTIMATE_H
#define BLAME_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

/* Eq 2: stalls are eliminated. Infinite if nothing is left. */
double estimate_elimination(double all, double matched);
/* What the schedulers need at least to issue what is left, as samples: an active sample is one at which the
 * scheduler issued, and it issues one instruction in a cycle. No change of waits alone goes below. */
double estimate_issue_floor(double active, double issued, double issued_gone);
/* Eq 3: latency is hidden, as if there were always work to hide it with. */
double estimate_hiding_unbounded(double all, double matched_latency);
/* Eq 4: at most the active samples can fill it; never more than 2 (Theorem V.1) for matched_latency <= all -
 * active. */
double estimate_hiding(double all, double active, double matched_latency);

/* Eq 5: each scope (a loop, a function) is filled by the active samples in it and in the scopes nested in it.
 * Scopes stand outer before inner. */
struct estimate_scope {
	double active;		/* of this scope alone, without those nested in it */
	double matched_latency; /* whose definition and use are in this scope and in none that is nested in it
				 */
	size_t parent;		/* its number; SIZE_MAX: none */
};
/* Latency samples that all scopes together hide: what inner ones leave unfilled may be filled by outer ones;
 * no active sample fills twice. Uses up the scopes. */
double estimate_scopes(struct estimate_scope *scopes, size_t count);

/* Eq 6 to 10: other numbers of warps per scheduler. `issue_rate`: issued samples / all (R_I). */
double estimate_issue(double issue_rate, double warps);
/* R_I such that Eq 8 gives the share of active samples that was measured, for so many warps. */
double estimate_issue_rate(double active_share, double warps);
double estimate_parallel(double issue_rate, double warps, double new_warps, double factor);

#endif
