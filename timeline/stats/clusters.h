/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters.h - streams that do alike (S1 7.2): groups by what they spend their time on, and streams that fit
 * into none.
 *
 *   stream 0  solve 80 %  wait 20 %     a stream is the vector of its shares of the window by call path, at
 * work stream 1  solve 79 %  wait 21 %     or waiting, and by state where no path is known; two differ by
 * half the sum stream 2  solve 30 %  read 70 %     of the differences: the share of the window that they
 * spend otherwise
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
};

/* Of the selected threads; of the queues where no thread is selected. An outlier is a stream that is alone in
 * its group, or farther from its medoid than the mean of its group and three deviations, and
 * CLUSTERS_LEAST_DIFFERENCE. Everything in `arena`. */
int clusters_make(struct clusters *clusters, struct run *run, const struct select *select,
	struct arena *arena, struct error *error);

#endif
