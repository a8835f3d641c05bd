/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime_libraries.h - address ranges of GPU runtime libraries. Threads that these create are not
 * measured, and frames between a wrapper and the program's call into the runtime are hidden.
 */
#ifndef RECORD_AGENT_GPU_RUNTIME_LIBRARIES_H
#define RECORD_AGENT_GPU_RUNTIME_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* The library that contains `address` is a GPU runtime; hidden: call paths skip its frames. Not from a
 * handler. */
void gpu_runtime_libraries_add(uint64_t address, bool hidden);

/* True if pc is in a library that has been added, or in a GPU's driver, which begins threads before it calls
 * any tool. Not from a handler. */
bool gpu_runtime_libraries_has_or_driver(uint64_t pc);

/* True if pc is in one that has been added. Any thread, signal safe. */
bool gpu_runtime_libraries_has(uint64_t pc);
bool gpu_runtime_libraries_hides(uint64_t pc);

#endif
