/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c - see estimate.h. */
#include "blame/advise/estimate.h"

#include <math.h>

static double less(double a, double b)
{
	return a < b ? a : b;
}

double estimate_elimination(double all, double matched)
{
	return all > 0 ? all / (all - less(matched, all)) : 1;
}

double estimate_issue_floor(double active, double issued, double issued_gone)
{
	return issued > 0 ? active * (1 - less(issued_gone, issued) / issued) : active;
}

double estimate_hiding_unbounded(double all, double matched_latency)
{
	return estimate_elimination(all, matched_latency);
}

double estimate_hiding(double all, double active, double matched_latency)
{
	return estimate_elimination(all, less(active, matched_latency));
}

double estimate_scopes(struct estimate_scope *scopes, size_t count)
{
	double filled = 0;

	for (size_t i = count; i-- > 0;) {
		double fill = less(scopes[i].active, scopes[i].matched_latency);

		filled += fill;
		if (scopes[i].parent != SIZE_MAX)
			scopes[scopes[i].parent].active += scopes[i].active - fill;
	}
	return filled;
}

double estimate_issue(double issue_rate, double warps)
{
	return 1 - pow(1 - issue_rate, warps);
}

double estimate_issue_rate(double active_share, double warps)
{
	return warps > 0 ? 1 - pow(1 - (active_share < 1 ? active_share : 1), 1 / warps) : 0;
}

double estimate_parallel(double issue_rate, double warps, double new_warps, double factor)
{
	double rate = estimate_issue(issue_rate, warps);

	if (warps <= 0 || new_warps <= 0 || rate <= 0)
		return 1;
	return warps / new_warps * (estimate_issue(issue_rate, new_warps) / rate) * factor;
}
