/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_line.h - the line of a thread that hpct-export wrote as nested calls (stack_changes.h), back into
 * what it came from: samples that hold from a change to the next one, and waits.
 *
 *   calls     |main_____________|     |main|
 *              |solve_____|
 *                 |blocked|
 *   samples   m s         m           m           weights of the metric `time`: what a path did until a
 * change spans        [blocked ]     [gap  ]           with their paths; where no call is open nothing is
 * known
 *
 * A span per call would not do: of two that begin at one time the longer one would have the time.
 */
#ifndef FORMATS_IMPORT_LINE_H
#define FORMATS_IMPORT_LINE_H

#include "formats/base/import_run.h"

/* All-zero before the first begin. */
struct import_line {
	struct import_run *run;
	uint32_t stream, metric;
	uint32_t *contexts; /* of open calls, outermost first; a state has that of its call */
	size_t count, room;
	uint32_t state; /* that is open; STORE_OP_COUNT: none */
	uint32_t shown; /* context of the last sample; IMPORT_NONE: a gap */
	bool has_any;
	uint64_t now_ns, since_ns, state_ns, waited_ns; /* waited: since the last sample */
};

/* The operation of a state by the name that it has on a line; STORE_OP_COUNT: it is none. */
uint32_t import_line_state(const char *name, size_t size);

int import_line_begin(struct import_line *line, struct import_run *run, uint32_t stream, struct error *error);
/* In order of time. `name`: a text; of a state (`state`, an operation of the store) it means nothing, and no
 * call begins inside it. */
int import_line_enter(
	struct import_line *line, uint64_t time_ns, uint32_t name, uint32_t state, struct error *error);
int import_line_leave(struct import_line *line, uint64_t time_ns, struct error *error);
/* What is open ends with the last change. */
int import_line_end(struct import_line *line, struct error *error);
void import_line_fini(struct import_line *line);

#endif
