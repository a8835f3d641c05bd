/* SPDX-License-Identifier: Apache-2.0 */
/*
 * medoids.h - groups of things by their distances alone: k-medoids (Kaufman and Rousseeuw's PAM), the number
 * of groups by the silhouette.
 *
 *   distances    0 1 2 3 4        medoid: the member with the least distance to all of its group
 *      o o o        o o           silhouette of a member: (b - a) / max(a, b), its mean distance to the
 * others of
 *      \_0_/        \1/           its group a, and to those of the nearest other group b
 */
#ifndef TIMELINE_MEDOIDS_H
#define TIMELINE_MEDOIDS_H

#include <stddef.h>
#include <stdint.h>

#include "store/base/arena.h"
#include "store/base/error.h"

#define MEDOIDS_MOST 8u /* groups that are tried */

struct medoids {
	uint32_t count; /* of groups: 1 where no more are told apart */
	uint32_t medoids[MEDOIDS_MOST];
	double silhouette; /* the mean; 0 of one group */
};

/* Of `size` things with distances[i * size + j], symmetric. More than one group need a silhouette of at least
 * `least_silhouette` and medoids that are at least `least_distance` apart. ERROR_IO: no memory. */
int medoids_find(struct medoids *medoids, const float *distances, size_t size, double least_silhouette,
	double least_distance, struct error *error);

/* The same with so many groups; the sum of distances to the nearest medoid can not be lessened by exchanging
 * one. */
int medoids_of(
	struct medoids *medoids, const float *distances, size_t size, uint32_t count, struct error *error);
/* Sum of the distances to the nearest medoid. */
double medoids_cost(const struct medoids *medoids, const float *distances, size_t size);

#endif
