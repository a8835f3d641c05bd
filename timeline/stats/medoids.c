/* SPDX-License-Identifier: Apache-2.0 */
/* medoids.c - see medoids.h: PAM's two phases, build and swap. */
#include "timeline/stats/medoids.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct search {
	const float *distances;
	size_t size;
	struct medoids *medoids;
	float *nearest, *second; /* distances to the nearest and to the next medoid */
	uint32_t *group;	 /* the nearest medoid's number */
};

static float distance(const struct search *search, size_t a, size_t b)
{
	return search->distances[a * search->size + b];
}

/* Finds the nearest medoids of all. */
static double assign(struct search *search)
{
	double cost = 0;

	for (size_t i = 0; i < search->size; i++) {
		search->nearest[i] = search->second[i] = INFINITY;
		for (uint32_t g = 0; g < search->medoids->count; g++) {
			float d = distance(search, i, search->medoids->medoids[g]);

			if (d < search->nearest[i]) {
				search->second[i] = search->nearest[i];
				search->nearest[i] = d;
				search->group[i] = g;
			} else if (d < search->second[i]) {
				search->second[i] = d;
			}
		}
		cost += (double)search->nearest[i];
	}
	return cost;
}

/* The thing whose choice lessens the sum of distances most. */
static void build_one(struct search *search)
{
	double most = -1;
	uint32_t best = 0;

	for (size_t candidate = 0; candidate < search->size; candidate++) {
		double gain = 0;

		for (size_t i = 0; i < search->size; i++) {
			float d = distance(search, i, candidate);

			if (!search->medoids->count)
				gain -= (double)d;
			else if (d < search->nearest[i])
				gain += (double)(search->nearest[i] - d);
		}
		if (candidate == 0 || gain > most) {
			most = gain;
			best = (uint32_t)candidate;
		}
	}
	search->medoids->medoids[search->medoids->count++] = best;
	assign(search);
}

/* How the sum changes if `candidate` takes the place of each medoid. */
static void swap_changes(const struct search *search, size_t candidate, double changes[MEDOIDS_MOST])
{
	double shared = 0;

	for (uint32_t g = 0; g < search->medoids->count; g++)
		changes[g] = 0;
	for (size_t i = 0; i < search->size; i++) {
		float d = distance(search, i, candidate);
		double without = (double)(fminf(d, search->second[i]) - search->nearest[i]);

		if (d < search->nearest[i]) {
			shared += (double)(d - search->nearest[i]);
			without -= (double)(d - search->nearest[i]);
		}
		changes[search->group[i]] += without;
	}
	for (uint32_t g = 0; g < search->medoids->count; g++)
		changes[g] += shared;
}

/* The exchange that lessens the sum most; false: none does. */
static bool swap_one(struct search *search)
{
	double least = -1e-6; /* float's own error is no gain */
	uint32_t group = 0, by = 0;
	bool is_better = false;

	for (size_t candidate = 0; candidate < search->size; candidate++) {
		double changes[MEDOIDS_MOST];

		swap_changes(search, candidate, changes);
		for (uint32_t g = 0; g < search->medoids->count; g++)
			if (changes[g] < least) {
				least = changes[g];
				group = g;
				by = (uint32_t)candidate;
				is_better = true;
			}
	}
	if (is_better) {
		search->medoids->medoids[group] = by;
		assign(search);
	}
	return is_better;
}

static void search_fini(struct search *search)
{
	free(search->nearest);
	free(search->second);
	free(search->group);
}

static int search_init(struct search *search, const float *distances, size_t size, struct medoids *medoids,
	struct error *error)
{
	*search = (struct search){.distances = distances,
		.size = size,
		.medoids = medoids,
		.nearest = calloc(size + 1, sizeof *search->nearest),
		.second = calloc(size + 1, sizeof *search->second),
		.group = calloc(size + 1, sizeof *search->group)};
	return search->nearest && search->second && search->group ? 0 : error_memory(error);
}

static void find(struct search *search, uint32_t count)
{
	*search->medoids = (struct medoids){0};
	while (search->medoids->count < count && search->medoids->count < search->size)
		build_one(search);
	for (size_t round = 0; round < 100 && swap_one(search); round++)
		;
}

/* ---- silhouettes ---- */

/* Of one thing; alone in its group: 0. */
static double silhouette_of(const struct search *search, size_t i)
{
	double sums[MEDOIDS_MOST] = {0}, own, other = INFINITY;
	size_t counts[MEDOIDS_MOST] = {0};

	for (size_t j = 0; j < search->size; j++) {
		if (j == i)
			continue;
		sums[search->group[j]] += (double)distance(search, i, j);
		counts[search->group[j]]++;
	}
	if (!counts[search->group[i]])
		return 0;
	own = sums[search->group[i]] / (double)counts[search->group[i]];
	for (uint32_t g = 0; g < search->medoids->count; g++)
		if (g != search->group[i] && counts[g])
			other = fmin(other, sums[g] / (double)counts[g]);
	return isfinite(other) && fmax(own, other) > 0 ? (other - own) / fmax(own, other) : 0;
}

static double silhouette(const struct search *search)
{
	double sum = 0;

	for (size_t i = 0; i < search->size; i++)
		sum += silhouette_of(search, i);
	return sum / (double)search->size;
}

static bool are_apart(const struct search *search, double least)
{
	const struct medoids *medoids = search->medoids;

	for (uint32_t a = 0; a < medoids->count; a++)
		for (uint32_t b = 0; b < a; b++)
			if ((double)distance(search, medoids->medoids[a], medoids->medoids[b]) < least)
				return false;
	return true;
}

int medoids_of(
	struct medoids *medoids, const float *distances, size_t size, uint32_t count, struct error *error)
{
	struct search search;
	int rc = search_init(&search, distances, size, medoids, error);

	if (!rc) {
		find(&search, count);
		medoids->silhouette = medoids->count > 1 ? silhouette(&search) : 0;
	}
	search_fini(&search);
	return rc;
}

int medoids_find(struct medoids *medoids, const float *distances, size_t size, double least_silhouette,
	double least_distance, struct error *error)
{
	struct medoids tried;
	struct search search;
	int rc = search_init(&search, distances, size, &tried, error);

	*medoids = (struct medoids){0};
	if (!rc) {
		find(&search, 1);
		*medoids = tried;
	}
	for (uint32_t count = 2; count <= MEDOIDS_MOST && count < size && !rc; count++) {
		double mean;

		find(&search, count);
		mean = silhouette(&search);
		if (mean >= least_silhouette && mean > medoids->silhouette &&
			are_apart(&search, least_distance)) {
			*medoids = tried;
			medoids->silhouette = mean;
		}
	}
	search_fini(&search);
	return rc;
}

double medoids_cost(const struct medoids *medoids, const float *distances, size_t size)
{
	double cost = 0;

	for (size_t i = 0; i < size; i++) {
		float nearest = INFINITY;

		for (uint32_t g = 0; g < medoids->count; g++)
			nearest = fminf(nearest, distances[i * size + medoids->medoids[g]]);
		cost += (double)nearest;
	}
	return cost;
}
