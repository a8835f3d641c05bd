/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_routine.h - what a thread is, by the function it was started for: the outermost of its paths that is
 * neither a runtime's nor the program's main.
 */
#ifndef TUI_ROWS_ROUTINE_H
#define TUI_ROWS_ROUTINE_H

#include "timeline/run/run.h"

#define ROWS_ROUTINE_BYTES 96

/* Its name without parameters and template arguments, into ROWS_ROUTINE_BYTES. Reads the thread's first
 * records. False: they do not tell. */
bool rows_routine(char *name, const struct run *run, uint32_t stream);

#endif
