/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - one measured process as the collector sees it: the shared memory that its agent
 * writes, its rings drained into streams, its modules known to the store.
 *
 *   memfd --measured_process_open--> measured --measured_process_drain (again and again)--> store_writer
 *   pidfd readable, or the next generation registered --measured_process_finish--> streams closed
 *
 * The memory belongs to a program nobody trusts: it is mapped, sealed against shrinking, every number in it
 * is copied once and checked before use. Belongs to the collector's loop.
 */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include "record/gpu/gpu_process.h"
#include "record/process/modules.h"
#include "record/process/perf_map.h"
#include "record/process/sampling_off.h"
#include "store/ring/ring.h"
#include "store/write/writer.h"

struct switches;
struct remote_unwind;
struct ring; /* what is known of one ring's present claim */

/* A child made by fork or spawn, until its own agent registers. */
struct measured_process_child {
	uint32_t pid;
	uint32_t kind; /* enum event_fork_kind */
	uint64_t time_ns;
};

struct measured_process {
	struct measured_process *next;
	struct event_process *shared;
	size_t shared_bytes;
	int pidfd;
	int kept[2];			      /* what its agent has us hold open; -1: nothing */
	uint32_t pid, parent_pid, generation; /* as it says */
	uint32_t host_pid; /* as we have it, which may differ: pid namespaces; 0: not known */
	int32_t rank;
	uint32_t ring_count, ring_seen; /* rings in the memory; of them looked at so far */
	uint64_t rings_at, begin_ns, period_ns;
	uint64_t tallies_at; /* 0: nothing is tallied */
	uint64_t end_ns;     /* 0: it runs */
	uint32_t metric;     /* store id of the time source's metric */
	char metric_name[32];
	uint32_t trap;			      /* enum event_trap of its switch rings */
	char sampler[16];		      /* the source of its samples */
	uint32_t counters[EVENT_METRICS_MAX]; /* store ids of the counters' metrics */
	uint32_t counter_count;
	char *command; /* shell-quoted; ours */
	char executable[4096];
	struct ring *rings;
	struct switches *switches;    /* NULL: no switch records */
	struct remote_unwind *remote; /* NULL: none of its threads was looked at */
	bool is_remote_unwind_refused;
	uint32_t remote_unwind_next;	/* the ring that was looked at last */
	uint64_t remote_unwind_rest_ns; /* short waits are not looked at before */
	struct modules modules;
	struct sampling_off sampling_off;
	uint32_t unsampled_threads; /* so far */
	uint32_t unsampled_reason;  /* of one of them: enum event_unsampled */
	struct perf_map perf_map;
	struct measured_process_child *children;
	uint32_t child_count, child_capacity;
	uint32_t unheard_seen;	 /* of the list of its vfork children that take no agent */
	uint64_t unmonitored_ns; /* this process runs on as a program without an agent since then; 0: no */
	bool has_successor;	 /* the program that its exec began has registered */
	uint32_t first_stream;	 /* of the main thread; UINT32_MAX: none yet */
	bool is_discarded;	 /* the store takes no more: what its rings hold is counted as lost
				    (process_discard) */
	bool has_died;		 /* as the drain at hand found it */
	uint64_t fullest_bytes;	 /* of its threads' rings, since the collector last asked */
	int drain_ms;		 /* how long they may fill at most; 0: not asked yet */
	bool has_ranges;	 /* marks or ranges of its own: hpct.h, NVTX */
	bool is_bursting;	 /* an eighth of one had come between two looks at it */
	/* totals of all its threads */
	uint64_t signals, overruns, samples, partial, lost, unwind_faults, counts;
	uint64_t extra_samples; /* samples beyond the first of one signal, see drain_take.c */
	uint64_t cpu_ns;	/* of threads that have ended */
	uint64_t switches_read; /* records of the kernel */
	uint64_t switches_lost, switches_refused;
	struct gpu_process gpu;
	uint64_t weight_ns, handler_ns;
};

/* Maps and checks the memory. The descriptors become the process's, also on failure. */
int measured_process_open(struct measured_process **process, struct store_writer *writer, int memory,
	int pidfd, struct error *error);

/* All of its threads have ended, or their memory is another program's. Whatever they wrote is in the rings.
 */
bool measured_process_is_dead(const struct measured_process *process);
/* It has called exec. */
bool measured_process_is_in_exec(const struct measured_process *process);
/* By what /proc here has it. */
uint32_t measured_process_proc_pid(const struct measured_process *process);

/* Marks what measured_process_drain will take of the operations of GPUs; true: there are some. Whatever an
 * operation refers to (a launch in another ring, a binary in the socket) is there by now. */
bool measured_process_look(struct measured_process *process);

/* Has one of its rings, those of threads or that of operations, an eighth to be taken? Nothing is changed. */
bool measured_process_is_filling(const struct measured_process *process);
/* Takes what the rings hold at `now_ns`; UINT64_MAX: nothing comes any more. Returns the number of records.
 */
size_t measured_process_drain(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Sets the watermark of its streams: everything before `complete_ns` is in. */
void measured_process_complete(
	struct measured_process *process, struct store_writer *writer, uint64_t complete_ns);
/* Drains a last time and closes all streams; `now_ns` = when its end was seen. */
void measured_process_finish(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Names the code that the program made itself, as far as its map tells. */
void measured_process_name(struct measured_process *process, struct store_writer *writer);
/* The store takes no more: what the rings hold from now on is counted as lost. */
void measured_process_discard(struct measured_process *process);
void measured_process_free(struct measured_process *process);

#endif
