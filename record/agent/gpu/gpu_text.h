/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_text.h - attributes of a GPU operation as "key=value,..." (design, Output). Kinds are those of S4
 * tables 8.2-8.5: H2D, DEV, STR ... No allocation.
 */
#ifndef RECORD_AGENT_GPU_TEXT_H
#define RECORD_AGENT_GPU_TEXT_H

#include <stddef.h>

#include "record/agent/gpu/gpu.h"

#define GPU_TEXT_BYTES 2048 /* a record holds 4096 */

/* Writes the attributes of an activity, NUL-terminated; returns their length, 0: none. */
size_t gpu_text_attributes(char text[GPU_TEXT_BYTES], const struct gpu_activity *activity);
/* "kind=STR,device=0,context=1,queue=2"; queue NULL: several queues. */
size_t gpu_text_sync(char text[GPU_TEXT_BYTES], enum gpu_sync_kind kind, const struct gpu_queue *queue);
/* "kind=DEV". */
size_t gpu_text_memory(char text[GPU_TEXT_BYTES], enum gpu_memory_kind kind, uint64_t address);

#endif
