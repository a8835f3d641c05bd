/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tie_break.h - breaks ties between records with equal times: samples of one moment, spans of one kind that
 * begin and end together. Ids differ from store to store (a slice has other ids than its run), so records
 * are compared by what the ids name: the greatest path hash wins, then the last operation (fixed ones by
 * number, then texts by name), then the last state.
 */
#ifndef STORE_TIE_BREAK_H
#define STORE_TIE_BREAK_H

#include "store/base/bytes.h"
#include "store/states/span_stack.h"

/* Resolves ids. */
struct tie_names {
	struct store_hash (*path)(const void *own, uint32_t context);
	struct store_slice (*operation)(const void *own, uint32_t op); /* STORE_OP_TEXT and above */
	const void *own;
};

/* Negative: `a` loses to `b`, which has the same times; 0: they are equal. */
int tie_break(const struct tie_names *names, const struct state_span *a, const struct state_span *b);

#endif
