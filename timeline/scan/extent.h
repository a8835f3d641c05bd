/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extent.h - a stream's line: its records turned into pieces that tile any window without gap or
 * overlap, each in one state and, where somebody works or waits, in one context. Tiles,
 * statistics, stacks and blame all read the line and never the records.
 *
 *   samples    s1      s2      s3               s4        blocked span, switch-out
 *   line       |==s1===|==s2===|==s3===|''''''''|==s4==|--------|
 *                                      two periods after s3: unknown
 *
 * CPU thread: the last extent sample is in force from its time to the next one, or for two periods where the
 * stream has no switch records (blocked, runnable). States cover it, in this order: absent, lost,
 * unmonitored, sync, blocked, runnable. Lost and unmonitored time ends its force, unknown follows; a
 * blocked or runnable span, whatever call it waits in, leaves the sample in force after it. A thread without
 * any sample works where its spans say so. GPU queue: absent, lost, unmonitored, then the union of its spans,
 * of which those that work hide waits; between them it is idle. Of overlapping spans of one kind the one that
 * began last owns the piece; records of one time store/states/tie_break.h tells apart. Of several `monitored`
 * spans the first one says what the stream was sampled by. A stream without one is monitored from its first
 * to its last record, and its extents have no limit. An open `monitored` span lasts to the tracks' watermark
 * (store_stream.complete_ns).
 */
#ifndef TIMELINE_EXTENT_H
#define TIMELINE_EXTENT_H

#include "store/states/state_timeline.h"
#include "timeline/run/run.h"

const char *extent_state_name(enum extent_state state);
char extent_state_glyph(enum extent_state state);
/* WORK KERNEL COPY_IN COPY_OUT SET: somebody works. */
bool extent_state_is_busy(enum extent_state state);

struct extent {
	uint64_t begin_ns, end_ns;
	uint32_t context; /* run context; 0: none */
	uint32_t op;	  /* of the span that owns it; STORE_OP_NONE for a sample's */
	enum extent_state state;
	bool is_record_begin; /* the record that owns it begins here (not cut by the window, not a
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

/* Spans that the caller reads, from `since_ns` (the run's clock) on. */
struct batch;
struct extent_source {
	/* Those that come next of which span_kind_of() says something, with begin, end, context and
	 * operation, and no others; they stay the caller's until the next call. Their number, 0 at the end,
	 * negative: error. */
	long (*next)(void *own, const struct batch **batch, struct error *error);
	void *own;
	uint64_t since_ns;
};
/* As extent_open(), with the stream's spans from there; where `since_ns` is too late for the window they are
 * read again. */
int extent_open_read(struct extent_walk **walk, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, const struct extent_source *spans, struct error *error);
/* Up to `capacity` pieces; their number, 0 at the end, negative: error. */
long extent_next(struct extent_walk *walk, struct extent *extents, size_t capacity, struct error *error);
void extent_close(struct extent_walk *walk);

/* From now on runnable pieces tell the context of the sample that is in force after them (`resumed`, 0:
 * none), and end where that changes. */
void extent_tell_resumed(struct extent_walk *walk);

/* From now on pieces but those of synchronizations tell the context of the one that the last sample was taken
 * in (`ended`, 0: in none): that sample is of a call that is over. */
void extent_tell_ended(struct extent_walk *walk);

/* From now on the pieces of a GPU queue tell all classes of operations that run in them: operations of one
 * queue may overlap, and the piece's owner is but the last of them. A piece ends where that changes. */
#define EXTENT_CLASSES 4u
struct extent_classes {
	unsigned (*class_of)(void *own, uint32_t op, uint32_t context); /* below EXTENT_CLASSES */
	void *own;
};
void extent_tell_classes(struct extent_walk *walk, const struct extent_classes *classes);

/* The whole piece that holds time_ns, however far it reaches. */
int extent_at(struct run *run, uint32_t stream, uint64_t time_ns, struct extent *extent, struct error *error);

/* Whether a sample is in force there: it shows, or will again when what covers it (a wait) is over. */
int extent_in_force(
	struct run *run, uint32_t stream, uint64_t time_ns, bool *is_in_force, struct error *error);

#endif
