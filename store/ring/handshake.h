/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake.h - how a measured process connects to its collector: the environment that hpct-record sets for
 * the program, and the messages that the agent sends to the socket named there. Each message is one packet
 * with descriptors, on a connection of its own (SOCK_SEQPACKET), and gets no answer.
 *
 *   hpct-record            HPCT_SOCKET HPCT_EVENTS ...       agent
 *        |  fork, exec  ------------------------------------>  |
 *   collector  <------------------  event_handshake + memfd, pidfd |     from then on only ring.h
 */
#ifndef STORE_HANDSHAKE_H
#define STORE_HANDSHAKE_H

#include "store/ring/ring.h"

enum event_handshake_kind {
	EVENT_HANDSHAKE_PROCESS,    /* agent: descriptors memfd, pidfd, then at most EVENT_SWITCHES_MAX perf
				       events */
	EVENT_HANDSHAKE_LAUNCHER,   /* hpct-record: descriptor pidfd; stays connected, see
				     * record/base/rendezvous.h
				     */
	EVENT_HANDSHAKE_SWITCHES,   /* agent: descriptor of a perf event of one of its threads */
	EVENT_HANDSHAKE_KEEP,	    /* agent: one descriptor, to be kept open while the process lives */
	EVENT_HANDSHAKE_GPU_MODULE, /* agent: descriptor of a sealed memfd that holds a GPU binary */
	/* hpct-record, for a process that it measures from outside (record/outside/): memfd, and a descriptor
	 * that becomes readable when that is over. `pid` is the process's, as the sender sees it. */
	EVENT_HANDSHAKE_OUTSIDE,
	EVENT_HANDSHAKE_CONTROL, /* hpct-record --start, --stop, --status: `word` is an enum event_control; it
				    gets one answer, see record/launch/control.h */
	/* agent that was loaded into a running process (record/agent/inject/): as PROCESS, but instead of the
	 * pidfd a pipe that closes when the agent leaves, or the process ends. */
	EVENT_HANDSHAKE_INJECTED
};

enum event_control { EVENT_CONTROL_STATUS, EVENT_CONTROL_START, EVENT_CONTROL_STOP };

struct event_handshake {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;
	uint32_t pid;
	uint32_t switch_bytes; /* data bytes of each switch ring, a power of two; 0: none */
	uint32_t tid;	       /* EVENT_HANDSHAKE_SWITCHES: the ring's thread */
	/* EVENT_HANDSHAKE_GPU_MODULE: the content's hash, as in EVENT_GPU's attributes.
	 * EVENT_HANDSHAKE_PROCESS and EVENT_HANDSHAKE_SWITCHES: when the last switch ring was opened, 0:
	 * unknown. EVENT_HANDSHAKE_OUTSIDE: 0: it sends no EVENT_SWITCH. EVENT_HANDSHAKE_CONTROL: enum
	 * event_control. */
	uint64_t word;
};

/* Environment of measured programs (set by hpct-record, kept by the exec wrappers). */
#define EVENT_ENV_SOCKET "HPCT_SOCKET" /* path of the collector's socket */
/* "CPUTIME@5000 SWITCHES gpu=auto": events separated by spaces; periods of time in us. */
#define EVENT_ENV_EVENTS "HPCT_EVENTS"
/* A counter among them: "page-faults=1:2:0:0:1:", which is name=type:config:config1:config2:period:flags,
 * numbers in hex, type to config2 as in struct perf_event_attr. Flags: f the period is samples per second;
 * u, k, h count only in those modes (none: wherever allowed); p once for each step of precision. */
#define EVENT_EVENTS_MAX 1024	  /* bytes of HPCT_EVENTS, NUL included */
#define EVENT_WORD_SAMPLER " BY=" /* " BY=timer": the source to take, record/agent/sample/source.h */
#define EVENT_WORD_PAPI " papi="  /* " papi=PAPI_TOT_CYC", once for each: record/agent/sample/papi.h */
/* " value=0/cycles=0:0:0:0:uk", which is group/name=type:config:config1:config2:flags: read at each sample,
 * record/agent/sample/counter_group.h */
#define EVENT_WORD_VALUE " value="
#define EVENT_WORD_UNWINDER " UNWINDER=" /* " UNWINDER=libunwind": record/agent/unwind/unwind_plugin.h */
#define EVENT_WORD_WAITS " WAITS"	 /* record the path of every wait, even of calls without a wrapper */
#define EVENT_WORD_DELAY " DELAY"	 /* sampling is off until the program starts it */
#define EVENT_WORD_DORMANT " DORMANT"	 /* nothing is measured, nor armed, until hpct-record --start */
#define EVENT_WORD_UNSAMPLED " SAMPLES=off" /* ... and stays off then, too */
#define EVENT_WORD_RECURSION " RECURSION"   /* keep every level of recursive calls */
#define EVENT_WORD_NO_GPROF " GPROF=off"    /* programs built with -pg do not profile themselves */
#define EVENT_WORD_JAVA " JAVA=on"	    /* names of the methods that a Java machine compiled */
#define EVENT_WORD_IO " IO=on"		    /* calls that move bytes become spans, their bytes tallies */
/* " MEMLEAK=P": the agent hpct-agent-memleak.so tallies allocations, each with probability P / 2^32, P in
 * hex */
#define EVENT_WORD_MEMLEAK " MEMLEAK="
#define EVENT_MEMLEAK_ALL (UINT64_C(1) << 32)
/* Which processes are measured, record/agent/process/process_filter.h. */
/* " MPI=off": no spans of MPI calls. " MPI=10000": calls shorter than so many ns are sums, from the first one
 * on; 0: none is. Without the word, calls shorter than EVENT_MPI_BOUND_NS are where a thread makes very many.
 */
#define EVENT_WORD_MPI " MPI="
#define EVENT_MPI_BOUND_NS 10000u
#define EVENT_WORD_NO_CHILDREN " ALONE" /* hpct-record makes it " ALONE=PID" once it knows */
#define EVENT_WORD_ALONE " ALONE="
#define EVENT_WORD_RANKS " RANKS="
#define EVENT_WORD_FRACTION " FRACTION="
#define EVENT_ENV_GENERATION "HPCT_GENERATION" /* "PID:N" written by the exec wrappers */
#define EVENT_ENV_AGENT "HPCT_AGENT"	       /* path of the agent, as it stands in LD_PRELOAD */
/* Where GPU runtimes look for tools: set to the agent when HPCT_EVENTS requests that vendor. */
#define EVENT_ENV_OPENCL "OPENCL_LAYERS"       /* may list several, separated by colons */
#define EVENT_ENV_CUDA "CUDA_INJECTION64_PATH" /* a single one; not set if the user has set it */
#define EVENT_ENV_NVTX "NVTX_INJECTION64_PATH" /* likewise */
#define EVENT_ENV_NCCL "NCCL_PROFILER_PLUGIN"  /* likewise */

#endif
