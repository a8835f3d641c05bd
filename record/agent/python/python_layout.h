/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_layout.h - where CPython keeps what is read: one row per minor version, 64-bit release builds with a
 * GIL. The rows were taken from the headers of each version (Include/internal/pycore_frame.h, code.h,
 * unicodeobject.h) and do not change within a minor version.
 *
 *   thread state -> [control frame ->] frame -> previous frame -> ...
 *                                        \-> code -> qualified name, file, first line, table of lines
 */
#ifndef RECORD_AGENT_PYTHON_LAYOUT_H
#define RECORD_AGENT_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How the table of lines is written: CPython's notes on lnotab and on locations. */
enum python_lines { PYTHON_LINES_LNOTAB, PYTHON_LINES_3_10, PYTHON_LINES_3_11 };

/* What stands between the Python frames that one C frame of the interpreter runs and the next ones. */
enum python_entry {
	PYTHON_ENTRY_EACH,    /* each Python frame has a C frame of its own */
	PYTHON_ENTRY_CONTROL, /* a flag in the outermost frame; the C frame holds the control frame */
	PYTHON_ENTRY_FRAME    /* a frame of another owner, that lies in the C frame */
};

struct python_layout {
	uint8_t minor;
	uint8_t entry; /* enum python_entry */
	uint8_t lines; /* enum python_lines */
	/* thread state */
	uint16_t state_frame;	   /* the innermost frame; the control frame if there are such */
	uint16_t state_chunk;	   /* where there are: the chunk of memory where frames are made */
	uint16_t state_exceptions; /* ... and what is being handled, which lies in the generator that runs */
	/* control frame; 0 and 0: there are none */
	uint16_t control_frame, control_previous;
	/* frame */
	uint16_t frame_previous, frame_code, frame_instruction;
	uint16_t frame_is_entry, frame_owner; /* bytes; 0: none */
	uint8_t owner_entry;		      /* owners from here on are no functions */
	uint8_t instruction_bytes; /* 0: `frame_instruction` is an address, else units of an index */
	/* code */
	uint16_t code_name, code_qualified, code_file, code_first_line, code_lines;
	uint16_t code_traceable, code_begin; /* first instruction that counts; instructions. 0: unknown */
	/* the GIL: in the runtime, or 0 and a pointer in the interpreter's state */
	uint16_t runtime_gil, interpreter_gil;
	uint16_t state_interpreter, state_thread; /* in a thread state: that pointer, and pthread_self() */
	/* from 3.13 on: where _PyRuntime, which begins with struct _Py_DebugOffsets, publishes some of these
	 */
	struct {
		uint16_t interpreters, interpreter_next, threads, state_next; /* of those below */
		uint16_t gil, state_frame, state_thread;
		uint16_t frame_previous, frame_code, frame_instruction, frame_owner;
		uint16_t code_file, code_qualified, code_lines, code_first_line, code_begin;
	} published;
	/* the lists of all thread states, python_layout_lists. 0: as published */
	uint16_t runtime_interpreters, interpreter_threads, state_next;
	/* strings: bytes of the header before ASCII, and before other characters */
	uint16_t ascii_bytes, compact_bytes;
};

/* Where the lists are: the first interpreter in the runtime, the next one and its first state, the next
 * state.
 */
struct python_lists {
	uint64_t interpreters, interpreter_next, threads, state_next;
};

#define PYTHON_OBJECT_TYPE 8
#define PYTHON_OBJECT_SIZE 16 /* bytes objects: length; strings: characters */
#define PYTHON_STRING_HASH 24
#define PYTHON_STRING_STATE 32
#define PYTHON_BYTES_BEGIN 32
#define PYTHON_OWNER_GENERATOR 1u
/* struct _gil_runtime_state, alike in all versions */
#define PYTHON_GIL_HOLDER 8 /* thread state of who has it, or had it last */
#define PYTHON_GIL_TAKEN 16
#define PYTHON_GIL_CONDITION 32

/* The row of a minor version of Python 3; NULL: not known. */
const struct python_layout *python_layout_find(unsigned minor);
/* What the runtime at `base` publishes is as the row says, or it publishes nothing. */
bool python_layout_agrees(const struct python_layout *layout, uint64_t base);
/* The lists, as the row has them or the runtime at `base` publishes them. False: it publishes nonsense. */
bool python_layout_lists(const struct python_layout *layout, uint64_t base, struct python_lists *lists);

#endif
