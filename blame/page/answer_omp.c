/* SPDX-License-Identifier: Apache-2.0 */
/* answer_omp.c - OpenMP's regions: their time, work, waiting at barriers, imbalance, and who came last. */
#include "blame/base/related.h"
#include "blame/page/answer.h"
#include "blame/wait/regions.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

static uint64_t work_of(const struct region *region)
{
	return region->sums[REGION_CAPACITY] > region->sums[REGION_HELD]
		       ? region->sums[REGION_CAPACITY] - region->sums[REGION_HELD]
		       : 0;
}

static void print_row(struct report *report, struct program_call *call, const struct regions *regions,
	const struct region *region, const char *key)
{
	uint64_t work_ns = work_of(region);

	report_string(report, key);
	report_number(report, region->sums[REGION_HELD]);
	report_real(report, answer_percent(region->sums[REGION_HELD], regions->sums[REGION_HELD]));
	report_number(report, region->sums[REGION_TIME]);
	report_number(report, work_ns);
	if (work_ns)
		report_figure(report, (double)region->sums[REGION_CAPACITY] / (double)work_ns);
	else
		report_none(report);
	report_number(report, region->sums[REGION_COUNT]);
	report_string(
		report, region->stream == UINT32_MAX ? NULL : run_stream(call->run, region->stream)->text);
	report_number(report, region->stream_last);
	report_number(report, region->sums[REGION_LAST]);
	report_row(report);
}

static int print_rows(
	struct program_call *call, const struct regions *regions, enum row_key_by by, struct error *error)
{
	static const struct report_column columns[] = {{"key", REPORT_COMPOSED},
		{"blame_ns", REPORT_DURATION}, {"percent", REPORT_PERCENT}, {"time_ns", REPORT_DURATION},
		{"work_ns", REPORT_DURATION}, {"imbalance", REPORT_TEXT}, {"regions", REPORT_NUMBER},
		{"thread", REPORT_TEXT}, {"last", REPORT_NUMBER}, {"occasions", REPORT_NUMBER}};
	uint64_t left = program_top(call);
	struct store_bytes key = {0};
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns, 10, error);

	if (result)
		return result;
	for (size_t i = 0; i < regions->count && left && !result; i++) {
		if (!select_wants_context(call->select, regions->regions[i].context))
			continue;
		result = answer_gap_key(call, regions->regions[i].context, by, &key, error);
		if (!result)
			print_row(report, call, regions, &regions->regions[i], (const char *)key.data);
		left--;
	}
	store_bytes_fini(&key);
	if (result) {
		report_close(report, &(struct error){0});
		return result;
	}
	result = report_close(report, error);
	program_say_left_out(call, regions->count);
	return result;
}

static int print_summary(const struct program_call *call, const struct regions *regions, struct error *error)
{
	uint64_t held_ns = regions->sums[REGION_HELD], capacity_ns = regions->sums[REGION_CAPACITY];
	const struct answer_fact facts[] = {{"regions", regions->sums[REGION_COUNT]},
		{"time_ns", regions->sums[REGION_TIME]}, {"capacity_ns", capacity_ns},
		{"work_ns", capacity_ns > held_ns ? capacity_ns - held_ns : 0}, {"waited_ns", held_ns},
		{"occasions", regions->sums[REGION_LAST]}};

	return answer_print_facts(call, facts, sizeof facts / sizeof *facts, error);
}

/* All threads of the processes asked about: a region's last thread may be any. */
int answer_omp(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct related related = {0};
	struct regions regions;
	enum row_key_by by;
	int result = related_find(
		&related, call->run, question.streams, question.stream_count, false, &call->arena, error);

	if (!result)
		result = regions_sum(&regions, call->run, related.streams, related.count, question.begin_ns,
			question.end_ns, &call->arena, error);
	if (!result)
		result = answer_find_by(call, &by, error);
	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (result)
		return result;
	if (ask->shape == ASK_SUMMARY)
		return print_summary(call, &regions, error);
	answer_print_definition(call,
		"OpenMP's regions: blame is how long threads waited at barriers and ends for the last one; "
		"work is the rest of\ntheir time; imbalance is the longest thread's work over the mean; "
		"thread "
		"is whom the others waited for most,\nlast at so many of the occasions");
	return print_rows(call, &regions, by, error);
}
