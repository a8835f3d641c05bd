/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - what changed from A to B: two runs, repeats of them, or two windows of one run. Each repeat's
 * window is summed by key (exactly, as in hpct-stats); keys are joined by the hash of their text, that is by
 * names and not by addresses, so that runs of two builds compare; a key missing on one side is 0 there.
 *
 *   A = a1,a2,a3   -- sums by key, one column per repeat --\
 *                                                           >-- outer join -- mean, delta, noise, loss
 *   B = b1,b2      -----------------------------------------/
 *
 * Noise is the half-width of the 95 % interval of the delta, t sqrt(v(A) + v(B)). The variance v of a side's
 * mean is s^2 / n for n repeats with standard deviation s, and at least (for a single run, exactly) the
 * sampling variance: if n of N samples of a period p have the key, p^2 n (1 - n / N), or a deviation of
 * sqrt(n) periods for a small part of the time. Time from switch records or spans is exact, but only repeats
 * tell whether another run would give the same. t is Student's with Welch's degrees of freedom, 1.96 if only
 * sampling variance is known.
 *
 * Scaling loss by expectation (S4 4.4.1): 100 (B - A) / total of B, of the inclusive cost of CPU threads,
 * which is their time at work and in waits (REALTIME), each at its path, or the selector's metric: strong
 * scaling expects the sum over all threads to stay, weak scaling that over one part (process or thread).
 *
 * With --metric the amounts are the metric's, of one metric of the run or of GPU operations, or the time that
 * any of several derived ones counts (state_metrics.h); waits then stand at their path, as work does.
 */
#ifndef TIMELINE_DIFF_H
#define TIMELINE_DIFF_H

#include "timeline/select/select.h"
#include "timeline/stats/stats.h"

enum diff_scaling { DIFF_SCALING_NONE, DIFF_SCALING_STRONG, DIFF_SCALING_WEAK };
enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };

struct diff_question {
	enum stats_by by;  /* not STATS_STREAM, because two runs share no stream */
	bool is_mark;	   /* rows are marks by name instead: the mean of the instances in the window */
	bool is_inclusive; /* by function or path: with callees */
	enum diff_scaling scaling;  /* by function or path */
	uint64_t parts[DIFF_SIDES]; /* weak scaling: number of parts that share the work; 0: count them */
};

struct diff_row {
	const char *key; /* as in the TSV */
	bool is_state;
	uint64_t time_ns[DIFF_SIDES]; /* mean of the repeats; weak scaling: of a part */
	uint64_t records[DIFF_SIDES]; /* of all repeats; marks: instances */
	int64_t delta_ns;
	uint64_t noise_ns; /* 0 where it is not known */
	bool is_noise_known;
	/* with scaling: per cent of B's total */
	double loss, exclusive_loss;
	int verdict; /* of `loss`: 0 within the noise, 1 sublinear, -1 superlinear */
};

struct diff_result {
	struct diff_row *rows; /* by descending |delta|, then |loss|, then key */
	size_t count;
	double coverage[DIFF_SIDES]; /* monitored part of the streams' lifetime; the least of the repeats */
	uint64_t parts[DIFF_SIDES];  /* weak scaling */
	const char *part_name;	     /* "processes", "threads" */
	const char *unit;	     /* of amounts: "ns", "bytes", ... */
};

struct diff;

/* ERROR_USAGE: the options contradict each other. */
int diff_new(struct diff **diff, const struct diff_question *question, struct error *error);
void diff_free(struct diff *diff);
/* Adds a repeat: the selection of a selector bound to the run. ERROR_EMPTY: nothing is monitored there.
 * `side`: enum diff_side, or of more than two the number of the side, for scaling_make() (scaling.h). */
int diff_add(
	struct diff *diff, unsigned side, struct run *run, const struct select *select, struct error *error);
/* Call once both sides have a repeat. Allocates from `arena`. */
int diff_finish(struct diff *diff, struct diff_result *result, struct arena *arena, struct error *error);

/* ---- statistics ---- */

/* Mean of one side, and its uncertainty. */
struct diff_estimate {
	double mean, variance; /* of the mean */
	double freedom;	       /* degrees of freedom; 0: the variance is known, not estimated from scatter */
	uint64_t repeats;      /* marks: instances */
	bool is_sampled;       /* in part at least */
};
/* The estimate from `count` repeats with values[i], each with the sampling variance sampled[i]. */
struct diff_estimate diff_estimate_of(const double *values, const double *sampled, size_t count);
/* The half-width of the 95 % interval of the difference. */
double diff_noise(const struct diff_estimate *a, const struct diff_estimate *b);
/* False where nothing tells: of a single run, what is exact (a span, a wait) may be anything in the next one.
 */
bool diff_noise_is_known(const struct diff_estimate *a, const struct diff_estimate *b);

/* ---- gates (diff_gate.c) ---- */

enum diff_verdict { DIFF_HOLDS, DIFF_HIT, DIFF_UNJUDGED };

/* "GLOB>+5%" or "GLOB>+20ms": no matching key may grow by more. */
struct diff_gate {
	const char *text;
	char *glob;
	double percent; /* if no duration is given */
	uint64_t duration_ns;
};
/* ERROR_USAGE. The glob is in `arena`. */
int diff_gate_parse(struct diff_gate *gate, const char *text, struct arena *arena, struct error *error);
/* A row hits the gate if it grew by more than the gate allows and by more than its noise. Unjudged: a side's
 * coverage is below `least_coverage`, or no key of either side matches. Writes the reason, as a sentence for
 * the user. */
enum diff_verdict diff_gate_judge(const struct diff_gate *gate, const struct diff_result *result,
	double least_coverage, struct error *why);

#endif
