/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_fork.h - answers one request in several processes: forks of this one, made once the module's files
 * are open and decompressed, each for a part of the addresses, split so that no two read the same units.
 *
 * They share the worker's remaining memory limit; a process that needs more fails.
 *
 *   offsets --by unit--> | part 0: this process | part 1: a copy | ...  --in the request's order--> answers
 */
#ifndef TIMELINE_NAMES_FORK_H
#define TIMELINE_NAMES_FORK_H

#include "timeline/names/names.h"

#define NAMES_FORK_MIN 512u /* fewest offsets that justify forking */

/* Writes the answers to the request, as frames in the order of its offsets, to `fd`; *note: what is missing,
 * one sentence valid until the next call. 1: done; 0: no process or memory, or a copy died, and nothing was
 * written; -1: `fd` is closed at the other end. */
int names_fork_answer(struct names_module *module, const struct symbol_request *request, unsigned parts,
	int fd, const char **note);

#endif
