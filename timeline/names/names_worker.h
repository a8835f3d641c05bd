/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.h - finds names in a separate process: when a binary makes the readers of debug information
 * crash, hang or use too much memory, the result is a message and a new worker, which gets the request again
 * with less to read.
 *
 *   asker --names_worker_ask()--> [socket] --> worker process: timeline/names/names.h --> answers back
 */
#ifndef TIMELINE_NAMES_WORKER_H
#define TIMELINE_NAMES_WORKER_H

#include "timeline/names/names.h"

struct names_worker;

#define NAMES_NOTE_BYTES 1024

/* `options` and what they point to must outlive the worker. The first request starts the process. One
 * thread. */
int names_worker_open(struct names_worker **worker, const struct names_options *options, struct error *error);
void names_worker_close(struct names_worker *worker);

/* Called once for each offset, in order; a negative value ends the request. The answer is valid during the
 * call. */
typedef int names_take(void *context, const struct symbol_answer *answer);

/* Answers every offset whatever the file does. `note` gets one sentence about what is missing, "" if nothing
 * is. Negative: no process or memory, or the value that `take` returned. */
int names_worker_ask(struct names_worker *worker, const struct symbol_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error);

/* ---- the same in steps, for several workers at once (timeline/names/names_pool.h) ---- */

/* Begins a request on an idle worker; all arguments must live until its end. Several processes answer a
 * large one, and its first answer comes when all are found; if they fail, one process answers. */
int names_worker_begin(struct names_worker *worker, const struct symbol_request *request, unsigned parts,
	names_take *take, void *context, char note[NAMES_NOTE_BYTES], struct error *error);
/* Sends the request or waits for one answer. 0: more follows; 1: complete; negative: as names_worker_ask(),
 * and the request has ended. */
int names_worker_step(struct names_worker *worker, struct error *error);
bool names_worker_is_asking(const struct names_worker *worker);
/* True when a step is due whatever the descriptor says. */
bool names_worker_is_ready(const struct names_worker *worker);
int names_worker_descriptor(const struct names_worker *worker);

#endif
