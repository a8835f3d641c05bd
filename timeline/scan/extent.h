/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent.h - a stream's state timeline: turns its records into pieces that tile any window without gaps or
 * overlaps, each in one state and, where the thread works or waits, in one context. Tiles, statistics,
 * stacks and blame all read the timeline, never the records.
 *
 *   samples    s1      s2      s3               s4        blocked span, switch-out
 *   timeline   |==s1===|==s2===|==s3===|''''''''|==s4==|--------|
 *                                      two periods after s3: unknown
 *
 * CPU thread: the last timeline sample holds from its time to the next one, or for two periods if the stream
 * has no switch records (blocked, runnable). These states hide it, in this order: absent, lost, unmonitored,
 * sync, blocked, runnable. Lost and unmonitored time ends the sample, and unknown follows; after a blocked
 * or runnable span, of any call, the sample holds again. A thread without samples works where its spans say
 * so. GPU queue: absent, lost, unmonitored, then the union of its spans, where spans of work hide waits;
 * idle between them. Of overlapping spans of one kind the last to begin owns the piece;
 * store/states/tie_break.h breaks ties. Of several `monitored` spans the first gives the time source. A
 * stream without one is monitored from its first to its last record, and its samples hold without limit. An
 * open `monitored` span lasts to the tracks' watermark (store_stream.complete_ns).
 */
#ifndef TIMELINE_EXTENT_H
#define TIMELINE_EXTENT_H

#include "store/states/state_timeline.h"
#include "timeline/run/run.h"

const char *extent_state_name(enum extent_state state);
/* The word that people read: "preempted" where a TSV says "runnable"; else the same. */
const char *extent_state_word(enum extent_state state);
char extent_state_glyph(enum extent_state state);
/* WORK KERNEL COPY_IN COPY_OUT SET: work is done. */
bool extent_state_is_busy(enum extent_state state);

struct extent {
	uint64_t begin_ns, end_ns;
	uint32_t context; /* run context; 0: none */
	uint32_t op;	  /* of the owning span; STORE_OP_NONE for a sample's */
	enum extent_state state;
	bool is_record_begin; /* the owning record begins here (neither cut by the window nor a
				 continuation) */
	uint32_t resumed;     /* see extent_tell_resumed(), else 0 */
	uint32_t ended;	      /* see extent_tell_ended(), else 0 */
	/* See extent_tell_classes(), else 0. */
	unsigned classes;	/* bits 1 << class of all operations that run in the piece, its owner's too */
	uint32_t class_context; /* of the lowest of these classes, the operation that began last */
};

struct extent_walk;

/* Walks [begin, end) of one stream; pieces come in order and tile the window exactly (ABSENT outside its
 * life). */
int extent_open(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* Spans that the caller provides, from `since_ns` (the run's clock) on. */
struct batch;
struct extent_source {
	/* The next spans with a span_kind_of() other than COUNT, and no others, with begin, end, context and
	 * operation; the caller owns them until the next call. Returns their number, 0 at the end, negative:
	 * error. */
	long (*next)(void *own, const struct batch **batch, struct error *error);
	void *own;
	uint64_t since_ns;
};
/* Like extent_open(), with the stream's spans from that source; if `since_ns` is too late for the window
 * they are read from the run. */
int extent_open_read(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, const struct extent_source *spans, struct error *error);
/* Fills up to `capacity` pieces; returns their number, 0 at the end, negative: error. */
long extent_next(struct extent_walk *walk, struct extent *extents, size_t capacity, struct error *error);
void extent_close(struct extent_walk *walk);

/* From now on runnable pieces have the context of the sample that holds after them (`resumed`, 0: none), and
 * end where that changes. */
void extent_tell_resumed(struct extent_walk *walk);

/* From now on pieces, except synchronizations, have the context of the synchronization in which the last
 * sample was taken (`ended`, 0: none): that sample belongs to a call that has ended. */
void extent_tell_ended(struct extent_walk *walk);

/* From now on the pieces of a GPU queue tell all classes of operations that run in them: operations of one
 * queue may overlap, and the piece's owner is but the last of them. A piece ends where that changes. */
#define EXTENT_CLASSES 4u
struct extent_classes {
	unsigned (*class_of)(void *own, uint32_t op, uint32_t context); /* below EXTENT_CLASSES */
	void *own;
};
void extent_tell_classes(struct extent_walk *walk, const struct extent_classes *classes);

/* The whole piece at time_ns, however long. */
int extent_at(struct run *run, uint32_t stream, uint64_t time_ns, struct extent *extent, struct error *error);

/* True when a sample holds there: it shows, or will show again when what hides it (a wait) ends. */
int extent_in_force(
	struct run *run, uint32_t stream, uint64_t time_ns, bool *is_in_force, struct error *error);

#endif
