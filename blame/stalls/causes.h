/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.h - stalls to the instructions that cause them (S2 IV). Memory, execution and synchronization
 * dependencies have their cause elsewhere; all other reasons stay on the instruction that was sampled.
 *
 *   samples of each instruction --slices--> edges --rules 1 to 3--> edges --Eq 1--> causes
 *
 * All stalls are somewhere: the samples of the causes of one instruction and reason add up to its samples.
 */
#ifndef BLAME_CAUSES_H
#define BLAME_CAUSES_H

#include "blame/stalls/architecture.h"
#include "blame/stalls/dependency.h"
#include "blame/stalls/stall.h"

/* Samples of one instruction by reason: all, and those of them at which the scheduler issued nothing. */
struct cause_samples {
	double all[STALL_COUNT], latency[STALL_COUNT];
	/* Parts of the above: of IDEP, SYNC and MTHR by what the vendor's reason tells. */
	double fixed, fixed_latency; /* IDEP: waits for an instruction of fixed latency */
	double fence, fence_latency; /* SYNC: waits for memory, not for threads */
	double near;		     /* MTHR: of the queue of shared memory and special functions */
};

static inline double cause_samples_sum(const struct cause_samples *samples)
{
	double sum = 0;

	for (unsigned s = 0; s < STALL_COUNT; s++)
		sum += samples->all[s];
	return sum;
}

enum cause_class {   /* S2 Fig 5 */
	CAUSE_SELF,  /* not a dependency, or its source is unknown: stays where it was sampled */
	CAUSE_LOCAL, /* memory dependencies */
	CAUSE_CONSTANT,
	CAUSE_GLOBAL,
	CAUSE_SHARED, /* execution dependencies */
	CAUSE_ARITHMETIC,
	CAUSE_WAR,
	CAUSE_BARRIER, /* synchronization */
	CAUSE_FENCE,
	CAUSE_DIVERGENCE, /* of advice alone: a branch, and what its ways wait for most */
	CAUSE_CLASS_COUNT
};
const char *cause_class_name(enum cause_class class);

struct cause {
	uint32_t define, use;	 /* equal: of CAUSE_SELF, and of dependencies around a loop */
	uint8_t stall, class;	 /* enum stall, enum cause_class */
	uint32_t distance;	 /* instructions from the definition to the use, at most; 0 of CAUSE_SELF */
	double samples, latency; /* of the use, because of the definition */
};

struct causes {
	struct cause *list; /* by use, stall, define */
	size_t count, capacity;
	/* Nodes of the dependency graph: stalls of one instruction and kind of dependency; and those of them
	 * that need no apportioning, since they have one edge or none (S2 VI-C), before and after pruning. */
	size_t nodes, single_before, single_after;
	double dependent,
		explained; /* samples that have a cause elsewhere, and those whose cause was found */
};

/* `samples`: one of each instruction of the code. Once the budget (NULL: none) is spent all stalls stay where
 * they were sampled. Returns 0, negative: no memory. Free in both cases. */
int causes_find(struct causes *causes, const struct dependency_code *code,
	const struct cause_samples *samples, const struct architecture *architecture,
	struct parse_budget *budget, struct error *error);
void causes_fini(struct causes *causes);
/* Where the causes of an instruction begin in the list. */
size_t causes_first_of(const struct causes *causes, uint32_t use);

/* Eq 1: shares of `count` causes with these issued samples and path lengths; they add up to 1. */
void causes_apportion(const double *issued, const uint32_t *lengths, size_t count, double *shares);

#endif
