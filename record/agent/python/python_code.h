/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.h - part of python_stack.c: the function and the line of a frame. Names are copied once per
 * code object, lines are decoded once per instruction; later walks compare what identifies them.
 */
#ifndef RECORD_AGENT_PYTHON_CODE_H
#define RECORD_AGENT_PYTHON_CODE_H

#include "record/agent/python/python_stack.h"

/* A frame's fields. */
struct python_frame_read {
	uint64_t previous, code;
	uint64_t instruction; /* an address or an index: see python_layout.instruction_bytes */
	uint8_t owner;
	bool is_entry;
};

enum python_code_result {
	PYTHON_CODE_NAMED,
	PYTHON_CODE_SKIP, /* not begun, or the interpreter's own: sys._getframe leaves it out, too */
	PYTHON_CODE_BAD	  /* no code object is there */
};

enum python_code_result python_code_place(struct python_thread *t, const struct python_runtime *runtime,
	const struct python_frame_read *read, uint64_t *place);

#endif
