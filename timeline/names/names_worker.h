/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.h - names from a process of its own: a binary that makes the readers of debug
 * information crash, hang or eat memory costs a message and a new worker, and is asked again for less.
 *
 *   asker --names_worker_ask()--> [socket] --> worker process: timeline/names/names.h --> answers back
 */
#ifndef TIMELINE_NAMES_WORKER_H
#define TIMELINE_NAMES_WORKER_H

#include "timeline/names/names.h"

struct names_worker;

#define NAMES_NOTE_BYTES 1024

/* `options` and what they point to outlive the worker. The process is started by the first question. One
 * thread. */
int names_worker_open(struct names_worker **worker, const struct names_options *options, struct error *error);
void names_worker_close(struct names_worker *worker);

/* Called once for each offset, in order; a negative value ends the question. The answer is valid during the
 * call. */
typedef int names_take(void *context, const struct symbol_answer *answer);

/* Every offset is answered whatever the file does. `note` gets one sentence about what is missing, "" if
 * nothing is. Negative: no process or memory to be had, or what `take` returned. */
int names_worker_ask(struct names_worker *worker, const struct symbol_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error);

/* ---- the same in steps, for several workers at once (timeline/names/names_pool.h) ---- */

/* Begins a question of a worker that is asking none; all that it is given lives until its end. A large one is
 * answered by that many processes, and its first answer comes when all are found; if they fail, by one. */
int names_worker_begin(struct names_worker *worker, const struct symbol_request *request, unsigned parts,
	names_take *take, void *context, char note[NAMES_NOTE_BYTES], struct error *error);
/* Sends the question or takes one answer, waiting for it. 0: there is more; 1: the question is answered;
 * negative: as names_worker_ask(), and it has ended. */
int names_worker_step(struct names_worker *worker, struct error *error);
bool names_worker_is_asking(const struct names_worker *worker);
/* Whether a step of an asking worker is due, whatever its descriptor says. */
bool names_worker_is_ready(const struct names_worker *worker);
int names_worker_descriptor(const struct names_worker *worker);

#endif
