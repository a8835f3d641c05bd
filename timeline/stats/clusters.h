/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters.h - streams that do alike (S1 7.2): groups by what they spend their time on, and streams that fit
 * into none.
 *
 *   stream 0  solve 80 %  wait 20 %
 *   stream 1  solve 79 %  wait 21 %
 *   stream 2  solve 30 %  read 70 %
 *
 * A stream is the vector of its shares of the window by call path, at work or waiting, and by state where no
 * path is known; two differ by half the sum of the differences: the share of the window that they spend
 * otherwise.
 *
 * The groups are found by k-medoids (medoids.h), of many streams among CLUSTERS_SAMPLE of them, chosen
 * evenly; then each stream goes to the nearest medoid.
 */
#ifndef TIMELINE_CLUSTERS_H
#define TIMELINE_CLUSTERS_H

#include "timeline/select/select.h"

#define CLUSTERS_SAMPLE 400u
#define CLUSTERS_LEAST_SILHOUETTE 0.4 /* where it is less there is one group */
#define CLUSTERS_LEAST_DIFFERENCE 0.05

struct cluster_stream {
	uint32_t stream, cluster; /* cluster: from 0, by descending number of streams */
	bool is_medoid, is_outlier;
	double distance;   /* from its medoid, 0 to 1 */
	double next;	   /* from the nearest other medoid; 0 with one group */
	uint32_t vector;   /* for clusters.c only */
	double silhouette; /* by the medoids: (b - a) / max(a, b), b to the next medoid; 0 with one group */
};

struct cluster {
	uint32_t streams, medoid; /* medoid: a stream of the run */
	uint32_t outliers;
	const char *key;     /* what it does more of than all streams together, most so; "": nothing */
	double share, usual; /* of it the group's and all streams' mean share of the window */
};

struct clusters {
	struct cluster_stream *streams; /* by cluster, then distance, then stream */
	uint32_t count;
	struct cluster *clusters;
	uint32_t cluster_count;
	double silhouette; /* the mean of the sample, by which the number of groups was chosen */
	bool is_sampled;
	/* How far streams are from each other, for a heat map: of some, chosen evenly in the order of
	 * `streams`. */
	uint32_t heat_count;
	const uint32_t *heat_streams; /* places in `streams` */
	const float *heat;	      /* [heat_count][heat_count], 0 to 1 */
};
#define CLUSTERS_HEAT 64u

/* Of the selected threads; of the queues where no thread is selected; `streams`: of these instead of the
 * selected ones, NULL: not. An outlier is a stream that is alone in
 * its group, or farther from its medoid than the mean of its group and three deviations, and
 * CLUSTERS_LEAST_DIFFERENCE. Everything in `arena`. */
int clusters_make(struct clusters *clusters, struct run *run, const struct select *select,
	const uint32_t *streams, uint32_t count, struct arena *arena, struct error *error);

/* "0-3,7": the ranks of a group's streams; "": they have none. In `arena`; NULL: no memory. */
const char *clusters_ranks(
	const struct clusters *clusters, const struct run *run, uint32_t cluster, struct arena *arena);

#endif
