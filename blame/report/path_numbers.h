/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_numbers.h - contexts by the call path that is printed of them: those of one path differ by lines,
 * instructions and call sites, or only below the depth at which paths are cut.
 *
 *   main;solve (a.c:5)   main;solve (a.c:9)   main;solve;step     depth 2: one path, main;solve
 */
#ifndef BLAME_PATH_NUMBERS_H
#define BLAME_PATH_NUMBERS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

struct path_numbers {
	uint32_t count;		    /* of paths */
	const uint32_t *path_of;    /* [context] 0: none */
	const uint32_t *context_of; /* [path] the first one with it */
};

/* Of contexts 1 to `contexts` - 1. `depth` as run_scope_at() has it. In `arena`. */
int path_numbers_make(struct path_numbers *numbers, struct run *run, uint32_t contexts, uint32_t depth,
	struct arena *arena, struct error *error);

#endif
