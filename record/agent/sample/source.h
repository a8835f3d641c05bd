/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what makes a thread's samples of CPU time: one table of operations
 * per source. A process takes the first in source.c's order that works here.
 *
 *   timer      a CPU timer of the thread, AGENT_SIGNAL; as often as the kernel ticks
 *   trap       one perf event of all threads, a synchronous SIGTRAP; as often as asked
 *   overflow   a perf event of each thread, AGENT_SIGNAL; for kernels without the trap
 */
#ifndef RECORD_AGENT_SOURCE_H
#define RECORD_AGENT_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Real-time, hence never a number that programs get by default, and queued by the kernel per timer. */
#define AGENT_SIGNAL 61

struct thread;
struct event_ring;

/* A source's hold on one thread. */
struct source_handle {
	int timer;     /* -1: not armed */
	int number;    /* that the thread's own perf event had as a descriptor */
	void *mapping; /* which keeps that event alive; NULL: there is none */
};

struct source {
	const char *name;
	/* Opens what all threads share, called by the first. 0; or not to be had here: a negative errno or
	 * an enum event_sampler_reason. NULL: nothing to open. */
	int (*open)(void);
	/* Starts sampling the calling thread, `thread` being its block. 0 or negative. */
	int (*arm)(struct thread *thread);
	/* Ends it; nothing is sampled afterwards. */
	void (*disarm)(struct thread *thread);
	/* The thread's CPU timer has signalled, for so many of its periods (>= 1). Signal safe. */
	void (*tick)(struct thread *thread, const ucontext_t *context, uint64_t periods);
	/* AGENT_SIGNAL from elsewhere: a sample of this source? NULL: it never is. Signal safe. */
	bool (*take)(struct thread *thread, const siginfo_t *info, const ucontext_t *context);
};

extern const struct source source_timer, source_trap, source_overflow;
/* Takes over for one thread that the chosen source refuses: a perf event of its own, whose SIGTRAP needs no
 * place among the signals that wait. */
extern const struct source source_standby;
/* Some thread has such an event. */
bool source_standby_is_used(void);

/* Picks the source for the process's settings; once per process, by its first thread. */
void source_choose(void);

/* If every wait is to tell its path (EVENT_WORD_WAITS): has the switch rings' events trap; before they are
 * opened. */
void source_waits_choose(void);
/* So it is: each switch traps when it is over, one within an exec, too. */
bool source_waits_trap(void);
/* The calling thread takes part, `thread` being its block; and no more. */
void source_waits_arm(struct thread *thread);
void source_waits_disarm(void);

/* The one that was picked. */
const struct source *source_chosen(void);

/* Around an exec of the calling thread, which must not meet a sample of ours. false: one may come. */
bool source_can_pause(void);
void source_exec_begin(void);
void source_exec_failed(void);

/* The process is known to the collector: what it is to keep for the source is sent. Never waits. */
void source_hand_over(void);

/* How often the kernel looks at CPU timers. */
uint64_t source_tick_ns(void);

/* A CPU timer for the calling thread. 0 or negative: the kernel has none, or the program needs what is left.
 */
int source_timer_start(struct source_handle *handle, uint64_t period_ns);
/* The process has no timer of ours: it has just begun, or is the child of a fork. */
void source_timers_none(void);
/* Signals that wait may be so few (RLIMIT_SIGPENDING) that ours could be in the program's way. */
bool source_signals_are_few(void);
void source_timer_stop(struct source_handle *handle);
/* Signals of the time source's timer are due that have not come: the CPU time that they may tell of at most;
 * 0: none are. Of any thread of the process. */
uint64_t source_timer_due_ns(struct event_ring *ring);
/* The process ends: the same is noted of all threads that live on. */
void source_timer_end(void);
/* Is this signal from such a timer? Then *periods >= 1 is what it stands for. */
bool source_timer_periods(const siginfo_t *info, uint64_t *periods);

/* The program is written in Go. */
bool source_program_is_go(void);

/* 0, or why the program may not meet traps: an enum event_sampler_reason. */
int source_trap_refusal(void);
/* Before the first event that traps. 0, or why none may: as source.open. */
int source_trap_prepare(void);

/* Whose SIGTRAP is it? 0: source_trap's; i: of counter i - 1; negative: none of ours. */
int source_trap_index(const siginfo_t *info);
/* What perf_event_attr.sig_data of that index is. */
uint64_t source_trap_data(unsigned index);

/* The calling thread is the agent's, and may meet traps. 0 or negative. */
int source_trap_thread_add(struct thread *thread);
void source_trap_thread_remove(void);
/* The program makes a thread that will have the storage of the calling one, and perhaps a part of its stack.
 */
void source_trap_shared(void);

/* Handler of SIGTRAP, once source_trap_prepare was called. */
void source_trap_handle(int signal, siginfo_t *info, void *context);

#endif
