/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - opens all stores of a run as one: streams of every host in one list, contexts unified by path
 * hash, names expanded to scopes. Everything above (operators, views, exports) uses the run and never a
 * store.
 *
 *   store contexts (per host, 32-bit ids)  --path hash-->  run contexts (one id space)
 *   run context --names, inline chains-->  scope (a node of the expanded tree) + sampled line
 *
 * Times are absolute ns of the stores; readers print times relative to origin_ns. One thread.
 */
#ifndef TIMELINE_RUN_H
#define TIMELINE_RUN_H

#include "store/read/reader.h"

struct run;

/* Which frames of a Python program paths show. */
enum run_python {
	RUN_PYTHON_MIXED,  /* Python's and native ones, without the interpreter's that Python's stand for */
	RUN_PYTHON_NATIVE, /* all native ones, none of Python's */
	RUN_PYTHON_ONLY	   /* as mixed, without native ones below a Python one */
};

/* Options of opening. */
struct run_options {
	const char *const *debug_paths; /* where to search for binaries and debug information by build id */
	size_t debug_path_count;
	bool debuginfod; /* query the servers of DEBUGINFOD_URLS */
	bool no_cache;	 /* neither read nor write cache.mdb */
	enum run_python python;
	bool runtime_frames; /* paths show the frames of OpenMP's runtimes */
	bool no_rollups;     /* always sum records: the same answers at a higher cost */
	unsigned jobs;	     /* processes that sum (parallel_sum.h); 0: as many as pay off */
	uint64_t mem_bytes;  /* limit of a query's memory beside the run's tables; 0: best for each query */
};

/* `path` NULL: the newest *.hpct of the current directory; run_path() tells which. */
int run_open(struct run **run, const char *path, const struct run_options *options, struct error *error);
void run_close(struct run *run);
/* Moves to the newest commits; ids stay, new ones are added. A context with unnamed frames may get another
 * scope. Results of run_meta() and batch_attributes() become invalid, and no scan or walk may be open. */
int run_renew(struct run *run, bool *changed, struct error *error);

const char *run_path(const struct run *run);
const char *run_meta(const struct run *run, const char *key); /* of the first store; NULL: no such fact */
uint64_t run_origin_ns(const struct run *run);
uint64_t run_begin_ns(const struct run *run); /* of the first record, or of the recording */
uint64_t run_end_ns(const struct run *run);  /* of the last record; of a live run: end of the time complete in
						all streams */
bool run_is_live(const struct run *run);     /* a collector still writes it */
uint64_t run_now_ns(const struct run *run);  /* the present on the run's clock; 0: unknown */
uint64_t run_wall_ns(const struct run *run); /* CLOCK_REALTIME at the origin, 0: unknown */
bool run_sums_rollups(const struct run *run); /* false with `no_rollups` */
uint64_t run_bytes(const struct run *run);

/* How a store's times were mapped to the clock of the run's first store, using the wall-clock times of both.
 */
struct run_clock {
	const char *host;  /* "" if unknown */
	int64_t shift_ns;  /* added to its times */
	bool is_same;	   /* on the first store's clock: no mapping needed */
	bool is_known;	   /* error_ns is valid */
	uint64_t error_ns; /* largest error against the first store's times: both clocks' own error, and
			      their different drift */
};
struct run_clock run_clock(const struct run *run, unsigned store);
/* A share of `mem_bytes`: bytes / parts, at most `most`, which is also the value without the option. */
uint64_t run_mem_bytes(const struct run *run, unsigned parts, uint64_t most);
unsigned run_store_count(const struct run *run);
struct store_reader *run_store(const struct run *run, unsigned store);
const char *run_store_path(const struct run *run, unsigned store);

/* ---- streams: by host, rank, process, CPU before GPU, then number; streams found by a renewal follow ----
 */

struct run_stream {
	struct store_stream s; /* text ids are the store's: use the strings below */
	unsigned store;	       /* the store, and the stream's id there */
	uint32_t id_in_store;
	const char *text; /* identity: cpu:HOST/RANK/PID.GENERATION/THREAD */
	const char *host;
	const char *name;	 /* "" if none */
	const char *device_name; /* "" if none */
	/* Of the time source, valid only from run_stream_read(): */
	uint64_t period_ns; /* from `monitored`; 0: extents are not limited */
	const char *metric; /* "" if none */
	const char *uuid;   /* of a GPU queue's device, "" if unknown; valid only from run_stream_read() */
};
uint32_t run_stream_count(const struct run *run);
/* The streams without those of gauges, which have no time: what select_streams() gives of a whole run. */
uint32_t run_timed_count(const struct run *run);
const struct run_stream *run_stream(const struct run *run, uint32_t stream);
/* One stream, for a single pass over all: costs no memory, valid until the next call. */
const struct run_stream *run_stream_peek(struct run *run, uint32_t stream);
/* The same with all texts but the host's NULL, which is much faster. */
const struct run_stream *run_stream_peek_unnamed(struct run *run, uint32_t stream);
/* The same with what only records tell: the first call reads some. */
const struct run_stream *run_stream_read(struct run *run, uint32_t stream);

/* ---- contexts and the expanded tree ---- */

#define RUN_SCOPE_PROGRAM_ROOT 0u /* depth 0 */

/* A function, inlined or not, or a placeholder; functions of equal name, module and file have one id, and one
 * whose file is not known has that of the first of its name. */
struct run_function {
	const char *name;   /* raw bytes, not escaped, NUL-terminated */
	const char *module; /* path of its module, "" if none */
	const char *file;   /* where it is defined, "" if unknown */
	uint32_t line;
	uint64_t hash;	     /* of its name as run_function_key() cuts it: chooses its colour */
	bool is_placeholder; /* <program root>, <partial>, ... */
	bool is_python;
	uint32_t name_bytes; /* length of the name, which may hold any byte */
};
const struct run_function *run_function(const struct run *run, uint32_t function);
uint32_t run_function_count(const struct run *run);

/* A loop of a function or of code inlined into it. Not a scope: it is no level of a path, so depths, paths
 * and keys are the same with and without loops; it is between a scope and what is called or sampled in it.
 * Compiler-made copies of a loop are one. */
struct run_loop {
	uint32_t parent;   /* enclosing loop in the same scope; RUN_LOOP_NONE: none */
	uint32_t depth;	   /* 1: outermost */
	uint32_t function; /* that contains it */
	uint32_t line;	   /* of its header, 0: unknown */
	const char *file;  /* "" if unknown */
	const char *name;  /* "loop at f.c: 12", "loop at libx.so+0x1234" */
	uint64_t start;	   /* offset of its header in the module; 0 if the line is known */
};
#define RUN_LOOP_NONE UINT32_MAX
#define RUN_SPIN_NAME "<spin>" /* function below code in a loop that only waits (STORE_LOOP_SPIN) */
const struct run_loop *run_loop(const struct run *run, uint32_t loop);

enum run_scope_kind { RUN_SCOPE_ROOT, RUN_SCOPE_FUNCTION, RUN_SCOPE_INLINE, RUN_SCOPE_INSTRUCTION };

/* A node of the expanded calling context tree: an activation of a function from one call site. A sampled
 * instruction of a GPU is one, too: its "call site" is its own position in the function, or in the innermost
 * of those inlined there. */
struct run_scope {
	uint32_t parent; /* UINT32_MAX for the two roots */
	uint32_t depth;	 /* roots 0 */
	uint32_t function;
	enum run_scope_kind kind;
	const char *call_file; /* position of the call in the parent; "" if unknown */
	uint32_t call_line;
	uint32_t call_loop; /* innermost loop of the parent around that position, RUN_LOOP_NONE: none */
};
/* Scopes, loops and functions are created when run_context() first expands a path through them; these are
 * their current numbers. Once created, they keep their addresses until the run is closed. */
uint32_t run_scope_count(const struct run *run);
const struct run_scope *run_scope(const struct run *run, uint32_t scope);
/* ERROR_RUN: some names used so far could not be read, because the store is damaged. */
int run_names_check(const struct run *run, struct error *error);
/* The ancestor (or itself) at that depth; the scope itself if it is not that deep. A depth from
 * run_depth_below() stands for a number that depends on the path. */
uint32_t run_scope_at(const struct run *run, uint32_t scope, uint32_t depth);

/* ---- depths that depend on the path ----
 *
 *   main -- Solver::run -- step -- assemble     passing: main, Solver::run (timeline/sum/dividing.h)
 *                        \- output              run_depth_below(0): step, output; (1): assemble
 *
 * A kernel is not on a way from main: at such a depth its own frame is meant. */
#define RUN_DEPTH_BELOW 0x80000000u /* from here on; UINT32_MAX is the whole path */
#define RUN_DEPTH_STEPS 0x10000
static inline uint32_t run_depth_below(int steps)
{
	return RUN_DEPTH_BELOW + RUN_DEPTH_STEPS + (uint32_t)steps;
}
static inline bool run_depth_is_below(uint32_t depth)
{
	return depth >= RUN_DEPTH_BELOW && depth != UINT32_MAX;
}
/* A kernel's own frame, below <gpu kernel>. */
bool run_scope_is_kernel(const struct run *run, uint32_t scope);
/* The number that a depth stands for on the way to this scope: at least 1. */
uint32_t run_depth_of(const struct run *run, uint32_t scope, uint32_t depth);
/* Sets which scopes pass on their time; a scope whose parent does not counts as one that does not. Sets
 * *is_changed if there were others. timeline/sum/dividing.h finds them. */
int run_set_passing(
	struct run *run, const uint32_t *scopes, size_t count, bool *is_changed, struct error *error);

/* Run contexts. 0 is "no context" (path ""). */
struct run_context {
	uint32_t scope;	  /* innermost; UINT32_MAX for no context */
	const char *file; /* sampled position in that scope; "" if unknown */
	uint32_t line;
	uint32_t loop; /* innermost loop of the scope around that position, RUN_LOOP_NONE: none */
	struct store_hash hash;
	bool is_partial;
};
uint32_t run_context_count(const struct run *run);
const struct run_context *run_context(const struct run *run, uint32_t context);
/* The kernel that a context of a GPU is in; NULL: none. */
const struct run_function *run_context_kernel(const struct run *run, uint32_t context);
/* A context of a path that no store has: the context's own frame below another context. False: no memory, or
 * the frame has no function. */
bool run_context_below(const struct run *run, uint32_t parent, uint32_t context, struct run_context *place);
/* The module's path and the offset of a context's own frame; false: it has none. */
bool run_context_place(const struct run *run, uint32_t context, const char **module, uint64_t *offset);
/* Hash of the whole path: equal across runs. */
struct store_hash run_context_hash(const struct run *run, uint32_t context);
/* Its caller's context, 0: none. */
uint32_t run_context_parent(const struct run *run, uint32_t context);
/* Translates an id of a store. */
uint32_t run_context_of(const struct run *run, unsigned store, uint32_t context_in_store);

/* The path as in the TSV column: frames from the root, joined by ';', without '<program root>', cut at
 * `depth` (UINT32_MAX: whole), escaped. In `arena`; NULL: no memory. */
struct arena;
char *run_context_path(const struct run *run, uint32_t context, uint32_t depth, struct arena *arena);

/* Metrics and operations of all stores in one id space. */
uint32_t run_metric_count(const struct run *run);
const char *run_metric_name(const struct run *run, uint32_t metric);
const char *run_metric_unit(const struct run *run, uint32_t metric);
bool run_metric_is_real(const struct run *run, uint32_t metric);
enum store_metric_kind run_metric_kind(const struct run *run, uint32_t metric);
/* The display order, independent of numbers: by name, unit, then doubles last. */
int run_metric_compare(const struct run *run, uint32_t a, uint32_t b);
uint32_t run_metric_of(const struct run *run, unsigned store, uint32_t metric_in_store);
/* Fixed operations keep their enum store_op; others count up from STORE_OP_TEXT. */
const char *run_op_name(const struct run *run, uint32_t op);
uint32_t run_op_of(const struct run *run, unsigned store, uint32_t op_in_store);
uint32_t run_op_named(struct run *run, const char *name, size_t size_bytes);
/* Whether the glob matches a fixed operation, or a text of the run, which may be one's name. */
bool run_has_op(const struct run *run, const char *glob);

#endif
