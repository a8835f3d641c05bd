/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime_libraries.h - libraries of GPU runtimes that the program works with, by address:
 * threads that they create are their own business, and frames of those that
 * stand between us and the program's call are not the program's.
 */
#ifndef RECORD_AGENT_GPU_RUNTIME_LIBRARIES_H
#define RECORD_AGENT_GPU_RUNTIME_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* The library that holds `address` is a runtime; hidden: its frames are passed over in call paths. Not from a
 * handler. */
void gpu_runtime_libraries_add(uint64_t address, bool hidden);

/* pc lies in one of them. Any thread, signal safe. */
bool gpu_runtime_libraries_has(uint64_t pc);
bool gpu_runtime_libraries_hides(uint64_t pc);

#endif
