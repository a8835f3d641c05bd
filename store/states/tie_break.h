/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tie_break.h - which of several records owns a stream's line that say the same of the same time: samples of
 * one moment, spans of one kind that begin and end together. Ids differ from store to store (a slice has
 * others than the run it was cut from), so they are compared by what they name: the one with the greatest
 * path hash, of those the one whose operation is last (fixed ones by number, then texts), then whose state
 * is.
 */
#ifndef STORE_TIE_BREAK_H
#define STORE_TIE_BREAK_H

#include "store/base/bytes.h"
#include "store/states/span_stack.h"

/* What ids stand for. */
struct tie_names {
	struct store_hash (*path)(const void *own, uint32_t context);
	struct store_slice (*operation)(const void *own, uint32_t op); /* STORE_OP_TEXT and above */
	const void *own;
};

/* Below 0: `a` gives way to `b`, which is of the same time; 0: it makes no difference. */
int tie_break(const struct tie_names *names, const struct state_span *a, const struct state_span *b);

#endif
