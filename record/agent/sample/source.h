/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what triggers a thread's samples of CPU time: one operations table per source. A process uses
 * the first in source.c's order that works.
 *
 *   timer      a CPU timer of the thread, AGENT_SIGNAL; as often as the kernel ticks
 *   trap       one perf event of all threads, a synchronous SIGTRAP; as often as requested
 *   overflow   a perf event of each thread, AGENT_SIGNAL; for kernels without the trap
 */
#ifndef RECORD_AGENT_SOURCE_H
#define RECORD_AGENT_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Real-time, so that no program gets it by default, and the kernel queues it per timer. */
#define AGENT_SIGNAL 61

struct thread;
struct event_ring;

/* A source's state for one thread. */
struct source_handle {
	int timer;     /* -1: not armed */
	int number;    /* descriptor number of the thread's own perf event */
	void *mapping; /* keeps that event alive; NULL: none */
};

struct source {
	const char *name;
	/* Opens what all threads share, called by the first. 0; or unavailable: a negative errno or an
	 * enum event_sampler_reason. NULL: nothing to open. */
	int (*open)(void);
	/* Starts sampling the calling thread, whose block is `thread`. 0 or negative. */
	int (*arm)(struct thread *thread);
	/* Ends sampling. */
	void (*disarm)(struct thread *thread);
	/* The thread's CPU timer has fired, for `periods` (>= 1) of its periods. Signal safe. */
	void (*tick)(struct thread *thread, const ucontext_t *context, uint64_t periods);
	/* AGENT_SIGNAL not from the timer: true if it is a sample of this source. NULL: never. Signal
	 * safe. */
	bool (*take)(struct thread *thread, const siginfo_t *info, const ucontext_t *context);
};

extern const struct source source_timer, source_trap, source_overflow;
/* Takes over for one thread that the chosen source refuses: a perf event of its own, whose SIGTRAP needs no
 * place among the signals that wait. */
extern const struct source source_standby;
/* Some thread has such an event. */
bool source_standby_is_used(void);

/* Chooses the source by the process's settings; once per process, by its first thread. */
void source_choose(void);

/* If every wait must publish its path (EVENT_WORD_WAITS): makes the switch rings' events trap; call before
 * they are opened. */
void source_waits_choose(void);
/* True if so: each switch then traps when it is over, also within an exec. */
bool source_waits_trap(void);
/* Start and stop that for the calling thread, whose block is `thread`. */
void source_waits_arm(struct thread *thread);
void source_waits_disarm(void);

/* The chosen source. */
const struct source *source_chosen(void);

/* Call around an exec of the calling thread, which must not get a sample. False: one may come. */
bool source_can_pause(void);
void source_exec_begin(void);
void source_exec_failed(void);

/* After registration with the collector: sends the descriptors that it must hold for the source. Never
 * blocks. */
void source_hand_over(void);

/* Interval at which the kernel checks CPU timers. */
uint64_t source_tick_ns(void);

/* A CPU timer for the calling thread, which does not run yet if period_ns is 0. 0 or negative: the kernel has
 * none, or the program needs what is left.
 */
int source_timer_start(struct source_handle *handle, uint64_t period_ns);
/* The process has no timer of ours: it has just begun, or is the child of a fork. */
void source_timers_none(void);
/* Signals that wait may be so few (RLIMIT_SIGPENDING) that ours could be in the program's way. */
bool source_signals_are_few(void);
void source_timer_stop(struct source_handle *handle);
/* For whoever records (start_stop_obey): all timers of the time source stop, those of later threads included,
 * or run again. Signal safe. */
void source_timers_park(bool is_parked);
/* Signals of the time source's timer are due that have not come: the CPU time that they may tell of at most;
 * 0: none are. Of any thread of the process. */
uint64_t source_timer_due_ns(struct event_ring *ring);
/* The process ends: the same is noted of all threads that live on. */
void source_timer_end(void);
/* True if the signal is from such a timer. Then *periods >= 1 is what it stands for. */
bool source_timer_periods(const siginfo_t *info, uint64_t *periods);

/* True if the program is written in Go. */
bool source_program_is_go(void);

/* 0, or why the program must not get traps: an enum event_sampler_reason. */
int source_trap_refusal(void);
/* Call before the first event that traps. 0, or why none may, as source.open. */
int source_trap_prepare(void);

/* Which event raised this SIGTRAP: 0: source_trap's; i: counter i - 1; negative: none of ours. */
int source_trap_index(const siginfo_t *info);
/* perf_event_attr.sig_data of that index. */
uint64_t source_trap_data(unsigned index);

/* Allows traps on the calling thread, which belongs to the agent. 0 or negative. */
int source_trap_thread_add(struct thread *thread);
void source_trap_thread_remove(void);
/* The program creates a thread that shares the calling one's storage, and perhaps a part of its stack. */
void source_trap_shared(void);

/* Handler of SIGTRAP, once source_trap_prepare was called. */
void source_trap_handle(int signal, siginfo_t *info, void *context);

#endif
