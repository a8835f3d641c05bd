/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_group.h - the state of a group's lines at a moment during the idle sweep. For idle*.c, which maintain
 * it, and gaps.c, which reads it.
 */
#ifndef BLAME_IDLE_GROUP_H
#define BLAME_IDLE_GROUP_H

#include "blame/base/process.h"
#include "blame/base/sweep.h"
#include "blame/idle/idle.h"

/* Increases of the two clocks. */
struct clocks {
	exact_share_fixed active, waiting;
};

enum role { ROLE_NONE, ROLE_ACTIVE, ROLE_WAITING, ROLE_SYNC };

/* What operations of queues are told apart by. */
enum work_class { WORK_KERNEL, WORK_COMM, WORK_COPY, WORK_CLASS_COUNT };

struct group_line {
	enum { LINE_THREAD, LINE_QUEUE, LINE_OWN_WORK } kind;
	uint32_t owner;	 /* its process in the group */
	uint32_t stream; /* of the run; unset for a line of own work */
	uint64_t period_ns;
	enum role role;
	enum extent_state state;
	unsigned classes; /* of a queue's operations that run, bits 1 << enum work_class */
	uint32_t context;
	uint32_t class_context; /* of the lowest class that runs */
	struct clocks entered;	/* threads: when the piece began; in ROLE_SYNC by the owner's clocks */
};

/* A process: its threads in synchronization calls change roles together when its work begins and ends. */
struct owner {
	struct sweep_span *spans; /* of its work */
	bool is_working;
	uint32_t sync_count;
	struct clocks gained; /* by its threads in synchronization calls */
	struct clocks settled;
};

struct group {
	struct run *run;
	const struct idle_question *question;
	struct idle *idle;
	struct sweep *sweep;
	struct group_line *lines;
	uint32_t line_count;
	struct owner *owners;
	uint32_t owner_count;
	uint64_t now_ns;
	uint32_t active, waiting;	    /* threads, in synchronization calls included */
	uint32_t runnable;		    /* threads that wait for a core */
	uint32_t working[WORK_CLASS_COUNT]; /* queues on which such operations run */
	uint32_t lost, unmonitored, alive;
	struct clocks clocks;
	uint32_t *ticks; /* lines that were sampled now */
	uint32_t tick_count;
	struct exact_share_sums *blamed, *waited, *sampled;
	bool is_cut; /* the time range continues after this window: a gap at its end stays open */
};

/* Queues that are added to the sweep from now on tell what runs on them. */
void group_tell_classes(const struct group *group);
/* What the line was counted as counts no longer; it is in this piece from now on. False when memory is out.
 */
bool group_line_leave(struct group *group, struct group_line *line);
void group_line_enter(struct group *group, struct group_line *line, const struct extent *piece);
void group_set_working(struct group *group, struct owner *owner, bool is_working);
/* Advances time; pass_idle() counts it as idle. False: no memory. */
bool group_pass(struct group *group, uint64_t to_ns);
bool group_pass_idle(struct group *group, uint64_t dt_ns); /* all but gaps */

/* Sweeps these processes as one group, from their first GPU use (idle.c). */
int group_sweep_used(
	const struct group *start, const struct process *processes, uint32_t count, struct error *error);

/* Sweeps a process as its own group: 1 done; 0: its queues are not simple, and nothing was counted;
 * negative: error (idle_queues.c). */
int group_sweep_queues(struct group *group, const struct process *process, struct error *error);

/* The same in parts: calls `take` after each, with its sums; does not count groups. If it returns 0, results
 * given before are invalid. `take` false: no memory. */
struct group_parts {
	const uint64_t *cuts_ns; /* in order, within the window */
	uint32_t count;		 /* number of cuts, one less than parts */
	bool (*take)(void *own, const struct idle *idle, const struct exact_share_sums *blamed,
		const struct exact_share_sums *waited);
	void *own;
};
int group_sweep_parts(const struct group *group, const struct process *process,
	const struct group_parts *parts, struct error *error);

/* For gaps.c: from `begin_ns` to `end_ns` nothing changes and the GPUs are idle; end: they are no longer
 * idle. */
bool gaps_pass(struct gaps *gaps, const struct group *group, uint64_t begin_ns, uint64_t end_ns);
bool gaps_close(struct gaps *gaps, const struct group *group);

/* The same where each gap is known as a whole (idle_queues.c): gaps shorter than this are only counted. The
 * last: the queue that works at its end, and its context; 0: none. */
uint64_t gaps_least_ns(const struct gaps *gaps);
void gaps_count(struct gaps *gaps, uint64_t size_ns);
bool gaps_are_open(const struct gaps *gaps);
bool gaps_close_at(struct gaps *gaps, uint32_t stream, uint32_t context);
/* A trial copy: its gaps count only once joined. False: no memory. */
int gaps_fork(struct gaps **trial, const struct gaps *gaps, struct error *error);
bool gaps_join(struct gaps *gaps, const struct gaps *trial);

#endif
