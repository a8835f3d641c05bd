/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_host.h - the figures of a host: cores, memory, network, disks, pressure, heat, energy, its control
 * group. */
#ifndef RECORD_GAUGE_HOST_H
#define RECORD_GAUGE_HOST_H

#include "record/gauges/gauge_stream.h"
#include "record/gauges/gauge_uncore.h"
#include "record/gauges/proc_text.h"

#define GAUGE_PACKAGES 8u

/* A counter of energy, which begins anew at its range. */
struct gauge_energy {
	bool is_there;
	uint64_t range, last, total;
};

/* All-zero is ready. */
struct gauge_host {
	struct proc_file stat, memory, load, network, disks, pressure[3];
	struct gauge_energy packages[GAUGE_PACKAGES];
	struct gauge_uncore uncore;
	char cgroup[PROC_TEXT_PATH]; /* directory; "": none, or not looked for yet */
	bool is_looked_for;
};

/* Adds the host's figures; what cannot be read is left out. */
void gauge_host_read(struct gauge_host *host, const char *root, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer);
void gauge_host_fini(struct gauge_host *host);

#endif
