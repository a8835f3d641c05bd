/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_internal.h - state of a measurement from outside, and functions its files share. Only outside*.c
 * includes it. One thread uses it.
 *
 *   outside_events.c   perf events and their rings     outside_records.c  their records, in order of time
 *   outside_target.c   a process: memory, modules      outside_thread.c   a thread: ring, weights, paths
 *   outside_looks.c    instead of events and records, where those are refused
 */
#ifndef RECORD_OUTSIDE_INTERNAL_H
#define RECORD_OUTSIDE_INTERNAL_H

#include "record/agent/base/ring.h"
#include "record/agent/unwind/context_tree.h"
#include "record/agent/unwind/unwind.h"
#include "record/modules/remote_unwind_modules.h"
#include "record/outside/outside.h"

#define OUTSIDE_STACK_LEAST 8192u
#define OUTSIDE_STACK_MOST 61440u /* a record holds 64 KiB */
#define OUTSIDE_THREADS_HASH 1024u

struct outside_thread {
	struct outside_thread *next; /* of the process */
	struct outside_thread *same; /* in its bucket */
	struct outside_target *target;
	uint32_t tid;
	struct ring ring;
	struct context_tree tree;
	void *tree_memory;
	uint32_t root, partial_root;
	uint32_t node; /* of the last sample */
	bool is_partial;
	uint64_t begin_ns;
	/* CPU time since the begin: up to in_ns, since when it runs; 0: it does not run. */
	uint64_t ran_ns, in_ns;
	uint64_t covered_ns; /* of that, in samples */
	uint64_t last_ns;    /* of the last record */
	/* Of the process's switches off and on (event_process.pause_ns): those that the records have passed;
	 * what ran up to the last one, if that is off. */
	uint32_t pauses;
	uint64_t off_ran_ns;
	bool has_switched; /* a switch was seen: whether it runs is known */
	bool was_asleep;   /* at its begin, if nothing was heard since */
	bool is_looked_at;
	bool has_ended;
	uint64_t python_ns; /* of the last sample with frames of Python */
	/* By looks alone: its clock at the last one, and whether it slept from then on. */
	uint64_t looked_ns;
	bool sleeps, is_listed;
};

#define OUTSIDE_NAME_BYTES 16u /* of a thread's name, its end included */

/* One process, from its begin or ours to its end or exec. */
struct outside_target {
	struct outside_target *next;
	uint32_t pid, parent_pid, generation;
	char name[OUTSIDE_NAME_BYTES]; /* of its first thread, where /proc cannot tell any more */
	uint64_t begin_ns, end_ns;     /* end_ns 0: it runs */
	struct event_process *shared;
	uint64_t shared_bytes;
	int pipe; /* its closing tells the collector that all is written; -1: the memory was not sent yet */
	struct outside_thread *threads;
	struct remote_unwind_modules modules;
	uint64_t modules_ns; /* when they were last read; 0: they are stale */
	uint64_t program;    /* names what it executes, as outside_target_has_left has it; 0: not known */
	bool has_modules;    /* they were read once */
	struct unwinder *unwinder;
	uint64_t sample_low, sample_high; /* the stack that the sample has a part of */
	uint64_t stack_begin;		  /* where the kernel began the first thread's stack; 0: not known */
	uint32_t anonymous_slot;	  /* + 1; 0: none yet */
	/* See outside_python.c. */
	struct remote_python *python; /* NULL: none, or not looked for yet */
	uint64_t python_next_ns;      /* the earliest time of the next reading */
	bool is_python_sought;
	uint32_t python_slot, python_hidden_slot; /* + 1; 0: none yet */
};

/* A record, to be taken in order of time. */
enum outside_kind { OUTSIDE_SAMPLE, OUTSIDE_IN, OUTSIDE_OUT, OUTSIDE_PREEMPTED, OUTSIDE_END };
struct outside_record {
	uint64_t time_ns;
	uint64_t order; /* of arrival */
	struct outside_thread *thread;
	uint32_t node;
	uint8_t kind; /* enum outside_kind */
	bool is_partial;
};

struct outside_cpu {
	int anchor; /* the event that owns the ring */
	char *memory;
	uint32_t number; /* the kernel's */
	uint64_t head;	 /* of the current pass */
};

/* A child, until it does something worth a process. */
struct outside_child {
	uint32_t pid, parent_pid;
	uint64_t begin_ns;
};

struct outside_exec {
	uint64_t time_ns;
	uint32_t pid;
	char name[OUTSIDE_NAME_BYTES]; /* of its thread from then on */
};

struct outside {
	struct outside_plan plan;
	struct outside_cpu *cpus;
	unsigned cpu_count;
	uint32_t data_bytes; /* of each ring */
	int *events;	     /* all but anchors */
	size_t event_count, event_capacity;
	uint64_t first_id, cut_ns; /* records of events from first_id on count from cut_ns, others before */
	uint32_t stack_bytes;
	bool without_kernel;
	uint64_t gone_ns; /* when ends without a record are looked for next */
	uint64_t begin_ns;
	bool is_settled;		     /* stack_bytes are what the first samples have needed */
	uint32_t need_bytes;		     /* of their stacks, by the deepest that was whole */
	uint32_t window_samples, window_cut; /* since the stack size was last judged */
	struct outside_target *targets;
	struct outside_thread *hash[OUTSIDE_THREADS_HASH];
	struct outside_child *children;
	size_t child_count, child_capacity;
	struct outside_record *records;
	size_t record_count, record_capacity;
	uint64_t arrived;
	struct mapped_files files;	     /* stand in for the memory of processes that are gone */
	struct outside_exec *execs, *agents; /* of the current pass; agents: mappings of the agent */
	size_t exec_count, exec_capacity, agent_count, agent_capacity;
	char *agent;				 /* plan.agent without links; NULL: none */
	uint64_t window_begin_ns, window_end_ns; /* of it, too: which records it takes */
	char *scratch;				 /* for a record that wraps around in its ring */
	struct unwind_frame *frames;
	bool has_python; /* one of the targets runs it */
	int refused;	 /* errno of perf_event_open for the rings; 0: none */
	bool by_looks;	 /* instead of perf events */
	bool is_blind;	 /* ptrace is refused, too */
	struct outside_totals totals;
};

/* outside_events.c */

/* Maps the rings. ERROR_IO: perf events cannot be used. */
int outside_rings_open(struct outside *outside, struct error *error);
/* Opens events for a thread and what it starts; is_start: disabled until an exec. 0 or an errno. */
int outside_thread_watch(struct outside *outside, uint32_t tid, bool is_start);
/* The same for all threads of the machine. */
int outside_all_watch(struct outside *outside);
/* All threads get events with the current stack_bytes. */
void outside_events_renew(struct outside *outside);
void outside_events_close(struct outside *outside);
#define OUTSIDE_ALL "all of this machine"
/* The sentence for a refusal by perf_event_open; `what`: "process 17", OUTSIDE_ALL ... */
int outside_refusal(struct error *error, int reason, const char *what);

/* outside_records.c */

/* Reads the rings, and takes all records older than now_ns less a margin; UINT64_MAX: all. Returns the number
 * read. */
size_t outside_records_take(struct outside *outside, uint64_t now_ns);
/* True if the records of this pass have an exec of the process behind time_ns: what /proc tells of it, and
 * its memory, are another program's. */
bool outside_records_exec(const struct outside *outside, uint32_t pid, uint64_t time_ns);

/* outside_looks.c */

/* Begins to look at the processes of the plan, as perf events are refused. 0, or an errno: the memory of one
 * cannot be read either. */
int outside_looks_begin(struct outside *outside);
/* Looks once at all threads: new ones, ends, and where those are that run. */
void outside_looks_take(struct outside *outside, uint64_t now_ns);

/* outside_target.c */

/* What is known of a process that begins. */
struct outside_birth {
	uint32_t pid, parent_pid, generation;
	uint64_t begin_ns;
	const struct outside_target
		*like;	  /* which it was forked from; NULL: none that is known, or it executes */
	const char *name; /* of its thread, as the kernel told; NULL: it did not */
};

/* Makes the process. NULL: no memory, or the collector does not answer. */
struct outside_target *outside_target_new(struct outside *outside, const struct outside_birth *birth);
/* The process of that pid at that time; NULL: none. */
struct outside_target *outside_target_find(struct outside *outside, uint32_t pid, uint64_t time_ns);
/* Ends its threads and tells the collector. */
void outside_target_end(
	struct outside *outside, struct outside_target *target, enum event_end how, uint64_t end_ns);
void outside_target_free(struct outside *outside, struct outside_target *target);
/* Brings the modules up to date. False: the process cannot be read. */
bool outside_target_modules(struct outside_target *target, uint64_t now_ns);
/* True if the process executes something else by now, or has ended; its exec's record may be yet to come. */
bool outside_target_has_left(struct outside_target *target);
/* Slot of a module in the shared table; UNWIND_NO_SLOT: it is full. NULL: code outside all modules. */
uint32_t outside_target_slot(struct outside_target *target, struct remote_unwind_module *module);

/* Does what hpct-record --start or --stop asks of the processes. */
void outside_targets_obey(struct outside *outside, uint64_t now_ns);

/* outside_python.c */

/* Looks for an interpreter among the modules, when they are new. */
void outside_python_look(struct outside *outside, struct outside_target *target);
/* What a sample of the thread is worth. */
enum outside_python_taken {
	OUTSIDE_PYTHON_NONE, /* it runs no Python */
	OUTSIDE_PYTHON_READ, /* its frames were read, for outside_python_join */
	OUTSIDE_PYTHON_DROP  /* its frames cannot be known any more: leave the sample to the next one */
};
enum outside_python_taken outside_python_take(
	struct outside *outside, struct outside_thread *thread, uint64_t sampled_ns);
/* The path that was just walked, of *count frames, with them. Until the next call. */
const struct unwind_frame *outside_python_join(struct outside_target *target, bool is_whole, unsigned *count);
/* The place of a frame that the join made. False: it is none, but native. */
bool outside_python_frame(
	struct outside_target *target, const struct unwind_frame *frame, uint32_t *slot, uint64_t *offset);
void outside_python_free(struct outside_target *target);

/* outside_thread.c */

struct outside_thread *outside_thread_find(struct outside *outside, uint32_t tid);
/* Makes it known, from begin_ns on (0: from now on, one that lived before); NULL: no ring or no memory. */
struct outside_thread *outside_thread_new(struct outside *outside, struct outside_target *target,
	uint32_t tid, uint64_t begin_ns, bool is_born);
/* A process that was forked from another begins with what that one's unwinder knows of their code: all of it
 * can be read no more when it has ended. */
void outside_thread_rules(struct outside_target *target, const struct outside_target *like);
/* What was copied of a thread: registers, the stack from its stack pointer up, and return addresses by frame
 * pointers (unwind.h), if the kernel gave any. */
struct outside_copy {
	const struct arch_registers *registers;
	const char *stack;
	size_t bytes;
	const uint64_t *chain;
	unsigned chain_count;
};
/* The node of a call path. */
uint32_t outside_thread_path(struct outside *outside, struct outside_thread *thread,
	const struct outside_copy *copy, bool with_python, bool *is_partial);
/* Tells the frames that the kernel had at a sample that will be taken. */
void outside_thread_kernel(
	struct outside_thread *thread, uint64_t time_ns, const uint64_t *address, uint32_t count);
/* Takes a record; they come in order of time. */
void outside_thread_take(struct outside *outside, const struct outside_record *record);
/* What a look saw: CPU time since the begin, and whether it has slept since the last one; then, where its
 * path is known, that: it takes all weight since the last. */
void outside_thread_looked(struct outside *outside, struct outside_thread *thread, uint64_t time_ns,
	uint64_t ran_ns, bool sleeps);
void outside_thread_seen(struct outside_thread *thread, uint64_t time_ns, uint32_t node, bool is_partial);
/* Closes it with the rest of its CPU time, and frees it. */
void outside_thread_end(struct outside *outside, struct outside_thread *thread, uint64_t end_ns);
/* Frees those that have ended. */
void outside_threads_forget(struct outside *outside);
/* Threads of which nothing was heard since the begin are blocked, if /proc says so. */
void outside_threads_look(struct outside *outside, uint64_t now_ns);
void outside_thread_name(struct outside_thread *thread, const char *name, uint64_t time_ns);
/* The thread's state in /proc ('R', 'S' ...) and CPU clock; false: it is gone. */
bool outside_thread_look(uint32_t pid, uint32_t tid, char *state, uint64_t *cpu_ns);

#endif
