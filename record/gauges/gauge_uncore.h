/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_uncore.h - counters outside the cores, of the whole host: energy by RAPL (power/energy-pkg/) and
 * bytes of the memory controllers (uncore_imc*), by perf events on one core of each package, as the PMU's
 * cpumask says. They need CAP_PERFMON or perf_event_paranoid below 1; what is refused is left out.
 */
#ifndef RECORD_GAUGE_UNCORE_H
#define RECORD_GAUGE_UNCORE_H

#include "record/gauges/gauge_stream.h"

#define GAUGE_UNCORE_COUNTERS 128u

/* One event of one PMU on one core. */
struct gauge_uncore_counter {
	int fd;
	unsigned gauge; /* enum gauge_id */
	double factor;	/* from counts to the gauge's unit */
	double last;
};

/* All-zero is ready. */
struct gauge_uncore {
	bool is_looked_for;
	unsigned count;
	uint64_t found; /* bit per gauge that has counters */
	struct gauge_uncore_counter counters[GAUGE_UNCORE_COUNTERS];
};

/* True if it can read this gauge; opens the counters at the first call. `root` stands before /sys. */
bool gauge_uncore_has(struct gauge_uncore *uncore, const char *root, unsigned gauge);
/* The sum of a gauge's counters, in its unit; it never falls. */
uint64_t gauge_uncore_read(struct gauge_uncore *uncore, unsigned gauge);
void gauge_uncore_fini(struct gauge_uncore *uncore);

/* The word of a PMU's files for perf_event_open: "event=0x04,umask=0x03" by the PMU's format files (below
 * `directory`) into config[3]; false: a term that it does not describe. */
bool gauge_uncore_encode(uint64_t config[3], const char *directory, const char *event);

#endif
