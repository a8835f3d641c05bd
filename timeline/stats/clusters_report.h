/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters_report.h - prints hpct-stats --by cluster: for people the groups and the outliers, for scripts a
 * row for each stream.
 */
#ifndef TIMELINE_CLUSTERS_REPORT_H
#define TIMELINE_CLUSTERS_REPORT_H

#include "timeline/report/report.h"
#include "timeline/stats/clusters.h"

/* To stdout; of a table at most `top` groups, else so many streams. */
int clusters_report(const struct clusters *clusters, const struct run *run, enum report_format format,
	uint64_t top, struct arena *arena, struct error *error);

#endif
