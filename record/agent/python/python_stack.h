/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_stack.h - reads the Python stack of the calling thread from the interpreter's memory, in the
 * sampling handler, without the interpreter's help: no lock, no allocation, no system call in the common
 * case.
 *
 *   frames    [ inner ... outer ]        each: name and line, and where in the C stack its C frame is
 *
 * A frame's code is known again by what its names hold, not by its address: those are used again. What is
 * read may be stale or gone (a frame that is just being made): each page is checked before it is read, types
 * are checked, and damage gives a shorter stack, never a fault.
 */
#ifndef RECORD_AGENT_PYTHON_STACK_H
#define RECORD_AGENT_PYTHON_STACK_H

#include "record/agent/python/python_runtime.h"
#include "store/ring/ring.h"

#define PYTHON_FRAMES_MAX 8192 /* beyond that the outer ones are missing */
#define PYTHON_CODES 2048      /* a power of two */
#define PYTHON_LINES 4096      /* likewise */
#define PYTHON_PAGES 512       /* likewise: sets of two */
#define PYTHON_PAGE_WALKS 128  /* walks after which pages are checked anew */

struct python_frame {
	uint64_t place;	 /* name << EVENT_PYTHON_LINE_BITS | line */
	uint64_t marker; /* an address inside its C frame; PYTHON_ENTRY_EACH: 0 */
};

/* What a code object was when it was named. */
struct python_code {
	uint64_t address;					 /* 0: none */
	uint64_t name, name_hash, file, file_hash, table, lines; /* `lines`: what identifies the table */
	uint32_t first_line;
	uint32_t number; /* of its event_name */
	uint32_t age;	 /* python_thread.walks / PYTHON_PAGE_WALKS when its pages were checked */
};

struct python_line {
	uint64_t code; /* place in python_thread.codes and in what is there: see line_find */
	uint32_t instruction, line;
};

struct python_thread {
	uint32_t walks;
	unsigned count;			/* frames of the last walk, innermost first */
	bool is_cut;			/* outer frames are missing */
	uint64_t file, file_hash;	/* of this walk's last code object: mostly the next one's, too */
	uint64_t page[PYTHON_PAGES][2]; /* readable, as address + 1 */
	uint8_t page_next[PYTHON_PAGES];
	uint64_t asked; /* the page that was asked for last, in this walk */
	bool asks_anew; /* pages that were readable in earlier walks may not be now, but for these: */
	uint64_t sure_page[3], sure_pages[3];
	struct python_code codes[PYTHON_CODES];
	struct python_line lines[PYTHON_LINES];
	char text[EVENT_NAME_BYTES_MAX];
	struct python_frame frames[PYTHON_FRAMES_MAX];
};

/* Reads the stack into t->frames. True if the thread has a state, even if no frame is on its stack. */
bool python_stack_read(struct python_thread *t, const struct python_runtime *runtime);

/* Identifies the stack read last; 0: no frames. */
uint64_t python_stack_hash(const struct python_thread *t);

#endif
