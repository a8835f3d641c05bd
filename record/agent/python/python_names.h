/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_names.h - names of Python functions, in the memory that the collector reads: one entry for each
 * (qualified name, file, first line) of the process, made by whichever thread meets it first. They are
 * complete before a record names them. Lock-free; bounded: when the memory is full further functions get
 * none.
 */
#ifndef RECORD_AGENT_PYTHON_NAMES_H
#define RECORD_AGENT_PYTHON_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The number of the entry with this text (qualified name, NUL, file); 0: no memory for more. */
uint32_t python_names_number(const char *text, size_t bytes, uint32_t first_line);

/* Once per process, again in a fork child. */
void python_names_init(void);

#endif
