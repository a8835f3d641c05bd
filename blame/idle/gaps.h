/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - the gaps in which the GPUs of a group are idle, each with its largest cause. idle_sweep() fills
 * the list.
 *
 * The cause at each moment is the first of these that holds: a copy runs (GPUs counting as busy only in
 * kernels); the group's work is queued but has not begun; a thread works; a thread could work but has no
 * core; threads wait for other ranks or threads; no thread is known to be active.
 */
#ifndef BLAME_GAPS_H
#define BLAME_GAPS_H

#include "blame/idle/idle.h"

#define GAP_CAUSES(X)                                                \
	X(COPY, "copy", "a copy runs")                               \
	X(LAUNCH, "launch", "launched, but not begun")               \
	X(CPU, "cpu", "CPU code runs")                               \
	X(CORE, "core", "a thread that could work waits for a core") \
	X(RANK, "rank", "threads wait for another rank")             \
	X(THREAD, "thread", "threads wait for another thread")       \
	X(NOBODY, "nobody", "no thread is known to be active")
enum gap_cause {
#define X(name, word, text) GAP_##name,
	GAP_CAUSES(X)
#undef X
		GAP_CAUSE_COUNT
};
const char *gap_cause_name(enum gap_cause cause);
const char *gap_cause_text(enum gap_cause cause);

struct gap {
	uint64_t begin_ns, end_ns;
	uint32_t stream; /* the queue that works next; at the window's end, the group's first */
	enum gap_cause cause;
	uint32_t context; /* CPU, core, rank, thread: the context with the largest share in the function
			     with the largest share, where a call into a GPU runtime is one function
			     (runtime_calls.h); copy, launch: that of the operation that runs, or begins
			     then; 0: none */
};

struct gaps;

/* Gaps shorter than `min_ns` are counted, but not kept; so are those after the first `limit` of the list. */
int gaps_new(struct gaps **gaps, uint64_t min_ns, size_t limit, struct error *error);
void gaps_free(struct gaps *gaps);

/* Before the sweep, without a limit: bounds their memory by sorting on disk; then use rewind and next, not
 * the list. */
int gaps_spill(struct gaps *gaps, uint64_t mem_bytes, struct error *error);

/* Reads the list one by one: next until NULL; then a negative *code is an error. */
int gaps_rewind(struct gaps *gaps, struct error *error);
const struct gap *gaps_next(struct gaps *gaps, int *code, struct error *error);

/* Largest first, then by begin, then by stream. */
const struct gap *gaps_list(struct gaps *gaps, size_t *count);

/* Number of gaps of [2^i, 2^(i+1)) ns and their total, kept or not. */
#define GAP_CLASSES 64
struct gap_class {
	uint64_t count, time_ns;
};
const struct gap_class *gaps_classes(const struct gaps *gaps);

/* True when they may be in a file: then there is no list to send. */
bool gaps_are_spilled(const struct gaps *gaps);
/* Adds another process's counts and gaps, of the same limits. False: no memory. */
bool gaps_add(
	struct gaps *gaps, const struct gap *list, size_t count, const struct gap_class classes[GAP_CLASSES]);

#endif
