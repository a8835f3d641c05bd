/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_path.h - what the end of a window waited for: from there backward, each wait is left for the
 * stream that ended it, at the moment when that one let it go on; so the path never waits where a record
 * tells why.
 *
 *   main     ==a==|~~~~~~~~~join~~~~~~~~~~~~~|=d=|       path: a, b, c, d: their times sum to the window
 *   worker        |==b====|~~~lock~~~~~|=====c=|         but for hand-overs (from_ns to the wait's end) and
 *   holder    ==============...========|===              waits without a known party, which are its parts,
 * too
 *
 * A stream that begins in the window was begun by its creator. Where the creator is not in the run, the rest
 * of the path is absent. On several hosts a party that let go on later than the wait ended, by its own clock,
 * is met at the wait's end.
 *
 * What if: the same graph is run forward with some work shorter. A wait ends when its party has let it go on
 * and the hand-over is through, but not before it began; a timer takes its time; another wait without a known
 * party takes its time (`most` is saved) or ends when it ended (`least`).
 */
#ifndef BLAME_CRITICAL_PATH_H
#define BLAME_CRITICAL_PATH_H

#include "blame/wait/wait_causes.h"

#define CRITICAL_NONE UINT32_MAX

struct critical_stream {
	uint64_t begin_ns, end_ns; /* of its life; end STORE_OPEN_NS: it lives */
	uint32_t creator;	   /* stream; CRITICAL_NONE: not known */
};

struct critical_graph {
	const struct wait_cause *causes; /* by waiter, begin; those of one waiter are disjoint */
	size_t cause_count;
	const struct critical_stream *streams; /* by number */
	uint32_t stream_count;
	uint32_t last; /* the stream in which the path ends */
	uint64_t begin_ns, end_ns;
};

struct critical_segment {
	uint64_t begin_ns, end_ns; /* not empty */
	uint32_t stream;
	uint32_t party;		   /* of a wait: who let it go on; CAUSE_NOBODY */
	enum wait_cause_kind kind; /* of a wait */
	bool is_wait;
	bool is_absent; /* the stream did not exist yet */
};

struct critical_path {
	struct critical_segment *segments; /* by time; they tile the window */
	size_t count, capacity;
};

/* Walks backward; O(log causes) a segment. critical_path_fini() ends it, also on failure. */
int critical_path_walk(struct critical_path *path, const struct critical_graph *graph, struct error *error);
void critical_path_fini(struct critical_path *path);

/* Work that is changed: [begin, end) of a stream takes `numerator` / `denominator` of its time. */
struct critical_change {
	uint64_t begin_ns, end_ns;
	uint32_t stream;
};
#define CRITICAL_WHATS 3u
struct critical_what {
	unsigned numerator, denominator;
	bool is_rigid; /* waits without a known party end when they ended */
};
struct critical_replay;
/* Orders the graph for any number of runs; the graph is the caller's, and stays. */
int critical_replay_new(
	struct critical_replay **replay, const struct critical_graph *graph, struct error *error);
void critical_replay_free(struct critical_replay *replay);
/* How much sooner the window ends, for each of at most CRITICAL_WHATS questions about the same work. Changes
 * by stream, begin; disjoint. */
int critical_replay_saved(struct critical_replay *replay, const struct critical_change *changes, size_t count,
	const struct critical_what *whats, unsigned what_count, uint64_t *saved_ns, struct error *error);

#endif
