/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_caller.h - functions behind the agent's wrappers that not all of the program shares: as the code at
 * some address would have found them. Not signal safe.
 */
#ifndef RECORD_AGENT_REAL_CALLER_H
#define RECORD_AGENT_REAL_CALLER_H

#include <stdbool.h>

/* Searches after the agent in the lookup order, then in the libraries that the caller's library was linked
 * with, if that was dlopen'ed (Python modules); *is_global (may be NULL): found by the first. NULL: none. */
void *real_caller_symbol(const char *name, void *caller, bool *is_global);

/* Whether two functions are of one library. */
bool real_caller_is_beside(const void *function, const void *other);

#endif
