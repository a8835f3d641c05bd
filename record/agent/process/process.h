/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the memory that this process shares with the collector: created, filled, sent over the socket,
 * then its descriptor is closed. Also the live flag, which distinguishes the registered process from children
 * that share its memory image (vfork, raw fork and clone).
 */
#ifndef RECORD_AGENT_PROCESS_H
#define RECORD_AGENT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/ring/handshake.h"

/* hpct-record's settings from the environment; kept for child processes. */
struct process_settings {
	char socket[108];
	char agent[512];	       /* as in LD_PRELOAD */
	char events[EVENT_EVENTS_MAX]; /* HPCT_EVENTS, unparsed */
	char metric[32];
	uint64_t period_ns;
	bool switches;	  /* record context switches */
	bool waits;	  /* record the call path of every wait */
	char sampler[16]; /* name of the source; "": chosen by the period */
	char gpu[16];	  /* of `gpu=`: auto, a vendor's name, or off */
	bool keeps_recursion;
	bool no_gprof;	  /* disable the self-profiling of programs built with -pg */
	bool delayed;	  /* sampling starts switched off ... */
	bool unsampled;	  /* ... and is not switched on */
	bool dormant;	  /* off, and nothing is armed, until hpct-record --start */
	bool io;	  /* record calls that move bytes as spans */
	uint64_t memleak; /* probability that an allocation is tallied, times 2^32; 0: none */
	bool no_mpi;	  /* calls of MPI are no spans */
	bool sums_mpi;	  /* MPI's names are there, and short calls may be sums */
	bool sums_all_mpi;
	uint64_t mpi_bound_ns; /* below it they are */
	bool java;	       /* names of compiled methods are asked for */
	bool no_java_blobs;    /* a test's: as if the machine published nothing of its code */
	bool injected;	       /* the agent was loaded into a running process, see record/agent/inject/ */
	bool openmp;	       /* regions of OpenMP are summed: a runtime is there, or may come */
};

struct process {
	struct event_process *shared;
	struct event_module *modules;
	unsigned char *rings;
	uint32_t ring_count;
	bool is_suspended;	/* so are future children and the programs they run */
	_Atomic bool is_parked; /* sampling is off for whoever records: timers do not run, see start_stop.h */
	/* A seccomp filter would kill the process for asking what a descriptor is. */
	_Atomic bool asks_no_descriptors;
	struct process_settings settings;
};

extern struct process process;

/* process_settings.c: reads HPCT_* from envp. Negative: this process is not to be measured. */
int process_settings_read(char **envp);

/* Creates and fills the shared memory and sets the live flag. 0 or negative. */
int process_open(char **argv, char **envp);

/* Puts the live flag there, a page of zeroed private memory of the caller's, instead of into a mapping of its
 * own; before process_open. 0 or negative. */
int process_live_at(void *page);

/* Sends the memory and the switch rings to the collector. 0 or negative; never blocks. */
int process_send(void);

/* The same for an agent that came later: no switch rings, and `end` instead of a pidfd, a descriptor that
 * becomes readable when the agent has left; it stays open here. */
int process_send_injected(int end);

/* process_send.c: parts of process_send and process_send_injected. `memory` stays open. */
int process_send_memory(int memory);
int process_send_memory_injected(int memory, int end);

/* Sends one more switch ring, of the perf event `event`. 0 or negative; never blocks. */
int process_send_switches(int event, uint32_t bytes);

/* Sends a GPU binary with its hash: a sealed memfd. 0 or negative; never blocks. */
int process_send_gpu_module(int memory, uint64_t hash);

/* Makes the collector hold a perf event's descriptor while this process lives. Neither blocks nor closes
 * it. 0 or negative. */
int process_send_kept(int event);

/* Unmaps the memory, after registration failed or the agent left: no handler may be at work. */
void process_close(void);

/* True in the process that called process_open, and in its threads and vfork children. */
bool process_is_live(void);

/* True only in that process itself. Makes a system call; not for the sampling handler. */
bool process_is_own(void);

pid_t process_pid(void);

/* Returns a ring in state CLAIMED, or NULL. Lock-free. */
struct event_ring *process_ring_claim(void);

/* Rings below shared->ring_claimed. */
struct event_ring *process_ring_at(uint32_t index);

/* Marks the orderly end at now_ns and fills the CPU clocks of rings still in use; once. */
void process_end(uint64_t now_ns);

/* Call after process_end, before an exec. */
void process_exec_begin(void);

/* Undoes process_end: the exec has failed. */
void process_resume(void);

/* Stops measuring and makes no more calls for it; false undoes that. */
void process_suspend(bool is_suspended);

/* From system calls, as getpid and clock_gettime may belong to a library that fakes times and is not
 * initialized before libc. */
pid_t process_number(void);

/* False: a seccomp filter set before this program ran refuses a call without which no sample finds its
 * thread or process. */
bool process_is_permitted(void);
uint64_t process_now_ns(void);
uint64_t process_thread_cpu_ns(void);
/* For our handlers, which no signal interrupts, so that no sample shows their frames. */
uint64_t process_handler_now_ns(void);
uint64_t process_handler_cpu_ns(void);
/* Other threads may have renamed threads that live to the end. */
void process_thread_name_read(struct event_ring *ring);
/* CLOCK_THREAD_CPUTIME_ID of any thread of this process. */
clockid_t process_clock_of_thread(uint32_t tid);
/* What it shows; 0: the thread has ended. */
uint64_t process_cpu_of_thread_ns(uint32_t tid);

#endif
