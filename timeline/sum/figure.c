/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - see figure.h. */
#include "timeline/sum/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/read/reader_internal.h"
#include "store/rollup/series_read.h"
#include "timeline/base/glob.h"
#include "timeline/run/run_internal.h"

/* ---- units ---- */

static const struct {
	const char *stored;
	bool is_rate;
	struct figure_unit shown;
} units[] = {
	{"ns", true, {"%", 1e-7}},
	{"uJ", true, {"W", 1e-6}},
	{"mJ", true, {"W", 1e-3}},
	{"B", true, {"B/s", 1}},
	{"s", true, {"%", 100}},
	{"J", true, {"W", 1}},
	{"", true, {"/s", 1}},
	{"events", true, {"/s", 1}},
	{"bytes", true, {"B/s", 1}},
	{"mC", false, {"C", 1e-3}},
	{"mW", false, {"W", 1e-3}},
	{"permille", false, {"%", 0.1}},
};

/* Amounts are what was counted since the value before: counters whose steps were recorded. */
static bool is_amount(const struct run *run, uint32_t metric)
{
	return run_metric_kind(run, metric) == STORE_METRIC_AMOUNT;
}

static bool is_shown_as_rate(const struct run *run, uint32_t metric)
{
	return run_metric_kind(run, metric) == STORE_METRIC_COUNTER || is_amount(run, metric);
}

/* How much a counter has grown from one value to the next; one that falls has begun anew at 0. */
static double growth(bool is_amount, double from, double to)
{
	return is_amount || to < from ? to : to - from;
}

struct figure_unit figure_unit(const struct run *run, uint32_t metric)
{
	bool is_rate = is_shown_as_rate(run, metric);
	const char *unit = run_metric_unit(run, metric);

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].is_rate == is_rate && !strcmp(units[i].stored, unit))
			return units[i].shown;
	return (struct figure_unit){unit, 1};
}

static const char *prefix(double *value, double step)
{
	static const char *const names[] = {"", "K", "M", "G", "T", "P"};
	unsigned i = 0;

	for (; fabs(*value) >= step && i < 5; i++)
		*value /= step;
	return names[i];
}

void figure_text(char text[FIGURE_TEXT_MAX], double value, const char *unit)
{
	bool is_bytes = unit[0] == 'B';
	const char *size = !strcmp(unit, "%") ? "" : prefix(&value, is_bytes ? 1024 : 1000);
	int places = fabs(value) >= 100 || value == floor(value) ? 0 : fabs(value) >= 10 ? 1 : 2;

	snprintf(text, FIGURE_TEXT_MAX, "%.*f%s%s%s%s", places, value, *unit || *size ? " " : "", size,
		is_bytes && *size ? "i" : "", unit);
}

/* ---- which there are ---- */

bool figure_is_named(const char *name, const char *glob)
{
	size_t bare = strcspn(name, "{");
	char text[FIGURE_NAME_MAX];

	if (glob_match(glob, name))
		return true;
	if (!name[bare] || bare >= sizeof text || strchr(glob, '{'))
		return false;
	memcpy(text, name, bare);
	text[bare] = '\0';
	return glob_match(glob, text);
}

static bool is_wanted(const char *name, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (figure_is_named(name, globs[i]))
			return true;
	return !count;
}

struct listing {
	struct run *run;
	const char *const *globs;
	size_t glob_count;
	struct figure *figures;
	uint32_t count;
	size_t room;
};

static void series_to_figure(struct listing *listing, uint32_t stream, const struct store_series *series,
	const struct run_stream *r, struct figure *figure)
{
	uint32_t metric = run_metric_of(listing->run, r->store, series->metric);
	struct figure_unit unit = figure_unit(listing->run, metric);
	bool is_rate = series->kind == STORE_METRIC_COUNTER;

	*figure = (struct figure){.stream = stream,
		.metric = metric,
		.name = run_metric_name(listing->run, metric),
		.count = series->count,
		.least = (is_rate ? series->slowest : store_series_number(series, series->least)) *
			 unit.factor,
		.most = (is_rate ? series->fastest : store_series_number(series, series->most)) *
			unit.factor};
}

static int list_stream(struct listing *listing, uint32_t stream, struct error *error)
{
	const struct run_stream *r = run_stream(listing->run, stream);
	struct store_reader *reader = listing->run->parts[r->store].reader;
	uint32_t count;
	const struct store_metric *metrics = store_reader_metrics(reader, &count);
	int rc = 0;

	for (uint32_t m = 0; m < count && !rc; m++) {
		const char *name = store_reader_text(reader, metrics[m].name, NULL);
		struct store_series series;

		if (!is_wanted(name, listing->globs, listing->glob_count) ||
			(r->s.kind != STORE_STREAM_GAUGES && metrics[m].kind == STORE_METRIC_AMOUNT &&
				!listing->glob_count))
			continue;
		rc = store_series_of(reader, r->id_in_store, m, 0, STORE_OPEN_NS, &series, error);
		if (rc || !series.count)
			continue;
		if (!array_reserve(
			    &listing->figures, &listing->room, listing->count + 1, sizeof *listing->figures))
			return error_memory(error);
		series_to_figure(listing, stream, &series, r, &listing->figures[listing->count++]);
	}
	return rc;
}

static int compare_figures(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;

	return a->stream != b->stream ? (a->stream < b->stream ? -1 : 1) : strcmp(a->name, b->name);
}

int figures_list(struct figure **figures, uint32_t *figure_count, struct run *run, const char *const *globs,
	size_t glob_count, struct arena *arena, struct error *error)
{
	struct listing listing = {.run = run, .globs = globs, .glob_count = glob_count};
	int rc = 0;

	*figures = NULL;
	*figure_count = 0;
	for (uint32_t i = 0; i < run_stream_count(run) && !rc; i++)
		if (run_stream_peek_unnamed(run, i)->s.count[STORE_VALUES])
			rc = list_stream(&listing, i, error);
	if (!rc && listing.count)
		qsort(listing.figures, listing.count, sizeof *listing.figures, compare_figures);
	*figures = rc ? NULL : arena_calloc(arena, (size_t)listing.count + 1, sizeof *listing.figures);
	if (*figures && listing.count)
		memcpy(*figures, listing.figures, listing.count * sizeof *listing.figures);
	free(listing.figures);
	if (!rc && !*figures)
		rc = error_memory(error);
	*figure_count = rc ? 0 : listing.count;
	return rc;
}

/* The main thread's name is its process's. */
static const char *process_name(struct run *run, const struct run_stream *gauges)
{
	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *r = run_stream_peek_unnamed(run, i);

		if (r->s.kind == STORE_STREAM_CPU && !r->s.thread && r->s.pid == gauges->s.pid &&
			r->s.generation == gauges->s.generation && r->s.rank == gauges->s.rank &&
			r->store == gauges->store)
			return run_stream(run, i)->name;
	}
	return "";
}

void figure_owner(char text[FIGURE_OWNER_MAX], struct run *run, uint32_t stream)
{
	const struct run_stream *r = run_stream(run, stream);
	const char *name;

	if (r->s.kind != STORE_STREAM_GAUGES) {
		snprintf(text, FIGURE_OWNER_MAX, "%s", r->text);
		return;
	}
	if (r->s.device != UINT32_MAX) {
		snprintf(text, FIGURE_OWNER_MAX, "gpu%u %s", r->s.device, r->device_name);
		return;
	}
	if (r->s.pid == UINT32_MAX) {
		snprintf(text, FIGURE_OWNER_MAX, "host %s", r->host);
		return;
	}
	name = process_name(run, r);
	if (r->s.rank >= 0)
		snprintf(text, FIGURE_OWNER_MAX, "rank %d %s", r->s.rank, name);
	else
		snprintf(text, FIGURE_OWNER_MAX, "%s%s%u", name, *name ? " " : "", r->s.pid);
}

/* ---- values, or sums of them, in order ---- */

/* What the readers below make of a figure: pieces in order of time, each a value, or a sum of many. */
struct pieces {
	void (*value)(void *own, uint64_t time_ns, double value);
	void (*sum)(void *own, const struct store_series *series);
	bool (*wants)(void *own, uint64_t begin_ns, uint64_t last_ns); /* on the run's clock; NULL: no sums */
	void *own;
};

struct reading {
	const struct pieces *pieces;
	const struct run_part *part;
	uint32_t metric; /* of the store */
	bool is_real;
	bool is_unordered; /* a piece began before the one before it */
	uint64_t last_ns;
	struct {
		uint64_t time_ns, value;
	} * kept; /* is_sorting: all rows, to be sorted */
	size_t kept_count, kept_room;
	bool is_sorting, failed;
};

static double number(const struct reading *reading, uint64_t value)
{
	return store_series_number(&(struct store_series){.is_real = reading->is_real}, value);
}

static bool want_sum(void *own, uint64_t begin_ns, uint64_t last_ns)
{
	const struct reading *reading = own;

	return !reading->is_sorting && reading->pieces->wants &&
	       reading->pieces->wants(reading->pieces->own, run_part_time(reading->part, begin_ns),
		       run_part_time(reading->part, last_ns));
}

static int take_sum(void *own, const struct store_series *series)
{
	struct reading *reading = own;
	struct store_series moved = *series;

	reading->is_unordered |= series->is_mixed || series->first_ns < reading->last_ns;
	reading->last_ns = series->last_ns;
	moved.first_ns = run_part_time(reading->part, series->first_ns);
	moved.last_ns = run_part_time(reading->part, series->last_ns);
	reading->pieces->sum(reading->pieces->own, &moved);
	return 0;
}

static int take_rows(void *own, const struct store_batch *batch, size_t from, size_t to)
{
	struct reading *reading = own;

	for (size_t i = from; i < to; i++) {
		if (batch->what[i] != reading->metric)
			continue;
		if (reading->is_sorting) {
			reading->failed |= !array_reserve(&reading->kept, &reading->kept_room,
				reading->kept_count + 1, sizeof *reading->kept);
			if (reading->failed)
				return -ERROR_IO;
			reading->kept[reading->kept_count].time_ns = batch->begin_ns[i];
			reading->kept[reading->kept_count++].value = batch->amount[i];
			continue;
		}
		reading->is_unordered |= batch->begin_ns[i] < reading->last_ns;
		reading->last_ns = batch->begin_ns[i];
		reading->pieces->value(reading->pieces->own, run_part_time(reading->part, batch->begin_ns[i]),
			number(reading, batch->amount[i]));
	}
	return 0;
}

static int compare_kept(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* The store's id of the run's metric; UINT32_MAX: it has none. */
static uint32_t metric_in_store(const struct run *run, unsigned store, uint32_t metric)
{
	uint32_t count;

	store_reader_metrics(run->parts[store].reader, &count);
	for (uint32_t m = 0; m < count; m++)
		if (run_metric_of(run, store, m) == metric)
			return m;
	return UINT32_MAX;
}

/* *is_unordered: the pieces given so far are in disorder, and must be dropped; ask again, sorting. */
static int read_once(struct run *run, const struct figure *figure, uint64_t begin_ns, uint64_t end_ns,
	struct reading *reading, struct error *error)
{
	const struct run_stream *r = run_stream(run, figure->stream);
	struct store_series_query query = {.reader = run->parts[r->store].reader,
		.stream = r->id_in_store,
		.metric = metric_in_store(run, r->store, figure->metric),
		.begin_ns = run_part_store_time(&run->parts[r->store], begin_ns),
		.end_ns = run_part_store_time(&run->parts[r->store], end_ns),
		.wants = want_sum,
		.sum = take_sum,
		.rows = take_rows,
		.own = reading};
	int rc;

	reading->part = &run->parts[r->store];
	reading->metric = query.metric;
	reading->is_real = run_metric_is_real(run, figure->metric);
	if (query.metric == UINT32_MAX || query.begin_ns >= query.end_ns)
		return 0;
	rc = store_series_read(&query, error);
	return reading->failed ? error_memory(error) : rc;
}

/* The pieces of a figure in a window; `restart` forgets those given, before they come again in order. */
static int pieces_read(struct run *run, const struct figure *figure, uint64_t begin_ns, uint64_t end_ns,
	const struct pieces *pieces, void (*restart)(void *own), struct error *error)
{
	struct reading reading = {.pieces = pieces};
	int rc = read_once(run, figure, begin_ns, end_ns, &reading, error);

	if (rc || !reading.is_unordered)
		return rc;
	restart(pieces->own);
	reading = (struct reading){.pieces = pieces, .is_sorting = true};
	rc = read_once(run, figure, begin_ns, end_ns, &reading, error);
	if (!rc && reading.kept_count)
		qsort(reading.kept, reading.kept_count, sizeof *reading.kept, compare_kept);
	for (size_t i = 0; i < reading.kept_count && !rc; i++)
		pieces->value(pieces->own, run_part_time(reading.part, reading.kept[i].time_ns),
			number(&reading, reading.kept[i].value));
	free(reading.kept);
	return rc;
}

int figure_values(struct run *run, const struct figure *figure, uint64_t begin_ns, uint64_t end_ns,
	void (*value)(void *own, uint64_t time_ns, double value), void (*restart)(void *own), void *own,
	struct error *error)
{
	const struct pieces pieces = {.value = value, .own = own};

	return pieces_read(run, figure, begin_ns, end_ns, &pieces, restart, error);
}

/* The last value before a moment. */
static int value_before(struct run *run, const struct figure *figure, uint64_t time_ns, bool *is_there,
	uint64_t *at_ns, double *value, struct error *error)
{
	const struct run_stream *r = run_stream(run, figure->stream);
	const struct run_part *part = &run->parts[r->store];
	uint32_t metric = metric_in_store(run, r->store, figure->metric);
	struct store_series series = {.count = 0};
	int rc = 0;

	if (metric != UINT32_MAX)
		rc = store_series_of(part->reader, r->id_in_store, metric, 0,
			run_part_store_time(part, time_ns), &series, error);
	*is_there = !rc && series.count;
	if (*is_there) {
		*at_ns = run_part_time(part, series.last_ns);
		*value = store_series_number(&series, series.last);
	}
	return rc;
}

/* ---- columns ---- */

struct filling {
	const uint64_t *edges;
	uint32_t count, at; /* columns, and the one that the last piece was in */
	struct figure_column *columns;
	double *weights; /* of each column's mean: values, or seconds */
	double factor;
	bool is_rate, is_amount, has_last;
	uint64_t last_ns, begun_ns;
	double last, begun;
	bool has_begun;
};

static uint32_t column_of(struct filling *filling, uint64_t time_ns)
{
	while (filling->at + 1 < filling->count && filling->edges[filling->at + 1] <= time_ns)
		filling->at++;
	return filling->at;
}

static void column_add(struct filling *filling, uint32_t c, double least, double most, double mean,
	double weight, double last)
{
	struct figure_column *column = &filling->columns[c];

	column->least = !column->is_there || least < column->least ? least : column->least;
	column->most = !column->is_there || most > column->most ? most : column->most;
	filling->weights[c] += weight;
	column->mean += mean * weight;
	column->last = last;
	column->is_there = true;
}

/* A counter's step: its rate in all columns that it spans. */
static void step_fill(struct filling *filling, uint64_t from_ns, uint64_t to_ns, double rate)
{
	uint32_t c;

	if (to_ns <= filling->edges[0] || from_ns >= to_ns)
		return;
	from_ns = from_ns > filling->edges[0] ? from_ns : filling->edges[0];
	for (c = column_of(filling, from_ns); c < filling->count && filling->edges[c] < to_ns; c++) {
		uint64_t begin = filling->edges[c] > from_ns ? filling->edges[c] : from_ns;
		uint64_t end = filling->edges[c + 1] < to_ns ? filling->edges[c + 1] : to_ns;

		if (begin < end)
			column_add(filling, c, rate, rate, rate, (double)(end - begin), rate);
	}
}

/* A gauge holds: columns without a value of their own show the one before. */
static void hold_fill(struct filling *filling, uint64_t to_ns)
{
	uint32_t c = column_of(
		filling, filling->last_ns > filling->edges[0] ? filling->last_ns : filling->edges[0]);

	for (; c < filling->count && filling->edges[c + 1] <= to_ns; c++)
		if (!filling->columns[c].is_there)
			column_add(filling, c, filling->last, filling->last, filling->last, 1, filling->last);
}

static void fill_step_to(struct filling *filling, uint64_t time_ns, double value)
{
	double grown = growth(filling->is_amount, filling->last, value);

	if (time_ns > filling->last_ns)
		step_fill(filling, filling->last_ns, time_ns,
			grown * 1e9 / (double)(time_ns - filling->last_ns) * filling->factor);
}

static void fill_value(void *own, uint64_t time_ns, double value)
{
	struct filling *filling = own;
	double shown = value * filling->factor;

	if (filling->is_rate && filling->has_last)
		fill_step_to(filling, time_ns, value);
	if (!filling->is_rate && filling->has_last)
		hold_fill(filling, time_ns);
	filling->last = filling->is_rate ? value : shown;
	filling->last_ns = time_ns;
	filling->has_last = true;
	if (!filling->is_rate)
		column_add(filling, column_of(filling, time_ns), shown, shown, shown, 1, shown);
}

static void fill_sum(void *own, const struct store_series *series)
{
	struct filling *filling = own;
	double first = store_series_number(series, series->first),
	       last = store_series_number(series, series->last);
	uint32_t c;

	if (!filling->is_rate) {
		if (filling->has_last)
			hold_fill(filling, series->first_ns);
		column_add(filling, column_of(filling, series->first_ns),
			store_series_number(series, series->least) * filling->factor,
			store_series_number(series, series->most) * filling->factor,
			store_series_mean(series) * filling->factor, (double)series->count,
			last * filling->factor);
		last *= filling->factor;
	} else if (filling->is_amount) {
		if (filling->has_last && series->last_ns > filling->last_ns)
			step_fill(filling, filling->last_ns, series->last_ns,
				store_series_mean(series) * (double)series->count * 1e9 /
					(double)(series->last_ns - filling->last_ns) * filling->factor);
	} else {
		if (filling->has_last)
			fill_step_to(filling, series->first_ns, first);
		c = column_of(filling, series->first_ns);
		if (series->last_ns > series->first_ns)
			column_add(filling, c, series->slowest * filling->factor,
				series->fastest * filling->factor,
				series->grown * 1e9 / (double)(series->last_ns - series->first_ns) *
					filling->factor,
				(double)(series->last_ns - series->first_ns), filling->columns[c].last);
	}
	filling->last = last;
	filling->last_ns = series->last_ns;
	filling->has_last = true;
}

/* All of a sum must lie in one column. */
static bool fill_wants(void *own, uint64_t begin_ns, uint64_t last_ns)
{
	const struct filling *filling = own;
	uint32_t low = 0, high = filling->count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		*(filling->edges[middle] <= begin_ns ? &low : &high) = middle;
	}
	return filling->edges[low] <= begin_ns && last_ns < filling->edges[low + 1];
}

static void fill_again(void *own)
{
	struct filling *filling = own;

	filling->at = 0;
	filling->has_last = filling->has_begun;
	filling->last_ns = filling->begun_ns;
	filling->last = filling->begun;
	memset(filling->columns, 0, filling->count * sizeof *filling->columns);
	memset(filling->weights, 0, filling->count * sizeof *filling->weights);
}

/* One value behind the window ends a rate that reaches out of it. */
static int find_next(
	struct run *run, const struct figure *figure, struct filling *filling, struct error *error);

int figure_columns(struct run *run, const struct figure *figure, const uint64_t *edges, uint32_t count,
	struct figure_column *columns, struct error *error)
{
	struct figure_unit unit = figure_unit(run, figure->metric);
	struct filling filling = {.edges = edges,
		.count = count,
		.columns = columns,
		.factor = unit.factor,
		.is_rate = is_shown_as_rate(run, figure->metric),
		.is_amount = is_amount(run, figure->metric),
		.weights = calloc((size_t)count + 1, sizeof(double))};
	const struct pieces pieces = {fill_value, fill_sum, fill_wants, &filling};
	int rc;

	memset(columns, 0, count * sizeof *columns);
	if (!filling.weights)
		return error_memory(error);
	rc = value_before(
		run, figure, edges[0], &filling.has_begun, &filling.begun_ns, &filling.begun, error);
	if (!filling.is_rate)
		filling.begun *= unit.factor;
	fill_again(&filling);
	rc = rc ? rc : pieces_read(run, figure, edges[0], edges[count], &pieces, fill_again, error);
	rc = rc ? rc : find_next(run, figure, &filling, error);
	for (uint32_t i = 0; i < count; i++)
		if (columns[i].is_there)
			columns[i].mean /= filling.weights[i];
	free(filling.weights);
	return rc;
}

/* ---- the first value behind a window ---- */

struct next {
	bool is_there;
	uint64_t time_ns;
	double value;
};

static void next_value(void *own, uint64_t time_ns, double value)
{
	struct next *next = own;

	if (!next->is_there)
		*next = (struct next){true, time_ns, value};
}

static void next_again(void *own)
{
	((struct next *)own)->is_there = false;
}

#define NEXT_FIRST_NS UINT64_C(1000000000)
#define NEXT_STEPS 8u /* up to 18 h behind */

static int find_next(
	struct run *run, const struct figure *figure, struct filling *filling, struct error *error)
{
	struct next next = {false, 0, 0};
	const struct pieces pieces = {next_value, NULL, NULL, &next};
	uint64_t begin_ns = filling->edges[filling->count], span_ns = NEXT_FIRST_NS;
	int rc = 0;

	for (unsigned i = 0; i < NEXT_STEPS && !rc && !next.is_there && begin_ns < run_end_ns(run) + span_ns;
		i++) {
		rc = pieces_read(run, figure, begin_ns, begin_ns + span_ns, &pieces, next_again, error);
		begin_ns += span_ns;
		span_ns *= 4;
	}
	if (rc || !next.is_there || !filling->has_last)
		return rc;
	if (filling->is_rate)
		fill_step_to(filling, next.time_ns, next.value);
	else
		hold_fill(filling, next.time_ns);
	return 0;
}

/* ---- conditions ---- */

static const struct {
	const char *name;
	double factor;
} multiples[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"KB", 1e3}, {"kB", 1e3},
	{"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"k", 1e3},
	{"M", 1e6}, {"G", 1e9}, {"", 1}};

int figure_condition_parse(struct figure_condition *condition, const char *text, struct error *error)
{
	size_t name = strcspn(text, "<>");
	const char *at = text + name;
	char *unit;

	if (!name || name >= sizeof condition->name || !*at)
		return error_set(error, ERROR_USAGE,
			"'%s' is no condition; write a figure, < or >, and a number: resident>2GB, "
			"threads<8, "
			"read>=100MB/s",
			text);
	snprintf(condition->name, sizeof condition->name, "%.*s", (int)name, text);
	condition->op = *at++;
	condition->or_equal = *at == '=';
	at += condition->or_equal;
	condition->bound = strtod(at, &unit);
	for (unsigned i = 0; unit != at && i < sizeof(multiples) / sizeof(multiples[0]); i++) {
		size_t size = strlen(multiples[i].name);
		const char *rest = unit + size;

		if (strncmp(unit, multiples[i].name, size) || (strlen(rest) > 3) ||
			strspn(rest, "/sBHzW%C") != strlen(rest))
			continue;
		condition->bound *= multiples[i].factor;
		if (!isfinite(condition->bound))
			break;
		return 0;
	}
	return error_set(error, ERROR_USAGE,
		"'%s': '%s' is no number with a unit; write 30, 2GB, 1.5GiB, 100MB/s or 30%%", text, at);
}

bool figure_condition_holds(const struct figure_condition *condition, double value)
{
	if (condition->or_equal && value == condition->bound)
		return true;
	return condition->op == '<' ? value < condition->bound : value > condition->bound;
}

struct stretching {
	const struct figure_condition *condition;
	uint64_t begin_ns, end_ns;
	struct figure_stretch *stretches;
	size_t count, room;
	double factor;
	bool is_rate, is_amount, has_last, failed, has_begun;
	uint64_t last_ns, begun_ns;
	double last, begun;
};

static void stretch_add(struct stretching *to, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > to->begin_ns ? begin_ns : to->begin_ns;
	end_ns = end_ns < to->end_ns ? end_ns : to->end_ns;
	if (begin_ns >= end_ns)
		return;
	if (to->count && to->stretches[to->count - 1].end_ns == begin_ns) {
		to->stretches[to->count - 1].end_ns = end_ns;
		return;
	}
	to->failed |= !array_reserve(&to->stretches, &to->room, to->count + 1, sizeof *to->stretches);
	if (!to->failed)
		to->stretches[to->count++] = (struct figure_stretch){begin_ns, end_ns};
}

static void stretch_value(void *own, uint64_t time_ns, double value)
{
	struct stretching *to = own;
	double grown = growth(to->is_amount, to->last, value), held = to->last * to->factor;

	if (to->has_last && time_ns > to->last_ns) {
		if (to->is_rate)
			held = grown * 1e9 / (double)(time_ns - to->last_ns) * to->factor;
		if (figure_condition_holds(to->condition, held))
			stretch_add(to, to->last_ns, time_ns);
	}
	to->last = value;
	to->last_ns = time_ns;
	to->has_last = true;
}

static void stretch_again(void *own)
{
	struct stretching *to = own;

	to->count = 0;
	to->has_last = to->has_begun;
	to->last = to->begun;
	to->last_ns = to->begun_ns;
}

int figure_stretches(struct figure_stretch **stretches, uint32_t *count, struct run *run,
	const struct figure *figure, const struct figure_condition *condition, uint64_t begin_ns,
	uint64_t end_ns, struct arena *arena, struct error *error)
{
	struct stretching to = {.condition = condition,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.factor = figure_unit(run, figure->metric).factor,
		.is_rate = is_shown_as_rate(run, figure->metric),
		.is_amount = is_amount(run, figure->metric)};
	const struct pieces pieces = {stretch_value, NULL, NULL, &to};
	int rc = value_before(run, figure, begin_ns, &to.has_begun, &to.begun_ns, &to.begun, error);

	*stretches = NULL;
	*count = 0;
	stretch_again(&to);
	rc = rc ? rc : pieces_read(run, figure, begin_ns, end_ns, &pieces, stretch_again, error);
	/* The last value holds to the end. */
	if (!rc && to.has_last && !to.is_rate && figure_condition_holds(condition, to.last * to.factor))
		stretch_add(&to, to.last_ns, end_ns);
	if (!rc && to.failed)
		rc = error_memory(error);
	*stretches = rc ? NULL : arena_calloc(arena, to.count + 1, sizeof *to.stretches);
	if (*stretches && to.count)
		memcpy(*stretches, to.stretches, to.count * sizeof *to.stretches);
	if (!rc && !*stretches)
		rc = error_memory(error);
	*count = *stretches ? (uint32_t)to.count : 0;
	free(to.stretches);
	return rc;
}
