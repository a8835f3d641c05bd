/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - one measured process as the collector sees it: the shared memory that its agent writes, its
 * rings drained into streams, its modules added to the store.
 *
 *   memfd --measured_process_open--> measured --measured_process_drain (repeatedly)--> store_writer
 *   pidfd readable, or the next generation registered --measured_process_finish--> streams closed
 *
 * The memory belongs to an untrusted program: it is mapped, sealed against shrinking, and every number in it
 * is copied once and checked before use. Only the collector's loop uses it.
 */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include "record/gpu/gpu_process.h"
#include "record/modules/modules.h"
#include "record/modules/perf_map.h"
#include "record/process/python_places.h"
#include "record/process/sampling_off.h"
#include "record/process/title.h"
#include "store/ring/ring.h"
#include "store/write/writer.h"

struct switches;
struct remote_unwind;
struct gauges_process;
struct ring; /* state of one ring's current claim */

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
	int kept[2];			      /* descriptors held for its agent; -1: none */
	uint32_t pid, parent_pid, generation; /* in its own pid namespace */
	uint32_t host_pid;		      /* in our pid namespace; 0: not known */
	int32_t rank;
	uint32_t ring_count, ring_seen; /* rings in the memory; rings seen so far */
	uint64_t rings_at, begin_ns, period_ns;
	uint64_t tallies_at; /* 0: no tallies */
	uint64_t names_at;   /* 0: no names of functions */
	uint64_t code_at;    /* 0: no names of compiled code */
	struct python_places python;
	uint64_t end_ns; /* 0: it runs */
	int end_status;	 /* as of wait(), if has_status */
	bool has_status;
	uint32_t metric; /* store id of the time source's metric */
	char metric_name[32];
	uint32_t trap;			      /* enum event_trap of its switch rings */
	char sampler[16];		      /* sampler of its samples */
	uint32_t counters[EVENT_METRICS_MAX]; /* store ids of the counters' metrics */
	uint32_t counter_count;
	char *command; /* shell-quoted; ours */
	char executable[4096];
	char begun[TITLE_BYTES]; /* its command as a text of title.h */
	char title[TITLE_BYTES]; /* that it gave itself; "": none */
	uint64_t title_due_ns;	 /* when to look at it again */
	struct ring *rings;
	struct switches *switches;    /* NULL: no switch records */
	struct remote_unwind *remote; /* NULL: no thread was unwound remotely yet */
	bool is_outside;	      /* measured from outside: no agent is in it */
	bool is_injected;	      /* its agent came later, and has no switch rings of its own */
	uint32_t threads_switched;    /* is_injected: its threads that were there at the last
					 switches_late_open */
	bool was_begun_late;	      /* sampling began after it did: switches_late_open was called */
	bool is_remote_unwind_refused;
	uint32_t remote_unwind_next;	/* ring of the last remote unwind */
	uint64_t remote_unwind_rest_ns; /* earliest time of the next remote unwind of a short wait */
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
	bool is_discarded;	 /* the store cannot be written: its records count as lost
				    (measured_process_discard) */
	bool has_died;		 /* as found by the current drain */
	uint64_t fullest_bytes;	 /* of its threads' rings, since the collector last read it */
	int drain_ms;		 /* maximum time between drains; 0: not known yet */
	bool logs_calls;	 /* each of some kind, if asked for: -e IO, -e MEMLEAK */
	bool has_ranges;	 /* it has marks or ranges: hpct.h, NVTX */
	uint64_t spans_ns;	 /* when a span of its threads was last taken; 0: never */
	bool is_bursting;	 /* an eighth of a ring filled between two checks */
	/* totals of all its threads */
	uint64_t signals, overruns, samples, partial, lost, unwind_faults, counts;
	uint64_t values_enabled_ns, values_running_ns; /* see event_ring */
	uint64_t extra_samples; /* samples after the first of one signal, see drain_take.c */
	uint64_t cpu_ns;	/* of ended threads */
	uint64_t switches_read; /* the kernel's switch records */
	uint64_t switches_lost, switches_refused;
	struct gpu_process gpu;
	struct gauges_process *gauges; /* its figures over time; NULL: none yet */
	uint64_t weight_ns, handler_ns;
};

/* Maps and checks the memory. The process owns the descriptors, also on failure. */
int measured_process_open(struct measured_process **process, struct store_writer *writer, int memory,
	int pidfd, struct error *error);

/* True if all its threads have ended, or another program replaced its memory. The rings then hold all they
 * will. */
bool measured_process_is_dead(const struct measured_process *process);
/* True if its program ended by an exec. */
bool measured_process_is_in_exec(const struct measured_process *process);
/* Its pid in our /proc. */
uint32_t measured_process_proc_pid(const struct measured_process *process);

/* Fixes how many GPU operations measured_process_drain will take; true: some. Everything they refer to
 * (launches in rings, binaries in the socket) was sent before, so it can be read now. */
bool measured_process_look(struct measured_process *process);

/* True if an eighth of one of its rings, of threads or GPU operations, is unread. Changes nothing. */
bool measured_process_is_filling(const struct measured_process *process);
/* Drains the rings up to `now_ns`; UINT64_MAX: no more records will come. Returns the number of records. */
size_t measured_process_drain(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Sets the watermark of its streams: all records before `complete_ns` are written. */
void measured_process_complete(
	struct measured_process *process, struct store_writer *writer, uint64_t complete_ns);
/* Drains a last time and closes all streams. `now_ns`: when its end was seen. */
void measured_process_finish(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Names JIT code from the program's perf map. */
void measured_process_name(struct measured_process *process, struct store_writer *writer);
/* The store cannot be written: counts the rings' content as lost from now on. */
void measured_process_discard(struct measured_process *process);
void measured_process_free(struct measured_process *process);

#endif
