/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_path.h - makes the path of a module absolute. The loader keeps the name it was given, which may be
 * relative (LD_LIBRARY_PATH=., dlopen("./plugin.so")), and the collector has another working directory.
 * Signal safe.
 */
#ifndef RECORD_AGENT_MODULE_PATH_H
#define RECORD_AGENT_MODULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Once per process: saves the initial working directory. */
void module_path_init(void);

/* Writes the loader's name as an absolute path if possible, else unchanged; truncates to fit. */
void module_path_set(char *path, size_t bytes, const char *name);

/* True if module_path_set made the path from this name. */
bool module_path_is(const char *path, size_t bytes, const char *name);

#endif
