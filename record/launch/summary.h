/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - what a recording came to: counts over all processes, what was lost, what ran
 * unmeasured and why. Kept by the collector, written to the store's meta and told to hpct-record.
 */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/process/process.h"
#include "store/ring/handshake.h"

struct summary {
	uint64_t begin_ns, period_ns;
	uint64_t processes, threads;
	uint64_t signals, overruns, samples, partial, lost, unwind_faults;
	uint64_t shared; /* samples beyond the first of one signal */
	uint64_t threads_unmonitored, refused;
	uint64_t unsampled; /* threads that had no sampler, at least from some time on */
	uint32_t unsampled_reason;
	uint64_t weight_ns, handler_ns; /* of all samples; that the agent spent on them */
	uint64_t never_started;		/* processes in which sampling was off to the end */
	uint64_t pauses_refused;
	uint64_t counts, cpu_ns; /* signals of counters; CPU time of threads that have ended */
	char sampler[16];	 /* what made its samples */
	int sampler_reason;	 /* why nothing better did: enum event_sampler_reason or -errno */
	uint64_t foreign;	 /* signals that met threads of unknown make */
	char uncounted[256];	 /* counters that threads went without */
	uint64_t switches_read, switches_lost,
		switches_refused;    /* records; processes or threads without them */
	uint64_t gpu_graphs_by_node; /* processes whose CUDA graphs were asked for as wholes, and are not */
	char gpu_unwatched[96];	     /* why a process's GPUs were not watched all the time, the last */
	uint64_t gpu_operations, gpu_launches, gpu_unmatched, gpu_untimed, gpu_lost;
	int switches_error;	 /* errno of one of those; 0: not known */
	uint64_t program_cpu_ns; /* as wait4 told hpct-record */
	uint64_t unnamed;
	char events[EVENT_EVENTS_MAX];
	char problem[512];
	uint64_t unmonitored_children_ns; /* CPU time of the next, as far as it is known */
	uint64_t unmonitored_children,
		unmonitored_vforks,  /* known by their parents' records; counted by them */
		unmonitored_execs;   /* measured before an exec */
	uint32_t unmonitored_stream; /* of a first program that takes no agent; UINT32_MAX: none */
	uint64_t unmonitored_ns;
	uint32_t unmonitored_attributes;
	struct store_writer *writer;
	bool has_ended;
	int32_t status;
};

void summary_init(struct summary *summary, const char *events);
/* The first program takes no agent: it becomes a stream that is unmonitored from now to its end. `why` NULL:
 * nothing. */
void summary_unmonitored(struct summary *summary, const char *why, const char *command,
	struct store_writer *writer, uint32_t host);
void summary_add(struct summary *summary, const struct measured_process *process);
/* The program's pid, for the stream of one that takes no agent. */
void summary_started(struct summary *summary, uint32_t pid);
void summary_ended(struct summary *summary, int32_t status, uint64_t cpu_ns);
/* Into the store's meta. `problem` NULL: none. */
void summary_put(struct summary *summary, struct store_writer *writer, uint64_t unnamed, const char *problem);

/* What follows from the counts. */
bool summary_has_gpu(const struct summary *summary);
/* CPU time of the program and its children, waited for or not, as far as it is known. */
uint64_t summary_program_cpu_ns(const struct summary *summary);
/* CPU time that was sampled: of threads that did not come to an end of their own, as in a program that was
 * killed and in Go's, only what their samples weigh is known. */
uint64_t summary_cpu_ns(const struct summary *summary);
/* Samples of the time source a second of CPU time. */
uint64_t summary_rate_asked(const struct summary *summary);
uint64_t summary_rate_got(const struct summary *summary);
/* Children that nobody measured. */
uint64_t summary_children(const struct summary *summary);
/* The CPU time of this process, the collector's, by now. */
uint64_t summary_own_cpu_ns(void);

/* The lines hpct-record prints (summary_text.c). */
void summary_text(const struct summary *summary, char *text, size_t room);

#endif
