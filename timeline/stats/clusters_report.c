/* SPDX-License-Identifier: Apache-2.0 */
/* clusters_report.c - see clusters_report.h. */
#include "timeline/stats/clusters_report.h"

#include "timeline/report/report_fit.h"

static const struct report_column stream_columns[] = {{"cluster", REPORT_NUMBER}, {"stream", REPORT_TEXT},
	{"rank", REPORT_NUMBER}, {"is_medoid", REPORT_NUMBER}, {"is_outlier", REPORT_NUMBER},
	{"distance_percent", REPORT_PERCENT}, {"silhouette", REPORT_PERCENT}, {"key", REPORT_COMPOSED},
	{"percent", REPORT_PERCENT}, {"usual_percent", REPORT_PERCENT}, {"next_percent", REPORT_PERCENT}};
static const struct report_column group_columns[] = {{"cluster", REPORT_NUMBER}, {"streams", REPORT_NUMBER},
	{"outliers", REPORT_NUMBER}, {"ranks", REPORT_TEXT}, {"like", REPORT_TEXT}, {"%", REPORT_PERCENT},
	{"usual %", REPORT_PERCENT}, {"does more of", REPORT_COMPOSED}};
static const struct report_column outlier_columns[] = {
	{"outlier", REPORT_TEXT}, {"of cluster", REPORT_NUMBER}, {"differs by %", REPORT_PERCENT}};

static int put_streams(const struct clusters *clusters, const struct run *run, enum report_format format,
	uint64_t top, struct error *error)
{
	struct report *report;
	int rc = report_open(&report, stdout, format, "hpct-stats-clusters", stream_columns,
		sizeof stream_columns / sizeof *stream_columns, error);

	for (uint32_t i = 0; !rc && i < clusters->count && i < top; i++) {
		const struct cluster_stream *stream = &clusters->streams[i];
		const struct cluster *cluster = &clusters->clusters[stream->cluster];
		int32_t rank = run_stream(run, stream->stream)->s.rank;

		report_number(report, stream->cluster);
		report_string(report, run_stream(run, stream->stream)->text);
		if (rank < 0)
			report_none(report);
		else
			report_number(report, (uint64_t)rank);
		report_number(report, stream->is_medoid);
		report_number(report, stream->is_outlier);
		report_real(report, 100 * stream->distance);
		report_real(report, stream->silhouette);
		report_string(report, cluster->key);
		report_real(report, 100 * cluster->share);
		report_real(report, 100 * cluster->usual);
		report_real(report, 100 * stream->next);
		report_row(report);
	}
	return rc ? rc : report_close(report, error);
}

/* ---- for people ---- */

static int put_groups(const struct clusters *clusters, const struct run *run, uint64_t top,
	struct arena *arena, struct error *error)
{
	struct report *report;
	int rc = report_open(&report, stdout, REPORT_TABLE, "hpct-stats-clusters", group_columns,
		sizeof group_columns / sizeof *group_columns, error);

	for (uint32_t g = 0; !rc && g < clusters->cluster_count && g < top; g++) {
		const struct cluster *cluster = &clusters->clusters[g];

		report_number(report, g);
		report_number(report, cluster->streams);
		report_number(report, cluster->outliers);
		report_string(report, clusters_ranks(clusters, run, g, arena));
		report_string(report, run_stream(run, cluster->medoid)->text);
		report_real(report, 100 * cluster->share);
		report_real(report, 100 * cluster->usual);
		report_string(report, cluster->key);
		report_row(report);
	}
	return rc ? rc : report_close(report, error);
}

/* From those of its group; alone in it, from the nearest others. */
static double differs(const struct clusters *clusters, const struct cluster_stream *stream)
{
	return clusters->clusters[stream->cluster].streams > 1 ? stream->distance : stream->next;
}

static int put_outliers(const struct clusters *clusters, const struct run *run, struct error *error)
{
	struct report *report;
	bool has_any = false;
	int rc;

	for (uint32_t g = 0; g < clusters->cluster_count; g++)
		has_any |= clusters->clusters[g].outliers > 0;
	if (!has_any)
		return 0;
	putchar('\n');
	rc = report_open(&report, stdout, REPORT_TABLE, "hpct-stats-clusters", outlier_columns,
		sizeof outlier_columns / sizeof *outlier_columns, error);
	for (uint32_t i = 0; !rc && i < clusters->count; i++)
		if (clusters->streams[i].is_outlier) {
			report_string(report, run_stream(run, clusters->streams[i].stream)->text);
			report_number(report, clusters->streams[i].cluster);
			report_real(report, 100 * differs(clusters, &clusters->streams[i]));
			report_row(report);
		}
	return rc ? rc : report_close(report, error);
}

/* From the medoid of its group. */
static double farthest(const struct clusters *clusters)
{
	double most = 0;

	for (uint32_t i = 0; i < clusters->count; i++)
		most = clusters->streams[i].distance > most ? clusters->streams[i].distance : most;
	return most;
}

int clusters_report(const struct clusters *clusters, const struct run *run, enum report_format format,
	uint64_t top, struct arena *arena, struct error *error)
{
	int rc;

	if (format != REPORT_TABLE)
		return put_streams(clusters, run, format, top, error);
	if (clusters->cluster_count > 1)
		report_fit_say("%u streams in %u groups of those that do alike; silhouette %.2f of 1%s",
			clusters->count, clusters->cluster_count, clusters->silhouette,
			clusters->is_sampled ? ", of a sample" : "");
	else if (farthest(clusters) >= CLUSTERS_LEAST_DIFFERENCE)
		report_fit_say(
			"%u streams in no groups of those that do alike: up to %.0f %% of their time differs",
			clusters->count, 100 * farthest(clusters));
	else
		report_fit_say("%u stream%s in one group: nothing tells them apart", clusters->count,
			clusters->count == 1 ? "" : "s");
	rc = put_groups(clusters, run, top, arena, error);
	return rc ? rc : put_outliers(clusters, run, error);
}
