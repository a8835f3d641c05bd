/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the timelines of many streams as one series of changes in time order: every blame query keeps a
 * state per line and adds up the time between two changes.
 *
 *   line 0   |==a==|---|==b=====|        changes   0:a  1:c  0:-  1:d  0:b  0:end 1:end
 *   line 1   |==c====|==d=======|
 *
 * A blocked or runnable piece without a context gets that of the thread's last sample. A sample taken in a
 * synchronization gives the thread's context only until that ends (runtime_calls_after()).
 */
#ifndef BLAME_SWEEP_H
#define BLAME_SWEEP_H

#include "timeline/scan/extent.h"

/* A time range, for lines that are not streams. */
struct sweep_span {
	uint64_t begin_ns, end_ns;
};

struct sweep_change {
	uint64_t time_ns;
	uint32_t line;		    /* in the order in which lines were added */
	const struct extent *piece; /* the piece that begins; NULL: the window ends. Valid until the next
				       call */
	bool is_last_seen;	    /* its context is the thread's last sample's, not recorded for this
				       piece */
};

struct sweep;

/* For [begin, end) of the run's clock, without lines yet; reads the run on the calling thread until
 * sweep_free(). Errors: no memory; the other calls also ERROR_RUN (damaged). */
int sweep_new(struct sweep **sweep, struct run *run, uint64_t begin_ns, uint64_t end_ns, struct error *error);
void sweep_free(struct sweep *sweep);
/* The pieces of GPU queues that are added from now on tell what runs in them (extent_tell_classes()). */
void sweep_tell_classes(struct sweep *sweep, const struct extent_classes *classes);
/* Each adds a line. Spans must be in order and disjoint, and stay the caller's: pieces are busy
 * (EXTENT_KERNEL) inside them and idle between. */
int sweep_add_stream(struct sweep *sweep, uint32_t stream, struct error *error);
int sweep_add_stream_read(struct sweep *sweep, uint32_t stream, const struct extent_source *spans,
	struct error *error); /* see extent_open_read() */
int sweep_add_spans(struct sweep *sweep, const struct sweep_span *spans, size_t count, struct error *error);

/* 1: the next change, by time, then line; each line has its first at the window's begin. 0: no more. */
int sweep_next(struct sweep *sweep, struct sweep_change *change, struct error *error);

#endif
