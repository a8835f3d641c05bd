/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_reuse.h - part of the walk: reuses the simple steps of the last walk. Most samples share all but
 * their innermost frames with the one before. While the stack words behind a step are unchanged, so is the
 * step: comparing them needs no rule lookups, each of which touches another page.
 *
 *   steps    [ unused ..., inner, ..., outer, where the run ended ]     the end is at UNWIND_REUSE_MAX
 *   fresh    [ inner, ... ]                                             of this walk, until it meets a kept
 * one
 */
#ifndef RECORD_AGENT_UNWIND_REUSE_H
#define RECORD_AGENT_UNWIND_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_REUSE_MAX 512
#define UNWIND_REUSE_LEAST 4 /* shortest run of steps worth keeping */

/* A calling frame and the step out of it. */
struct unwind_reuse_step {
	uint64_t pc; /* its return address */
	uint64_t fp;
	uint32_t below; /* bytes from its stack pointer to the stack's end; less than the next frame's */
	uint32_t function;
	uint16_t slot;
	int16_t ra_words, fp_words; /* of the rule: in words from the CFA, the next frame's stack pointer */
	bool is_hidden;
	bool knows_fp;
};

struct unwind_reuse {
	uint64_t high; /* the stack's end */
	unsigned count;
	unsigned fresh_count;
	struct unwind_reuse_step steps[UNWIND_REUSE_MAX];
	struct unwind_reuse_step fresh[UNWIND_REUSE_MAX];
};

#endif
