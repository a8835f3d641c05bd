/* SPDX-License-Identifier: Apache-2.0 */
/* late_parts.h - between late.c, which looks at processes, late_kernels.c and late_threads.c; for them alone.
 */
#ifndef BLAME_LATE_PARTS_H
#define BLAME_LATE_PARTS_H

#include "blame/late.h"
#include "blame/process.h"

/* Appends the process's threads, if two or more of them meet at barriers, to late->threads, which has room.
 */
int late_threads(struct late *late, struct run *run, const struct idle_question *question,
	const struct process *process, struct error *error);

/* By kernels in which all ranks meet; late->parties has room for all processes, and stays all-zero where no
 * two of them meet so. */
int late_kernels(struct late *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct arena *arena, struct error *error);

#endif
