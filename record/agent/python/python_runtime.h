/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_runtime.h - the Python interpreter of this process: found among its modules by the names that it
 * exports (stripped or not, linked in or shared, opened by dlopen or embedded), when a call path first meets
 * it. Signal safe: no lock, no allocation, no call but the interpreter's own getters.
 */
#ifndef RECORD_AGENT_PYTHON_RUNTIME_H
#define RECORD_AGENT_PYTHON_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/agent/python/python_layout.h"

/* Filled before it is published, then unchanged until a fork. */
struct python_runtime {
	const struct python_layout *layout;
	void *(*state_get)(void); /* the calling thread's state, NULL: none; safe in a handler */
	int (*is_finalizing)(void);
	uint64_t code_type, string_type, bytes_type;
	uint64_t evaluate;	    /* the function that runs code */
	uint64_t base;		    /* of _PyRuntime */
	struct python_lists lists;  /* in there */
	uint16_t slot, hidden_slot; /* of the module, and of its frames where Python's stand for them */
	uint16_t python_slot;	    /* of Python's own frames */
};

/* Modules whose frames are plumbing of the interpreter, too: slot << 16 | hidden slot; 0: not met. */
enum python_beside {
	PYTHON_BESIDE_PROGRAM, /* that only starts it, named python... */
	PYTHON_BESIDE_LOADER,  /* its __tls_get_addr */
	PYTHON_BESIDE_COUNT
};
extern _Atomic uint32_t python_beside[PYTHON_BESIDE_COUNT] __attribute__((visibility("hidden")));

/* Looks at modules that were met since the last call. True: paths are other ones now. */
bool python_runtime_look(void);

/* The interpreter, while it is loaded; NULL: none that is known. */
const struct python_runtime *python_runtime(void);

/* Forgets it, in a fork child: slots are given out anew. */
void python_runtime_init(void);

#endif
