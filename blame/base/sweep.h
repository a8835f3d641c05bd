/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the lines of many streams as one series of changes in order of time: every question of
 * blame keeps a state per line and adds up what passes between two changes.
 *
 *   line 0   |==a==|---|==b=====|        changes   0:a  1:c  0:-  1:d  0:b  0:end 1:end
 *   line 1   |==c====|==d=======|
 *
 * A blocked or runnable thread whose piece names no context is where its last sample was. A sample of a
 * synchronization tells where the thread is while that lasts, and no longer (runtime_calls_after()).
 */
#ifndef BLAME_SWEEP_H
#define BLAME_SWEEP_H

#include "timeline/scan/extent.h"

/* A stretch of time, for lines that are no stream's. */
struct sweep_span {
	uint64_t begin_ns, end_ns;
};

struct sweep_change {
	uint64_t time_ns;
	uint32_t line;		    /* in the order in which lines were added */
	const struct extent *piece; /* that begins now; NULL: the window ends. Valid until the next call */
	bool is_last_seen;	    /* its context is where the thread's last sample was: no record tells */
};

struct sweep;

/* Of [begin, end) of the run's clock, without lines so far; it reads the run on the thread that calls, until
 * sweep_free(). Errors here are of memory; of the others also ERROR_RUN (damaged). */
int sweep_new(struct sweep **sweep, struct run *run, uint64_t begin_ns, uint64_t end_ns, struct error *error);
void sweep_free(struct sweep *sweep);
/* The pieces of GPU queues that are added from now on tell what runs in them (extent_tell_classes()). */
void sweep_tell_classes(struct sweep *sweep, const struct extent_classes *classes);
/* Each adds a line. Of spans, which are in order, do not overlap and stay the caller's: pieces are busy
 * (EXTENT_KERNEL) within and idle between them. */
int sweep_add_stream(struct sweep *sweep, uint32_t stream, struct error *error);
int sweep_add_stream_read(struct sweep *sweep, uint32_t stream, const struct extent_source *spans,
	struct error *error); /* see extent_open_read() */
int sweep_add_spans(struct sweep *sweep, const struct sweep_span *spans, size_t count, struct error *error);

/* 1: a change, by time, then line; the first of each line is at the window's begin. 0: no more. */
int sweep_next(struct sweep *sweep, struct sweep_change *change, struct error *error);

#endif
