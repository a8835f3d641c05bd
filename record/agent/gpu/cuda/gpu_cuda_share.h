/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_share.h - CUPTI's only place passes between hpct and a tool that the
 * program brings. Both return at once when hpct has nothing to give or take.
 */
#ifndef RECORD_AGENT_GPU_CUDA_SHARE_H
#define RECORD_AGENT_GPU_CUDA_SHARE_H

/* The program's own tool is about to subscribe: hpct leaves, unless it was told to hold. */
void cuda_share_give(void);

/* It has unsubscribed: hpct comes back. */
void cuda_share_take(void);

#endif
