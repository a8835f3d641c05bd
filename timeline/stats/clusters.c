/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.c - see clusters.h. */
#include "timeline/stats/clusters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/bytes.h"
#include "timeline/base/key_ids.h"
#include "timeline/base/progress.h"
#include "timeline/stats/medoids.h"
#include "timeline/sum/window.h"

#define OUTLIER_DEVIATIONS 3
#define OUTLIER_STREAMS_LEAST 4 /* of all: with fewer a stream alone is no outlier */

/* What time is spent on. */
struct feature {
	uint32_t scope; /* UINT32_MAX: no path is known, the state alone */
	uint32_t state;
};

struct part {
	uint32_t feature;
	float share;
};

struct vector {
	struct part *parts; /* by feature */
	uint32_t count;
};

struct making {
	struct clusters *clusters;
	struct run *run;
	const struct select *select;
	struct arena *arena;
	struct key_ids features;
	uint32_t *contexts; /* by feature: one with that path */
	size_t context_room;
	struct vector *vectors;
	struct medoids medoids; /* of all streams: numbers of vectors */
};

/* ---- vectors ---- */

static int compare_parts(const void *left, const void *right)
{
	uint32_t a = ((const struct part *)left)->feature, b = ((const struct part *)right)->feature;

	return (a > b) - (a < b);
}

static uint32_t feature_of(struct making *making, const struct window_time *piece)
{
	struct feature feature = {UINT32_MAX, (uint32_t)piece->state};
	uint32_t number;

	if (piece->context && run_context(making->run, piece->context)->scope != UINT32_MAX) {
		feature.scope = run_scope_at(making->run, run_context(making->run, piece->context)->scope,
			select_depth(making->select));
		feature.state = extent_state_is_busy(piece->state) ? EXTENT_WORK : EXTENT_BLOCKED;
	}
	number = key_ids_put(&making->features, &feature, NULL);
	if (number == KEY_IDS_NONE || !array_reserve_zero(&making->contexts, &making->context_room,
					      making->features.count, sizeof *making->contexts))
		return KEY_IDS_NONE;
	if (feature.scope != UINT32_MAX && !making->contexts[number])
		making->contexts[number] = piece->context;
	return number;
}

/* Sums parts of one feature, which stand together. */
static void unite(struct vector *vector)
{
	uint32_t kept = 0;

	qsort(vector->parts, vector->count, sizeof *vector->parts, compare_parts);
	for (uint32_t i = 0; i < vector->count; i++)
		if (kept && vector->parts[kept - 1].feature == vector->parts[i].feature)
			vector->parts[kept - 1].share += vector->parts[i].share;
		else
			vector->parts[kept++] = vector->parts[i];
	vector->count = kept;
}

static int vector_fill(
	struct making *making, struct vector *vector, const struct window *window, struct error *error)
{
	double window_ns = (double)(select_end_ns(making->select) - select_begin_ns(making->select));
	size_t count;
	const struct window_time *pieces = window_times(window, &count);

	vector->parts = arena_alloc(making->arena, (count + 1) * sizeof *vector->parts);
	if (!vector->parts)
		return error_memory(error);
	for (size_t i = 0; i < count; i++) {
		uint32_t feature;

		if (!pieces[i].time_ns || !select_wants_context(making->select, pieces[i].context) ||
			!select_wants_op(making->select, pieces[i].op))
			continue;
		feature = feature_of(making, &pieces[i]);
		if (feature == KEY_IDS_NONE)
			return error_memory(error);
		vector->parts[vector->count++] =
			(struct part){feature, (float)((double)pieces[i].time_ns / window_ns)};
	}
	unite(vector);
	return 0;
}

static int vectors_fill(struct making *making, struct error *error)
{
	int rc = 0;

	for (uint32_t i = 0; i < making->clusters->count && !rc; i++) {
		struct window *window;

		if (!progress_at("comparing streams", i, making->clusters->count))
			return progress_refuse(error);
		rc = window_new(&window, making->run, error);
		if (rc)
			return rc;
		rc = window_add_time(window, making->clusters->streams[i].stream,
			select_begin_ns(making->select), select_end_ns(making->select), error);
		if (!rc)
			rc = vector_fill(making, &making->vectors[i], window, error);
		window_free(window);
	}
	return rc;
}

static float difference(const struct vector *a, const struct vector *b)
{
	uint32_t i = 0, j = 0;
	float sum = 0;

	while (i < a->count || j < b->count)
		if (j == b->count || (i < a->count && a->parts[i].feature < b->parts[j].feature))
			sum += a->parts[i++].share;
		else if (i == a->count || b->parts[j].feature < a->parts[i].feature)
			sum += b->parts[j++].share;
		else
			sum += fabsf(a->parts[i++].share - b->parts[j++].share);
	return sum / 2;
}

/* ---- groups ---- */

static int find_medoids(struct making *making, struct error *error)
{
	size_t all = making->clusters->count, size = all < CLUSTERS_SAMPLE ? all : CLUSTERS_SAMPLE;
	float *distances = calloc(size * size + 1, sizeof *distances);
	int rc;

	if (!distances)
		return error_memory(error);
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < i; j++)
			distances[i * size + j] = distances[j * size + i] = difference(
				&making->vectors[i * all / size], &making->vectors[j * all / size]);
	rc = medoids_find(&making->medoids, distances, size, CLUSTERS_LEAST_SILHOUETTE,
		CLUSTERS_LEAST_DIFFERENCE, error);
	for (uint32_t g = 0; g < making->medoids.count; g++)
		making->medoids.medoids[g] = (uint32_t)(making->medoids.medoids[g] * all / size);
	making->clusters->silhouette = making->medoids.silhouette;
	making->clusters->is_sampled = size < all;
	free(distances);
	return rc;
}

static void assign(struct making *making, uint32_t i)
{
	struct cluster_stream *stream = &making->clusters->streams[i];
	double next = INFINITY;

	stream->distance = INFINITY;
	for (uint32_t g = 0; g < making->medoids.count; g++) {
		uint32_t medoid = making->medoids.medoids[g];
		double d = (double)difference(&making->vectors[i], &making->vectors[medoid]);

		if (d < stream->distance) {
			next = stream->distance;
			stream->distance = d;
			stream->cluster = g;
			stream->is_medoid = medoid == i;
		} else if (d < next) {
			next = d;
		}
	}
	if (isfinite(next) && next > 0) {
		stream->next = next;
		stream->silhouette = (next - stream->distance) / next;
	}
}

static void find_outliers(struct making *making, uint32_t g)
{
	struct clusters *clusters = making->clusters;
	struct cluster *cluster = &clusters->clusters[g];
	double mean = 0, squares = 0, limit;

	for (uint32_t i = 0; i < clusters->count; i++)
		if (clusters->streams[i].cluster == g)
			mean += clusters->streams[i].distance / cluster->streams;
	for (uint32_t i = 0; i < clusters->count; i++)
		if (clusters->streams[i].cluster == g)
			squares += (clusters->streams[i].distance - mean) *
				   (clusters->streams[i].distance - mean);
	limit = fmax(mean + OUTLIER_DEVIATIONS * sqrt(squares / cluster->streams), CLUSTERS_LEAST_DIFFERENCE);
	for (uint32_t i = 0; i < clusters->count; i++) {
		struct cluster_stream *stream = &clusters->streams[i];
		bool is_alone = cluster->streams == 1 && clusters->count >= OUTLIER_STREAMS_LEAST;

		if (stream->cluster != g)
			continue;
		stream->is_outlier = is_alone || stream->distance > limit;
		cluster->outliers += stream->is_outlier;
	}
}

/* ---- what a group does more of ---- */

static const char *feature_text(struct making *making, uint32_t number)
{
	const struct feature *feature = key_ids_key(&making->features, number);
	const char *path;

	if (feature->scope == UINT32_MAX)
		return extent_state_name((enum extent_state)feature->state);
	path = run_context_path(
		making->run, making->contexts[number], select_depth(making->select), making->arena);
	return path && feature->state == EXTENT_BLOCKED ? arena_printf(making->arena, "%s (waiting)", path)
							: path;
}

static int describe(struct making *making, struct error *error)
{
	struct clusters *clusters = making->clusters;
	size_t features = making->features.count;
	double *sums = calloc((clusters->cluster_count + 1) * (features + 1), sizeof *sums);
	double *all = sums + clusters->cluster_count * features;

	if (!sums)
		return error_memory(error);
	for (uint32_t i = 0; i < clusters->count; i++)
		for (uint32_t k = 0; k < making->vectors[i].count; k++) {
			const struct part *part = &making->vectors[i].parts[k];

			sums[clusters->streams[i].cluster * features + part->feature] += (double)part->share;
			all[part->feature] += (double)part->share;
		}
	for (uint32_t g = 0; g < clusters->cluster_count; g++) {
		struct cluster *cluster = &clusters->clusters[g];
		uint32_t best = UINT32_MAX;

		for (uint32_t f = 0; f < features; f++) {
			double share = sums[g * features + f] / cluster->streams;
			double usual = all[f] / clusters->count;

			if (share - usual > cluster->share - cluster->usual) {
				best = f;
				cluster->share = share;
				cluster->usual = usual;
			}
		}
		cluster->key = best == UINT32_MAX ? "" : feature_text(making, best);
		if (!cluster->key) {
			free(sums);
			return error_memory(error);
		}
	}
	free(sums);
	return 0;
}

/* ---- the whole ---- */

static int choose_streams(struct making *making, const uint32_t *streams, uint32_t count, struct error *error)
{
	struct clusters *clusters = making->clusters;
	bool has_threads = false;

	if (!streams)
		streams = select_streams(making->select, &count);

	for (uint32_t i = 0; i < count; i++)
		has_threads |= run_stream(making->run, streams[i])->s.kind == STORE_STREAM_CPU;
	clusters->streams = arena_calloc(making->arena, (size_t)count + 1, sizeof *clusters->streams);
	making->vectors = arena_calloc(making->arena, (size_t)count + 1, sizeof *making->vectors);
	if (!clusters->streams || !making->vectors)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++)
		if (!has_threads || run_stream(making->run, streams[i])->s.kind == STORE_STREAM_CPU)
			clusters->streams[clusters->count++].stream = streams[i];
	for (uint32_t i = 0; i < clusters->count; i++)
		clusters->streams[i].vector = i;
	return 0;
}

static int compare_clusters(const void *left, const void *right)
{
	const struct cluster *a = left, *b = right;

	if (a->streams != b->streams)
		return a->streams > b->streams ? -1 : 1;
	return (a->medoid > b->medoid) - (a->medoid < b->medoid);
}

static int compare_streams(const void *left, const void *right)
{
	const struct cluster_stream *a = left, *b = right;

	if (a->cluster != b->cluster)
		return a->cluster > b->cluster ? 1 : -1;
	if (a->distance != b->distance)
		return a->distance > b->distance ? 1 : -1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Numbers clusters by their size, and sorts all. */
static void sort(struct making *making)
{
	struct clusters *clusters = making->clusters;

	qsort(clusters->clusters, clusters->cluster_count, sizeof *clusters->clusters, compare_clusters);
	for (uint32_t i = 0; i < clusters->count; i++) {
		struct cluster_stream *stream = &clusters->streams[i];
		uint32_t medoid = clusters->streams[making->medoids.medoids[stream->cluster]].stream, g = 0;

		while (clusters->clusters[g].medoid != medoid)
			g++;
		stream->cluster = g;
	}
}

static int fill_heat(struct making *making, struct error *error)
{
	struct clusters *clusters = making->clusters;
	uint32_t count = clusters->count < CLUSTERS_HEAT ? clusters->count : CLUSTERS_HEAT;
	uint32_t *streams = arena_calloc(making->arena, (size_t)count + 1, sizeof *streams);
	float *heat = arena_calloc(making->arena, (size_t)count * count + 1, sizeof *heat);

	if (!streams || !heat)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		streams[i] = (uint32_t)((uint64_t)i * clusters->count / count);
		for (uint32_t j = 0; j < i; j++)
			heat[i * count + j] = heat[j * count + i] =
				difference(&making->vectors[clusters->streams[streams[i]].vector],
					&making->vectors[clusters->streams[streams[j]].vector]);
	}
	clusters->heat_count = count;
	clusters->heat_streams = streams;
	clusters->heat = heat;
	return 0;
}

static int make(struct making *making, const uint32_t *streams, uint32_t count, struct error *error)
{
	struct clusters *clusters = making->clusters;
	int rc = choose_streams(making, streams, count, error);

	if (!rc)
		rc = vectors_fill(making, error);
	if (!rc)
		rc = find_medoids(making, error);
	clusters->clusters =
		arena_calloc(making->arena, making->medoids.count + 1u, sizeof *clusters->clusters);
	if (rc || !clusters->clusters)
		return rc ? rc : error_memory(error);
	clusters->cluster_count = making->medoids.count;
	for (uint32_t g = 0; g < making->medoids.count; g++)
		clusters->clusters[g].medoid = clusters->streams[making->medoids.medoids[g]].stream;
	for (uint32_t i = 0; i < clusters->count; i++) {
		assign(making, i);
		clusters->clusters[clusters->streams[i].cluster].streams++;
	}
	sort(making);
	for (uint32_t g = 0; g < clusters->cluster_count; g++)
		find_outliers(making, g);
	rc = describe(making, error);
	qsort(clusters->streams, clusters->count, sizeof *clusters->streams, compare_streams);
	return rc ? rc : fill_heat(making, error);
}

int clusters_make(struct clusters *clusters, struct run *run, const struct select *select,
	const uint32_t *streams, uint32_t count, struct arena *arena, struct error *error)
{
	struct making making = {.clusters = clusters, .run = run, .select = select, .arena = arena};
	int rc;

	*clusters = (struct clusters){0};
	key_ids_init(&making.features, sizeof(struct feature));
	rc = make(&making, streams, count, error);
	key_ids_fini(&making.features);
	free(making.contexts);
	return rc;
}

/* ---- ranks ---- */

static int compare_ranks(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

	return (a > b) - (a < b);
}

static void put_ranks(struct store_bytes *text, const int32_t *ranks, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		char range[40];
		int size;

		for (end = i + 1; end < count && ranks[end] <= ranks[end - 1] + 1; end++)
			;
		size = snprintf(range, sizeof range, "%s%d", i ? "," : "", ranks[i]);
		if (ranks[end - 1] != ranks[i])
			size += snprintf(range + size, sizeof range - (size_t)size, "-%d", ranks[end - 1]);
		store_bytes_put(text, range, (size_t)size);
	}
}

const char *clusters_ranks(
	const struct clusters *clusters, const struct run *run, uint32_t cluster, struct arena *arena)
{
	int32_t *ranks = calloc((size_t)clusters->count + 1, sizeof *ranks);
	struct store_bytes text = {0};
	const char *copy = NULL;
	size_t count = 0;

	for (uint32_t i = 0; ranks && i < clusters->count; i++) {
		int32_t rank = run_stream(run, clusters->streams[i].stream)->s.rank;

		if (clusters->streams[i].cluster == cluster && rank >= 0)
			ranks[count++] = rank;
	}
	if (count) {
		qsort(ranks, count, sizeof *ranks, compare_ranks);
		put_ranks(&text, ranks, count);
	}
	if (ranks && !text.failed)
		copy = arena_copy(arena, count ? (const char *)text.data : "", text.size);
	store_bytes_fini(&text);
	free(ranks);
	return copy;
}
