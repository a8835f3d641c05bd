/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_report.h - one page about a run or a window of it, as data: where the threads' time went by class, what
 * GPUs did, efficiencies, what it is bound by, the largest paths of each class, coverage.
 *
 *   useful time u of a thread: computing and handling memory; T: the window
 *   parallel efficiency mean(u) / T = load balance mean(u) / max(u) x communication efficiency max(u) / T
 *   communication       max(u) / T  = serialization max(u) / T' x transfer T' / T
 *                       T': the window without what ranks spend in MPI on average, but for waiting for others
 *
 *   offload     u / (u + time in calls of a GPU runtime), of all threads; with GPUs
 *   gpu balance mean / max of the time that queues spend in kernels, over the GPUs that processes use
 *
 * (POP's metrics, by the trace and for threads.)
 */
#ifndef BLAME_RUN_REPORT_H
#define BLAME_RUN_REPORT_H

#include "blame/idle/idle.h"
#include "blame/report/time_class.h"
#include "timeline/report/coverage.h"
#include "timeline/stats/clusters.h"

#define RUN_REPORT_PATHS 40 /* the largest of each class */

struct run_report_path {
	uint32_t context; /* one of those with this path */
	uint64_t time_ns;
};

struct run_report_operations {
	const char *key, *text;
	uint64_t time_ns, count;
};
#define RUN_REPORT_OPERATIONS 5

struct run_report {
	uint64_t window_ns, total_ns; /* total: threads x window, of which class_ns are the parts */
	uint32_t threads, queues, left_out;
	const uint32_t *streams; /* of the page: the run's, without helper threads of MPI */
	uint32_t stream_count;
	uint64_t class_ns[TIME_CLASS_COUNT];
	const uint64_t *path_ns; /* [class][contexts], in the arena; context 0: none */
	uint32_t contexts;
	const uint8_t *related; /* bits of related.h: which processes were asked about; NULL: all */
	struct run_report_path paths[TIME_CLASS_COUNT]
				    [RUN_REPORT_PATHS]; /* the largest first; time 0: none */
	bool has_gpu;
	struct idle idle; /* with has_gpu; without shares of single threads */
	struct run_report_operations operations[RUN_REPORT_OPERATIONS];
	/* Per cent; negative: not known. */
	double parallel, load_balance, communication, serialization, transfer, offload;
	double gpu_busy, gpu_kernel, gpu_balance;
	enum time_class bound; /* COMPUTE MPI IO MEMORY, WAIT: latency */
	bool bound_is_gpu;     /* by what GPUs do */
	double bound_percent;
	struct coverage coverage;
	struct clusters clusters; /* of the threads; none without threads */
};

/* Of the selector's streams and window. In `arena`. ERROR_EMPTY: nothing is monitored there. */
int run_report_make(struct run_report *report, struct run *run, const struct select *select,
	struct arena *arena, struct error *error);
/* "compute", "communication", "memory", "io", "latency" */
const char *run_report_bound(const struct run_report *report);
/* The figure behind it; in `arena`. */
const char *run_report_bound_text(const struct run_report *report, struct arena *arena);
/* Per cent of the threads' lives. */
double run_report_class_percent(const struct run_report *report, enum time_class class);
/* Of the threads, whatever they did; context < report->contexts. */
uint64_t run_report_context_ns(const struct run_report *report, uint32_t context);

#endif
