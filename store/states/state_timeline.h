/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_timeline.h - turns a stream's samples and spans, given in order of time, into its state timeline:
 * pieces without gaps or overlaps, each in one state. timeline/scan/extent.c uses it for readers,
 * state_rollup_builder.c for the writer. timeline/scan/extent.h defines the timeline.
 */
#ifndef STORE_STATE_TIMELINE_H
#define STORE_STATE_TIMELINE_H

#include "store/states/tie_break.h"

#define STATE_PERIODS 2u /* how many periods a sample holds without switch records */

/* Facts about the whole stream that the timeline depends on, whatever the window. */
struct state_rules {
	uint64_t begin_ns, end_ns;  /* life: ABSENT outside */
	uint64_t first_ns, last_ns; /* monitored range when there is no `monitored` span */
	uint64_t period_ns;
	bool is_gpu;
	bool has_samples;
	bool has_monitored;
	bool has_switches; /* all blocked and runnable time is in spans */
};

struct state_piece {
	uint64_t begin_ns, end_ns;
	uint64_t owner; /* identifies its record; 0: none */
	uint32_t context, op;
	enum extent_state state;
	bool is_record_begin;
};

/* To begin: set rules, names and now_ns, all else zero. */
struct line_walk {
	struct state_rules rules;
	struct tie_names names;
	uint64_t now_ns;
	struct span_stack stacks[SPAN_KIND_COUNT];
	unsigned held; /* bits of the stacks that may hold spans: most are always empty */
	struct {       /* the sample that holds the timeline */
		uint64_t begin_ns, end_ns, serial;
		uint32_t context;
		bool holds;
	} force;
	struct state_piece base; /* the state without samples, until steady_ns */
	uint64_t steady_ns;	 /* not after now_ns: must be computed again */
	bool is_base_open;	 /* a current sample shows through `base` */
	uint64_t serial;	 /* serial number of records: identifies owners */
};

void state_timeline_fini(struct line_walk *line);

/* A timeline sample that begins now. Of several at one time, one owns the timeline: tie_break.h. */
void state_timeline_take_sample(struct line_walk *line, uint64_t time_ns, uint32_t context);
/* True when such a sample loses against one of the same time that was taken before. */
bool state_timeline_hides_sample(const struct line_walk *line, uint64_t time_ns, uint32_t context);
/* A span that begins now or earlier; `state` need not be set. False: no memory. */
bool state_timeline_take_span(struct line_walk *line, struct state_span span);

/* The next elementary piece: from now to the next change, at most to the next sample or span (both given) or
 * to `end_ns`. All that begins until now was taken before. */
void state_timeline_step(struct line_walk *line, uint64_t next_sample_ns, uint64_t next_span_ns,
	uint64_t end_ns, struct state_piece *piece);

#endif
