/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_share.h - passes CUPTI's only subscriber slot between hpct and a tool that the program brings.
 * Both functions return at once if there is nothing to do.
 */
#ifndef RECORD_AGENT_GPU_CUDA_SHARE_H
#define RECORD_AGENT_GPU_CUDA_SHARE_H

/* The program's own tool is about to subscribe: hpct unsubscribes, unless configured to hold. */
void cuda_share_give(void);

/* The tool has unsubscribed: hpct subscribes again. */
void cuda_share_take(void);

#endif
