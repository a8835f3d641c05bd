/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_row.c - the fields of a row and the order of rows: numbers decide most comparisons, the printed text
 * the rest.
 */
#include "timeline/slice/slice_row.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/escape.h"
#include "timeline/run/run_internal.h"

#define PATHS_MAX ((uint64_t)1 << 40) /* bytes of paths that are kept; then they are made anew */

/* ---- fields ---- */

static const char *path_of(struct slice_texts *texts, uint32_t context)
{
	if (context >= texts->path_count) {
		uint32_t count = run_context_count(texts->run);
		const char **paths = realloc(texts->paths, (size_t)(count + 1) * sizeof *paths);

		if (!paths || context >= count) {
			texts->failed |= !paths;
			texts->paths = paths ? paths : texts->paths;
			return "";
		}
		for (uint32_t i = texts->path_count; i < count; i++)
			paths[i] = NULL;
		texts->paths = paths;
		texts->path_count = count;
	}
	if (!texts->paths[context])
		texts->paths[context] = run_context_path(texts->run, context, texts->depth, &texts->arena);
	texts->failed |= !texts->paths[context];
	return texts->paths[context] ? texts->paths[context] : "";
}

static void put_attributes(
	const struct slice_texts *texts, struct store_bytes *out, const struct slice_row *row)
{
	const struct run_stream *stream = run_stream(texts->run, row->stream);
	size_t size;
	const char *text =
		store_reader_text(run_store(texts->run, stream->store), row->record.attributes, &size);

	slice_put_attributes(out, text, size, row->record.link);
}

static void put_number(struct store_bytes *out, uint64_t number, bool is_there)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	if (is_there)
		store_bytes_put(out, text, strlen(text));
	store_bytes_put(out, "\t", 1);
}

static void put_name(struct store_bytes *out, const char *name)
{
	escape_field(out, name, strlen(name));
	store_bytes_put(out, "\t", 1);
}

/* What the values of a figure over time are, so that a copy made of the rows knows it, too. */
static void put_kind(struct slice_texts *texts, struct store_bytes *out, uint32_t metric)
{
	static const char *const kinds[STORE_METRIC_KINDS] = {"", "kind=gauge", "kind=counter"};
	enum store_metric_kind kind = run_metric_kind(texts->run, metric);
	const char *unit = run_metric_unit(texts->run, metric);

	if (kind == STORE_METRIC_AMOUNT)
		return;
	store_bytes_put(out, kinds[kind], strlen(kinds[kind]));
	if (!*unit)
		return;
	store_bytes_put(out, ",unit=", 6);
	escape_attribute(out, unit, strlen(unit));
}

/* The columns behind the end, as TSV has them: a tab is less than any byte of a field, so the whole
 * compares as its columns do. */
static void put_rest(struct slice_texts *texts, struct store_bytes *out, const struct slice_row *row)
{
	const struct store_record *record = &row->record;
	bool is_span = row->track == STORE_SPANS, is_value = row->track == STORE_VALUES;
	const char *path = path_of(texts, record->context);
	char value[SLICE_VALUE_MAX] = "";

	out->size = 0;
	store_bytes_put(out, path, strlen(path));
	store_bytes_put(out, "\t", 1);
	put_name(out, is_span ? run_op_name(texts->run, record->what) : "");
	put_number(out, record->bytes, is_span && record->bytes != 0);
	put_number(out, record->amount, row->track == STORE_SAMPLES || (is_span && record->amount != 0));
	put_name(out, is_span ? "" : run_metric_name(texts->run, record->what));
	if (is_value)
		slice_value_text(value, record->amount, run_metric_is_real(texts->run, record->what));
	put_name(out, value);
	if (is_span)
		put_attributes(texts, out, row);
	if (is_value)
		put_kind(texts, out, record->what);
	texts->failed |= out->failed;
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rest(struct slice_texts *texts, const struct slice_row *a, const struct slice_row *b)
{
	size_t shorter;
	int order;

	put_rest(texts, &texts->left, a);
	put_rest(texts, &texts->right, b);
	shorter = texts->left.size < texts->right.size ? texts->left.size : texts->right.size;
	order = memcmp(texts->left.data, texts->right.data, shorter);
	return order ? order : compare_numbers(texts->left.size, texts->right.size);
}

int slice_row_compare(const void *left, const void *right, void *own)
{
	const struct slice_row *a = left, *b = right;
	int order = compare_numbers(a->record.begin_ns, b->record.begin_ns);

	if (!order)
		order = compare_numbers(a->rank, b->rank);
	if (!order)
		order = compare_numbers(a->track, b->track);
	if (!order && a->track == STORE_SPANS)
		order = compare_numbers(a->record.end_ns, b->record.end_ns);
	return order ? order : compare_rest(own, a, b);
}

static int compare_texts(const void *left, const void *right, void *own)
{
	const struct run *run = own;

	return strcmp(run_stream(run, *(const uint32_t *)left)->text,
		run_stream(run, *(const uint32_t *)right)->text);
}

/* Streams in the order of their texts; equal texts are one rank. Escaping keeps the order but for control
 * bytes, which no host's name has. */
static int rank_streams(struct slice_texts *texts, const struct select *select, struct error *error)
{
	uint32_t total = run_stream_count(texts->run), count, rank = 0;
	const uint32_t *streams = select_all_streams(select, &count);
	uint32_t *order = malloc((size_t)(count + 1) * sizeof *order);

	texts->ranks = calloc((size_t)total + 1, sizeof *texts->ranks);
	if (!order || !texts->ranks) {
		free(order);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = streams[i];
	qsort_r(order, count, sizeof *order, compare_texts, texts->run);
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && compare_texts(&order[i - 1], &order[i], texts->run) != 0)
			rank++;
		texts->ranks[order[i]] = rank;
	}
	free(order);
	return 0;
}

/* ---- a report's row ---- */

/* Call between rows, when no path is in use. */
static void forget_paths(struct slice_texts *texts)
{
	if (texts->arena.total_bytes < texts->paths_max)
		return;
	arena_fini(&texts->arena);
	memset(texts->paths, 0, texts->path_count * sizeof *texts->paths);
}

void slice_row_report(struct slice_texts *texts, struct report *report, const struct slice_row *row)
{
	const struct store_record *record = &row->record;
	const char *at, *end;

	report_string(report, run_stream(texts->run, row->stream)->text);
	report_string(report, store_track_name(row->track));
	report_number(report, record->begin_ns - texts->origin_ns);
	if (row->track == STORE_SPANS && record->end_ns != STORE_OPEN_NS)
		report_number(report, record->end_ns - texts->origin_ns);
	else
		report_none(report);
	put_rest(texts, &texts->left, row);
	at = (const char *)texts->left.data;
	end = at + texts->left.size;
	for (int column = 0; column < 7 && !texts->failed; column++) {
		const char *tab = column < 6 ? memchr(at, '\t', (size_t)(end - at)) : end;

		if (tab > at)
			report_text(report, at, (size_t)(tab - at));
		else
			report_none(report);
		at = tab + 1;
	}
	if (!texts->failed)
		report_row(report);
	forget_paths(texts);
}

int slice_texts_init(
	struct slice_texts *texts, struct run *run, const struct select *select, struct error *error)
{
	*texts = (struct slice_texts){.run = run,
		.origin_ns = run_origin_ns(run),
		.depth = select_depth(select),
		.paths_max = run_mem_bytes(run, 6, PATHS_MAX)};
	return rank_streams(texts, select, error);
}

void slice_texts_fini(struct slice_texts *texts)
{
	free(texts->ranks);
	free(texts->paths);
	arena_fini(&texts->arena);
	store_bytes_fini(&texts->left);
	store_bytes_fini(&texts->right);
}
