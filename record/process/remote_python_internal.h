/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_python_internal.h - an interpreter in another process, and the code objects that were read from it.
 * Only remote_python*.c includes it.
 */
#ifndef RECORD_REMOTE_PYTHON_INTERNAL_H
#define RECORD_REMOTE_PYTHON_INTERNAL_H

#include "record/agent/python/python_code.h"
#include "record/agent/python/python_layout.h"
#include "record/process/remote_python.h"

#define REMOTE_PYTHON_CODES 4096u /* a power of two */
#define REMOTE_PYTHON_NAMES 4096u /* likewise */

struct remote_python_state {
	uint64_t address, thread; /* thread: pthread_self() there */
	uint32_t tid;		  /* 0: not known yet */
};

/* What a code object was when it was read, and is while its first bytes are the same. */
struct remote_python_code {
	uint64_t address; /* 0: none */
	unsigned char bytes[208];
	struct remote_python_name *name;
	unsigned char *table; /* of lines; owned */
	uint32_t table_bytes;
};

struct remote_python {
	uint32_t pid;
	const struct python_layout *layout;
	uint64_t runtime, code_type, string_type, bytes_type, evaluate;
	struct python_lists lists;
	struct remote_python_state *states;
	uint32_t state_count, age;
	size_t state_room;
	struct remote_python_code codes[REMOTE_PYTHON_CODES];
	struct remote_python_name *names[REMOTE_PYTHON_NAMES]; /* by hash */
	unsigned count;					       /* of what was read last: */
	struct remote_python_frame read[REMOTE_PYTHON_FRAMES_MAX + 1], again[REMOTE_PYTHON_FRAMES_MAX + 1];
	struct python_thread thread; /* for python_join */
	struct unwind_frame joined[UNWIND_WALK_MAX + REMOTE_PYTHON_FRAMES_MAX];
};

bool remote_python_get(const struct remote_python *python, uint64_t address, void *to, size_t bytes);

/* Fills name and line of a frame whose code is known. */
enum python_code_result remote_python_code_find(
	struct remote_python *python, struct remote_python_frame *frame, uint64_t instruction, uint8_t owner);
void remote_python_codes_free(struct remote_python *python);

#endif
