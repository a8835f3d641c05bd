/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_path.h - where a module's file is. The loader keeps the name that it was asked for, which may be
 * relative (LD_LIBRARY_PATH=., dlopen("./plugin.so")), and the collector lives elsewhere. May run in the
 * sampling handler.
 */
#ifndef RECORD_AGENT_MODULE_PATH_H
#define RECORD_AGENT_MODULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Once per process: remembers where it began. */
void module_path_init(void);

/* The loader's name as an absolute path where that can be told, else as it is; cut to fit. */
void module_path_set(char *path, size_t bytes, const char *name);

/* Was the path made from this name? */
bool module_path_is(const char *path, size_t bytes, const char *name);

#endif
