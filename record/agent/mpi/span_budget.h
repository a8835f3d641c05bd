/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_budget.h - how many spans of short calls a thread may have before they become sums (mpi_sums.h): so
 * many a second on average, and a burst; fewer where one follows the other without a pause, since there a
 * span takes longer than the call and nothing else is done. By the calls' times alone, not by the clock.
 */
#ifndef RECORD_AGENT_SPAN_BUDGET_H
#define RECORD_AGENT_SPAN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define SPAN_BUDGET_A_SECOND 20000u /* a span takes about 0.5 us */
#define SPAN_BUDGET_AT_ONCE 20000u  /* before that, however fast, */
#define SPAN_BUDGET_DENSE 2000u	    /* or so many ... */
#define SPAN_BUDGET_PAUSE_NS 5000u  /* ... without a pause of this length between their ends */

struct span_budget {
	uint32_t spans;	    /* that may come yet */
	uint32_t dense;	    /* that came without a pause */
	uint64_t filled_ns; /* when `spans` was computed */
	uint64_t last_ns;   /* the end of the last one */
};

static inline void span_budget_fill(struct span_budget *budget, uint64_t now_ns)
{
	*budget = (struct span_budget){.spans = SPAN_BUDGET_AT_ONCE, .filled_ns = now_ns, .last_ns = now_ns};
}

/* A span that ends then; true: that were too many. */
static inline bool span_budget_spend(struct span_budget *budget, uint64_t end_ns)
{
	uint64_t more;

	budget->dense = end_ns - budget->last_ns < SPAN_BUDGET_PAUSE_NS ? budget->dense + 1 : 0;
	budget->last_ns = end_ns;
	if (budget->dense >= SPAN_BUDGET_DENSE)
		return true;
	if (budget->spans && --budget->spans)
		return false;
	more = (end_ns - budget->filled_ns) / (1000000000u / SPAN_BUDGET_A_SECOND);
	budget->filled_ns = end_ns;
	budget->spans = more < SPAN_BUDGET_AT_ONCE ? (uint32_t)more : SPAN_BUDGET_AT_ONCE;
	return budget->spans < SPAN_BUDGET_AT_ONCE / 2;
}

#endif
