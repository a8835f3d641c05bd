/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - what the agent says and the collector hears: one shared memory per measured process, with one
 * single-producer ring per thread in it. What stands in the rings is ring_record.h, how the two meet
 * handshake.h; the agent (record/agent/) shares these three headers with the rest of the house, and no
 * others. They hold layouts and constants, no code that allocates or calls.
 *
 *   memory of one process (a sealed memfd, sparse):
 *
 *   0               EVENT_MODULES_AT     rings_at                switches_at    activity_at     tallies_at
 *   +---------------+--------------------+--------+--------+-- .. +--------------+---------------+---------+
 *   | event_process | event_module[4096] | ring 0 | ring 1 |      | switch rings | activity ring | tallies |
 *   +---------------+--------------------+--------+--------+-- .. +--------------+---------------+---------+
 *                                       /          \                   copies       if there is     if any
 *                         +------------+------------+                               room for it     are kept
 *                         | event_ring | data       |  EVENT_RING_STRIDE
 *                         +------------+------------+
 *                           EVENT_RING_HEADER
 *
 * Positions `head` and `tail` count bytes and never wrap; the byte at position p
 * lies at data[p % EVENT_RING_DATA]. A claim goes on where the last one ended: no
 * side may expect them to start at 0, and the fields of a claim (tid, begin_ns, ...)
 * are complete once its first record is there (head != tail). A record never
 * straddles the end: the producer fills the rest with an EVENT_PAD record. A
 * record and the node records that it needs become visible by one release
 * store of `head`: together or not at all. (The nodes of a very deep path may come
 * ahead, the record never does.)
 */
#ifndef STORE_RING_H
#define STORE_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "store/ring/ring_record.h"

#define EVENT_MAGIC 0x31545043u /* "CPT1" */
#define EVENT_VERSION 6u

#define EVENT_MODULE_MAX 4096u
#define EVENT_RINGS_MAX 4096u /* of a process */
#define EVENT_RING_HEADER 4096u
#define EVENT_RING_DATA (256u * 1024u) /* a power of two */
#define EVENT_RING_STRIDE (EVENT_RING_HEADER + EVENT_RING_DATA)
#define EVENT_MODULES_AT 65536u
#define EVENT_PAUSES_MAX 4096u
#define EVENT_ACTIVITY_DATA (16u * 1024u * 1024u) /* of the activity ring, a power of two */

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
	uint32_t generation;	  /* how often this pid has called exec since it was measured */
	int32_t rank;		  /* guessed from the launcher's variables; -1: none */
	uint32_t ring_count;	  /* rings that fit in the memory, EVENT_RINGS_MAX at most */
	uint32_t keeps_recursion; /* paths have all levels of it */
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
	_Atomic uint32_t graphs_by_node;       /* CUDA graphs were asked for as wholes and are not */
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
#define EVENT_UNPUBLISHED (UINT64_C(1) << 63)

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
	_Atomic uint64_t signals;	 /* sampling signals received */
	_Atomic uint64_t overruns;	 /* periods that had no signal of their own */
	_Atomic uint64_t samples;	 /* published */
	_Atomic uint64_t partial;	 /* of them with a partial stack */
	_Atomic uint64_t lost_full;	 /* dropped, ring full; weight in lost_weight */
	_Atomic uint64_t lost_reentered; /* dropped, the signal met its own thread publishing */
	_Atomic uint64_t lost_memory;	 /* dropped, no room for what was allocated */
	_Atomic uint64_t lost_weight;	 /* ns (weight) of all dropped samples */
	_Atomic uint64_t unwind_faults;	 /* faults while unwinding, caught */
	_Atomic uint64_t counts;	 /* of the signals: those of counters, not of the time source */
	char name[16];			 /* thread's name as last set, NUL-terminated */
	/* The thread is in a call that waits, since then; 0: in none. A wait that lasted is in the ring
	 * (EVENT_SPAN of STORE_OP_BLOCKED) before this is 0 again. */
	_Atomic uint64_t wait_begin_ns;
	/* CPU clock at the pause that lasts, and what passed of it in those that are over; see
	 * record/agent/sample/start_stop.h */
	_Atomic uint64_t pause_cpu_ns; /* EVENT_NOT_PAUSED: none lasts */
	_Atomic uint64_t paused_cpu_ns;
	_Atomic uint64_t handler_ns;	  /* spent on samples */
	_Atomic uint32_t tally_count;	  /* tallies of this claim */
	_Atomic uint32_t timer;		  /* the agent's: 1 + the thread's CPU timer, 0: none is armed */
	_Atomic uint64_t timer_signal_ns; /* the agent's: when that has signalled last, or was armed */
	/* Of threads that lived on to the process's end: CPU time that signals which were due then would have
	 * told of, at most */
	_Atomic uint64_t due_ns;
	/* Weight of samples for which the next one is to stand, EVENT_UNPUBLISHED: if their path can be told
	 * by then */
	_Atomic uint64_t saved_ns;
	_Alignas(64) _Atomic uint64_t head; /* producer's: bytes published */
	uint8_t _pad_head[56];
	_Alignas(64) _Atomic uint64_t tail; /* consumer's: bytes taken */
	uint8_t _pad_tail[56];
};

/* The activity ring, at event_process.activity_at, is an event_ring of its own size for records of operations
 * on GPUs. It has no thread: whoever hears of an operation writes it, under a lock; tid and claim are 0,
 * state becomes CLAIMED with the first record and stays so. Its texts are its own. */

/* What a thread has come by in one context so far, of a metric that is too frequent for records: it only
 * grows. The collector makes values of the differences. Node and metric are written before tally_count tells
 * of the tally, the node's record before that. Zeroed when the ring is claimed. */
struct event_tally {
	uint32_t node;
	uint32_t metric; /* i: counter i - 1 */
	_Atomic uint64_t total;
};

#define EVENT_TALLY_MAX 16384u /* of one claim */
#define EVENT_TALLIES_STRIDE (EVENT_TALLY_MAX * sizeof(struct event_tally))

/* The perf events write PERF_RECORD_SWITCH with thread id and CLOCK_MONOTONIC into rings that the agent has
 * mapped already: one per processor for the whole process, or one per thread where there are too many
 * processors, or the kernel is too old (Linux < 5.13 would measure forked children too). */
#define EVENT_SWITCHES_MAX 62u
/* A program may end before the collector has mapped them: then the agent copies each, first page and data. */
#define EVENT_SWITCHES_BYTES (UINT64_C(8) << 20)

static_assert(sizeof(struct event_module) == 512, "module slot");
static_assert(EVENT_MODULES_AT >= sizeof(struct event_process), "process page");
static_assert(sizeof(struct event_ring) <= EVENT_RING_HEADER, "ring header");
static_assert(sizeof(struct event_tally) == 16, "tally");
static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "lock-free shared atomics");

#endif
