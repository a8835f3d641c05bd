/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_timeline.h - turns a stream's samples and spans, given in the order of time, into its line: pieces
 * without gap or overlap, each in one state. timeline/scan/extent.c sweeps what a reader scans;
 * state_rollup_builder.c what a writer appends. timeline/scan/extent.h says what the line is.
 */
#ifndef STORE_STATE_TIMELINE_H
#define STORE_STATE_TIMELINE_H

#include "store/states/tie_break.h"

#define STATE_PERIODS 2u /* that a sample stays in force without switch records */

/* What the line must know of the whole stream, whatever the window. */
struct state_rules {
	uint64_t begin_ns, end_ns;  /* life: ABSENT outside */
	uint64_t first_ns, last_ns; /* monitored from here to here when it has no `monitored` span */
	uint64_t period_ns;
	bool is_gpu;
	bool has_samples;
	bool has_monitored;
	bool has_switches; /* all blocked and runnable time is in spans */
};

struct state_piece {
	uint64_t begin_ns, end_ns;
	uint64_t owner; /* tells its record from others; 0: none */
	uint32_t context, op;
	enum extent_state state;
	bool is_record_begin;
};

/* All-zero but for rules, names and now_ns is the begin. */
struct line_walk {
	struct state_rules rules;
	struct tie_names names;
	uint64_t now_ns;
	struct span_stack stacks[SPAN_KIND_COUNT];
	unsigned held; /* bits of the stacks that may not be empty: most are, always */
	struct {       /* the sample whose context holds the line */
		uint64_t begin_ns, end_ns, serial;
		uint32_t context;
		bool holds;
	} force;
	struct state_piece base; /* what the line is but for samples, until steady_ns */
	uint64_t steady_ns;	 /* no later than now_ns: to be found out anew */
	bool is_base_open;	 /* a sample in force shows */
	uint64_t serial;	 /* of records: tells owners apart */
};

void state_timeline_fini(struct line_walk *line);

/* An extent sample that begins now. Of several of one moment, one owns the line: tie_break.h. */
void state_timeline_take_sample(struct line_walk *line, uint64_t time_ns, uint32_t context);
/* Does such a sample give way to one of the same moment that was taken before? */
bool state_timeline_hides_sample(const struct line_walk *line, uint64_t time_ns, uint32_t context);
/* A span that begins now or earlier; `state` need not be set. False: memory is out. */
bool state_timeline_take_span(struct line_walk *line, struct state_span span);

/* The next elementary piece, from now to where something changes: at the next sample or span, which are
 * given, or at `end_ns` at the latest. All that begins until now was taken before. */
void state_timeline_step(struct line_walk *line, uint64_t next_sample_ns, uint64_t next_span_ns,
	uint64_t end_ns, struct state_piece *piece);

#endif
