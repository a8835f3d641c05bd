/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_metric.h - metrics of GPU operations by call path: the names of S4 tables 8.1 to 8.6, computed from
 * the operations' spans and attributes.
 *
 *   GKER GMEM GMSET GXCOPY GSYNC, GPUOP their sum     ns of the window, however many ran at once
 *   GMEM:DEV GMSET:PIN GXCOPY:H2D ...                 bytes, by kind; GSYNC:STR ... ns
 *   GMEM:COUNT ... GKER:COUNT                         operations
 *   GKER:THR_REG BLK_THR BLK BLK_SM ...               of each launch, summed: divide by GKER:COUNT (S0 4.5)
 *   GKER:OCC_THR                                      percent, 100 * FGP_ACT / FGP_MAX of the row (S4 8.1.1)
 *   GINST                                             cycles of the metrics GINST:STL_*, together
 *   GSAMP:TOT GSAMP:EXP                               samples of instructions; those of full use (S4 T8.9)
 *   GSAMP:UTIL                                        percent, 100 * TOT / EXP of the row
 *
 * Times are those inside the window; all else counts where the operation begins, so that windows add up.
 * FGP_MAX is 1000 for each launch of known occupancy, because attributes give the ratio, not the warps.
 * GINST and GSAMP are of samples, whose launches timeline/sum/launch_samples.h knows: profiles alone have
 * them. Whole graphs (`--cuda-graphs graph`) are not kernels and count nowhere here.
 */
#ifndef TIMELINE_GPU_METRIC_H
#define TIMELINE_GPU_METRIC_H

#include "timeline/sum/state_metrics.h"

#define GPU_METRIC_COUNT 57u
#define GPU_METRIC_NAMES "GKER, GMEM:*, GMSET:*, GXCOPY:*, GSYNC:*, GKER:*, GINST, GSAMP:*"

const char *gpu_metric_name(unsigned metric);
const char *gpu_metric_unit(unsigned metric);
bool gpu_metric_is_ratio(unsigned metric); /* a double: not summed */
/* Metrics that match a name or pattern, bits 1 << metric; 0: none. A ratio includes its parts. */
uint64_t gpu_metric_find(const char *pattern);

/* Of samples of instructions, bits 1 << metric. */
#define GPU_METRIC_GINST 53u
#define GPU_METRIC_TOT 54u
#define GPU_METRIC_EXP 55u
#define GPU_METRIC_SAMPLES                                                                                 \
	(UINT64_C(1) << GPU_METRIC_GINST | UINT64_C(1) << GPU_METRIC_TOT | UINT64_C(1) << GPU_METRIC_EXP | \
		UINT64_C(1) << (GPU_METRIC_EXP + 1))

/* Its number after the run's own and the derived metrics. */
static inline uint32_t gpu_metric_number(const struct run *run, unsigned metric)
{
	return run_metric_count(run) + STATE_METRIC_COUNT + metric;
}

/* Adds the requested metrics of these streams as weights. */
int gpu_metric_add_weights(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, uint64_t wanted, struct error *error);

#endif
