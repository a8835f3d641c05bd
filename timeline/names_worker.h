/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.h - names from a process of its own: a binary that makes the readers of debug
 * information crash, hang or eat memory costs a message and a new worker, and is asked again for less.
 *
 *   asker --names_worker_ask()--> [socket] --> worker process: timeline/names.h --> answers back
 */
#ifndef TIMELINE_NAMES_WORKER_H
#define TIMELINE_NAMES_WORKER_H

#include "timeline/names.h"

struct names_worker;

#define NAMES_NOTE_BYTES 1024

/* `options` and what they point to outlive the worker. The process is started by the first question. One
 * thread. */
int names_worker_open(struct names_worker **worker, const struct names_options *options, struct error *error);
void names_worker_close(struct names_worker *worker);

/* Called once for each offset, in order; what it returns other than 0 ends the question. The answer is valid
 * during the call. */
typedef int names_take(void *context, const struct names_answer *answer);

/* Every offset is answered whatever the file does. `note` gets one sentence about what is missing, "" if
 * nothing is. Negative: no process or memory to be had, or what `take` returned. */
int names_worker_ask(struct names_worker *worker, const struct names_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error);

#endif
