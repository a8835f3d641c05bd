/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the types that writer and readers of a store share: streams, tracks, records, contexts, modules,
 * symbols. store/write/writer.h writes them, store/read/reader.h reads them; FORMAT.md describes the LMDB
 * file.
 *
 *   run NAME.hpct/ -- one store per recording host: HOST-BOOT.mdb
 *
 *   store -- streams -- tracks (samples, spans, values) -- chunks -- records
 *        \-- contexts (parent, frame), frame = (module, offset) -- symbols: names, lines
 *
 * Times are ns of CLOCK_MONOTONIC of the recording host; ranges are half-open.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/ring/ring.h"

#define STORE_SUFFIX ".mdb"
#define STORE_RUN_SUFFIX ".hpct"
/* Fact: this store is a copy; its text is the path of the original. */
#define STORE_META_COPIED "copied_from"
/* Fact: the writer has ended and has compacted the file (compact.h); it has no lock file. */
#define STORE_META_SETTLED "settled"
/* Its text: '1' (before 3.0): no tree is compressed (zstd_block.h); '2' (before 4.0): some are, none is
 * bundled (leaf_block.h). */
#define STORE_SETTLED_DENSE '2'
#define STORE_SETTLED_BUNDLED '3'
/* Fact: the sum of all weights or values exceeds 64 bits: sums and rollups may have wrapped, and must not be
 * used. */
#define STORE_META_WIDE "wide_sums"
/* Fact: the streams are in the order of readers, and have all ended (stream.h). */
#define STORE_META_LIST "stream_list"
/* Fact: how many of the streams are GAUGES; missing: none. */
#define STORE_META_GAUGES "gauge_streams"
#define STORE_OPEN_NS UINT64_MAX /* end of a span that is still open */

enum store_track { STORE_SAMPLES, STORE_SPANS, STORE_VALUES, STORE_TRACK_COUNT };
const char *store_track_name(enum store_track track);

/* Name of a fixed operation, NULL from STORE_OP_COUNT on. */
const char *store_op_name(uint32_t op);
/* The fixed operation of that name, STORE_OP_COUNT when there is none. */
uint32_t store_op_find(const char *name, size_t size_bytes);
/* monitored, unmonitored, blocked, runnable, lost, mark, thinned: states and bookkeeping, not work. */
bool store_op_is_state(uint32_t op);

/* Reserved frames: module STORE_MODULE_RESERVED, the offset is one of these. */
#define STORE_FRAMES(X)                   \
	X(PROGRAM_ROOT, "<program root>") \
	X(THREAD_ROOT, "<thread root>")   \
	X(PARTIAL, "<partial>")           \
	X(GPU_ROOT, "<gpu root>")         \
	X(GPU_KERNEL, "<gpu kernel>")     \
	X(GPU_COPY, "<gpu copy>")         \
	X(GPU_SET, "<gpu set>")           \
	X(GPU_SYNC, "<gpu sync>")         \
	X(GPU_ALLOC, "<gpu alloc>")       \
	X(GPU_FREE, "<gpu free>")         \
	X(UNKNOWN, "<unknown>")           \
	X(GPU_GRAPH, "<gpu graph>")       \
	X(GPU_COMPILE, "<gpu compile>")   \
	X(STOPPED, "<stopped>")           \
	X(OMP_REGION, "<omp region>")     \
	X(OMP_BARRIER, "<omp barrier>")   \
	X(OMP_IDLE, "<omp idle>")         \
	X(OMP_LOCK, "<omp lock>")         \
	X(OMP_TASK, "<omp task>")         \
	X(OMP_TASKWAIT, "<omp taskwait>") \
	X(BACKWARD, "<backward>")
enum store_frame {
#define X(name, text) STORE_FRAME_##name,
	STORE_FRAMES(X)
#undef X
		STORE_FRAME_COUNT
};
const char *store_frame_name(uint64_t frame);			/* NULL: not reserved */
uint64_t store_frame_find(const char *name, size_t size_bytes); /* STORE_FRAME_COUNT: none */

#define STORE_MODULE_RESERVED 0u /* module ids of files count from 1 */

/* Context ids of every store. Others count up from STORE_CONTEXT_FIRST. */
enum store_context_id {
	STORE_CONTEXT_NONE, /* no context: path "" */
	STORE_CONTEXT_PROGRAM_ROOT,
	STORE_CONTEXT_THREAD_ROOT,
	STORE_CONTEXT_FIRST
};

struct store_hash {
	uint64_t high, low;
};

/* A node of the calling context tree. A parent's id is always smaller than its child's. */
struct store_context {
	uint32_t parent; /* STORE_CONTEXT_NONE for the roots */
	uint32_t module;
	uint64_t offset;
	struct store_hash hash; /* of the whole path, from module identities (not ids) and offsets: equal
				   across stores */
};

enum store_module_kind {
	STORE_MODULE_ELF,  /* offset = address in the file's program headers */
	STORE_MODULE_TEXT, /* string table (imports): offset = text id of the frame's name */
	STORE_MODULE_VDSO,
	STORE_MODULE_KERNEL,
	STORE_MODULE_JIT,   /* memory without a file: offset = address */
	STORE_MODULE_GPU,   /* its build id is the key of its blob, 8 bytes, big-endian; for the offset see
			       timeline/code/gpu_code.h */
	STORE_MODULE_PYTHON /* string table: offset = text id << STORE_PYTHON_LINE_BITS | line (0: unknown);
			       the text is the function's qualified name, NUL, file, NUL, first line in
			       decimal */
};
#define STORE_PYTHON_LINE_BITS EVENT_PYTHON_LINE_BITS
#define STORE_PYTHON_LINE_MAX EVENT_PYTHON_LINE_MAX

/* Identity: build id if there is one, else (kind, path); and is_hidden. */
struct store_module {
	enum store_module_kind kind;
	uint8_t build_id_bytes; /* 0..32 */
	uint8_t build_id[32];
	uint32_t path;		     /* text id */
	uint64_t load_ns, unload_ns; /* load_ns: first use; unload_ns 0: still loaded or unknown */
	bool is_hidden; /* frames for which others in the path stand (an interpreter's): paths leave them out
			 */
};

/* What the values of a metric are. */
enum store_metric_kind {
	STORE_METRIC_AMOUNT,  /* parts of a sum (weights, bytes, calls): adding them up means something */
	STORE_METRIC_GAUGE,   /* a level at a moment: memory in use, a temperature */
	STORE_METRIC_COUNTER, /* a total that grows; one that falls has begun anew at 0. Readers show its rate
			       */
	STORE_METRIC_KINDS
};

struct store_metric {
	uint32_t name; /* text id, "CPUTIME" */
	uint32_t unit; /* text id, "ns" */
	bool is_real;  /* values of this metric are doubles, by their bits */
	uint8_t kind;  /* enum store_metric_kind; before 7.0 AMOUNT */
};

/* One line of an expanded frame; a symbol has one or more, outermost function first. */
enum store_scope_kind { STORE_SCOPE_FUNCTION, STORE_SCOPE_INLINE, STORE_SCOPE_LOOP };
#define STORE_SCOPE_MAX 64     /* deepest inline chain kept */
#define STORE_LOOP_SPIN "spin" /* name of a loop that only waits */
struct store_scope {
	uint32_t kind; /* enum store_scope_kind */
	uint32_t
		name; /* text id: demangled, with template arguments, without parameters; 0: module+0xSTART */
	uint32_t file;	    /* text id of the file of `line`: where the next inner scope was inlined, or the
			       sampled line */
	uint32_t line;	    /* 0: unknown */
	uint32_t decl_file; /* text id: where the function is defined; 0: unknown */
	uint32_t decl_line;
	uint64_t start; /* offset of the outermost function's first byte, for inlined functions too */
};

/* PC: instruction samples of a GPU context, which has no queue number. It has weights, and spans that say
 * what was sampled and lost, but no states: sums of time leave it out.
 * GAUGES: figures over time (values only) of a host (no pid, no device), of a process (no device) or of a
 * device: neither weights nor states. */
enum store_stream_kind {
	STORE_STREAM_CPU,
	STORE_STREAM_GPU,
	STORE_STREAM_PC,
	STORE_STREAM_GAUGES,
	STORE_STREAM_KINDS
};
const char *store_stream_kind_name(enum store_stream_kind kind); /* cpu, gpu, pc, gauges */

/* Threads and queues, which take time. */
static inline bool store_stream_has_states(enum store_stream_kind kind)
{
	return kind < STORE_STREAM_PC;
}

/* Identity of a stream (the first part never changes), then properties that may be known late. */
struct store_stream {
	enum store_stream_kind kind;
	uint32_t host; /* text id */
	int32_t rank;  /* -1: none */
	uint32_t pid, generation;
	uint32_t thread;		 /* CPU: 0 = main, by creation */
	uint32_t device, context, queue; /* GPU; PC: queue is UINT32_MAX */
	/* properties */
	uint32_t tid;			   /* CPU: the kernel's */
	uint32_t name;			   /* text id: thread's or queue's name; 0: none */
	uint32_t device_name;		   /* text id */
	uint64_t begin_ns, end_ns;	   /* life of the stream; end STORE_OPEN_NS while it lives */
	uint64_t lost;			   /* records lost */
	uint64_t partial;		   /* samples with a partial stack */
	uint64_t count[STORE_TRACK_COUNT]; /* records in each track; set by the writer */
	uint64_t
		complete_ns[STORE_TRACK_COUNT]; /* watermark: records beginning before it are all committed */
	uint64_t shifts[STORE_TRACK_COUNT];	/* bit k: buckets of 2^k ns exist; set by the writer */
	uint64_t thinned_ns; /* records before it may have been dropped (store_writer_keep()); 0: none was */
	uint64_t dropped[STORE_TRACK_COUNT]; /* dropped records in each track; set by the writer */
};

/* The order of readers within one host: process, then CPU threads before GPU queues, each by number. */
int store_stream_compare(const struct store_stream *a, const struct store_stream *b);

/* One record of any track; fields that a track does not use are 0. */
struct store_record {
	uint64_t begin_ns; /* samples, values: the time */
	uint64_t end_ns;   /* spans; STORE_OPEN_NS: still open. Samples, values: = begin_ns */
	uint64_t amount; /* samples: weight. Values: the value (or a double's bits). Spans: weight (lost: how
			    many) */
	uint64_t bytes;	 /* spans */
	uint64_t link;	 /* spans: id shared by a launch and its operation; 0: none. Text: attribute link=N */
	uint32_t context;
	uint32_t what;	     /* samples, values: metric id. Spans: operation */
	uint32_t attributes; /* spans: text id of "key=value,..." without link; 0: none */
	uint32_t flags;	     /* STORE_RECORD_* */
};
#define STORE_RECORD_EXTENT 1u /* sample of the time source: owns a stretch of the timeline */

/* Order of records in a chunk and everywhere at equal times: begin, end, context id (the path hash is not at
 * hand), what, amount, bytes, link, attributes. */
int store_record_compare(const struct store_record *a, const struct store_record *b);

/* Key of the blob that holds a source file, by its path in debug information. */
uint64_t store_source_key(const char *path);
/* Key of the blob that holds a GPU module, by its build id; 0: none. */
uint64_t store_gpu_module_key(const uint8_t *build_id, uint8_t size_bytes);

#endif
