/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_process.h - the figures of one process, from its files in /proc. */
#ifndef RECORD_GAUGE_PROCESS_H
#define RECORD_GAUGE_PROCESS_H

#include "record/gauges/gauge_stream.h"
#include "record/gauges/proc_text.h"

struct gauge_process {
	uint32_t proc_pid;
	uint64_t started; /* of the process that was met first: another one may get its pid */
	struct proc_file stat, memory, io;
	bool is_lost; /* it has ended, or another has its pid */
};

/* Adds its figures; false: it has ended. `keeps`: its files stay open, which is half the cost. smaps is never
 * read: it holds up the process. */
bool gauge_process_read(struct gauge_process *process, const char *root, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer, bool keeps);
void gauge_process_fini(struct gauge_process *process);

#endif
