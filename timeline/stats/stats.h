/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - time of a window by key (S4 10.9, statistics view; exact, not by pixels): every piece of the
 * streams' state timelines counts for one key, and states are keys too, so that all rows sum to streams x
 * window.
 */
#ifndef TIMELINE_STATS_H
#define TIMELINE_STATS_H

#include "store/base/bytes.h"
#include "timeline/run/row_key.h"
#include "timeline/scan/extent.h"

enum stats_by {
	STATS_FUNCTION,
	STATS_PATH,
	STATS_MODULE,
	STATS_LINE,
	STATS_STREAM,
	STATS_OP,
	STATS_LOOP,
	STATS_INLINE,
	STATS_FILE,
	STATS_INSTRUCTION,
	STATS_SCRIPT,
	STATS_BY_COUNT
};
#define STATS_BY_NAMES "function, path, module, line, loop, inline, file, instruction, script"
const char *stats_by_name(enum stats_by by);
int stats_by_find(const char *name); /* -1: none */
/* The part of a context that is the key; false for other keys (stream, op). */
bool stats_by_row_key(enum stats_by by, enum row_key_by *place);

struct stats_row {
	const char *key; /* as in the TSV */
	uint64_t time_ns;
	uint64_t records;
	enum extent_state state; /* WORK.. for contexts; the state for state rows */
	uint32_t function;	 /* run function of the key, UINT32_MAX: none */
	uint32_t context;	 /* the context of this key with the most time, 0: none */
};

struct stats {
	struct stats_row *rows; /* by descending time, then key */
	size_t count;
	uint64_t total_ns;     /* streams x window: the sum of all rows' times */
	uint64_t lived_ns;     /* part of it in which the streams live */
	uint64_t monitored_ns; /* part of that which is monitored */
	uint64_t bare_ns;      /* coverage.h */
	uint64_t lost_ns;
	uint32_t streams; /* number of streams: with derived metrics only threads */
};

#define STATS_NUMBERS 3
/* What @ of a formula stands for: time, percent and records of all rows, also of those that are not shown. */
void stats_whole(const struct stats *stats, double whole[STATS_NUMBERS]);

/* Appends the key of a piece of that stream's time, as in the TSV. *is_state: the key is a state, because
 * there is no work or no known context. False: no memory. */
struct window_time;
bool stats_put_key(struct store_bytes *out, bool *is_state, const struct run *run,
	const struct window_time *piece, uint32_t stream, enum stats_by by, uint32_t depth);

/* For these streams and [begin, end); contexts are cut at `depth` first (UINT32_MAX: not). ABSENT time is a
 * row ("absent") only if a stream is shorter than the window. Rows in `arena`. */
int stats_compute(struct stats *stats, struct run *run, const uint32_t *streams, uint32_t stream_count,
	uint64_t begin_ns, uint64_t end_ns, enum stats_by by, uint32_t depth, struct arena *arena,
	struct error *error);

/* The same for a selector's streams, window, depth, contexts and operations: rows hold only the matching
 * part; total_ns, lived_ns and monitored_ns stay those of the whole. With derived metrics
 * (select_state_metrics) rows hold the time that any of them counts, with waits under their call path as
 * work is, and the whole is that of the threads. With `groups` (stream_groups.h, of the selector's streams;
 * NULL: none) their labels are the keys, and `by` does not count. */
struct select;
struct stream_groups;
int stats_of_selection(struct stats *stats, struct run *run, const struct select *select, enum stats_by by,
	const struct stream_groups *groups, struct arena *arena, struct error *error);

/* The name of the marks whose instances are rows, by the word of --by: `step`, `@NAME`; NULL: no marks. */
const char *stats_marks_name(const char *by);
/* The same by the marks of that name: a row for what the streams of its process did in each, `NAME#N` as
 * --time @NAME#N counts them, and one for what they did outside. A mark ends where the next one of its
 * process begins; a moment lasts to the next one of its stream (mark_instances). ERROR_USAGE: there is none.
 */
int stats_of_marks(struct stats *stats, struct run *run, const struct select *select, const char *name,
	struct arena *arena, struct error *error);

/* The same while figures met a condition, such as resident>2GB (timeline/sum/figure.h): a process's figure
 * counts for its streams, a host's for all of the host, a device's for its queues. *met_ns: for how long, all
 * figures together. ERROR_USAGE: no such figure. */
int stats_of_when(struct stats *stats, struct run *run, const struct select *select, enum stats_by by,
	const struct stream_groups *groups, const char *condition, uint64_t *met_ns, struct arena *arena,
	struct error *error);

#endif
