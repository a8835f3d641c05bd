/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_walk.h - the selected part of a run as traces of other tools have it: processes with lanes, on which
 * calls and spans lie, and values. One stream after the other.
 *
 *   process    a process of the run
 *   lane       a CPU thread: its line as nested calls, states as leaves
 *   lane       "... spans": operations the thread logged; where they overlap, one lane more
 *   lane       operations of a GPU queue, likewise
 *   values     of a stream, by metric
 */
#ifndef FORMATS_TRACE_WALK_H
#define FORMATS_TRACE_WALK_H

#include "formats/base/stack_changes.h"
#include "timeline/scan/scan.h"
#include "timeline/select/select.h"

/* Processes and lanes count from 1, lanes over all processes. */
struct trace_place {
	const struct run_stream *stream;
	uint32_t process, lane;
	bool is_line; /* the lane is a CPU thread's line */
};

struct trace_span {
	const struct trace_place *place;
	const char *name; /* a kernel's name, else the operation's */
	size_t name_size;
	const char *op;
	uint64_t begin_ns, end_ns; /* one that is open ends where what is shown ends */
	bool is_mark;
	const struct batch *batch; /* the record: batch, row */
	size_t row;
};

/* A value of a metric from a moment on; of a counter its rate per second up to the next one. */
struct trace_value {
	uint32_t metric;
	uint64_t time_ns;
	uint64_t amount; /* or a double's bits */
	bool is_real;
	const char *unit; /* "" if none */
	const char *of;	  /* the stream's name; "": of the process, or the host */
};

/* False from any of them: no memory, and the walk stops. */
struct trace_walk_ops {
	bool (*process)(void *own, const struct trace_place *place, const char *name);
	bool (*lane)(void *own, const struct trace_place *place, const char *name);
	/* A call begins or ends: in order of time, what ends before what begins. `frame` as in
	 * stack_changes.h. */
	bool (*call)(
		void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin);
	/* In order of begins. */
	bool (*span)(void *own, const struct trace_span *span);
	/* NULL: values are not read. */
	bool (*value)(void *own, const struct trace_place *place, const struct trace_value *value);
};

/* As coverage_require(), for formats that draw values: a run of figures alone has counters to draw. */
int trace_require(struct run *run, const struct select *select, struct error *error);

/* ERROR_EMPTY: nothing is monitored in the window. */
int trace_walk(struct run *run, const struct select *select, const struct trace_walk_ops *ops, void *own,
	struct error *error);

/* Name and size of a frame of a call. */
const char *trace_frame_name(const struct run *run, uint32_t frame, size_t *size);

#endif
