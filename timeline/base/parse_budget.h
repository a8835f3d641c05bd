/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_budget.h - what reading an untrusted file may cost. A spent budget makes every walk stop where it is,
 * so that a damaged or hostile binary costs a sentence and never a hang.
 */
#ifndef TIMELINE_PARSE_BUDGET_H
#define TIMELINE_PARSE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct parse_budget {
	uint64_t deadline_ns; /* CLOCK_PROCESS_CPUTIME_ID; 0: none */
	uint64_t steps_left;  /* entries, ranges, instructions: whatever the walk goes by */
	bool spent;
};

/* A new budget: so many steps, and CPU time from now on (0: any). */
void parse_budget_allow(struct parse_budget *budget, uint64_t steps, uint64_t cpu_ns);
/* Takes one step; false when the budget is spent. */
bool parse_budget_step(struct parse_budget *budget);

#endif
