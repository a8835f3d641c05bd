/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_reason.h - reasons why a sampled wave or thread of a GPU did not issue, as vendors' tools spell them,
 * as metrics of the store (blame/stalls/stall.h). */
#ifndef FORMATS_GPU_REASON_H
#define FORMATS_GPU_REASON_H

#include <stdbool.h>
#include <stddef.h>

#define GPU_REASON_METRIC_MAX 96u

/* Writes the metric's name, GINST:STL_GMEM/waitcnt. Names of AMD's rocprofiler-sdk (with or without the
 * prefix of its enumeration), of Intel's unitrace, of NVIDIA's CUPTI, and hpct's own (GMEM,
 * GMEM/long_scoreboard); no text is no reason. *is_idle: with that reason no other warp issued, as a rule.
 * False: the reason is unknown, its metric is STL_OTH. */
bool gpu_reason_metric(const char *reason, size_t size, char metric[GPU_REASON_METRIC_MAX], bool *is_idle);

#endif
