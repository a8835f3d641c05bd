/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_end.h - who one wait of a stream was for: what the timeline jumps to. Only records answer; where they
 * do not, nobody is named.
 *
 *   thread 1   ==refresh (holds)=====|==...
 *   thread 2        |~~lock holder=1~~|==...
 *   queue 0         |##kernel##|
 *   thread 3        |~~sync~~~~~|==...
 *
 *   a lock          who had it longest in the wait
 *   a barrier       the thread that came last; a collective call: the rank
 *   a sync          the operation of a queue that ended last in it
 *   wait, join      the child, the thread that ended last in it
 *   pselect ...     which any signal ends: the child that ended just then
 *   a message       the rank at its other end
 *   all else        what wait_causes.h tells: who wrote, signalled, posted
 *
 * Times of several hosts are compared as they are: --late of hpct-blame puts clocks together, this does not.
 */
#ifndef BLAME_WAIT_END_H
#define BLAME_WAIT_END_H

#include "timeline/run/run.h"

enum wait_end_by {
	WAIT_END_NO_WAIT, /* the stream does not wait there */
	WAIT_END_UNTOLD,  /* no record says who ended it */
	WAIT_END_ITSELF,  /* it came last itself: nobody let it wait */
	WAIT_END_HOLDER,
	WAIT_END_LAST,
	WAIT_END_OPERATION,
	WAIT_END_CHILD,
	WAIT_END_THREAD,
	WAIT_END_PEER,
	WAIT_END_WAKER
};

struct wait_end {
	enum wait_end_by by;
	uint64_t begin_ns, end_ns;  /* the wait; end STORE_OPEN_NS: it has not ended */
	const char *cause;	    /* "pipe", "condition", "gil" ... where that is told, else "" */
	uint32_t stream;	    /* who ended it; from HOLDER on */
	uint64_t from_ns, until_ns; /* when that stream did what this one waited for */
};

/* Of the waits of a stream that lie in [begin, end), the one that fills most of it. */
int wait_end_find(struct wait_end *found, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* The stream's end found it waiting. */
bool wait_end_is_open(const struct run *run, uint32_t stream, const struct wait_end *end);

/* Threads that wait for each other for ever: from the wait in which the stream ended, who holds what each
 * waits for, until it is the first one again. `found` gets that many streams, from the first on; 0: no such
 * circle of WAIT_END_CIRCLE at most. */
#define WAIT_END_CIRCLE 8u
int wait_end_circle(uint32_t found[WAIT_END_CIRCLE], uint32_t *count, struct run *run, uint32_t stream,
	struct error *error);

#endif
