/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_processes.c - the measured processes: one registers, one sends more data, one ends, by its death or
 * because its next generation (an exec) has registered. Messages about a pid concern the newest process of
 * that pid, which is first in the list.
 */
#include "record/collect/collect_internal.h"

#include <string.h>

#include "record/base/clock.h"
#include "record/base/handshake.h"
#include "record/process/switches.h"
#include "record/process/switches_late.h"

void collect_process_end(struct collector *collector, struct measured_process **link)
{
	struct measured_process *process = *link;

	*link = process->next;
	measured_process_finish(process, collector->writer, collector->host_text, clock_now_ns());
	summary_add(&collector->summary, process);
	collect_parents_learn(collector, process);
	children_announce(&collector->children, process, collector->writer, collector->host_text);
	gauges_process_end(collector->gauges, process->gauges, collector->writer, clock_now_ns());
	measured_process_free(process);
	collector->is_dirty = true;
}

/* Across pid namespaces several processes may have the same pid. */
static bool is_of(const struct measured_process *process, uint32_t pid, uint32_t host_pid)
{
	return process->pid == pid && process->host_pid == host_pid;
}

/* Whose parent has ended says that process 1 is its parent: the parent's own record of the fork, which may be
 * read later, tells who started it. */
void collect_parents_learn(struct collector *collector, const struct measured_process *parent)
{
	if (measured_process_proc_pid(parent) != parent->pid) /* pids of another namespace */
		return;
	for (uint32_t i = 0; i < parent->child_count; i++)
		for (struct measured_process *at = collector->processes; at; at = at->next)
			if (at != parent && at->pid == parent->children[i].pid &&
				measured_process_proc_pid(at) == at->pid &&
				at->begin_ns >= parent->children[i].time_ns)
				at->parent_pid = parent->pid;
}

/* A pid that registers again has called exec: ends its previous generation, which had the same parent. */
static void generations_end(struct collector *collector, struct measured_process *fresh)
{
	struct measured_process **link = &collector->processes;

	while (*link) {
		struct measured_process *at = *link;

		if (at != fresh && is_of(at, fresh->pid, fresh->host_pid)) {
			at->has_successor = true;
			fresh->parent_pid = at->parent_pid;
			collect_process_end(collector, link);
			continue;
		}
		link = &at->next;
	}
}

void collect_process_take(struct collector *collector, struct handshake *handshake)
{
	struct measured_process *process;
	uint32_t parent_pid;
	struct error error;

	if (measured_process_open(&process, collector->writer, handshake->memory, handshake->pidfd, &error)) {
		collector->summary.refused++;
		handshake_refuse(HANDSHAKE_SWITCHES, handshake); /* memory and pidfd are closed already */
		return;
	}
	if (handshake->is_without_rings ||
		switches_take_up(process, handshake->events, handshake->event_count, handshake->switch_bytes))
		process->switches_refused++;
	process->is_outside = handshake->is_outside;
	process->is_injected = handshake->is_injected;
	if (handshake->is_outside && handshake->word && switches_stream(&process->switches))
		process->switches_refused++;
	switches_begin(process->switches, 0, handshake->word);
	process->host_pid = handshake->host_pid;
	process->next = collector->processes;
	if (collector->has_failed)
		measured_process_discard(process);
	collector->processes = process;
	generations_end(collector, process);
	parent_pid = children_registered(&collector->children, process->pid, process->begin_ns);
	if (parent_pid)
		process->parent_pid = parent_pid;
	/* Its parent may have announced it by either pid. */
	if (measured_process_proc_pid(process) != process->pid)
		children_registered(
			&collector->children, measured_process_proc_pid(process), process->begin_ns);
	collector->is_dirty = true;
}

/* Its threads, old and new, open no rings for their switches. */
void collect_injected_follow(struct collector *collector)
{
	bool has_switches = strstr(collector->plan->events, " SWITCHES") != NULL;

	for (struct measured_process *at = collector->processes; at; at = at->next) {
		uint32_t threads = at->is_injected ? atomic_load(&at->shared->thread_count) : 0;

		if (!has_switches || at->has_died || threads == at->threads_switched)
			continue;
		at->threads_switched = threads;
		switches_late_open(at);
	}
}

void collect_switches_take(struct collector *collector, struct handshake *handshake)
{
	for (struct measured_process *at = collector->processes; at; at = at->next)
		if (is_of(at, handshake->pid, handshake->host_pid) && !measured_process_is_dead(at)) {
			/* It may have one by switches_late_open. */
			if (switches_cover(at->switches, handshake->tid))
				break;
			if (switches_add(&at->switches, handshake->events[0], handshake->switch_bytes,
				    handshake->tid))
				at->switches_refused++;
			switches_begin(at->switches, handshake->tid, handshake->word);
			return;
		}
	handshake_refuse(HANDSHAKE_SWITCHES, handshake);
}

void collect_cut_count(struct collector *collector, const struct handshake *handshake)
{
	struct measured_process *process = collector->processes;

	while (process && !is_of(process, handshake->pid, handshake->host_pid))
		process = process->next;
	if (process && handshake->is_of_switches)
		process->switches_refused++;
	else
		collector->summary.refused++;
}

void collect_kept_take(struct collector *collector, struct handshake *handshake)
{
	for (struct measured_process *at = collector->processes; at; at = at->next)
		if (is_of(at, handshake->pid, handshake->host_pid) && at->kept[1] < 0 &&
			!measured_process_is_dead(at)) {
			at->kept[at->kept[0] >= 0] = handshake->events[0];
			return;
		}
	handshake_refuse(HANDSHAKE_KEEP, handshake);
}

/* The process may have ended since it sent its binary; the newest one of a pid comes first. */
static struct gpu_module_kernels *gpu_kernels_of(
	struct collector *collector, const struct handshake *handshake)
{
	for (struct measured_process *at = collector->processes; at; at = at->next)
		if (is_of(at, handshake->pid, handshake->host_pid))
			return &at->gpu.kernels;
	return NULL;
}

void collect_gpu_module_take(struct collector *collector, const struct handshake *handshake)
{
	gpu_module_take(
		collector->writer, handshake->memory, handshake->word, gpu_kernels_of(collector, handshake));
	collector->is_dirty = true;
}
