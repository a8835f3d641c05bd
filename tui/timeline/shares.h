/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.h - sums the shares of one column: time by (function at the depth, state), indexed by the function's
 * number.
 */
#ifndef TUI_SHARES_H
#define TUI_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/timeline/cell.h"

/* All-zero is empty. */
struct shares {
	struct cell_share *items; /* in the order of coming */
	struct shares_more {
		uint64_t largest_ns; /* of its parts */
		uint32_t next;	     /* place + 1 of the share before it of the same function */
	} * more;
	uint32_t count, room;
	uint32_t *places; /* [function + 1] place + 1 of its last share; the first: of no function */
	uint32_t functions;
};

/* Adds to its function and state; whether the path is shorter is what the largest part says. NULL: memory is
 * out; *is_new: its hash is still to be set. */
struct cell_share *shares_add(struct shares *shares, const struct cell_share *part, bool *is_new);
/* By descending time; ties by hash. Nothing is added behind it until it is cleared. */
void shares_sort(struct shares *shares);
void shares_clear(struct shares *shares);
void shares_fini(struct shares *shares);

#endif
