/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the shared memory between agent and collector: one memory per measured process, with one
 * single-producer ring per thread in it. For the records in the rings see ring_record.h, for the connection
 * handshake.h; the agent (record/agent/) includes these three headers and no others from outside. They hold
 * layouts and constants, no code that allocates or calls.
 *
 *   memory of one process (a sealed memfd, sparse):
 *
 *   0               EVENT_MODULES_AT     rings_at     switches_at    activity_at     tallies_at names_at
 * code_at
 *   +---------------+--------------------+--------+-..-+--------------+---------------+---------+-------+------+
 *   | event_process | event_module[4096] | ring 0 |    | switch rings | activity ring | tallies | names |
 * code |
 *   +---------------+--------------------+--------+-..-+--------------+---------------+---------+-------+------+
 *                                       /          \       copies       if there is     if any    with the
 *                         +------------+------------+                   memory for it   are kept  activity
 *                         | event_ring | data       |                                             ring
 *                         +------------+------------+  EVENT_RING_STRIDE
 *                           EVENT_RING_HEADER
 *
 * Positions `head` and `tail` count bytes and never wrap; the byte at position p is at data[p %
 * EVENT_RING_DATA]. A claim continues at the positions where the last one ended: neither side may expect 0.
 * The fields of a claim (tid, begin_ns, ...) are complete once its first record is there (head != tail). A
 * record never straddles the end: the producer fills the rest with an EVENT_PAD record. One release store of
 * `head` publishes a record together with the node records that it needs. (The nodes of a very deep path may
 * be published before the record, never after.)
 */
#ifndef STORE_RING_H
#define STORE_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "store/ring/ring_record.h"

#define EVENT_MAGIC 0x31545043u /* "CPT1" */
#define EVENT_VERSION 13u

#define EVENT_MODULE_MAX 4096u
#define EVENT_RINGS_MAX 4096u /* of a process */
#define EVENT_RING_HEADER 4096u
#define EVENT_RING_DATA (256u * 1024u) /* a power of two */
#define EVENT_RING_STRIDE (EVENT_RING_HEADER + EVENT_RING_DATA)
#define EVENT_MODULES_AT 65536u
#define EVENT_PAUSES_MAX 4096u
#define EVENT_ACTIVITY_DATA (16u * 1024u * 1024u) /* of the activity ring, a power of two */
#define EVENT_NAMES_DATA (8u * 1024u * 1024u)	  /* of names of Python functions, some 100000 */

#define EVENT_TITLE_BYTES 256u
#define EVENT_CODE_DATA (16u * 1024u * 1024u) /* of names of compiled code, some 200000 */

/* Clocks: every *_ns below is CLOCK_MONOTONIC unless its name says cpu. */

/* An event counted beside the time source: samples name it by index + 1. */
#define EVENT_COUNTERS_MAX 8u
/* These counters, those that are read (counter_group.h), those that the agent counts itself (tallies), and
 * those of PAPI. */
#define EVENT_METRICS_MAX (3 * EVENT_COUNTERS_MAX + 10u)
enum event_unit { EVENT_UNIT_EVENTS, EVENT_UNIT_BYTES, EVENT_UNIT_NS };
struct event_counter {
	char name[52];		  /* its metric; written before the handshake */
	uint32_t unit;		  /* enum event_unit */
	_Atomic int32_t error;	  /* errno of the kernel's last refusal */
	_Atomic uint32_t refused; /* threads that lack it */
};

/* Other values of event_counter.error: below -1000, minus PAPI's error code. */
#define EVENT_PAPI_MISSING 2000
#define EVENT_PAPI_FORKED 2001

/* How the agent ended. */
enum event_end {
	EVENT_END_NONE, /* not ended, or an exec has failed */
	EVENT_END_EXIT,
	EVENT_END_EXEC /* the next program's agent will register */
};

/* A child of vfork that is about to become a program without an agent: it has no ring to say so in. */
#define EVENT_UNHEARD_MAX 256u
#define EVENT_UNHEARD_UNDONE UINT32_MAX /* its exec has failed */
struct event_unheard {
	_Atomic uint32_t pid; /* stored last; 0: not there yet; or EVENT_UNHEARD_UNDONE */
	uint32_t _pad;
	uint64_t since_ns;
};

/* First bytes of the memory; written by the agent before the handshake. */
struct event_process {
	uint32_t magic;
	uint32_t version;
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t generation;	  /* number of exec calls of this pid since it was measured */
	int32_t rank;		  /* guessed from the launcher's variables; -1: none */
	uint32_t ring_count;	  /* rings that fit in the memory, EVENT_RINGS_MAX at most */
	uint32_t keeps_recursion; /* paths keep all recursive levels */
	uint64_t memory_bytes;
	uint64_t rings_at;    /* byte offset of ring 0 */
	uint64_t switches_at; /* of EVENT_SWITCHES_BYTES for consecutive copies of switch rings */
	uint64_t activity_at; /* of the activity ring; 0: no memory for it */
	uint64_t tallies_at;  /* of EVENT_TALLY_MAX tallies for each ring; 0: no tallies */
	uint64_t names_at;    /* of EVENT_NAMES_DATA bytes of event_name; 0: no memory for them */
	uint64_t code_at;     /* of EVENT_CODE_DATA bytes of event_code; 0: it is not asked for */
	uint64_t begin_ns;    /* when the agent was loaded */
	uint64_t period_ns;   /* of the time source; 0: no time source */
	char metric[32];      /* its metric, "CPUTIME" */
	/* -- changing fields -- */
	_Atomic uint32_t module_count;	      /* slots assigned, some perhaps not yet live */
	_Atomic uint32_t ring_claimed;	      /* high-water mark: all rings used so far are below it */
	_Atomic uint32_t thread_count;	      /* threads seen; the next thread's index by creation */
	_Atomic uint32_t threads_unmonitored; /* threads without a ring or a timer */
	_Atomic uint32_t modules_unlisted;    /* module table full */
	_Atomic uint32_t ended;		      /* enum event_end */
	_Atomic uint64_t end_ns;
	_Atomic int32_t rank_known;	   /* rank the program asked MPI for, plus 1; 0: never asked */
	_Atomic uint32_t switches_taken;   /* set by the collector: it has mapped the switch rings */
	_Atomic uint32_t switches_copied;  /* set by the agent at its end: it has copied them to
					      switches_at */
	_Atomic int32_t switches_error;	   /* errno of the last refusal */
	_Atomic uint32_t switches_refused; /* perf events for switch records that the kernel refused */
	_Atomic int32_t sampler_reason;	   /* why no better source is used: enum event_sampler_reason; 0:
					      none */
	_Atomic uint32_t signals_foreign;  /* sampling signals in threads that are not measured */
	_Atomic uint32_t is_locked_up;	   /* a seccomp filter would have killed the process at one of our
					      system calls, or refuses one that we need */
	uint32_t switches_trap;		   /* enum event_trap; written before the handshake */
	uint32_t counter_count;
	char sampler[16]; /* source that makes the samples, "timer"; written before the handshake */
	struct event_counter counters[EVENT_METRICS_MAX];
	char command[4096]; /* argv, each word ended by NUL, ended by an empty word; cut to fit */
	char executable[4096];
	/* When the program switched sampling off (even indices) and on again (odd ones); entry i is
	 * pause_ns[i % EVENT_PAUSES_MAX]. The agent writes while count - taken leaves room, the collector
	 * reads. */
	_Atomic uint32_t pause_count;
	_Atomic uint32_t pauses_taken;
	_Atomic uint32_t pauses_refused;       /* starts without room: it stayed off */
	_Atomic uint32_t children_unmonitored; /* of vfork, beyond EVENT_UNHEARD_MAX */
	_Atomic uint32_t unheard_count;	       /* places given out: the first of the list are taken */
	struct event_unheard unheard[EVENT_UNHEARD_MAX];
	_Atomic uint32_t graphs_by_node; /* CUDA graphs were asked for as wholes and are not */
	_Atomic uint64_t pause_ns[EVENT_PAUSES_MAX];
	/* For unwinding from outside: code where stacks end, code whose frames are skipped, the dynamic
	 * loader. */
	uint64_t fence_begin, fence_end;
	uint64_t hidden_begin, hidden_end;
	uint64_t loader_begin, loader_end;
	/* An interpreter whose stack cannot be read: its minor version, 1 where that is not known, or
	 * EVENT_PYTHON_PYPY. 0: none. */
	_Atomic uint32_t python_unknown;
	_Atomic uint32_t names_refused; /* times a function got no name, as there was no memory for more */
	_Atomic uint64_t names_used;	/* bytes; see event_name */
	_Atomic uint64_t code_used;	/* bytes; see event_code */
	/* Whoever records asked for sampling to begin or end (hpct-record --start, --stop): the collector
	 * writes what is wanted and shows itself (EVENT_CONTROL_VALUE); the process then does it, and writes
	 * what it has done. EVENT_CONTROL_* of both; 0: nobody ever asked. */
	_Atomic uint32_t control_wanted;
	_Atomic uint32_t control_done;
	/* Its command line at its end, NUL between the words, as the program has written over it. Written
	 * before `ended` is. */
	uint32_t title_bytes;
	char title[EVENT_TITLE_BYTES];
};

#define EVENT_PYTHON_PYPY 0x10000u /* no CPython */

#define EVENT_CONTROL_ON 1u   /* set: sampling is on */
#define EVENT_CONTROL_NEXT 2u /* above that: how often somebody asked */
/* The value of the AGENT_SIGNAL that says: look at control_wanted. */
#define EVENT_CONTROL_VALUE UINT64_C(0x6870637463747278)

/* When the events of the switch rings also sample: their rings then hold what the kernel did at that time. */
enum event_trap { EVENT_TRAP_NONE, EVENT_TRAP_SAMPLES, EVENT_TRAP_WAITS };

/* Positive; negative: the kernel's errno. */
enum event_sampler_reason {
	EVENT_SAMPLER_OLD_KERNEL = 1,
	EVENT_SAMPLER_TRACED, /* a debugger is attached */
	EVENT_SAMPLER_GO      /* the program is written in Go */
};

/* One loaded module. A slot is written once and never reused, so (slot, offset) names a place in a file for
 * good, even if another library is loaded at the same address. */
enum event_language {
	EVENT_LANGUAGE_NATIVE,
	EVENT_LANGUAGE_INTERPRETER, /* the same file once more: frames of it that Python's stand for */
	EVENT_LANGUAGE_PYTHON	    /* no file: offset = name << EVENT_PYTHON_LINE_BITS | line */
};
#define EVENT_PYTHON_LINE_BITS 24u
#define EVENT_PYTHON_LINE_MAX ((1u << EVENT_PYTHON_LINE_BITS) - 1) /* 0: not known */

/* A Python function, at names_at + 8 * its number, complete once a record names it; 0 is none. The text is
 * its qualified name, NUL, its file. */
struct event_name {
	uint32_t bytes; /* of the text */
	uint32_t line;	/* the function's first */
	char text[];
};
#define EVENT_NAME_BYTES_MAX 1024u

/* Code that a Java machine has compiled, one after the other from code_at on, each rounded up to 8 bytes. */
struct event_code {
	uint64_t begin;
	uint32_t size;
	_Atomic uint32_t bytes; /* of the text; stored last, with release. 0: it is not complete */
	char text[];
};

enum event_module_state { EVENT_MODULE_FREE, EVENT_MODULE_WRITING, EVENT_MODULE_LIVE, EVENT_MODULE_GONE };

struct event_module {
	_Atomic uint32_t state; /* enum event_module_state; LIVE is stored with release */
	uint8_t build_id_bytes; /* 0: none found */
	uint8_t is_vdso;
	uint8_t is_anonymous; /* executable memory without a file (JIT): offset = address */
	uint8_t language;     /* enum event_language */
	uint64_t bias;	      /* runtime address - address in the file's program headers */
	uint64_t begin;	      /* mapped range, runtime addresses */
	uint64_t end;
	uint64_t loaded_ns; /* when a call path first met it */
	_Atomic uint64_t unloaded_ns;
	uint8_t build_id[32];
	uint64_t
		content_hash; /* without a build id: of its memory, see module_content.h; 0: none was taken */
	char path[424];	      /* "" = the executable; absolute where that could be told; cut to fit */
};

/* Ring of one thread. */
enum event_ring_state {
	EVENT_RING_FREE,    /* free to claim: tail == head, collector done with it */
	EVENT_RING_CLAIMED, /* its thread writes to it */
	EVENT_RING_ENDED    /* thread gone; collector drains, then sets FREE */
};

/* Why a thread is not sampled. */
enum event_unsampled {
	EVENT_SAMPLED,
	EVENT_UNSAMPLED_REFUSED, /* the kernel gave neither timer nor perf event: RLIMIT_SIGPENDING, seccomp
				  */
	EVENT_UNSAMPLED_READ,	 /* the program reads the sampling signal out of the queue by itself */
	EVENT_UNSAMPLED_GONE,	 /* its timer was deleted */
	EVENT_UNSAMPLED_BLOCKED, /* an agent that came later found the sampling signal blocked */
	EVENT_UNSAMPLED_MISSED	 /* its CPU clock went on without samples */
};

#define EVENT_NOT_PAUSED UINT64_MAX
#define EVENT_UNPUBLISHED (UINT64_C(1) << 63)
#define EVENT_CALL_BYTES 128u

struct event_ring {
	_Atomic uint32_t state; /* FREE -> CLAIMED by compare-exchange (thread), -> ENDED (thread), -> FREE
				   (collector) */
	uint32_t claim;		/* number of claims of the ring; written before CLAIMED becomes visible */
	uint32_t tid;
	uint32_t thread;       /* index by order of creation in the process, 0 = main */
	uint64_t begin_ns;     /* thread's start, or the agent's for the main thread */
	uint64_t cpu_begin_ns; /* CLOCK_THREAD_CPUTIME_ID at begin_ns */
	_Atomic uint64_t end_ns;
	_Atomic uint64_t cpu_end_ns; /* at end_ns, or, for threads alive at the process's end, at its
					end_ns */
	uint64_t start_routine;	     /* address; 0 for the main thread */
	/* Counters: only the thread writes them, the collector reads them at any time. */
	_Atomic uint64_t signals;	 /* sampling signals received */
	_Atomic uint64_t overruns;	 /* periods without a signal of their own */
	_Atomic uint64_t samples;	 /* published */
	_Atomic uint64_t partial;	 /* of them with a partial stack */
	_Atomic uint64_t lost_full;	 /* dropped, ring full; weight in lost_weight */
	_Atomic uint64_t lost_reentered; /* dropped, the signal interrupted its own thread while
					    publishing */
	_Atomic uint64_t lost_memory;	 /* dropped, no memory for a path */
	_Atomic uint64_t lost_weight;	 /* ns (weight) of all dropped samples */
	_Atomic uint64_t unwind_faults;	 /* faults while unwinding, caught */
	_Atomic uint64_t counts;	 /* signals of counters, not of the time source */
	_Atomic uint64_t values_enabled_ns, values_running_ns; /* of groups that are read, all added: how long
								  they should have counted, and did */
	char name[16];					       /* thread's name as last set, NUL-terminated */
	/* When the thread's current wait began; 0: not waiting. A wait of some length is in the ring
	 * (EVENT_SPAN of STORE_OP_BLOCKED) before this becomes 0 again. */
	_Atomic uint64_t wait_begin_ns;
	/* Where it waits, as far as it knows by itself, in case it never returns from there: a node that is
	 * in the ring. 0: the stack tells. Written before wait_begin_ns. */
	_Atomic uint32_t wait_node;
	/* What it waits for, in case it never gets it: the lock of the wait that began at lock_begin_ns, and
	 * who had it then, by tid; 0: nobody knows. Of no meaning where lock_begin_ns is not wait_begin_ns.
	 */
	_Atomic uint32_t lock_holder;
	_Atomic uint64_t lock;		/* address */
	_Atomic uint64_t lock_begin_ns; /* stored with release, after the two */
	/* The collective call that the thread is in, "call=MPI_Bcast,comm=world,seq=7", and when it came
	 * there: stored with release after the text. 0: none; a call that has returned is in the ring by
	 * then. */
	_Atomic uint64_t call_begin_ns;
	char call[EVENT_CALL_BYTES];
	/* CPU clock at the begin of the current pause, and CPU time in finished pauses; see
	 * record/agent/sample/start_stop.h */
	_Atomic uint64_t pause_cpu_ns; /* EVENT_NOT_PAUSED: no pause */
	_Atomic uint64_t paused_cpu_ns;
	_Atomic uint64_t handler_ns;	  /* time spent in the sample handler */
	_Atomic uint32_t tally_count;	  /* tallies of this claim */
	_Atomic uint32_t timer;		  /* agent only: 1 + the thread's CPU timer, 0: not armed */
	_Atomic uint64_t timer_signal_ns; /* agent only: when the timer last signalled, or was armed */
	/* For threads alive at the process's end: upper bound of the CPU time of signals that were still due
	 */
	_Atomic uint64_t due_ns;
	/* Weight of skipped samples that the next sample will carry; EVENT_UNPUBLISHED: if their path is
	 * known by then */
	_Atomic uint64_t saved_ns;
	_Atomic uint32_t unsampled;	    /* enum event_unsampled; stored with release, after: */
	_Atomic uint64_t unsampled_ns;	    /* since then */
	_Alignas(64) _Atomic uint64_t head; /* producer's: bytes published */
	uint8_t _pad_head[56];
	_Alignas(64) _Atomic uint64_t tail; /* consumer's: bytes taken */
	uint8_t _pad_tail[56];
};

/* The activity ring, at event_process.activity_at, is an event_ring of its own size for GPU operations. It
 * has no thread: any thread writes it under a lock; tid and claim are 0, state becomes CLAIMED with the
 * first record and stays so. It has its own texts. */

/* A thread's count of a metric in one context, for metrics too frequent for records: it only grows. The
 * collector stores the differences as values. Node and metric are written before tally_count includes the
 * tally, the node's record before that. Zeroed when the ring is claimed. */
struct event_tally {
	uint32_t node;
	uint32_t metric; /* i: counter i - 1 */
	_Atomic uint64_t total;
};

#define EVENT_TALLY_MAX 16384u /* of one claim */
#define EVENT_TALLIES_STRIDE (EVENT_TALLY_MAX * sizeof(struct event_tally))

/* The perf events write PERF_RECORD_SWITCH with thread id and CLOCK_MONOTONIC into rings that the agent has
 * already mapped: one per processor for the whole process, or one per thread where there are too many
 * processors or the kernel is too old (Linux < 5.13 would measure forked children too). */
#define EVENT_SWITCHES_MAX 62u
/* If a program ends before the collector has mapped them, the agent copies each: first page and data. */
#define EVENT_SWITCHES_BYTES (UINT64_C(8) << 20)

static_assert(sizeof(struct event_module) == 512, "module slot");
static_assert(EVENT_MODULES_AT >= sizeof(struct event_process), "process page");
static_assert(sizeof(struct event_ring) <= EVENT_RING_HEADER, "ring header");
static_assert(sizeof(struct event_tally) == 16, "tally");
static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "lock-free shared atomics");

#endif
