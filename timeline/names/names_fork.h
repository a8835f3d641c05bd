/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_fork.h - one request answered by several processes: copies of this one, made when the module's files
 * are open and unpacked, each for a part of the addresses, cut so that two do not read the same units.
 *
 * What the worker's limit leaves of memory is shared among them; who needs more fails.
 *
 *   offsets --by unit--> | part 0: this process | part 1: a copy | ...  --as they were asked for--> answers
 */
#ifndef TIMELINE_NAMES_FORK_H
#define TIMELINE_NAMES_FORK_H

#include "timeline/names/names.h"

#define NAMES_FORK_MIN 512u /* offsets that are worth it */

/* The answers to the request, as frames in the order of its offsets, to `fd`; *note: what is missing, one
 * sentence that lives until the next call. 1: done; 0: a process or memory was not to be had, or a copy died,
 * and nothing was written; -1: the other end is gone. */
int names_fork_answer(struct names_module *module, const struct symbol_request *request, unsigned parts,
	int fd, const char **note);

#endif
