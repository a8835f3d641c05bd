/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_metric.h - what GPU operations took, moved and were made of, by call path: the metrics of S4 tables 8.1
 * to 8.6 under their names, read off the operations' spans and their attributes.
 *
 *   GKER GMEM GMSET GXCOPY GSYNC, GPUOP their sum     ns of the window, however many ran at once
 *   GMEM:DEV GMSET:PIN GXCOPY:H2D ...                 bytes, by kind; GSYNC:STR ... ns
 *   GMEM:COUNT ... GKER:COUNT                         operations
 *   GKER:THR_REG BLK_THR BLK BLK_SM ...               of each launch, summed: divide by GKER:COUNT (S0 4.5)
 *   GKER:OCC_THR                                      percent, 100 * FGP_ACT / FGP_MAX of the row (S4 8.1.1)
 *
 * Times are those inside the window; all else counts where the operation begins, so that windows add up.
 * FGP_MAX is 1000 for each launch whose occupancy is known: attributes tell the ratio, not the warps. Whole
 * graphs
 * (`--cuda-graphs graph`) are no kernels and in none of them.
 */
#ifndef TIMELINE_GPU_METRIC_H
#define TIMELINE_GPU_METRIC_H

#include "timeline/sum/state_metrics.h"

#define GPU_METRIC_COUNT 53u
#define GPU_METRIC_NAMES "GKER, GMEM:*, GMSET:*, GXCOPY:*, GSYNC:*, GKER:*"

const char *gpu_metric_name(unsigned metric);
const char *gpu_metric_unit(unsigned metric);
bool gpu_metric_is_ratio(unsigned metric); /* a double: nothing to add up */
/* Those of that name or pattern, bits 1 << metric; 0: none. With a ratio come its parts. */
uint64_t gpu_metric_find(const char *pattern);

/* Its number beside the run's own metrics and the derived ones. */
static inline uint32_t gpu_metric_number(const struct run *run, unsigned metric)
{
	return run_metric_count(run) + STATE_METRIC_COUNT + metric;
}

/* Adds the wanted metrics of these streams as weights. */
int gpu_metric_add_weights(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, uint64_t wanted, struct error *error);

#endif
