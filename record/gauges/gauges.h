/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.h - figures over time beside the traces: the collector reads /proc and /sys in one pass, ten times a
 * second, and appends values to a stream of the host and to one for each process.
 *
 *   gauges_new -> gauges_due_ns ... gauges_take (host, then each process: gauges_process_take) ...
 * gauges_free
 *
 * Unless the user gave a rate, the passes get rarer so that they take a thousandth of a core. A pass's values
 * have one time, that of the plan where the pass came in time: equal steps take no bytes. Only the
 * collector's loop uses it.
 */
#ifndef RECORD_GAUGES_H
#define RECORD_GAUGES_H

#include "record/gauges/gauge_list.h"
#include "store/write/writer.h"

struct gauges;
struct gauges_process;

/* `root` stands before /proc and /sys ("": the machine's own; tests have their own tree). NULL: no memory. */
struct gauges *gauges_new(const struct gauges_asked *asked, const char *root, uint64_t now_ns);
/* Ends the host's streams, which the next pass would open again. */
void gauges_rest(struct gauges *gauges, struct store_writer *writer, uint64_t now_ns);
void gauges_free(struct gauges *gauges);

/* When the next pass is due; UINT64_MAX: never. */
uint64_t gauges_due_ns(const struct gauges *gauges);
/* Begins a pass: reads the host. */
void gauges_take(struct gauges *gauges, struct store_writer *writer, uint32_t host_text, uint64_t now_ns);

/* What a process is known by. */
struct gauges_target {
	uint32_t proc_pid; /* in our /proc */
	uint32_t pid, generation;
	int32_t rank;
	uint64_t begin_ns;
};
/* Reads a process in the current pass; *process is NULL before the first time. Nothing is made of processes
 * younger than a pass. */
void gauges_process_take(struct gauges *gauges, struct gauges_process **process,
	const struct gauges_target *target, struct store_writer *writer, uint32_t host_text);
/* Ends the pass: the time it took decides on the next one. */
void gauges_taken(struct gauges *gauges, struct store_writer *writer);
/* Ends the process's stream. */
void gauges_process_end(
	struct gauges *gauges, struct gauges_process *process, struct store_writer *writer, uint64_t now_ns);

#endif
