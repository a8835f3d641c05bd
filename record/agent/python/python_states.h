/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_states.h - the states that the calling thread has beside the one that PyGILState gives: a thread
 * that runs code of a sub-interpreter has a state in each interpreter whose frames are on its stack. They are
 * found in the lists of the runtime, in the sampling handler, without their lock: what is read may be
 * changing.
 *
 *   _PyRuntime -> interpreter -> state -> state ...
 *                  \-> interpreter -> ...
 */
#ifndef RECORD_AGENT_PYTHON_STATES_H
#define RECORD_AGENT_PYTHON_STATES_H

#include "record/agent/python/python_stack.h"

#define PYTHON_STATES_MAX 8    /* of a thread, beside the one that is known */
#define PYTHON_STATES_SEEN 512 /* of the process; those further down the lists are not found */

/* Finds them, the newest interpreter's first. Returns how many; 0 after two readings where there is only one
 * interpreter. */
unsigned python_states_find(struct python_thread *t, const struct python_runtime *runtime, uint64_t known,
	uint64_t states[PYTHON_STATES_MAX]);

#endif
