/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_module.h - GPU binaries that agents hand over, into the store. */
#ifndef RECORD_GPU_MODULE_H
#define RECORD_GPU_MODULE_H

#include "store/writer.h"

/* Keeps the content of `memory`, a sealed memfd, under `hash`; closes it. */
void gpu_module_take(struct store_writer *writer, int memory, uint64_t hash);

#endif
