/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_homes.h - tells functions of one name apart in the rows of several runs. What survives that a
 * program is built anew, or moved in memory, is a function's name; so rows are joined by it alone, and only
 * where one run has several functions of that name by as much of their place as makes them different:
 *
 *   one step                    name
 *   step in a.c and in b.c      name, a.c
 *   step in x/a.c and y/a.c     name, x/a.c, and the module's file name
 */
#ifndef TIMELINE_FUNCTION_HOMES_H
#define TIMELINE_FUNCTION_HOMES_H

#include "timeline/base/key_ids.h"
#include "timeline/profile/profile.h"

struct function_homes {
	struct key_ids names;  /* of functions, by their hash */
	struct key_ids places; /* struct place: of one profile, what is told apart so far */
	uint8_t *levels;       /* by name: how much of the place is looked at */
	uint64_t *whole;       /* by place: its hash in full */
	size_t level_capacity, whole_capacity;
};

/* Looks at the rows of all profiles. Negative: no memory. Call fini in any case. */
int function_homes_init(struct function_homes *homes, const struct profile *profiles, size_t count);
void function_homes_fini(struct function_homes *homes);
/* What belongs to the row's key beside its name; 0: nothing. */
uint64_t function_homes_hash(const struct function_homes *homes, const struct profile_row *row);

#endif
