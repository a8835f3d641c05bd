/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_samples.h - samples of GPU instructions of a window, given to the launches that they are of. Such a
 * sample has no time of its own: it tells when the recorder read it, the instruction and its kernel's name.
 *
 *   read-outs            |                      |          covers: from the read-out before, less REACH, on
 *   covered      |~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~|
 *   launches         ###      ##### ##      ###            of that kernel, in queues of the same context
 *
 * The samples of a kernel in a read-out go to its launches in what that covers, by their time there. Where
 * these have one call path, that is exact; else shared. A read-out that the window cuts counts by the
 * launches' time in the window. Where no launch is known (a device function, an import of samples alone),
 * samples stay without one, and count at their read-out.
 *
 * Between read-outs of a stream that are shared the paths of a kernel's launches are averaged: how they
 * differ in what instructions they spend their time with is not known.
 */
#ifndef TIMELINE_LAUNCH_SAMPLES_H
#define TIMELINE_LAUNCH_SAMPLES_H

#include "timeline/run/run.h"

/* Samples come up to 2.2 of the reader's periods late, and 4 ms (an H200, CUDA 13.0). */
#define LAUNCH_SAMPLES_REACH_NS UINT64_C(224000000)

struct launch_samples_question {
	const uint32_t *streams; /* of the run; those of samples count */
	uint32_t stream_count;
	uint64_t begin_ns, end_ns; /* half-open; 0, STORE_OPEN_NS: everything */
	/* Launches, or samples without one, that count; NULL: all. */
	bool (*wants)(const void *own, uint32_t context);
	const void *own;
	bool by_launch; /* false: rows have no launches, which is faster */
	bool expects;	/* launch_samples_expected() and launch_samples_use() are asked */
};

struct launch_samples_row {
	uint32_t launch; /* context of the launches, down to the kernel; 0: not known, or not asked for */
	uint32_t context, metric; /* of the sample */
	double weight;
};

/* Of the weight in the window, or of one kernel's. */
struct launch_samples_share {
	double exact, shared, unknown; /* launches of one path, of several; none known */
	double cut;		       /* part of these: of read-outs that the window cuts */
};

/* What all multiprocessors of a GPU would have given in the time of launches, in the window: samples x period
 * (S4 8.2.2). */
struct launch_samples_expected {
	uint32_t launch; /* context of the launches */
	double weight;
};

/* Use of the GPUs while some launch ran: 100 * taken / expected percent. Of streams without samples, and of
 * GPUs whose multiprocessors or clock are not known, nothing is in it. */
struct launch_samples_use {
	double taken, expected; /* samples x period */
	uint64_t period;	/* cycles; 0: unknown, or several */
	uint64_t lost;		/* samples, of all times */
};

struct launch_samples;

int launch_samples_read(struct launch_samples **samples, struct run *run,
	const struct launch_samples_question *question, struct error *error);
void launch_samples_free(struct launch_samples *samples);
/* In no order; a launch, context and metric may have several rows, which add up. */
const struct launch_samples_row *launch_samples_rows(const struct launch_samples *samples, size_t *count);
/* A row for each path of launches, in no order; none where use is not known. */
const struct launch_samples_expected *launch_samples_expected(
	const struct launch_samples *samples, size_t *count);
struct launch_samples_use launch_samples_use(const struct launch_samples *samples);
/* kernel: its name; NULL: of all. */
struct launch_samples_share launch_samples_share_of(const struct launch_samples *samples, const char *kernel);

#endif
