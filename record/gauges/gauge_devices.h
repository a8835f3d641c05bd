/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_devices.h - the figures of GPUs while they are recorded. A process of its own reads them, since a
 * vendor's library may wait, hang and crash; it sends each device's values through a pipe.
 *
 *   the collector                          the child, at the interval asked for
 *     gauge_devices_take <-- | packet | <-- gauge_vendors_read
 *
 * The child is started with the second pass, so that short programs do not pay for it; without devices it
 * ends at once. It ends when the pipe has no reader.
 */
#ifndef RECORD_GAUGE_DEVICES_H
#define RECORD_GAUGE_DEVICES_H

#include "record/gauges/gauge_stream.h"
#include "record/gauges/gauge_vendor.h"

/* All-zero is ready. */
struct gauge_devices {
	int pipe; /* plus 1; 0: not started */
	int pid;  /* of the child; 0: none */
	unsigned passes;
	bool has_ended;
	uint32_t stream[GAUGE_DEVICES]; /* plus 1; 0: none yet */
};

/* Appends what has come; starts the child when it is time. `root` stands before /sys. */
void gauge_devices_take(struct gauge_devices *devices, const struct gauges_asked *asked, const char *root,
	struct gauge_metrics *metrics, struct gauge_values *values, struct store_writer *writer,
	uint32_t host_text);
/* Appends what has come. */
void gauge_devices_drain(struct gauge_devices *devices, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer, uint32_t host_text);
/* Ends the child, without waiting for one that hangs. */
void gauge_devices_stop(struct gauge_devices *devices);

#endif
