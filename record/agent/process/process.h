/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the memory that this process shares with the collector: made,
 * filled, sent over the socket, and never looked at through a descriptor again.
 * Also the live flag that tells the registered process from children that only
 * look like it (vfork, raw fork and clone).
 */
#ifndef RECORD_AGENT_PROCESS_H
#define RECORD_AGENT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/ring/handshake.h"

/* What hpct-record asked for, from the environment; kept for processes to come. */
struct process_settings {
	char socket[108];
	char agent[512];	       /* as it stands in LD_PRELOAD */
	char events[EVENT_EVENTS_MAX]; /* HPCT_EVENTS as it came */
	char metric[32];
	uint64_t period_ns;
	bool switches;	  /* switch records are wanted */
	bool waits;	  /* and the path of every wait */
	char sampler[16]; /* name of the source to take; "": by the period */
	char gpu[16];	  /* of `gpu=`: auto, a vendor's name, or off */
	bool keeps_recursion;
	bool no_gprof;	  /* programs built with -pg do not profile themselves */
	bool delayed;	  /* sampling is off at first */
	bool io;	  /* calls that move bytes are spans */
	uint64_t memleak; /* probability of an allocation to be tallied, of 2^32; 0: none is */
};

struct process {
	struct event_process *shared;
	struct event_module *modules;
	unsigned char *rings;
	uint32_t ring_count;
	bool is_suspended; /* and so are its children to come, and what they run */
	struct process_settings settings;
};

extern struct process process;

/* process_settings.c: reads HPCT_* from envp. 0, or negative: nobody asked to measure this process. */
int process_settings_read(char **envp);

/* Makes and fills the memory for this process and sets the live flag. 0 or negative. */
int process_open(char **argv, char **envp);

/* Sends it to the collector, with the switch rings. 0 or negative; never waits. */
int process_send(void);

/* process_send.c: for process_send alone. `memory` stays open. */
int process_send_memory(int memory);

/* Sends one more switch ring, whose perf event is `event`. 0 or negative; never waits. */
int process_send_switches(int event, uint32_t bytes);

/* Sends a GPU binary of that hash: a sealed memfd. 0 or negative; never waits. */
int process_send_gpu_module(int memory, uint64_t hash);

/* Has the collector keep the descriptor of a perf event for as long as this process lives. Neither waits nor
 * closes it. 0 or negative. */
int process_send_kept(int event);

/* Takes the memory away again: nobody will read it. */
void process_close(void);

/* true in the very process that called process_open, and in threads and vfork children of it. */
bool process_is_live(void);

/* true only in that process itself: a system call, not for the handler. */
bool process_is_own(void);

pid_t process_pid(void);

/* A ring in state CLAIMED, or NULL. Lock-free. */
struct event_ring *process_ring_claim(void);

/* Rings below shared->ring_claimed. */
struct event_ring *process_ring_at(uint32_t index);

/* Marks the orderly end at now_ns and fills the CPU clocks of rings still in use; once. */
void process_end(uint64_t now_ns);

/* After process_end: another program comes. */
void process_exec_begin(void);

/* Takes process_end back: the exec has failed. */
void process_resume(void);

/* Nothing is measured from here on, nor is any call made for it; false takes that back. */
void process_suspend(bool is_suspended);

/* As the kernel has them: getpid and clock_gettime may be those of a library that fakes times, which is not
 * to be called before libc is ready. */
pid_t process_number(void);
uint64_t process_now_ns(void);
uint64_t process_thread_cpu_ns(void);
/* The same for our handlers, which no signal interrupts: nobody sees their frames. */
uint64_t process_handler_now_ns(void);
uint64_t process_handler_cpu_ns(void);
/* The CPU clock of any thread of this process; 0: it has gone. */
uint64_t process_cpu_of_thread_ns(uint32_t tid);

#endif
