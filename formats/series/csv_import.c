/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_import.c - series of figures from tables with a clock, as monitoring tools write them (nvidia-smi
 * --query-gpu, sar, a spreadsheet, hpct-export --to csv). One line of names, then either
 *
 *   time,utilization.gpu [%],power.draw [W]         each other column is a metric
 *   time,host,metric,value                          each line is a value
 *
 * Fields are separated by commas, semicolons or tabs, perhaps quoted. What the values are of is told by the
 * columns host, gpu, uuid, pid, rank, where there are any.
 */
#include "formats/series/csv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/text_lines.h"
#include "formats/series/series_import.h"

#define COLUMNS_MAX 4096u

enum role {
	ROLE_VALUE, /* of its own metric */
	ROLE_TIME,
	ROLE_METRIC,
	ROLE_NUMBER, /* the value beside ROLE_METRIC */
	ROLE_UNIT,
	ROLE_KIND,
	ROLE_HOST,
	ROLE_DEVICE,
	ROLE_UUID,
	ROLE_DEVICE_NAME,
	ROLE_PID,
	ROLE_RANK,
	ROLES
};

static const struct {
	const char *name;
	enum role role;
} roles[] = {{"time", ROLE_TIME}, {"timestamp", ROLE_TIME}, {"date", ROLE_TIME}, {"datetime", ROLE_TIME},
	{"ts", ROLE_TIME}, {"time_ns", ROLE_TIME}, {"time_us", ROLE_TIME}, {"time_ms", ROLE_TIME},
	{"time_s", ROLE_TIME}, {"metric", ROLE_METRIC}, {"series", ROLE_METRIC}, {"value", ROLE_NUMBER},
	{"unit", ROLE_UNIT}, {"kind", ROLE_KIND}, {"host", ROLE_HOST}, {"hostname", ROLE_HOST},
	{"node", ROLE_HOST}, {"instance", ROLE_HOST}, {"gpu", ROLE_DEVICE}, {"device", ROLE_DEVICE},
	{"index", ROLE_DEVICE}, {"uuid", ROLE_UUID}, {"gpu_uuid", ROLE_UUID}, {"name", ROLE_DEVICE_NAME},
	{"gpu_name", ROLE_DEVICE_NAME}, {"pid", ROLE_PID}, {"rank", ROLE_RANK}};

struct column {
	enum role role;
	char *name, *unit; /* "" if none */
	uint32_t metric;   /* ROLE_VALUE, once there is a value */
	double factor;
	bool has_metric;
};

struct csv {
	struct format_input *input;
	struct series_import *import;
	struct text_lines lines;
	char separator;
	struct column *columns;
	size_t count;
	struct text_part *fields; /* of the line; unquoted in place */
	size_t of[ROLES];	  /* the column plus 1; 0: none */
	bool is_long;		  /* a line is a value */
	uint64_t wrong_times, no_numbers;
};

/* ---- fields ---- */

/* Takes quotes off, in place: "" within them is one. */
static struct text_part unquoted(char *at, size_t size)
{
	size_t used = 0;

	for (size_t i = 1; i + 1 < size; i++) {
		at[used++] = at[i];
		i += at[i] == '"' && i + 2 < size && at[i + 1] == '"';
	}
	return (struct text_part){at, used};
}

/* Splits a line; fields that are missing are empty. How many there are. */
static size_t split(const struct csv *csv, struct text_part line, struct text_part *fields, size_t room)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < room; i++)
		fields[i] = (struct text_part){"", 0};
	while (at <= line.size && count < room) {
		size_t end = at;
		bool is_quoted = false;
		struct text_part field;

		for (; end < line.size && (is_quoted || line.bytes[end] != csv->separator); end++)
			is_quoted ^= line.bytes[end] == '"';
		field = series_trim((struct text_part){line.bytes + at, end - at});
		if (field.size >= 2 && field.bytes[0] == '"' && field.bytes[field.size - 1] == '"')
			field = unquoted((char *)field.bytes, field.size);
		fields[count++] = field;
		at = end + 1;
	}
	return count;
}

static char separator_of(struct text_part line)
{
	static const char separators[] = ",;\t";
	size_t most = 0;
	char best = ',';

	for (size_t s = 0; s < sizeof separators - 1; s++) {
		size_t count = 0;

		for (size_t i = 0; i < line.size; i++)
			count += line.bytes[i] == separators[s];
		if (count > most) {
			most = count;
			best = separators[s];
		}
	}
	return best;
}

/* ---- the first line ---- */

static char *copied(struct text_part text)
{
	char *copy = malloc(text.size + 1);

	if (copy) {
		memcpy(copy, text.bytes, text.size);
		copy[text.size] = '\0';
	}
	return copy;
}

/* "power.draw [W]", "load (%)", "time_ms": the name and its unit. */
static void name_split(struct text_part *name, struct text_part *unit)
{
	char last = name->size ? name->bytes[name->size - 1] : '\0';
	const char *open = last == ']'	 ? memrchr(name->bytes, '[', name->size)
			   : last == ')' ? memrchr(name->bytes, '(', name->size)
					 : NULL;
	const char *underline = memrchr(name->bytes, '_', name->size);

	*unit = (struct text_part){"", 0};
	if (open && open > name->bytes) {
		*unit = series_trim(
			(struct text_part){open + 1, (size_t)(name->bytes + name->size - 1 - open - 1)});
		*name = series_trim((struct text_part){name->bytes, (size_t)(open - name->bytes)});
	} else if (underline && name->size > 5 && !strncasecmp(name->bytes, "time_", 5)) {
		*unit = (struct text_part){underline + 1, (size_t)(name->bytes + name->size - underline - 1)};
	}
}

static int column_begin(struct csv *csv, size_t i, struct text_part name, struct error *error)
{
	struct column *column = &csv->columns[i];
	struct text_part unit;

	name_split(&name, &unit);
	column->name = copied(name);
	column->unit = copied(unit);
	if (!column->name || !column->unit)
		return error_memory(error);
	for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++)
		if (series_text_is(name, roles[r].name) && !csv->of[roles[r].role]) {
			column->role = roles[r].role;
			csv->of[column->role] = i + 1;
			break;
		}
	return 0;
}

/* Words that mean something in the long shape alone are metrics of their own in the other. */
static void shape_decide(struct csv *csv)
{
	static const enum role roles_of_long[] = {ROLE_METRIC, ROLE_NUMBER, ROLE_UNIT, ROLE_KIND};

	csv->is_long = csv->of[ROLE_METRIC] && csv->of[ROLE_NUMBER];
	for (size_t i = 0; !csv->is_long && i < sizeof roles_of_long / sizeof roles_of_long[0]; i++) {
		size_t column = csv->of[roles_of_long[i]];

		if (column)
			csv->columns[column - 1].role = ROLE_VALUE;
		csv->of[roles_of_long[i]] = 0;
	}
	if (!csv->of[ROLE_TIME]) { /* the first column is the clock, whatever its name */
		csv->of[csv->columns[0].role] = 0;
		csv->columns[0].role = ROLE_TIME;
		csv->of[ROLE_TIME] = 1;
	}
}

static int header_take(struct csv *csv, struct error *error)
{
	struct text_part line = {"", 0};
	int rc = 1;

	while (rc > 0 && !line.size)
		rc = text_lines_next(&csv->lines, &line, error);
	if (rc < 0)
		return rc;
	csv->separator = separator_of(line);
	csv->fields = calloc(COLUMNS_MAX, sizeof *csv->fields);
	csv->columns = calloc(COLUMNS_MAX, sizeof *csv->columns);
	if (!csv->fields || !csv->columns)
		return error_memory(error);
	csv->count = line.size ? split(csv, line, csv->fields, COLUMNS_MAX) : 0;
	if (csv->count < 2)
		return error_set(error, ERROR_RUN,
			"%s: its first line has no columns; write their names there, the clock first: "
			"time,power [W]",
			csv->input->name);
	rc = 0;
	for (size_t i = 0; i < csv->count && rc == 0; i++)
		rc = column_begin(csv, i, csv->fields[i], error);
	if (rc == 0)
		shape_decide(csv);
	return rc;
}

/* ---- lines of values ---- */

static struct text_part field(const struct csv *csv, enum role role)
{
	return csv->of[role] ? csv->fields[csv->of[role] - 1] : (struct text_part){"", 0};
}

static uint32_t number_of(const struct csv *csv, enum role role)
{
	struct text_part unit;
	double number;

	return series_number(field(csv, role), &number, &unit) && number >= 0 && number < SERIES_NONE &&
			       !unit.size
		       ? (uint32_t)number
		       : SERIES_NONE;
}

static uint32_t stream_of(const struct csv *csv)
{
	uint32_t rank = number_of(csv, ROLE_RANK);
	struct series_place place = {.host = field(csv, ROLE_HOST),
		.uuid = field(csv, ROLE_UUID),
		.device = number_of(csv, ROLE_DEVICE),
		.pid = number_of(csv, ROLE_PID),
		.rank = rank < INT32_MAX ? (int32_t)rank : -1};

	if (place.device != SERIES_NONE || place.uuid.size)
		place.device_name = field(csv, ROLE_DEVICE_NAME);
	return series_import_stream(csv->import, &place);
}

static bool ends_with(struct text_part text, const char *end)
{
	size_t size = strlen(end);

	return text.size > size && !memcmp(text.bytes + text.size - size, end, size);
}

static enum store_metric_kind kind_of_name(struct text_part name)
{
	return ends_with(name, "_total") ? STORE_METRIC_COUNTER : STORE_METRIC_GAUGE;
}

static enum store_metric_kind kind_of_word(struct text_part word)
{
	return series_text_is(word, "counter")	? STORE_METRIC_COUNTER
	       : series_text_is(word, "amount") ? STORE_METRIC_AMOUNT
						: STORE_METRIC_GAUGE;
}

/* "N/A", "[Not Supported]", an empty field: not there. */
static bool is_absent(struct text_part text)
{
	static const char *const words[] = {
		"", "-", "N/A", "[N/A]", "[Not Supported]", "nan", "null", "none"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (series_text_is(text, words[i]))
			return true;
	return false;
}

/* The unit of a column is that of its name, or of its first value. */
static int value_take(struct csv *csv, struct column *column, uint32_t stream, uint64_t time_ns,
	struct text_part text, struct error *error)
{
	struct text_part unit, own = {column->unit, strlen(column->unit)};
	double value;

	if (is_absent(text))
		return 0;
	if (!series_number(text, &value, &unit)) {
		csv->no_numbers++;
		return 0;
	}
	if (!column->has_metric) {
		struct text_part name = {column->name, strlen(column->name)};

		column->metric = series_import_metric(
			csv->import, name, own.size ? own : unit, kind_of_name(name), &column->factor);
		column->has_metric = true;
	}
	return series_import_value(
		csv->import, stream, column->metric, time_ns, value * column->factor, error);
}

static int long_take(struct csv *csv, uint32_t stream, uint64_t time_ns, struct error *error)
{
	struct text_part name = field(csv, ROLE_METRIC), unit, own = field(csv, ROLE_UNIT);
	const enum store_metric_kind kind =
		csv->of[ROLE_KIND] ? kind_of_word(field(csv, ROLE_KIND)) : kind_of_name(name);
	double value, factor;
	uint32_t metric;

	if (is_absent(field(csv, ROLE_NUMBER)))
		return 0;
	if (!name.size || !series_number(field(csv, ROLE_NUMBER), &value, &unit)) {
		csv->no_numbers++;
		return 0;
	}
	metric = series_import_metric(csv->import, name, own.size ? own : unit, kind, &factor);
	return series_import_value(csv->import, stream, metric, time_ns, value * factor, error);
}

static int line_take(struct csv *csv, struct text_part line, struct error *error)
{
	const struct column *clock = &csv->columns[csv->of[ROLE_TIME] - 1];
	const struct text_part unit = {clock->unit, strlen(clock->unit)};
	uint64_t time_ns;
	uint32_t stream;
	int rc = 0;

	if (!series_trim(line).size)
		return 0;
	split(csv, line, csv->fields, csv->count);
	if (!series_time(field(csv, ROLE_TIME), unit, &time_ns)) {
		csv->wrong_times++;
		return 0;
	}
	stream = stream_of(csv);
	if (csv->is_long)
		return long_take(csv, stream, time_ns, error);
	for (size_t i = 0; i < csv->count && rc == 0; i++)
		if (csv->columns[i].role == ROLE_VALUE)
			rc = value_take(csv, &csv->columns[i], stream, time_ns, csv->fields[i], error);
	return rc;
}

static int lines_take(struct csv *csv, struct error *error)
{
	struct text_part line;
	int rc = header_take(csv, error);

	while (rc == 0 && (rc = text_lines_next(&csv->lines, &line, error)) > 0) {
		rc = line_take(csv, line, error);
		if ((csv->lines.lines & 0xfff) == 0)
			format_input_progress(csv->input);
	}
	format_left_out(&csv->input->left_out, csv->wrong_times, "lines whose clock is no time");
	format_left_out(&csv->input->left_out, csv->no_numbers, "values that are no numbers");
	format_left_out(&csv->input->left_out, csv->lines.too_long, "lines of more than a mebibyte");
	return rc;
}

int csv_import(struct format_input *input, const char *path, struct error *error)
{
	struct csv csv = {.input = input, .lines = {.in = input->in}};
	int rc = series_import_begin(&csv.import, input, path, "csv", error);

	if (rc < 0)
		return rc;
	rc = lines_take(&csv, error);
	if (rc == 0)
		rc = series_import_end(csv.import, error);
	else
		series_import_abort(csv.import);
	for (size_t i = 0; csv.columns && i < csv.count; i++) {
		free(csv.columns[i].name);
		free(csv.columns[i].unit);
	}
	free(csv.columns);
	free(csv.fields);
	text_lines_fini(&csv.lines);
	return rc;
}

/* A first line of names with a clock among them, and separators of which no more are behind the next name
 * than names: rows of hpct-slice are known first. */
bool csv_is(const uint8_t *head, size_t size)
{
	const uint8_t *end = memchr(head, '\n', size);
	struct csv csv = {.separator = ','};
	struct text_part fields[64], line = {(const char *)head, end ? (size_t)(end - head) : size};
	char copy[4096];
	size_t count;

	if (line.size >= sizeof copy || memchr(head, '\0', line.size))
		return false;
	memcpy(copy, head, line.size);
	line.bytes = copy;
	csv.separator = separator_of(line);
	count = split(&csv, line, fields, 64);
	for (size_t i = 0; i < count && count > 1; i++) {
		struct text_part name = fields[i], unit;

		name_split(&name, &unit);
		for (size_t r = 0; r < sizeof roles / sizeof roles[0] && roles[r].role == ROLE_TIME; r++)
			if (series_text_is(name, roles[r].name))
				return true;
	}
	return false;
}
