/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_join.h - one path of both languages. Python frames go below (inside) the C frame of the interpreter
 * that runs them; frames of the interpreter itself get the slot that readers hide.
 *
 *   C       leaf  glue  evaluate  glue  extension  glue  evaluate  main         innermost first
 *   Python              f, g                             <module>
 *   joined  leaf' glue' f  g  evaluate'  glue'  extension  glue'  <module>  evaluate'  main'     ' hidden
 */
#ifndef RECORD_AGENT_PYTHON_JOIN_H
#define RECORD_AGENT_PYTHON_JOIN_H

#include "record/agent/python/python_stack.h"
#include "record/agent/unwind/unwind.h"

/* Joins `count` C frames, innermost first, in a buffer for `most`, with t's. `evaluate`:
 * unwind_frame.function of the interpreter's loop; is_whole: the C stack is complete. The new number of
 * frames; Python's outermost are left out if there is no space. */
unsigned python_join(const struct python_thread *t, const struct python_runtime *runtime,
	struct unwind_frame *frames, unsigned count, unsigned most, uint32_t evaluate, bool is_whole);

#endif
