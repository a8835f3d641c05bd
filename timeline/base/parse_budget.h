/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_budget.h - limits the cost of reading an untrusted file: a spent budget stops every walk, so that a
 * damaged or hostile binary costs an error message and never hangs a reader.
 */
#ifndef TIMELINE_PARSE_BUDGET_H
#define TIMELINE_PARSE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct parse_budget {
	uint64_t deadline_ns; /* CLOCK_PROCESS_CPUTIME_ID; 0: none */
	uint64_t steps_left;  /* entries, ranges, instructions: the walk's unit */
	bool spent;
};

/* A new budget: `steps` steps, and CPU time from now on (0: no limit). */
void parse_budget_allow(struct parse_budget *budget, uint64_t steps, uint64_t cpu_ns);
/* Takes one step; false when the budget is spent. */
bool parse_budget_step(struct parse_budget *budget);

#endif
