/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - totals of a recording: counts over all processes, losses, and what ran unmeasured and why. The
 * collector keeps them, writes them to the store's meta and sends them to hpct-record.
 */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/process/process.h"
#include "store/ring/handshake.h"

#define SUMMARY_OUTSIDE "outside" /* sampler of processes without an agent, record/outside/outside.h */

struct summary {
	uint64_t begin_ns, period_ns;
	uint64_t processes, threads;
	uint64_t signals, overruns, samples, partial, lost, unwind_faults;
	uint64_t shared; /* samples after the first of one signal */
	uint64_t threads_unmonitored, refused;
	uint64_t unsampled; /* threads that had no sampler, at least from some time on */
	uint32_t unsampled_reason;
	uint64_t weight_ns, handler_ns; /* of all samples; that the agent spent on them */
	uint64_t never_started;		/* processes in which sampling was off to the end */
	uint64_t pauses_refused;
	uint64_t counts, cpu_ns;		       /* counters' signals; CPU time of ended threads */
	uint64_t values_enabled_ns, values_running_ns; /* of groups that are read, see event_ring */
	char sampler[16];			       /* sampler of its samples */
	int sampler_reason;  /* why no better sampler: enum event_sampler_reason or -errno */
	uint64_t foreign;    /* signals in threads that the agent does not know */
	char uncounted[256]; /* counters that some threads lack */
	uint64_t switches_read, switches_lost,
		switches_refused;    /* records; processes or threads without them */
	bool is_injected;	     /* some process got its agent while it ran */
	uint32_t python_unknown;     /* of an interpreter that cannot be read, as event_process has it */
	bool has_unnamed_java;	     /* code that was made at run time, and nothing names it */
	bool has_unnamed_node;	     /* likewise */
	bool has_openmp_archive;     /* GNU's OpenMP runtime is linked into a program */
	uint64_t names_refused;	     /* times a Python function got no name: the memory for them was full */
	uint64_t gpu_graphs_by_node; /* processes whose CUDA graphs should be traced as wholes but are
					traced by node */
	uint64_t gpu_samples, gpu_samples_lost; /* of GPU instructions */
	char gpu_unsampled[128];		/* why there are none, or fewer */
	char gpu_uncounted[128];		/* the same of counters over time */
	char gpu_unwatched[96]; /* the last reason why a process's GPUs were not traced all the time */
	uint64_t gpu_operations, gpu_launches, gpu_unmatched, gpu_untimed, gpu_lost;
	int switches_error;	 /* errno of one refusal; 0: not known */
	uint64_t program_cpu_ns; /* from hpct-record's wait4 */
	uint64_t unnamed;
	char events[EVENT_EVENTS_MAX];
	char problem[512];
	uint64_t unmonitored_children_ns; /* CPU time of the next, as far as it is known */
	uint64_t unmonitored_children,
		unmonitored_vforks,  /* known from their parents' records, and counted by the parents */
		unmonitored_execs;   /* measured before an exec, not after */
	uint32_t unmonitored_stream; /* of a first program that takes no agent; UINT32_MAX: none */
	uint64_t unmonitored_ns;
	uint32_t unmonitored_attributes;
	struct store_writer *writer;
	bool has_ended;
	int32_t status;
};

void summary_init(struct summary *summary, const char *events);
/* If the first program takes no agent: opens a stream that is unmonitored from now to its end. `why` NULL:
 * does nothing. */
void summary_unmonitored(struct summary *summary, const char *why, const char *command,
	struct store_writer *writer, uint32_t host);
void summary_add(struct summary *summary, const struct measured_process *process);
/* Sets the program's pid in that stream. */
void summary_started(struct summary *summary, uint32_t pid);
void summary_ended(struct summary *summary, int32_t status, uint64_t cpu_ns);
/* Writes the store's meta. `problem` NULL: none. */
void summary_put(struct summary *summary, struct store_writer *writer, uint64_t unnamed, const char *problem);

/* Values derived from the counts. */
bool summary_has_gpu(const struct summary *summary);
/* CPU time of the program and its children, waited for or not, as far as it is known. */
uint64_t summary_program_cpu_ns(const struct summary *summary);
/* CPU time that was sampled: of threads that did not come to an end of their own, as in a program that was
 * killed and in Go's, only what their samples weigh is known. */
uint64_t summary_cpu_ns(const struct summary *summary);
/* Samples of the time source per second of CPU time. */
uint64_t summary_rate_asked(const struct summary *summary);
uint64_t summary_rate_got(const struct summary *summary);
/* Number of children that were not measured. */
uint64_t summary_children(const struct summary *summary);
/* The collector's own CPU time so far. */
uint64_t summary_own_cpu_ns(void);

/* The lines that hpct-record prints (summary_text.c). */
void summary_text(const struct summary *summary, char *text, size_t room);

#endif
