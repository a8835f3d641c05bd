/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_ring.h - between gpu.c and the activity ring, whose other functions are gpu.h's. */
#ifndef RECORD_AGENT_GPU_RING_H
#define RECORD_AGENT_GPU_RING_H

/* This is a fork child: the ring is its parent's, the lock may be held by a thread that is not here. */
void gpu_ring_child(void);

#endif
