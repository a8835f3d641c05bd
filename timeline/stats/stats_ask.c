/* SPDX-License-Identifier: Apache-2.0 */
/* stats_ask.c - see stats_ask.h. */
#include "timeline/stats/stats_ask.h"

#include "timeline/report/coverage.h"
#include "timeline/report/stream_groups.h"
#include "timeline/sum/state_metrics.h"

int stats_ask_by(const struct select *select, enum stats_by *by, const char *others, struct error *error)
{
	const char *name = select_by(select);
	int found = name ? stats_by_find(name) : STATS_FUNCTION;

	if (found < 0)
		return error_set(error, ERROR_USAGE, "--by %s: say " STATS_BY_NAMES ", %s", name, others);
	*by = (enum stats_by)found;
	return 0;
}

/* Weights look back, times forward: the two are never rows of one table. */
static int require_state_metrics(const struct run *run, const struct select *select, struct error *error)
{
	for (uint32_t m = 0; m < run_metric_count(run) && select_has_metric(select); m++)
		if (select_wants_metric(select, m))
			return error_set(error, ERROR_USAGE,
				"--metric %s: hpct-profile adds up what was sampled; here it is one "
				"of " STATE_METRICS_NAMES,
				run_metric_name(run, m));
	return 0;
}

static int require_sums(const struct run *run, const struct select *select, struct error *error)
{
	int rc = require_state_metrics(run, select, error);

	return rc ? rc : select_require_sums(select, error);
}

/* What is asked; *groups: the room, or NULL where rows are no groups. */
static int ask_rows(enum stats_by *by, struct stream_groups **groups, struct run *run,
	const struct select *select, bool has_labels, struct arena *arena, struct error *error)
{
	int found = select_by(select) ? stream_groups_find(select_by(select)) : -1, rc = 0;
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	if (found < 0 || !stream_groups_is_row((enum stream_groups_by)found)) {
		*groups = NULL;
		rc = stats_ask_by(select, by, STREAM_GROUPS_ROW_NAMES ", stream, op, step or @MARK", error);
	}
	if (rc == 0)
		rc = require_sums(run, select, error);
	if (rc == 0 && *groups)
		rc = stream_groups_make(
			*groups, run, streams, count, (enum stream_groups_by)found, has_labels, arena, error);
	return rc;
}

int stats_ask_when(struct stats *stats, struct run *run, const struct select *select, const char *condition,
	bool has_labels, uint64_t *met_ns, struct arena *arena, struct error *error)
{
	enum stats_by by = STATS_FUNCTION;
	struct stream_groups room, *groups = &room;
	int rc = ask_rows(&by, &groups, run, select, has_labels, arena, error);

	*stats = (struct stats){0};
	return rc ? rc : stats_of_when(stats, run, select, by, groups, condition, met_ns, arena, error);
}

int stats_ask(struct stats *stats, struct run *run, const struct select *select, bool has_labels,
	struct arena *arena, struct error *error)
{
	enum stats_by by = STATS_FUNCTION;
	struct stream_groups room, *groups = &room;
	const char *marks = stats_marks_name(select_by(select));
	int rc = marks ? require_sums(run, select, error)
		       : ask_rows(&by, &groups, run, select, has_labels, arena, error);

	*stats = (struct stats){0};
	if (rc == 0 && marks)
		rc = stats_of_marks(stats, run, select, marks, arena, error);
	else if (rc == 0)
		rc = stats_of_selection(stats, run, select, by, groups, arena, error);
	return rc == 0 && stats->monitored_ns == 0 ? coverage_empty(run, select, error) : rc;
}
