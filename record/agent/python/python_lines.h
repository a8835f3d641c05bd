/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_lines.h - CPython's tables of lines, of all versions. Pure: works on bytes, within their bounds.
 */
#ifndef RECORD_AGENT_PYTHON_LINES_H
#define RECORD_AGENT_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "record/agent/python/python_layout.h"

/* The line of the instruction at byte `offset` of the code (negative: not begun); 0: none. */
uint32_t python_lines_find(
	enum python_lines kind, const uint8_t *table, size_t bytes, uint32_t first_line, int64_t offset);

#endif
