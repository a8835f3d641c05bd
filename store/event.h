/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what the agent says and the collector hears: one shared memory per
 * measured process, with one single-producer ring per thread in it. This is the
 * only header that the agent (record/agent/) and the rest of the house share;
 * it holds layouts and constants, no code that allocates or calls.
 *
 *   memory of one process (a sealed memfd, sparse):
 *
 *   0                     EVENT_MODULES_AT        EVENT_RINGS_AT
 *   +--------------------+----------------------+--------+--------+-- ...
 *   | event_process      | event_module[4096]   | ring 0 | ring 1 |
 *   +--------------------+----------------------+--------+--------+-- ...
 *                                                /        \
 *                           +-------------------+----------+
 *                           | event_ring (4 KiB)| data     |  EVENT_RING_STRIDE
 *                           +-------------------+----------+
 *
 * Positions `head` and `tail` count bytes and never wrap; the byte at position p
 * lies at data[p % EVENT_RING_DATA]. A claim goes on where the last one ended: no
 * side may expect them to start at 0, and the fields of a claim (tid, begin_ns, ...)
 * are complete once its first record is there (head != tail). A record never
 * straddles the end: the producer fills the rest with an EVENT_PAD record. A
 * record and the EVENT_NODE records that it needs become visible by one release
 * store of `head`: together or not at all. (The nodes of a very deep path may come
 * ahead, the record never does.)
 */
#ifndef STORE_EVENT_H
#define STORE_EVENT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_MAGIC 0x31545043u /* "CPT1" */
#define EVENT_VERSION 4u

#define EVENT_MODULE_MAX 4096u
#define EVENT_RING_HEADER 4096u
#define EVENT_RING_DATA (256u * 1024u) /* a power of two */
#define EVENT_RING_STRIDE (EVENT_RING_HEADER + EVENT_RING_DATA)
#define EVENT_MODULES_AT 65536u
#define EVENT_PAUSES_MAX 4096u
#define EVENT_ACTIVITY_DATA (16u * 1024u * 1024u) /* of the activity ring, a power of two */

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

/* Clocks: every *_ns below is CLOCK_MONOTONIC unless its name says cpu. */

/* An event that is counted beside the time source: its samples name it by index + 1. */
#define EVENT_COUNTERS_MAX 8u
/* With those that the agent counts itself (tallies), and those of PAPI. */
#define EVENT_METRICS_MAX (2 * EVENT_COUNTERS_MAX + 4u)
struct event_counter {
	char name[52];		  /* its metric; written before the handshake */
	uint32_t is_bytes;	  /* its unit; else events */
	_Atomic int32_t error;	  /* errno of the last time that the kernel refused it */
	_Atomic uint32_t refused; /* threads that go without it */
};

/* event_counter.error besides: below -1000, less an error of PAPI's. */
#define EVENT_PAPI_MISSING 2000
#define EVENT_PAPI_FORKED 2001

/* How the agent closed. */
enum event_end {
	EVENT_END_NONE, /* not at all, or an exec has failed */
	EVENT_END_EXIT,
	EVENT_END_EXEC /* the next program's agent is to register */
};

/* First bytes of the memory; written by the agent before the handshake. */
struct event_process {
	uint32_t magic;
	uint32_t version;
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t generation; /* how often this pid has called exec since it was measured */
	int32_t rank;	     /* guessed from the launcher's variables; -1: none */
	uint32_t ring_count; /* rings that fit in the memory */
	uint32_t _pad0;
	uint64_t memory_bytes;
	uint64_t rings_at;    /* byte offset of ring 0 */
	uint64_t switches_at; /* of EVENT_SWITCHES_BYTES for copies of switch rings, one after the other */
	uint64_t activity_at; /* of the activity ring; 0: there was no memory for one */
	uint64_t tallies_at;  /* of EVENT_TALLY_MAX tallies for each ring; 0: nothing is tallied */
	uint64_t begin_ns;    /* when the agent was loaded */
	uint64_t period_ns;   /* of the time source; 0: no time source */
	char metric[32];      /* its metric, "CPUTIME" */
	/* -- changing fields -- */
	_Atomic uint32_t module_count;	      /* slots handed out, some perhaps not yet live */
	_Atomic uint32_t ring_claimed;	      /* high-water mark: rings below it were in use once */
	_Atomic uint32_t thread_count;	      /* threads seen; gives each its index by creation */
	_Atomic uint32_t threads_unmonitored; /* no ring was free, or no timer was to be had */
	_Atomic uint32_t modules_unlisted;    /* module table full */
	_Atomic uint32_t ended;		      /* enum event_end */
	_Atomic uint64_t end_ns;
	_Atomic int32_t rank_known;	   /* rank the program asked MPI for, plus 1; 0: never asked */
	_Atomic uint32_t switches_taken;   /* collector: the switch rings are mapped */
	_Atomic uint32_t switches_copied;  /* agent, at its end: they were not, and are at switches_at */
	_Atomic int32_t switches_error;	   /* errno of the last that was refused */
	_Atomic uint32_t switches_refused; /* perf events for switch records that were not to be had */
	_Atomic int32_t sampler_reason;	   /* why not a better one: enum event_sampler_reason; 0: none */
	_Atomic uint32_t signals_foreign;  /* sampling signals that met a thread that is not measured */
	_Atomic uint32_t is_locked_up;	   /* a filter of system calls would have ended it at one of ours */
	uint32_t switches_trap;		   /* enum event_trap; written before the handshake */
	uint32_t counter_count;
	char sampler[16]; /* source that makes the samples, "timer"; written before the handshake */
	struct event_counter counters[EVENT_METRICS_MAX];
	char command[4096]; /* argv, each word ended by NUL, ended by an empty word; cut to fit */
	char executable[4096];
	/* When the program switched sampling off (even places) and on again (odd ones); place i is pause_ns[i
	 * % EVENT_PAUSES_MAX]. The agent writes while count - taken leaves room, the collector takes. */
	_Atomic uint32_t pause_count;
	_Atomic uint32_t pauses_taken;
	_Atomic uint32_t pauses_refused;       /* starts without room: it stayed off */
	_Atomic uint32_t children_unmonitored; /* of vfork: they became programs that take no agent */
	_Atomic uint64_t pause_ns[EVENT_PAUSES_MAX];
	/* For who walks its stacks from outside: code at which stacks end, code whose frames are passed over,
	 * the dynamic loader. */
	uint64_t fence_begin, fence_end;
	uint64_t hidden_begin, hidden_end;
	uint64_t loader_begin, loader_end;
};

/* At what the events of the switch rings trap as well: their rings tell what the kernel did then. */
enum event_trap { EVENT_TRAP_NONE, EVENT_TRAP_SAMPLES, EVENT_TRAP_WAITS };

/* Positive; negative: the errno that the kernel gave. */
enum event_sampler_reason {
	EVENT_SAMPLER_OLD_KERNEL = 1,
	EVENT_SAMPLER_TRACED, /* a debugger is there */
	EVENT_SAMPLER_GO      /* the program is written in Go */
};

/* One loaded module. A slot is written once and never reused, so (slot, offset) names
 * a place in a file for good, even if another library comes to the same address. */
enum event_module_state { EVENT_MODULE_FREE, EVENT_MODULE_WRITING, EVENT_MODULE_LIVE, EVENT_MODULE_GONE };

struct event_module {
	_Atomic uint32_t state; /* enum event_module_state; LIVE is stored with release */
	uint8_t build_id_bytes; /* 0: none found */
	uint8_t is_vdso;
	uint8_t is_anonymous; /* executable memory without a file (JIT): offset = address */
	uint8_t _pad;
	uint64_t bias;	/* runtime address - address in the file's program headers */
	uint64_t begin; /* mapped range, runtime addresses */
	uint64_t end;
	uint64_t loaded_ns; /* when it was first met in a call path */
	_Atomic uint64_t unloaded_ns;
	uint8_t build_id[32];
	char path[432]; /* "" = the executable; absolute where that could be told; cut to fit */
};

/* Ring of one thread. */
enum event_ring_state {
	EVENT_RING_FREE,    /* may be claimed: tail == head, collector done with it */
	EVENT_RING_CLAIMED, /* its thread writes */
	EVENT_RING_ENDED    /* thread gone; collector drains, then sets FREE */
};

#define EVENT_NOT_PAUSED UINT64_MAX

struct event_ring {
	_Atomic uint32_t state; /* FREE -> CLAIMED by compare-exchange (thread), -> ENDED (thread), -> FREE
				   (collector) */
	uint32_t claim;		/* how often the ring was claimed; written before CLAIMED is seen ended */
	uint32_t tid;
	uint32_t thread;       /* index by order of creation in the process, 0 = main */
	uint64_t begin_ns;     /* thread's start, or the agent's for the main thread */
	uint64_t cpu_begin_ns; /* CLOCK_THREAD_CPUTIME_ID at begin_ns */
	_Atomic uint64_t end_ns;
	_Atomic uint64_t cpu_end_ns; /* at end_ns, or, for threads that lived on, at the process's end_ns */
	uint64_t start_routine;	     /* address; 0 for the main thread */
	/* Counters, written by the thread alone, read by the collector at any time. */
	_Atomic uint64_t signals;     /* sampling signals received */
	_Atomic uint64_t overruns;    /* periods that had no signal of their own */
	_Atomic uint64_t samples;     /* published */
	_Atomic uint64_t partial;     /* of them with a partial stack */
	_Atomic uint64_t lost_full;   /* dropped, ring full; weight in lost_weight */
	_Atomic uint64_t lost_nested; /* dropped, the signal met its own thread publishing */
	_Atomic uint64_t lost_memory; /* dropped, no room for new context nodes */
	_Atomic uint64_t lost_weight; /* ns (weight) of all dropped samples */
	_Atomic uint64_t errant;      /* faults while unwinding, caught */
	_Atomic uint64_t counts;      /* of the signals: those of counters, not of the time source */
	char name[16];		      /* thread's name as last set, NUL-terminated */
	/* The thread is in a call that waits, since then; 0: in none. A wait that lasted is in the ring
	 * (EVENT_SPAN of STORE_OP_BLOCKED) before this is 0 again. */
	_Atomic uint64_t wait_begin_ns;
	/* CPU clock at the pause that lasts, and what passed of it in those that are over; see
	 * record/agent/control.h */
	_Atomic uint64_t pause_cpu_ns; /* EVENT_NOT_PAUSED: none lasts */
	_Atomic uint64_t paused_cpu_ns;
	_Atomic uint64_t handler_ns;  /* spent on samples */
	_Atomic uint32_t tally_count; /* tallies of this claim */
	uint8_t _pad[28];
	_Alignas(64) _Atomic uint64_t head; /* producer's: bytes published */
	uint8_t _pad_head[56];
	_Alignas(64) _Atomic uint64_t tail; /* consumer's: bytes taken */
	uint8_t _pad_tail[56];
};

/* What a thread has come by in one context so far, of a metric that is too frequent for records: it only
 * grows. The collector makes values of the differences. Node and metric are written before tally_count tells
 * of the tally, the EVENT_NODE record before that. Zeroed when the ring is claimed. */
struct event_tally {
	uint32_t node;
	uint32_t metric; /* i: counter i - 1 */
	_Atomic uint64_t total;
};

#define EVENT_TALLY_MAX 16384u /* of one claim */
#define EVENT_TALLIES_STRIDE (EVENT_TALLY_MAX * sizeof(struct event_tally))

/* ---- records in a ring: 8-byte aligned, `words` 64-bit words long ---- */

enum event_type {
	EVENT_PAD,	       /* skip `words`; only the header is there */
	EVENT_NODE,	       /* a context node that later records name */
	EVENT_SAMPLE,	       /* one sample of a metric */
	EVENT_SPAN,	       /* a finished span; STORE_OP_BLOCKED without a duration: the path of the
				  wait that was over just before */
	EVENT_OPEN,	       /* an event_span that has begun; EVENT_CLOSE with its id ends it */
	EVENT_CLOSE,	       /* the same span, whole */
	EVENT_VALUE,	       /* one value of a metric */
	EVENT_LOST,	       /* so many records were dropped between two times */
	EVENT_NAME,	       /* the thread's new name */
	EVENT_FORK,	       /* this thread made a child process */
	EVENT_LAUNCH,	       /* a GPU operation was launched from this context */
	EVENT_GPU,	       /* a GPU operation that has finished */
	EVENT_TEXT,	       /* a string, named by id in later records of this ring */
	EVENT_GPU_DEVICE,      /* activity ring: what a device is */
	EVENT_GPU_QUEUE,       /* activity ring: a queue is there, perhaps with a name */
	EVENT_GPU_UNMONITORED, /* activity ring: no GPU of this process is watched from here on */
	EVENT_GPU_USED,	       /* activity ring: since when the process uses GPUs at all */
	EVENT_TYPE_COUNT
};

struct event_header {
	uint8_t type;	/* enum event_type */
	uint8_t flags;	/* EVENT_F_* */
	uint16_t words; /* length of the whole record in 64-bit words, this one included */
	uint32_t node;	/* the ring's own context node id; see enum event_node */
};

/* Node ids that need no EVENT_NODE record. Others count up from EVENT_NODE_FIRST, per claim. */
enum event_node {
	EVENT_NODE_PROGRAM_ROOT,
	EVENT_NODE_THREAD_ROOT,
	EVENT_NODE_PARTIAL_PROGRAM, /* <program root>;<partial> */
	EVENT_NODE_PARTIAL_THREAD,  /* <thread root>;<partial> */
	EVENT_NODE_FIRST = 16
};

#define EVENT_F_EXTENT 1u /* sample of the time source: it owns a stretch of the line */
#define EVENT_F_FIRST 2u  /* the zero-weight record that opens a thread */
#define EVENT_F_SAVED 8u  /* its weight is also that of samples that were passed over, on other paths */
#define EVENT_F_LAST 4u	  /* the record that carries the rest of the CPU clock */

#define EVENT_MODULE_RESERVED 0xffffffffu /* EVENT_NODE.module: offset is an enum store_frame */

struct event_node_record {
	struct event_header h; /* h.node = the id that this record defines */
	uint32_t parent;
	uint32_t module; /* slot in the module table, or EVENT_MODULE_RESERVED */
	uint64_t offset; /* callers: return address - 1; leaf and signal frames: the pc. Minus bias. */
};

struct event_sample {
	struct event_header h;
	uint64_t time_ns;
	uint64_t weight; /* in the metric's unit (ns for CPUTIME), overruns included */
	uint32_t metric; /* 0: the time source; i: counter i - 1 */
	uint32_t _pad;
};

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

struct event_value {
	struct event_header h;
	uint64_t time_ns;
	uint64_t value;
	uint32_t metric;
	uint32_t _pad;
};

struct event_lost {
	struct event_header h;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t count;
	uint64_t weight; /* of the dropped samples, in the time source's unit */
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

/* Ids of open spans: those of the program's own marks and ranges count up from here. */
#define EVENT_PROGRAM_SPAN (UINT64_C(1) << 40)

enum event_fork_kind {
	EVENT_FORK_CHILD,	      /* fork: child_pid registers by itself */
	EVENT_FORK_SPAWN,	      /* posix_spawn: registers once it has called exec */
	EVENT_FORK_EXEC,	      /* this process calls exec now; it may fail and the program go on */
	EVENT_FORK_SPAWN_UNMONITORED, /* the same two, but no agent can be loaded into the target: */
	EVENT_FORK_EXEC_UNMONITORED   /* static, 32-bit, musl, ... */
};

/* Begin and end of the call that starts a GPU operation; equal where only the moment is known. */
struct event_launch {
	struct event_header h;
	uint64_t correlation;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* The activity ring, at event_process.activity_at, is an event_ring of its own size for records of operations
 * on GPUs. It has no thread: whoever hears of an operation writes it, under a lock; tid and claim are 0,
 * state becomes CLAIMED with the first record and stays so. Its texts are its own. */

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
	uint32_t name;	     /* text ids, 0: nothing is said */
	uint32_t attributes; /* more that is known of it, as "key=value,..." */
	uint32_t _pad;
};

struct event_gpu_unmonitored {
	struct event_header h;
	uint64_t time_ns;
	uint32_t reason; /* text id; 0: it is watched again */
	uint32_t _pad;
};

struct event_gpu_used {
	struct event_header h;
	uint64_t time_ns;
};

#define EVENT_TEXT_BIT 0x80000000u

static_assert(sizeof(struct event_module) == 512, "module slot");
static_assert(EVENT_MODULES_AT >= sizeof(struct event_process), "process page");
static_assert(sizeof(struct event_ring) <= EVENT_RING_HEADER, "ring header");
static_assert(sizeof(struct event_header) == 8, "event header");
static_assert(sizeof(struct event_node_record) == 24, "node");
static_assert(sizeof(struct event_sample) == 32, "sample");
static_assert(sizeof(struct event_span) == 48, "span");
static_assert(sizeof(struct event_tally) == 16, "tally");
static_assert(sizeof(struct event_launch) == 32, "launch");
static_assert(sizeof(struct event_gpu) == 64, "gpu");
static_assert(sizeof(struct event_gpu_device) == 24 && sizeof(struct event_gpu_queue) == 32 &&
		      sizeof(struct event_gpu_unmonitored) == 24 && sizeof(struct event_gpu_used) == 16,
	"what is known of GPUs");
static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "lock-free shared atomics");

/* ---- handshake: one SOCK_SEQPACKET message, agent to collector, never answered ---- */

enum event_hello_kind {
	EVENT_HELLO_PROCESS,   /* agent: descriptors memfd, pidfd, then EVENT_SWITCHES_MAX perf events at most
				*/
	EVENT_HELLO_LAUNCHER,  /* hpct-record: descriptor pidfd; stays connected, see record/host.h */
	EVENT_HELLO_SWITCHES,  /* agent: descriptor of one perf event, of one of its threads */
	EVENT_HELLO_KEEP,      /* agent: one descriptor, to be kept open for as long as the process lives */
	EVENT_HELLO_GPU_MODULE /* agent: descriptor of a sealed memfd that holds a GPU binary */
};

/* The perf events write PERF_RECORD_SWITCH with thread id and CLOCK_MONOTONIC into rings that the agent has
 * mapped already: one per processor for the whole process, or one per thread where there are too many
 * processors, or the kernel is too old (Linux < 5.13 would measure forked children too). */
#define EVENT_SWITCHES_MAX 62u
/* A program may end before the collector has mapped them: then the agent copies each, first page and data. */
#define EVENT_SWITCHES_BYTES (UINT64_C(8) << 20)

struct event_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;
	uint32_t pid;
	uint32_t switch_bytes; /* data of each switch ring, a power of two; 0: there are none */
	uint32_t tid;	       /* EVENT_HELLO_SWITCHES: whose ring it is */
	/* EVENT_HELLO_GPU_MODULE: the content's hash, as EVENT_GPU's attributes name it. EVENT_HELLO_PROCESS
	 * and EVENT_HELLO_SWITCHES: when the last of the switch rings was there, 0: not said. */
	uint64_t word;
};

/* Environment of measured programs (all set by hpct-record, kept by the exec wrappers). */
#define EVENT_ENV_SOCKET "HPCT_SOCKET" /* path of the collector's socket */
#define EVENT_ENV_EVENTS                                                                   \
	"HPCT_EVENTS" /* "CPUTIME@5000 SWITCHES gpu=auto": events separated by spaces; µs \
		       */
/* A counter among them: "page-faults=1:2:0:0:1:", which is name=type:config:config1:config2:period:flags,
 * numbers in hex, type to config2 as struct perf_event_attr has them. Flags: f the period is samples a
 * second, u k h counts only in those modes (none: wherever allowed), p once for each step of precision. */
#define EVENT_EVENTS_MAX 1024		  /* bytes of HPCT_EVENTS, NUL included */
#define EVENT_WORD_SAMPLER " BY="	  /* " BY=timer": the source to take, record/agent/source.h */
#define EVENT_WORD_PAPI " papi="	  /* " papi=PAPI_TOT_CYC", once for each: record/agent/papi.h */
#define EVENT_WORD_UNWINDER " UNWINDER="  /* " UNWINDER=libunwind": record/agent/unwind_plugin.h */
#define EVENT_WORD_WAITS " WAITS"	  /* the path of every wait, also where no wrapper stands */
#define EVENT_WORD_DELAY " DELAY"	  /* sampling is off until the program starts it */
#define EVENT_WORD_RECURSION " RECURSION" /* every level of recursive calls is kept */
#define EVENT_WORD_NO_GPROF " GPROF=off"  /* programs built with -pg do not profile themselves */
#define EVENT_WORD_IO " IO=on"		  /* calls that move bytes are spans, the bytes tallies */
/* " MEMLEAK=P": allocations are tallied, each with a probability of P / 2^32, P in hex; the agent is
 * EVENT_AGENT_MEMLEAK */
#define EVENT_WORD_MEMLEAK " MEMLEAK="
#define EVENT_MEMLEAK_ALL (UINT64_C(1) << 32)
/* Which processes are measured, record/agent/selection.h. */
#define EVENT_WORD_NO_CHILDREN " ALONE" /* hpct-record makes it " ALONE=PID" once it knows */
#define EVENT_WORD_ALONE " ALONE="
#define EVENT_WORD_RANKS " RANKS="
#define EVENT_WORD_FRACTION " FRACTION="
#define EVENT_ENV_GENERATION "HPCT_GENERATION" /* "PID:N" written by the exec wrappers */
#define EVENT_ENV_AGENT "HPCT_AGENT"	       /* path of the agent, as it stands in LD_PRELOAD */
/* Where GPU runtimes look for who wants to listen: the agent, when HPCT_EVENTS asks for that vendor. */
#define EVENT_ENV_OPENCL "OPENCL_LAYERS"       /* with others, separated by colons */
#define EVENT_ENV_CUDA "CUDA_INJECTION64_PATH" /* one; not if the user has set it */
#define EVENT_ENV_NVTX "NVTX_INJECTION64_PATH" /* likewise */

#endif
