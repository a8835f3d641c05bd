/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_internal.h - what an open run consists of; for run*.c, scan.c and extent.c, nobody else. run.c opens
 * and renews, run_streams.c, run_contexts.c, run_scopes.c each keep their tables, run_line.c what is known of
 * a whole stream.
 */
#ifndef TIMELINE_RUN_INTERNAL_H
#define TIMELINE_RUN_INTERNAL_H

#include "store/base/arena.h"
#include "store/states/state_timeline.h"
#include "timeline/base/intern_table.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/run/run.h"

/* One store of the run. Its ids are translated by the arrays; a NULL `contexts` means: the same number. */
struct run_part {
	char *path;
	const char *name; /* its last component */
	struct store_reader *reader;
	int64_t shift_ns; /* added to its times, so that all hosts share the clock of the first store */
	uint32_t *contexts, *modules, *metrics;
	uint32_t context_count, module_count, metric_count, stream_count;
	uint64_t origin_hash; /* see run_part_origin_hash() */
	bool is_listed;	      /* its streams' times are what its list says (store_reader_stream_list()) */
};

struct run_text {
	const char *bytes;
	uint32_t size;
};

struct run_module {
	struct store_module m;
	const char *path, *base;
};

/* A run context and where it was first met. */
struct run_node {
	struct run_context c;
	uint32_t part, id; /* store and its id there */
	bool is_expanded;
	bool is_unresolved; /* a frame on its path had no symbol when it was expanded */
};

struct run_metric {
	const char *name, *unit;
	bool is_real;
};

/* What the line of a stream must know of the whole stream, whatever the window. */
struct run_line {
	uint64_t begin_ns, end_ns;  /* life: ABSENT outside */
	uint64_t first_ns, last_ns; /* monitored from here to here when it has no `monitored` span */
	uint64_t complete_ns;	    /* where a span that is still open is cut */
	uint64_t period_ns;
	const char *metric;
	uint64_t only_begin_ns,
		only_end_ns; /* of `monitored`, where that is the only span; 0, 0: it is not */
	bool has_monitored;
	bool has_switches; /* all blocked and runnable time is in spans */
};

/* Which store, and its id there. */
struct run_place {
	uint32_t part : 31, is_met : 1; /* met: somebody has asked for the stream */
	uint32_t id;
};

/* A store's text id, as a string of the run. */
struct run_host {
	unsigned part;
	uint32_t id;
	const char *text; /* NULL: none yet */
};

/* The thread whose identity was put together last, and how much of that another one's has, too. */
struct run_sibling {
	const char *host; /* the run's text */
	int32_t rank;
	uint32_t pid, generation;
	size_t bytes; /* 0: nothing */
};

/* A `monitored` span, as far as it tells which of several is the first. */
struct run_monitored {
	uint64_t begin_ns, end_ns;
	struct store_hash attributes; /* of their text */
};

struct run_line_state {
	struct run_stream r;
	struct run_line *line; /* in `lines`: nothing of it is touched until it is asked for */
	bool is_line_known;
	bool is_switches_said; /* by `monitored`; else any blocked or runnable span is taken for a sign */
	bool has_switch_spans; /* there is one, as far as it was asked */
	struct run_monitored monitored; /* the one that counts, if there is one */
	uint64_t spans_seen; /* records in the spans track when the two flags of the line were found out */
};

struct run {
	char *path;
	char **debug_paths;
	struct run_options options;
	struct run_part *parts;
	unsigned part_count;
	struct arena arena;	     /* strings, for the life of the run */
	struct intern_table texts;   /* struct run_text */
	struct run_place *places;    /* of each stream */
	struct intern_table streams; /* struct run_line_state */
	struct intern_table lines;   /* struct run_line, of each */
	uint32_t *met, met_count;    /* streams that were asked for */
	struct run_stream peeked;    /* run_stream_peek() */
	struct store_bytes identity; /* of the stream described last */
	struct run_host host;	     /* the same one's */
	struct run_sibling sibling;
	struct intern_table contexts;					   /* struct run_node */
	struct intern_table modules;					   /* struct run_module */
	struct intern_table functions, scopes, loops, frames, frame_lines; /* run_scopes.c */
	struct intern_table metrics;					   /* struct run_metric */
	struct intern_table ops;       /* struct run_text; run operation = STORE_OP_TEXT + its number */
	struct names_run_cache *names; /* found after the recording; NULL: none */
	struct store_scope *symbol;    /* STORE_SCOPE_MAX of them */
	struct error names_error;      /* the first that a store's symbols met */
	struct run_kernels *kernels;   /* run_kernels.c; NULL: not asked for yet */
	uint64_t origin_ns, begin_ns, end_ns, wall_ns;
	bool is_live;
};

/* ---- strings: one pointer per different text, for the life of the run; "" when memory is out ---- */
const char *run_intern(struct run *run, const char *bytes, size_t size_bytes);
const char *run_intern_text(struct run *run, unsigned part, uint32_t text);

/* ---- each table catches up with what the stores hold now ---- */
int run_streams_renew(struct run *run, struct error *error);
/* The stream as it is asked for: it and its strings are put together at the first call, which changes no
 * answer. */
struct run_line_state *run_line_state(const struct run *run, uint32_t stream);
/* The stream as the store has it, its times on the store's clock; for what looks at all of them. */
const struct store_stream *run_stored_stream(
	const struct run *run, uint32_t stream, const struct run_part **part);
int run_contexts_renew(struct run *run, struct error *error);
int run_ids_renew(struct run *run, struct error *error);
int run_scopes_init(struct run *run, struct error *error);
/* Contexts with frames that had no symbol are expanded again when next asked for. */
void run_scopes_renew(struct run *run);

/* ---- times ---- */
uint64_t run_part_time(const struct run_part *part, uint64_t store_ns); /* STORE_OPEN_NS stays */
uint64_t run_part_store_time(const struct run_part *part, uint64_t run_ns);
/* Clocks of hosts may lie so far apart that times are bent to what there is: are these two, of the store, as
 * far apart as they were? What was summed between them is of no use else. */
bool run_part_is_bent(const struct run_part *part, uint64_t begin_ns, uint64_t end_ns);
/* Hosts have clocks of their own; each store says where its origin lay on the wall clock. */
int64_t run_part_shift(const struct run_part *first, const struct run_part *part);
/* Origin, begin, end, wall clock and life of the run, from its stores and streams. */
void run_times(struct run *run);

/* Facts of a stream, found out at the first call: reads the operations of its spans track once. */
int run_line(struct run *run, uint32_t stream, const struct run_line **line, struct error *error);

/* What a sweep of the stream's line goes by. */
struct state_rules extent_rules(const struct run_stream *stream, const struct run_line *line);

/* The scopes of a context are not expanded for these. */
const struct run_node *run_node(const struct run *run, uint32_t context);
uint32_t run_node_parent(const struct run *run, uint32_t context);

#endif
