/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_group.h - perf events that are read, not sampled: -e cycles,instructions:value. Each list is a
 * group of each thread, which the processor counts together or not at all; it is read at each sample of the
 * time source, and the increase since the last reading goes to that sample's path (proxy sampling, S4 5.3.2).
 *
 *   | nr | enabled_ns | running_ns | nr values |     what the kernel gives in one call
 *
 * If the processor has fewer counters than are asked for, groups take turns: increases are scaled by the
 * time in which the group counted, and the ring keeps both times. The group's descriptor stays open, unlike
 * others of the agent: there is no other way to read it. Before each reading it is asked for the event's id,
 * so that a program that closes and reuses its number loses nothing. A process has 256 of them at most:
 * groups of more threads are refused, as a fork's child could not close theirs.
 *
 * A software clock (task-clock, cpu-clock) is enabled_ns itself, whose value Linux counts again, and loses
 * much of, where threads share processors (6.18: up to two thirds of a second).
 */
#ifndef RECORD_AGENT_COUNTER_GROUP_H
#define RECORD_AGENT_COUNTER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "store/ring/ring.h"

#define COUNTER_GROUPS_MAX 4u

/* One group of one thread. */
struct counter_group {
	int number; /* the leader's descriptor, plus 1; 0: none */
	uint32_t count;
	uint32_t clocks;		 /* bit i: member i is a software clock */
	uint64_t id;			 /* the leader's, by the kernel */
	uint64_t enabled_ns, running_ns; /* when it was read last */
	uint64_t seen[EVENT_COUNTERS_MAX];
	uint32_t metric[EVENT_COUNTERS_MAX]; /* i: counter i - 1 */
	void *page[EVENT_COUNTERS_MAX];	     /* keeps a member alive without a descriptor */
};

#define COUNTER_GROUP_HEAD 3u /* words ahead of the values */

/* 128 bits: the increase of an hour times its nanoseconds does not fit 64. */
static inline uint64_t counter_group_scaled(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	return running_ns >= enabled_ns ? value
					: (uint64_t)((unsigned __int128)value * enabled_ns / running_ns);
}

/* What a reading adds: scaled increases of `count` members into `more`. `words`: as the kernel gives them.
 * False: it is not this group's, or it has not counted since (then it is left for the next reading). */
static inline bool counter_group_grow(struct counter_group *group, const uint64_t *words, uint64_t *more)
{
	uint64_t enabled_ns = words[1] - group->enabled_ns, running_ns = words[2] - group->running_ns;

	if (words[0] != group->count || words[1] < group->enabled_ns || words[2] <= group->running_ns)
		return false;
	for (unsigned i = 0; i < group->count; i++) {
		const uint64_t value = words[COUNTER_GROUP_HEAD + i];

		if (group->clocks >> i & 1)
			more[i] = enabled_ns;
		else
			more[i] = value > group->seen[i] ? counter_group_scaled(value - group->seen[i],
								   enabled_ns, running_ns)
							 : 0;
		group->seen[i] = value > group->seen[i] ? value : group->seen[i];
	}
	group->enabled_ns = words[1];
	group->running_ns = words[2];
	return true;
}

struct thread;

/* Takes the groups of HPCT_EVENTS; once per process, after counter_open. */
void counter_groups_open(void);
/* Starts counting, called by the first thread when the agent has finished its start. */
void counter_groups_begin(struct thread *thread);
/* Call in a fork child: closes the parent's descriptors, which count the parent. */
void counter_groups_forked(void);
void counter_groups_arm(struct thread *thread);
/* Publishes what is left, at the thread's last path, and ends counting. */
void counter_groups_disarm(struct thread *thread);
/* Sampling is off, or on again (start_stop.h): no group of any thread counts meanwhile. Signal safe. */
void counter_groups_switch(bool off);
/* Publishes the increases at the node of the last sample. The ring is entered. Signal safe. */
void counter_groups_take(struct thread *thread, uint64_t now_ns);

#endif
