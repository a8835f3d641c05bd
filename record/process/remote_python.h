/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_python.h - reads the Python stacks of another process from its memory, with the agent's table of
 * layouts (record/agent/python/python_layout.h). The process runs on meanwhile: a stack that is read twice
 * and the same is taken as it was; of another one, the outer frames that both readings have. Damage gives a
 * shorter stack, or none.
 *
 *   _PyRuntime -> interpreter -> thread states, by thread id -> frames -> code: name, file, line
 *
 * For the release builds of CPython 3.8 to 3.15 that have a GIL. Of a thread that is in several interpreters
 * it reads the newest one's frames.
 */
#ifndef RECORD_REMOTE_PYTHON_H
#define RECORD_REMOTE_PYTHON_H

#include <stdbool.h>

#include "record/agent/unwind/unwind.h"
#include "record/modules/remote_unwind_modules.h"

#define REMOTE_PYTHON_FRAMES_MAX 1024u /* outer ones beyond that are missing */

/* A function; kept until remote_python_free. */
struct remote_python_name {
	struct remote_python_name *next;
	uint32_t first_line;
	uint32_t number; /* the caller's; 0 at first */
	uint32_t bytes;	 /* of the text: its qualified name, NUL, its file; no NUL at the end */
	char text[];
};

struct remote_python_frame {
	uint64_t frame, code; /* addresses there */
	uint64_t marker;      /* an address inside the C frame that runs it; UINT64_MAX: none was found */
	uint32_t line;	      /* 0: not known */
	struct remote_python_name *name;
};

struct remote_python;

/* The interpreter among the modules; NULL: none, or one that cannot be read: then *minor is its
 * version, 3.MINOR, or 1 if that is not known. */
struct remote_python *remote_python_open(const struct remote_unwind_modules *modules, unsigned *minor);
void remote_python_free(struct remote_python *python);

/* Reads the thread's stack. `stands`: it is known to stand still, so one reading will do. Returns the number
 * of frames; 0: it has none, or none that held still. */
unsigned remote_python_read(struct remote_python *python, uint32_t tid, bool stands);

/* In unwind_frame.slot: a frame of Python, whose address is for remote_python_frame; a frame of the
 * interpreter that those stand for. Other frames keep their slot, the index of their module. */
#define REMOTE_PYTHON_SLOT 0xfff0u
#define REMOTE_PYTHON_HIDDEN 0xfff1u

/* The path of both languages, innermost frame first, of a path of C frames and the stack that was read last.
 * is_whole: the C stack is complete. *count: of the C frames, then of the path. Valid until the next call. */
const struct unwind_frame *remote_python_join(struct remote_python *python,
	struct remote_unwind_modules *modules, const struct unwind_frame *frames, unsigned *count,
	bool is_whole);
/* NULL: it is none of the stack that was read last. */
const struct remote_python_frame *remote_python_frame(const struct remote_python *python, uint64_t address);

#endif
