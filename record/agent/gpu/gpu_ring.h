/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_ring.h - for gpu.c: the fork handler of the activity ring, whose other functions are in gpu.h. */
#ifndef RECORD_AGENT_GPU_RING_H
#define RECORD_AGENT_GPU_RING_H

/* Forgets all. Call in a fork child: the ring is the parent's, and a thread missing here may hold the lock.
 */
void gpu_ring_child(void);

#endif
