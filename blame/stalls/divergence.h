/* SPDX-License-Identifier: Apache-2.0 */
/*
 * divergence.h - branches that take the threads of one warp different ways, so that the warp goes all of them
 * one after another, and what that costs:
 *
 *   if (i & 1)  A          the warp runs A and B
 *   else        B          sorted, each warp would run one of them: half of both is saved
 *
 * Samples do not tell which threads run. That ways differ is known where the condition comes from the
 * thread's index (lanes.h). Where it comes from data, issued samples tell: if the instructions of both ways
 * together issue more often than the branch, warps went both.
 */
#ifndef BLAME_DIVERGENCE_H
#define BLAME_DIVERGENCE_H

#include "blame/stalls/causes.h"
#include "blame/stalls/lanes.h"

struct divergence_branch {
	uint32_t at;	 /* the branch */
	uint32_t most;	 /* the instruction of its ways that was sampled most */
	bool is_by_data; /* else by the thread's index */
	bool is_loop;	 /* threads make different numbers of rounds */
	double samples;	 /* of all its ways */
	double saved;	 /* of those, if the threads of a warp went together */
};

struct divergence {
	struct divergence_branch *list; /* most saved first */
	size_t count, capacity;
	/* Of all; what is in several ways counts once. */
	struct divergence_sum {
		double saved, low, high;
	} samples, issued; /* issued: of the samples at which the warp issued */
	bool *is_in;	   /* [instruction] in a way of a branch in the list */
};

/* `samples`: one of each instruction, in samples x period (0: unknown, then 1). Returns 0, negative: no
 * memory. Free in both cases. */
int divergence_find(struct divergence *divergence, const struct kernel_code *code, const struct lanes *lanes,
	const struct cause_samples *samples, uint64_t period, struct error *error);
void divergence_fini(struct divergence *divergence);

/* Instructions that each way from an instruction to the end leads over: the first of them; UINT32_MAX: none
 * but the end, or the budget is spent. `joins` has room for all. False: no memory. */
bool divergence_joins(const struct dependency_code *code, uint32_t *joins, struct parse_budget *budget);

#endif
