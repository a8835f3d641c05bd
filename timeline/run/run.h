/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - all stores of one run, opened as one: streams of every host in one list, contexts
 * unified by path hash, names expanded to scopes. Everything above (operators, views, exports)
 * asks the run and never a store.
 *
 *   store contexts (per host, 32-bit ids)  --path hash-->  run contexts (one id space)
 *   run context --names, inline chains-->  scope (a node of the expanded tree) + line sampled
 *
 * Times are absolute ns of the stores; origin_ns is what readers print as 0. One thread.
 */
#ifndef TIMELINE_RUN_H
#define TIMELINE_RUN_H

#include "store/read/reader.h"

struct run;

/* What to do besides opening. */
struct run_options {
	const char *const *debug_paths; /* where to look for binaries and debug information by build id */
	size_t debug_path_count;
	bool debuginfod;    /* ask the servers of DEBUGINFOD_URLS */
	bool no_cache;	    /* neither read nor write cache.mdb */
	bool no_rollups;    /* sum records, always: the answers are the same, the cost is not */
	unsigned jobs;	    /* processes that sum (parallel_sum.h); 0: as many as are worth it */
	uint64_t mem_bytes; /* that a query may take beside the run's tables; 0: what serves it best */
};

/* `path` NULL: the newest *.hpct of the current directory; run_path() tells which. */
int run_open(struct run **run, const char *path, const struct run_options *options, struct error *error);
void run_close(struct run *run);
/* Moves to the newest commits; ids stay, new ones are added. A context whose frames had no name may come to
 * another scope. Ends what run_meta() and batch_attributes() gave, and no scan or walk may be open. */
int run_renew(struct run *run, bool *changed, struct error *error);

const char *run_path(const struct run *run);
const char *run_meta(const struct run *run, const char *key); /* of the first store; NULL: not there */
uint64_t run_origin_ns(const struct run *run);
uint64_t run_begin_ns(const struct run *run); /* of the first record, or of the recording */
uint64_t run_end_ns(
	const struct run *run);		 /* of the last record; of a live run: what is complete everywhere */
bool run_is_live(const struct run *run); /* a collector still writes it */
uint64_t run_now_ns(const struct run *run);   /* the present on the run's clock; 0: nobody knows */
uint64_t run_wall_ns(const struct run *run);  /* CLOCK_REALTIME at the origin, 0: not known */
bool run_sums_rollups(const struct run *run); /* not `no_rollups`: sums made before may be used */
uint64_t run_bytes(const struct run *run);

/* How a store's times were put on the clock of the run's first store, by what both knew of the wall clock. */
struct run_clock {
	const char *host;  /* "" when it does not say */
	int64_t shift_ns;  /* added to its times */
	bool is_same;	   /* it is the first store's clock: nothing to put together */
	bool is_known;	   /* error_ns is */
	uint64_t error_ns; /* so far its times may lie beside those of the first store: both clocks' own
			      error, and how differently they ran */
};
struct run_clock run_clock(const struct run *run, unsigned store);
/* Of `mem_bytes`, a share: bytes / parts, but no more than `most`, which is what it is without the option. */
uint64_t run_mem_bytes(const struct run *run, unsigned parts, uint64_t most);
unsigned run_store_count(const struct run *run);
struct store_reader *run_store(const struct run *run, unsigned store);
const char *run_store_path(const struct run *run, unsigned store);

/* ---- streams: by host, rank, process, CPU before GPU, then number; those that a renewal finds follow ----
 */

struct run_stream {
	struct store_stream s; /* text ids are the store's: use the strings below */
	unsigned store;	       /* which store, and its id there */
	uint32_t id_in_store;
	const char *text; /* identity: cpu:HOST/RANK/PID.GENERATION/THREAD */
	const char *host;
	const char *name;	 /* "" when none */
	const char *device_name; /* "" when none */
	/* Of the time source, for run_stream_read() alone: */
	uint64_t period_ns; /* from `monitored`; 0: extents are not limited */
	const char *metric; /* "" when none */
};
uint32_t run_stream_count(const struct run *run);
const struct run_stream *run_stream(const struct run *run, uint32_t stream);
/* One that is there, for who goes through all of them once: costs no memory, until the next call. */
const struct run_stream *run_stream_peek(struct run *run, uint32_t stream);
/* The same without its texts but the host's, which are NULL: that is the dearer part. */
const struct run_stream *run_stream_peek_unnamed(struct run *run, uint32_t stream);
/* The same with what only its records tell: the first call looks into them. */
const struct run_stream *run_stream_read(struct run *run, uint32_t stream);

/* ---- contexts and the expanded tree ---- */

#define RUN_SCOPE_PROGRAM_ROOT 0u /* depth 0 */

/* A function, inlined or not, or a placeholder; the same function with the same name and module is one id
 * everywhere. */
struct run_function {
	const char *name;   /* escaped for no output yet: raw bytes, NUL-terminated */
	const char *module; /* path of its module, "" when none */
	const char *file;   /* where it is defined, "" when not known */
	uint32_t line;
	uint64_t hash;	     /* of its name as run_function_key() cuts it: picks its colour */
	bool is_placeholder; /* <program root>, <partial>, ... */
	uint32_t name_bytes; /* length of the name, which may hold any byte */
};
const struct run_function *run_function(const struct run *run, uint32_t function);
uint32_t run_function_count(const struct run *run);

/* A loop of a function or of what is inlined into it, in the module's code. Not a scope: it is no level of a
 * path, so that depths, paths and keys are the same with and without loops; it hangs between a scope and what
 * is called or sampled in it. Copies of a loop that the compiler made are one. */
struct run_loop {
	uint32_t parent;   /* loop around it in the same scope; RUN_LOOP_NONE: none */
	uint32_t depth;	   /* 1: none around it */
	uint32_t function; /* that holds it */
	uint32_t line;	   /* of its header, 0: not known */
	const char *file;  /* "" when not known */
	const char *name;  /* "loop at f.c: 12", "loop at libx.so+0x1234" */
	uint64_t start;	   /* offset of its header in the module; 0 when the line is known */
};
#define RUN_LOOP_NONE UINT32_MAX
const struct run_loop *run_loop(const struct run *run, uint32_t loop);

enum run_scope_kind { RUN_SCOPE_ROOT, RUN_SCOPE_FUNCTION, RUN_SCOPE_INLINE };

/* A node of the expanded calling context tree: an activation of a function from one call site. */
struct run_scope {
	uint32_t parent; /* UINT32_MAX for the two roots */
	uint32_t depth;	 /* roots 0 */
	uint32_t function;
	enum run_scope_kind kind;
	const char
		*call_file; /* position in the parent from where it is called or inlined; "" when not known */
	uint32_t call_line;
	uint32_t call_loop; /* innermost loop of the parent around that position, RUN_LOOP_NONE */
};
/* Scopes, loops and functions are made when run_context() first asks for a path through them: these are the
 * numbers so far. What was made stays where it is until the run is closed. */
uint32_t run_scope_count(const struct run *run);
const struct run_scope *run_scope(const struct run *run, uint32_t scope);
/* ERROR_RUN: names that were asked for so far could not be read: the store is damaged there. */
int run_names_check(const struct run *run, struct error *error);
/* Its ancestor (or itself) at that depth; the scope itself when it is not that deep. */
uint32_t run_scope_at(const struct run *run, uint32_t scope, uint32_t depth);

/* Run contexts. 0 is "no context" (path ""). */
struct run_context {
	uint32_t scope;	  /* innermost; UINT32_MAX for no context */
	const char *file; /* position sampled in that scope; "" when not known */
	uint32_t line;
	uint32_t loop; /* innermost loop of the scope around that position, RUN_LOOP_NONE */
	struct store_hash hash;
	bool is_partial;
};
uint32_t run_context_count(const struct run *run);
const struct run_context *run_context(const struct run *run, uint32_t context);
/* The module's path and the offset in it of a context's own frame; false: it has none. */
bool run_context_place(const struct run *run, uint32_t context, const char **module, uint64_t *offset);
/* Of its whole path: the same in all runs. */
struct store_hash run_context_hash(const struct run *run, uint32_t context);
/* Its caller's context, 0: none. */
uint32_t run_context_parent(const struct run *run, uint32_t context);
/* Translates an id of a store. */
uint32_t run_context_of(const struct run *run, unsigned store, uint32_t context_in_store);

/* The path as the TSV column says it: frames from the root, joined by ';', '<program root>' left out, cut at
 * `depth` (UINT32_MAX: whole), escaped. In `arena`; NULL when memory is out. */
struct arena;
char *run_context_path(const struct run *run, uint32_t context, uint32_t depth, struct arena *arena);

/* Metrics and operations of all stores in one id space. */
uint32_t run_metric_count(const struct run *run);
const char *run_metric_name(const struct run *run, uint32_t metric);
const char *run_metric_unit(const struct run *run, uint32_t metric);
bool run_metric_is_real(const struct run *run, uint32_t metric);
/* The order in which they are shown, whatever the order of their numbers: by name, unit, then doubles last.
 */
int run_metric_compare(const struct run *run, uint32_t a, uint32_t b);
uint32_t run_metric_of(const struct run *run, unsigned store, uint32_t metric_in_store);
/* Fixed operations keep their enum store_op; others count up from STORE_OP_TEXT. */
const char *run_op_name(const struct run *run, uint32_t op);
uint32_t run_op_of(const struct run *run, unsigned store, uint32_t op_in_store);
uint32_t run_op_named(struct run *run, const char *name, size_t size_bytes);
/* Whether the glob matches a fixed operation, or a text of the run, which may be one's name. */
bool run_has_op(const struct run *run, const char *glob);

#endif
