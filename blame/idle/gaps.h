/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - the stretches in which the GPUs of a group are idle, each with what took most of it. Handed to
 * idle_sweep(), which fills it.
 *
 * At every moment of a gap the first of these holds: a copy runs (GPUs being busy in kernels only); work of
 * the group is queued but has not begun; a thread is at work; one could work, had it a core; threads wait for
 * other ranks or threads; nobody is known to do anything.
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
	X(NOBODY, "nobody", "nobody is known to do anything")
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
	uint32_t context; /* CPU, core, rank, thread: the one with the largest share of the function with the
			     largest share, a call into a GPU's runtime being one (runtime_calls.h); copy,
			     launch: of the operation that runs, that begins then; 0: none */
};

struct gaps;

/* Gaps shorter than `min_ns` are counted, but not kept; nor are those behind the first `limit` of the list.
 */
int gaps_new(struct gaps **gaps, uint64_t min_ns, size_t limit, struct error *error);
void gaps_free(struct gaps *gaps);

/* Before the sweep, without a limit: their memory is bounded, what is above it goes into a file, and there is
 * no list, but rewind and next. */
int gaps_spill(struct gaps *gaps, uint64_t mem_bytes, struct error *error);

/* One by one in the order of the list: next until NULL; *code is negative when that is no end. */
int gaps_rewind(struct gaps *gaps, struct error *error);
const struct gap *gaps_next(struct gaps *gaps, int *code, struct error *error);

/* Largest first, then by begin, then by stream. */
const struct gap *gaps_list(struct gaps *gaps, size_t *count);

/* How many gaps of [2^i, 2^(i+1)) ns there are, and what they sum to, kept or not. */
#define GAP_CLASSES 64
struct gap_class {
	uint64_t count, time_ns;
};
const struct gap_class *gaps_classes(const struct gaps *gaps);

/* Whether they may go into a file: then there is no list to hand over. */
bool gaps_are_spilled(const struct gaps *gaps);
/* What another process counted and kept of gaps with the same limits. False when memory is out. */
bool gaps_add(
	struct gaps *gaps, const struct gap *list, size_t count, const struct gap_class classes[GAP_CLASSES]);

#endif
