/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_record.h - the records in a ring: aligned to 8 bytes, each with a header that holds its length in
 * 64-bit words. Only layouts and constants.
 *
 *   | type flags words node | ... |  | type flags words node | ... |  ...
 *     event_header                     the next record
 *
 * Call paths are sent as nodes: EVENT_NODE defines one by its parent and a place in a module, once for each
 * claim of a ring, and later records name it in their header. EVENT_NODES defines all nodes of a recursion
 * at once, however deep. Times are CLOCK_MONOTONIC.
 */
#ifndef STORE_RING_RECORD_H
#define STORE_RING_RECORD_H

#include <assert.h>
#include <stdint.h>

/* Operations of spans. Ids from STORE_OP_TEXT on are STORE_OP_TEXT + text id of the store. */
#define STORE_OPS(X)                  \
	X(NONE, "")                   \
	X(MONITORED, "monitored")     \
	X(UNMONITORED, "unmonitored") \
	X(BLOCKED, "blocked")         \
	X(RUNNABLE, "runnable")       \
	X(LOST, "lost")               \
	X(MARK, "mark")               \
	X(KERNEL, "kernel")           \
	X(COPY, "copy")               \
	X(SET, "set")                 \
	X(SYNC, "sync")               \
	X(ALLOC, "alloc")             \
	X(FREE, "free")               \
	X(GRAPH, "graph")             \
	X(COMPILE, "compile")         \
	X(LAUNCH, "launch")           \
	X(MPI, "mpi")                 \
	X(IO, "io")                   \
	X(RANGE, "range")             \
	X(THINNED, "thinned")         \
	X(LOAD, "load")
enum store_op {
#define X(name, text) STORE_OP_##name,
	STORE_OPS(X)
#undef X
		STORE_OP_COUNT,
	STORE_OP_TEXT = 64
};

enum event_type {
	EVENT_PAD,	       /* skip `words`; only the header is there */
	EVENT_NODE,	       /* a context node that later records name */
	EVENT_SAMPLE,	       /* one sample of a metric */
	EVENT_SPAN,	       /* a finished span; STORE_OP_BLOCKED without a duration: the path of the
				  wait that has just ended */
	EVENT_OPEN,	       /* an event_span that has begun; EVENT_CLOSE with its id ends it */
	EVENT_CLOSE,	       /* the same span, complete */
	EVENT_VALUE,	       /* one value of a metric */
	EVENT_LOST,	       /* number of records dropped between two times */
	EVENT_NAME,	       /* the thread's new name */
	EVENT_FORK,	       /* this thread created a child process */
	EVENT_LAUNCH,	       /* a GPU operation was launched from this context */
	EVENT_GPU,	       /* a GPU operation that has finished */
	EVENT_TEXT,	       /* a string, named by id in later records of this ring */
	EVENT_GPU_DEVICE,      /* activity ring: describes a device */
	EVENT_GPU_QUEUE,       /* activity ring: a queue exists, perhaps with a name */
	EVENT_GPU_UNMONITORED, /* activity ring: from here on no GPU of this process is monitored */
	EVENT_GPU_USED,	       /* activity ring: when the process first used GPUs */
	EVENT_GPU_FAULT,       /* activity ring: the runtime reported that a kernel faulted */
	EVENT_GPU_SAMPLE,      /* activity ring: samples of one GPU instruction */
	EVENT_GPU_UNSAMPLED,   /* activity ring: samples of GPU instructions are missing */
	EVENT_NODES,	       /* many context nodes, each the child of the one before, with recurring
				  places */
	EVENT_KERNEL,	       /* from outside: what the kernel did at the next sample */
	EVENT_SWITCH,	       /* from outside: the thread was switched in or out */
	EVENT_GPU_VALUES,      /* activity ring: counters of a device over time */
	EVENT_TYPE_COUNT
};

struct event_header {
	uint8_t type;	/* enum event_type */
	uint8_t flags;	/* EVENT_F_* */
	uint16_t words; /* length of the whole record in 64-bit words, this one included */
	uint32_t node;	/* the ring's own context node id; see enum event_node */
};

/* Node ids that need no record. Others count up from EVENT_NODE_FIRST, per claim. */
enum event_node {
	EVENT_NODE_PROGRAM_ROOT,
	EVENT_NODE_THREAD_ROOT,
	EVENT_NODE_PARTIAL_PROGRAM, /* <program root>;<partial> */
	EVENT_NODE_PARTIAL_THREAD,  /* <thread root>;<partial> */
	EVENT_NODE_FIRST = 16
};

#define EVENT_F_EXTENT 1u	/* sample of the time source: it owns a stretch of the timeline */
#define EVENT_F_FIRST 2u	/* the zero-weight record that starts a thread */
#define EVENT_F_LAST 4u		/* the record that carries the rest of the CPU clock */
#define EVENT_F_SAVED 8u	/* its weight includes samples that were skipped, on other paths */
#define EVENT_F_UNPUBLISHED 16u /* carries weight of samples whose paths were never published */
#define EVENT_F_KERNEL 32u   /* launch of exactly one kernel, which is lost if its operation never arrives */
#define EVENT_F_UNQUEUED 64u /* launch that puts no work into a queue: none may come */

#define EVENT_MODULE_RESERVED 0xffffffffu /* EVENT_NODE.module: offset is an enum store_frame */

/* Those of them that the agent writes. */
enum event_frame {
	EVENT_FRAME_OMP_REGION = 14,
	EVENT_FRAME_OMP_BARRIER,
	EVENT_FRAME_OMP_IDLE,
	EVENT_FRAME_OMP_LOCK,
	EVENT_FRAME_OMP_TASK,
	EVENT_FRAME_OMP_TASKWAIT,
	EVENT_FRAME_BACKWARD
};

struct event_node_record {
	struct event_header h; /* h.node = the id that this record defines */
	uint32_t parent;
	uint32_t module; /* slot in the module table, or EVENT_MODULE_RESERVED */
	uint64_t offset; /* callers: return address - 1; leaf and signal frames: the pc. Minus bias. */
};

struct event_place {
	uint64_t offset; /* both as in event_node_record */
	uint32_t module;
	uint32_t _pad;
};

#define EVENT_PLACES_MAX 4u
#define EVENT_NODES_MAX (1u << 20) /* of one record */

struct event_nodes_record {
	struct event_header h; /* h.node = the id of the first; the others count up */
	uint32_t parent;       /* of the first */
	uint32_t count;
	uint32_t place_count; /* 1 .. EVENT_PLACES_MAX: node i is at places[i % place_count] */
	uint32_t _pad;
	struct event_place places[];
};

struct event_sample {
	struct event_header h;
	uint64_t time_ns;
	uint64_t weight; /* in the metric's unit (ns for CPUTIME), overruns included */
	uint32_t metric; /* 0: the time source; i: counter i - 1 */
	uint32_t _pad;
};

#define EVENT_TEXT_BIT 0x80000000u /* event_span.operation: the rest is a text id */

struct event_span {
	struct event_header h;
	uint64_t begin_ns;
	uint64_t end_ns; /* EVENT_OPEN: 0 */
	uint64_t bytes;
	uint64_t link; /* correlation with other records; 0: none. EVENT_OPEN, EVENT_CLOSE: the span's id,
			  not 0, unique in its ring */
	uint32_t operation;  /* enum store_op, or a text id with EVENT_TEXT_BIT */
	uint32_t attributes; /* text id, 0: none */
};

struct event_kernel {
	struct event_header h; /* h.node: how many addresses */
	uint64_t time_ns;      /* the sample's */
	uint64_t address[];    /* innermost first: the pc, then return addresses */
};

enum event_switch_kind {
	EVENT_SWITCH_IN,
	EVENT_SWITCH_OUT,      /* the thread blocked */
	EVENT_SWITCH_PREEMPTED /* it was still runnable */
};

struct event_switch {
	struct event_header h;
	uint64_t time_ns;
	uint32_t kind; /* enum event_switch_kind */
	uint32_t _pad;
};

struct event_value {
	struct event_header h;
	uint64_t time_ns;
	uint64_t value;
	uint32_t metric;
	uint32_t _pad;
};

enum event_lost_kind {
	EVENT_LOST_SAMPLE,
	EVENT_LOST_SPAN,
	EVENT_LOST_LAUNCH,
	EVENT_LOST_BLOCK,
	EVENT_LOST_KINDS
};

struct event_lost {
	struct event_header h;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t count;
	uint64_t weight;		  /* of the dropped samples, in the time source's unit */
	uint32_t kinds[EVENT_LOST_KINDS]; /* what they were; together `count` */
};

struct event_text {
	struct event_header h; /* EVENT_NAME, EVENT_TEXT: h.node = byte count */
	uint64_t id;	       /* EVENT_TEXT: id, counts from 1. EVENT_NAME: time_ns */
	char bytes[];
};

struct event_fork {
	struct event_header h;
	uint64_t time_ns;
	uint32_t child_pid;
	uint32_t kind; /* enum event_fork_kind */
};

/* Ids of open spans: ids of the program's own marks and ranges start here. */
#define EVENT_PROGRAM_SPAN (UINT64_C(1) << 40)

enum event_fork_kind {
	EVENT_FORK_CHILD,	      /* fork: child_pid registers by itself */
	EVENT_FORK_SPAWN,	      /* posix_spawn: registers once it has called exec */
	EVENT_FORK_EXEC,	      /* this process calls exec now; if exec fails, the program continues */
	EVENT_FORK_SPAWN_UNMONITORED, /* like SPAWN and EXEC, but the target cannot load an agent: */
	EVENT_FORK_EXEC_UNMONITORED   /* static, 32-bit, musl, ... */
};

/* Begin and end of the call that starts a GPU operation; equal where only one time is known. */
struct event_launch {
	struct event_header h;
	uint64_t correlation;
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct event_gpu {
	struct event_header h; /* node unused: joined by correlation */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t correlation;
	uint32_t operation; /* enum store_op */
	uint32_t device;
	uint32_t context;
	uint32_t queue;
	uint32_t name;	     /* text id of the kernel's name */
	uint32_t attributes; /* text id */
};

struct event_gpu_device {
	struct event_header h;
	uint32_t device;
	uint32_t name; /* text ids, 0: not known */
	uint32_t uuid;
	uint32_t _pad;
};

struct event_gpu_queue {
	struct event_header h;
	uint32_t device;
	uint32_t context;
	uint32_t queue;
	uint32_t name;	     /* text ids, 0: unknown */
	uint32_t attributes; /* further facts, as "key=value,..." */
	uint32_t _pad;
};

struct event_gpu_unmonitored {
	struct event_header h;
	uint64_t time_ns;
	uint32_t reason; /* text id; 0: monitored again */
	uint32_t _pad;
};

struct event_gpu_used {
	struct event_header h;
	uint64_t time_ns;
};

struct event_gpu_fault {
	struct event_header h;
	uint64_t time_ns;  /* when the program was told */
	uint64_t since_ns; /* kernels launched before then had finished; 0: not known */
	uint32_t error;	   /* text id */
	uint32_t _pad;
};

#define EVENT_GPU_PC (UINT32_MAX - 1) /* as a queue: samples of instructions of the whole context */

/* Samples that one read-out gave for an instruction and a reason. */
struct event_gpu_sample {
	struct event_header h;
	uint64_t time_ns; /* of the read-out */
	uint64_t module;  /* hash of the GPU binary; 0: not known */
	uint64_t weight;  /* samples x period */
	uint32_t device;
	uint32_t context;
	uint32_t function; /* text id of the function's name */
	uint32_t symbol;   /* its number in the binary's table of symbols */
	uint32_t offset;   /* of the instruction, from the function's first byte */
	uint32_t metric;   /* text id */
};

#define EVENT_GPU_UTIL (UINT32_MAX - 2) /* as a queue or a context: counters of the whole device */

struct event_gpu_unsampled {
	struct event_header h;
	uint64_t time_ns;
	uint64_t count; /* samples lost; 0: not known how many */
	uint32_t device;
	uint32_t context; /* EVENT_GPU_UTIL: what is missing are counters over time */
	uint32_t reason;  /* text id */
	uint32_t is_end;  /* sampling has ended, or never began */
};

/* A device's figures over time that its counters give: name, unit and kind as in a run, what it is. A gauge
 * holds from its record's time to the next one's; a counter has grown up to its record's time. */
#define EVENT_GPU_FIGURES(X)                                                                                 \
	X(SM_ACTIVE, "sm_active", "permille", GAUGE,                                                         \
		"time in which a multiprocessor had work, the mean of all")                                  \
	X(SM_TENSOR, "sm_tensor", "permille", GAUGE, "use of the pipes for matrices, of their peak")         \
	X(SM_FMA, "sm_fma", "permille", GAUGE, "use of the pipes for floating-point numbers, of their peak") \
	X(SM_OCCUPANCY, "sm_occupancy", "permille", GAUGE, "warps on multiprocessors, of as many as fit")    \
	X(DRAM_READ, "dram_read", "B", COUNTER, "bytes read from the device's memory")                       \
	X(DRAM_WRITTEN, "dram_written", "B", COUNTER, "bytes written to the device's memory")                \
	X(PCIE_RECEIVED, "pcie_received", "B", COUNTER, "bytes over PCIe to the device")                     \
	X(PCIE_SENT, "pcie_sent", "B", COUNTER, "bytes over PCIe from the device")
enum event_gpu_figure {
#define X(id, name, unit, kind, text) EVENT_GPU_##id,
	EVENT_GPU_FIGURES(X)
#undef X
		EVENT_GPU_FIGURE_COUNT
};

struct event_gpu_values {
	struct event_header h;
	uint64_t time_ns;
	uint32_t device;
	uint32_t figures; /* bit per enum event_gpu_figure: which values follow, in this order */
	uint64_t value[];
};

static_assert(sizeof(struct event_header) == 8, "event header");
static_assert(sizeof(struct event_node_record) == 24 && sizeof(struct event_nodes_record) == 24, "nodes");
static_assert(sizeof(struct event_sample) == 32 && sizeof(struct event_switch) == 24, "sample, switch");
static_assert(sizeof(struct event_span) == 48, "span");
static_assert(sizeof(struct event_launch) == 32, "launch");
static_assert(sizeof(struct event_gpu) == 64, "gpu");
static_assert(sizeof(struct event_gpu_device) == 24 && sizeof(struct event_gpu_queue) == 32 &&
		      sizeof(struct event_gpu_unmonitored) == 24 && sizeof(struct event_gpu_used) == 16 &&
		      sizeof(struct event_gpu_fault) == 32 && sizeof(struct event_gpu_sample) == 56 &&
		      sizeof(struct event_gpu_unsampled) == 40 && sizeof(struct event_gpu_values) == 24,
	"what is known of GPUs");

#endif
