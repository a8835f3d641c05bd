/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump_table.h - finds the targets of an indirect jump: follows constants and table loads through the
 * preceding instructions, in address order, in the forms that compilers use for switches:
 *
 *   absolute   cmp $N, i; ja; jmp *T(,i,8)                            entry = target
 *   relative   cmp $N, i; ja; lea T, t; movslq (t,i,4), o; add t, o; jmp *o        target = T + entry
 *   scaled     cmp i, #N; b.hi; ldrh w, [t, i, lsl 1]; adr b, L; add x, b, w, sxth 2; br x   L + entry * 4
 *
 * The result is a guess: the caller must check that the targets are code of the function.
 */
#ifndef TIMELINE_JUMP_TABLE_H
#define TIMELINE_JUMP_TABLE_H

#include "timeline/base/parse_budget.h"
#include "timeline/code/decode.h"

#define JUMP_TABLE_MAX 4096u /* entries */

struct jump_table {
	uint64_t begin, base; /* target = base + (entry << shift) */
	uint32_t bound;	      /* entries; 0: unknown */
	uint8_t width, shift;
	bool is_signed;
};

/* The instructions before the jump: `starts[i]` is odd where one starts at begin + i. */
struct jump_window {
	const uint8_t *bytes, *starts;
	uint64_t begin;
	size_t size;
};

/* What instructions of one function leave in registers, for its further jumps: an interpreter has hundreds of
 * them, each soon after another. By place; all zeros at first. */
#define JUMP_EFFECTS 4096u
struct jump_effects {
	uint64_t address[JUMP_EFFECTS]; /* + 1; 0: none */
	struct effect effect[JUMP_EFFECTS];
};

/* The table of the jump at `jump` (in the window). `effects`: of the same function; NULL: none are kept.
 * False: unknown form, or a spent budget. */
bool jump_table_find(struct decoder *decoder, const struct jump_window *window, uint64_t jump,
	struct jump_effects *effects, struct parse_budget *budget, struct jump_table *table);

#endif
