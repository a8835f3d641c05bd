/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_internal.h - the parts of an open run; for run*.c, scan.c and extent.c only. run.c opens and renews;
 * run_streams.c, run_contexts.c and run_scopes.c keep their tables; run_line.c keeps facts about whole
 * streams.
 */
#ifndef TIMELINE_RUN_INTERNAL_H
#define TIMELINE_RUN_INTERNAL_H

#include "store/base/arena.h"
#include "store/states/state_timeline.h"
#include "timeline/base/intern_table.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/run/run.h"

/* One store of the run. The arrays translate its ids; a NULL `contexts` means equal numbers. */
struct run_part {
	char *path;
	const char *name; /* its last component */
	struct store_reader *reader;
	int64_t shift_ns; /* added to its times, so that all hosts use the clock of the first store */
	uint32_t *contexts, *modules, *metrics;
	uint32_t context_count, module_count, metric_count, stream_count;
	uint64_t origin_hash; /* see run_part_origin_hash() */
	bool is_listed;	      /* its streams' times are those of its list (store_reader_stream_list()) */
};

struct run_text {
	const char *bytes;
	uint32_t size;
};

struct run_module {
	struct store_module m;
	const char *path, *base;
};

/* A run context and where it was first seen. */
struct run_node {
	struct run_context c;
	uint32_t part, id; /* store, and id there */
	bool is_expanded;
	bool has_python;    /* a frame on its path is Python's */
	bool is_unresolved; /* when it was expanded, a frame on its path had no symbol */
};

struct run_metric {
	const char *name, *unit;
	bool is_real;
	uint8_t kind; /* enum store_metric_kind */
};

/* Facts about a whole stream that its timeline depends on, whatever the window. */
struct run_line {
	uint64_t begin_ns, end_ns;  /* life: ABSENT outside */
	uint64_t first_ns, last_ns; /* monitored range when there is no `monitored` span */
	uint64_t complete_ns;	    /* open spans are cut here */
	uint64_t period_ns;
	const char *metric, *uuid;
	uint64_t only_begin_ns, only_end_ns; /* end of `monitored`, if that is the only span; else 0, 0 */
	bool has_monitored;
	bool has_switches; /* all blocked and runnable time is in spans */
};

/* Which store, and its id there. */
struct run_place {
	uint32_t part : 31, is_met : 1; /* met: some caller has used the stream */
	uint32_t id;
};

/* A store's text id, as a string of the run. */
struct run_host {
	unsigned part;
	uint32_t id;
	const char *text; /* NULL: none yet */
};

/* The thread whose identity was built last, and the part that another thread shares. */
struct run_sibling {
	const char *host; /* the run's text */
	int32_t rank;
	uint32_t pid, generation;
	size_t bytes; /* 0: none */
};

/* The part of a `monitored` span that decides which of several is the first. */
struct run_monitored {
	uint64_t begin_ns, end_ns;
	struct store_hash attributes; /* of their text */
};

struct run_line_state {
	struct run_stream r;
	struct run_line *line; /* in `lines`: not touched until used */
	bool is_line_known;
	bool is_switches_said; /* `monitored` states it; otherwise any blocked or runnable span implies
				  switch records */
	bool has_switch_spans; /* the spans read so far include one */
	struct run_monitored monitored; /* the valid one, if any */
	uint64_t spans_seen; /* records in the spans track when the timeline's two flags were computed */
};

struct run {
	char *path;
	char **debug_paths;
	struct run_options options;
	struct run_part *parts;
	unsigned part_count;
	struct arena arena;	     /* strings, kept as long as the run */
	struct intern_table texts;   /* struct run_text */
	struct run_place *places;    /* of each stream */
	struct intern_table streams; /* struct run_line_state */
	struct intern_table lines;   /* struct run_line, of each */
	uint32_t *met, met_count;    /* streams in use */
	struct run_stream peeked;    /* run_stream_peek() */
	struct store_bytes identity; /* of the last stream described */
	struct run_host host;	     /* of the same stream */
	struct run_sibling sibling;
	struct intern_table contexts;					   /* struct run_node */
	struct intern_table modules;					   /* struct run_module */
	struct intern_table functions, scopes, loops, frames, frame_lines; /* run_scopes.c */
	struct intern_table metrics;					   /* struct run_metric */
	struct intern_table ops;       /* struct run_text; run operation = STORE_OP_TEXT + its number */
	struct names_run_cache *names; /* names found after the recording; NULL: none */
	struct store_scope *symbol;    /* STORE_SCOPE_MAX of them */
	struct error names_error;      /* the first error in a store's symbols */
	struct run_kernels *kernels;   /* run_kernels.c; NULL: not used yet */
	uint8_t *passing;	       /* by scope: run_set_passing(); NULL: none */
	uint32_t passing_count, passing_deepest; /* scopes in it; the depth of the deepest that passes */
	uint64_t origin_ns, begin_ns, end_ns, wall_ns;
	bool is_live;
};

/* ---- strings: one pointer per distinct text, valid as long as the run; "": no memory ---- */
const char *run_intern(struct run *run, const char *bytes, size_t size_bytes);
const char *run_intern_text(struct run *run, unsigned part, uint32_t text);

/* ---- each brings its table up to the stores' present content ---- */
int run_streams_renew(struct run *run, struct error *error);
/* The stream's state: the first call builds it and its strings (no answer changes). */
struct run_line_state *run_line_state(const struct run *run, uint32_t stream);
/* The stream as in the store, its times on the store's clock; for passes over all streams. */
const struct store_stream *run_stored_stream(
	const struct run *run, uint32_t stream, const struct run_part **part);
int run_contexts_renew(struct run *run, struct error *error);
int run_ids_renew(struct run *run, struct error *error);
int run_scopes_init(struct run *run, struct error *error);
/* Marks contexts with unnamed frames to be expanded again on next use. */
void run_scopes_renew(struct run *run);

/* ---- times ---- */
uint64_t run_part_time(const struct run_part *part, uint64_t store_ns); /* STORE_OPEN_NS stays */
uint64_t run_part_store_time(const struct run_part *part, uint64_t run_ns);
/* False when mapping the two store times to the run's clock (which clamps far times) has changed their
 * distance: sums between them are then unusable. */
bool run_part_is_bent(const struct run_part *part, uint64_t begin_ns, uint64_t end_ns);
/* Each store has its origin's wall-clock time; from that, the shift between the clocks of two hosts. */
int64_t run_part_shift(const struct run_part *first, const struct run_part *part);
/* Computes origin, begin, end, wall clock and liveness of the run from its stores and streams. */
void run_times(struct run *run);

/* Facts of a stream: the first call computes them, and reads the operations of its spans track once. */
int run_line(struct run *run, uint32_t stream, const struct run_line **line, struct error *error);

/* The rules for sweeping the stream's timeline. */
struct state_rules extent_rules(const struct run_stream *stream, const struct run_line *line);

/* These do not expand a context's scopes. */
const struct run_node *run_node(const struct run *run, uint32_t context);
uint32_t run_node_parent(const struct run *run, uint32_t context);

#endif
