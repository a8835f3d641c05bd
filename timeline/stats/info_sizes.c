/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_sizes.c - hpct-info --sizes: the size of a run, part by part, and how much of its files is payload.
 */
#include "store/read/size_report.h"
#include "timeline/stats/info.h"
#include "timeline/stats/info_internal.h"

static void put_size(
	struct report *report, const char *part, uint64_t values, uint64_t bytes, uint64_t payload)
{
	report_string(report, part);
	report_number(report, values);
	report_number(report, bytes);
	report_real(report, payload ? 100 * (double)bytes / (double)payload : 0);
	report_row(report);
}

int info_print_sizes(struct run *run, enum report_format format, FILE *out, struct error *error)
{
	static const struct report_column columns[] = {{"part", REPORT_TEXT}, {"values", REPORT_NUMBER},
		{"bytes", REPORT_SIZE}, {"percent", REPORT_PERCENT}};
	struct store_size sizes[STORE_SIZE_COUNT] = {0};
	struct report *report = NULL;
	uint64_t values = 0, payload = 0;
	int rc = 0;

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = store_reader_sizes(run_store(run, store), sizes, error);
	if (rc == 0)
		rc = report_open(
			&report, out, format, "hpct-info", columns, sizeof columns / sizeof *columns, error);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < STORE_SIZE_COUNT; i++) {
		values += sizes[i].values;
		payload += sizes[i].bytes;
	}
	for (unsigned i = 0; i < STORE_SIZE_COUNT && run_store_count(run); i++)
		put_size(report, sizes[i].name, sizes[i].values, sizes[i].bytes, payload);
	put_size(report, "payload", values, payload, payload);
	put_size(report, "file", run_store_count(run), run_bytes(run), payload);
	return report_close(report, error);
}
