/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_export.c - figures over time as a table with a clock, a line for each value, which csv_import.c reads
 * again. The clock is the wall's where the run knows it.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/series/csv.h"
#include "timeline/sum/figure.h"

struct writing {
	struct run *run;
	FILE *out;
	struct store_bytes line; /* of the figure: all but time and value */
	uint64_t shift_ns;	 /* added to a time of the run */
	uint64_t count;
	bool is_silent, is_unordered;
};

/* Quoted where it must be. */
static void put_field(struct store_bytes *to, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		store_bytes_put(to, text, strlen(text));
		return;
	}
	store_bytes_put(to, "\"", 1);
	for (; *text; text++)
		store_bytes_put(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	store_bytes_put(to, "\"", 1);
}

static void put_number(struct store_bytes *to, bool is_there, long number)
{
	char text[32] = "";

	if (is_there)
		snprintf(text, sizeof text, "%ld", number);
	store_bytes_put(to, text, strlen(text));
}

static void describe(struct writing *writing, const struct figure *figure)
{
	static const char *const kinds[STORE_METRIC_KINDS] = {"amount", "gauge", "counter"};
	const struct run_stream *r = run_stream(writing->run, figure->stream);
	const bool is_gauges = r->s.kind == STORE_STREAM_GAUGES;
	struct store_bytes *to = &writing->line;

	to->size = 0;
	put_field(to, r->host);
	store_bytes_put(to, ",", 1);
	put_number(to, r->s.device != UINT32_MAX && r->s.kind != STORE_STREAM_CPU, (long)r->s.device);
	store_bytes_put(to, ",", 1);
	put_field(to, is_gauges ? r->name : "");
	store_bytes_put(to, ",", 1);
	put_number(to, r->s.pid != UINT32_MAX, (long)r->s.pid);
	store_bytes_put(to, ",", 1);
	put_number(to, r->s.rank >= 0, r->s.rank);
	store_bytes_put(to, ",", 1);
	put_field(to, figure->name);
	store_bytes_put(to, ",", 1);
	put_field(to, run_metric_unit(writing->run, figure->metric));
	store_bytes_put(to, ",", 1);
	put_field(to, kinds[run_metric_kind(writing->run, figure->metric)]);
}

static void write_value(void *own, uint64_t time_ns, double value)
{
	struct writing *writing = own;
	unsigned long long at_ns = time_ns + writing->shift_ns;

	if (writing->is_silent)
		return;
	writing->count++;
	fprintf(writing->out, "%llu,%.*s,%.17g\n", at_ns, (int)writing->line.size,
		(const char *)writing->line.data, value);
}

static void restart(void *own)
{
	struct writing *writing = own;

	writing->is_unordered = true;
	writing->is_silent = false;
}

/* What is printed cannot be forgotten: values that lie in disorder are found first. */
static int write_figure(struct writing *writing, const struct figure *figure, const struct select *select,
	struct error *error)
{
	const uint64_t begin_ns = select_begin_ns(select), end_ns = select_end_ns(select);
	int rc;

	describe(writing, figure);
	if (writing->line.failed)
		return error_memory(error);
	writing->is_silent = true;
	writing->is_unordered = false;
	rc = figure_values(writing->run, figure, begin_ns, end_ns, write_value, restart, writing, error);
	if (rc == 0 && !writing->is_unordered) {
		writing->is_silent = false;
		rc = figure_values(
			writing->run, figure, begin_ns, end_ns, write_value, restart, writing, error);
	}
	return rc;
}

static int write_figures(struct writing *writing, const struct select *select, const bool *is_wanted,
	struct arena *arena, struct error *error)
{
	static const char *const all = "*";
	struct figure *figures;
	uint32_t count;
	int rc = figures_list(&figures, &count, writing->run, &all, select_has_metric(select), arena, error);

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (is_wanted[figures[i].stream] && select_wants_metric(select, figures[i].metric))
			rc = write_figure(writing, &figures[i], select, error);
	return rc;
}

int csv_export(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct writing writing = {.run = run, .out = output->out};
	struct arena arena = {0};
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	bool *is_wanted = calloc((size_t)run_stream_count(run) + 1, sizeof *is_wanted);
	int rc;

	if (!is_wanted)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++)
		is_wanted[streams[i]] = true;
	writing.shift_ns = run_wall_ns(run) - run_origin_ns(run); /* wraps: without a wall clock from 0 */
	fputs("time_ns,host,device,uuid,pid,rank,metric,unit,kind,value\n", output->out);
	rc = write_figures(&writing, select, is_wanted, &arena, error);
	store_bytes_fini(&writing.line);
	arena_fini(&arena);
	free(is_wanted);
	return rc ? rc : !writing.count;
}

const struct format format_csv = {.name = "csv",
	.about = "figures over time, a table with a clock",
	.put = csv_export,
	.take = csv_import,
	.is = csv_is,
	.refused = "context op min depth",
	.lacks = FORMAT_LACKS_PC | FORMAT_LACKS_REGIONS | FORMAT_LACKS_RECORDS,
	.is_series = true};
