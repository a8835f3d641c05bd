/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_processes.c - the measured processes: one more registers, one sends what belongs to it, one is
 * over, by its death or since its next generation (an exec) has registered. What callers say of a pid
 * concerns the newest process of that pid, which comes first in the list.
 */
#include "record/collect/collect_internal.h"

#include "record/base/clock.h"
#include "record/base/handshake.h"
#include "record/process/switches.h"

void collect_process_end(struct collector *collector, struct measured **link)
{
	struct measured *process = *link;

	*link = process->next;
	measured_finish(process, collector->writer, collector->host_text, clock_now_ns());
	summary_add(&collector->summary, process);
	children_announce(&collector->children, process, collector->writer, collector->host_text);
	measured_free(process);
	collector->is_dirty = true;
}

/* In pid namespaces there are several of a number. */
static bool is_of(const struct measured *process, uint32_t pid, uint32_t host_pid)
{
	return process->pid == pid && process->host_pid == host_pid;
}

/* A pid that registers again has called exec: its last generation is over. */
static void generations_end(struct collector *collector, const struct measured *fresh)
{
	struct measured **link = &collector->processes;

	while (*link) {
		struct measured *at = *link;

		if (at != fresh && is_of(at, fresh->pid, fresh->host_pid)) {
			at->has_successor = true;
			collect_process_end(collector, link);
			continue;
		}
		link = &at->next;
	}
}

void collect_process_take(struct collector *collector, struct hello *hello)
{
	struct measured *process;
	struct error error;

	if (measured_open(&process, collector->writer, hello->memory, hello->pidfd, &error)) {
		collector->summary.refused++;
		hello_refuse(HELLO_SWITCHES, hello); /* memory and pidfd are closed already */
		return;
	}
	if (hello->is_without_rings ||
		switches_take_up(process, hello->events, hello->event_count, hello->switch_bytes))
		process->switches_refused++;
	switches_begin(process->switches, 0, hello->word);
	process->host_pid = hello->host_pid;
	process->next = collector->processes;
	if (collector->has_failed)
		measured_discard(process);
	collector->processes = process;
	generations_end(collector, process);
	children_registered(&collector->children, process->pid, process->begin_ns);
	/* Its parent knows it by the one or by the other. */
	if (measured_proc_pid(process) != process->pid)
		children_registered(&collector->children, measured_proc_pid(process), process->begin_ns);
	collector->is_dirty = true;
}

void collect_switches_take(struct collector *collector, struct hello *hello)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (is_of(at, hello->pid, hello->host_pid) && !measured_is_dead(at)) {
			if (switches_add(&at->switches, hello->events[0], hello->switch_bytes, hello->tid))
				at->switches_refused++;
			switches_begin(at->switches, hello->tid, hello->word);
			return;
		}
	hello_refuse(HELLO_SWITCHES, hello);
}

void collect_cut_count(struct collector *collector, const struct hello *hello)
{
	struct measured *process = collector->processes;

	while (process && !is_of(process, hello->pid, hello->host_pid))
		process = process->next;
	if (process && hello->is_of_switches)
		process->switches_refused++;
	else
		collector->summary.refused++;
}

void collect_kept_take(struct collector *collector, struct hello *hello)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (is_of(at, hello->pid, hello->host_pid) && at->kept[1] < 0 && !measured_is_dead(at)) {
			at->kept[at->kept[0] >= 0] = hello->events[0];
			return;
		}
	hello_refuse(HELLO_KEEP, hello);
}

/* It may have ended since it sent its binary; the newest process of a pid comes first. */
static struct gpu_module_kernels *gpu_kernels_of(struct collector *collector, const struct hello *hello)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (is_of(at, hello->pid, hello->host_pid))
			return &at->gpu.kernels;
	return NULL;
}

void collect_gpu_module_take(struct collector *collector, const struct hello *hello)
{
	gpu_module_take(collector->writer, hello->memory, hello->word, gpu_kernels_of(collector, hello));
	collector->is_dirty = true;
}
