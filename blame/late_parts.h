/* SPDX-License-Identifier: Apache-2.0 */
/* late_parts.h - between late.c, which looks at processes, and late_threads.c; for them alone. */
#ifndef BLAME_LATE_PARTS_H
#define BLAME_LATE_PARTS_H

#include "blame/late.h"
#include "blame/process.h"

/* Appends the process's threads, if two or more of them meet at barriers, to late->threads, which has room.
 */
int late_threads(struct late *late, struct run *run, const struct idle_question *question,
	const struct process *process, struct error *error);

#endif
