/* SPDX-License-Identifier: Apache-2.0 */
/* parse_budget.c - see parse_budget.h. */
#include "timeline/base/parse_budget.h"

#include <time.h>

#define STEPS_PER_CLOCK 1024u /* how often the clock is read */

bool parse_budget_step(struct parse_budget *budget)
{
	struct timespec now;

	if (budget->spent)
		return false;
	if (budget->steps_left-- == 0)
		budget->spent = true;
	if (budget->deadline_ns && budget->steps_left % STEPS_PER_CLOCK == 0) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec > budget->deadline_ns)
			budget->spent = true;
	}
	return !budget->spent;
}

void parse_budget_allow(struct parse_budget *budget, uint64_t steps, uint64_t cpu_ns)
{
	struct timespec now;

	*budget = (struct parse_budget){.steps_left = steps};
	if (!cpu_ns)
		return;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	budget->deadline_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + cpu_ns;
}
