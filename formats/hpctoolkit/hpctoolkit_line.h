/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpctoolkit_line.h - a trace of HPCToolkit, (time, place) one after the other, as records of a run: a place
 * holds until the next element.
 *
 *   thread   samples of the metric `time` at both ends, weights at the second; a place off the core: blocked
 *   queue    an operation from the element to the next one
 */
#ifndef FORMATS_HPCTOOLKIT_LINE_H
#define FORMATS_HPCTOOLKIT_LINE_H

#include "formats/base/import_run.h"

struct hpctoolkit_place {
	uint32_t context; /* of the run */
	uint32_t op;	  /* of operations there */
	bool is_known;
	bool is_idle;	/* off the core; the queue is empty */
	bool is_kernel; /* the frame is <gpu kernel>, and the kernel comes below it */
};

struct hpctoolkit_line {
	struct import_run *run;
	uint32_t stream, metric;
	bool is_gpu, has_last;
	uint64_t last_ns;
	struct hpctoolkit_place last;
};

void hpctoolkit_line_begin(
	struct hpctoolkit_line *line, struct import_run *run, uint32_t stream, uint32_t metric);
/* An element; an earlier one than the last has no length. */
int hpctoolkit_line_take(struct hpctoolkit_line *line, uint64_t time_ns, const struct hpctoolkit_place *place,
	struct error *error);

/* The operation of a frame by its name, "<gpu kernel>"; STORE_OP_COUNT: it is none. */
uint32_t hpctoolkit_operation(const char *name);

#endif
