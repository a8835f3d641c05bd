/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_reuse.h - inside the walk: the simple steps of the last one. Most samples share all but their
 * innermost frames with the one before, and as long as the words that led a walk outwards are what they were,
 * so is where it led: they are compared, one after the other, and no rule is looked for, each of which lies
 * on a page of its own.
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
#define UNWIND_REUSE_LEAST 4 /* steps of a run that is worth it */

/* A frame that has called, and how the step out of it went. */
struct unwind_reuse_step {
	uint64_t pc; /* it returns to */
	uint64_t fp;
	uint32_t below; /* bytes from its stack pointer to the stack's end; one less than the next one's */
	uint32_t function;
	uint16_t slot;
	int16_t ra_words,
		fp_words; /* of the rule: words from the CFA, which is the next one's stack pointer */
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
