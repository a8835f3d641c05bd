/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prometheus_import.c - series from Prometheus's text format and OpenMetrics, one scrape or many, and from
 * dumps (promtool tsdb dump), whose names stand among the labels. Lines have a clock:
 *
 *   # TYPE node_cpu_seconds_total counter
 *   node_cpu_seconds_total{cpu="0",mode="idle"} 1234.5 1764338400000
 *   {__name__="up",instance="n1:9100"} 1 1764338400000
 *
 * instance, host, node name the host; gpu, UUID a device, pid a process; other labels become part of the
 * metric's name. Lines without a time are left out.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/text_lines.h"
#include "formats/series/series_import.h"
#include "store/base/bytes.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"

struct prometheus {
	struct format_input *input;
	struct series_import *import;
	struct text_lines lines;
	struct key_ids counters, gauges; /* names that # TYPE calls so: hashes */
	struct store_bytes name; /* of the line's metric, with its labels; and after it the labels' values */
	uint64_t timeless, wrong, not_finite;
};

/* Where a line is read. */
struct place {
	const char *at, *end;
};

static void skip_blanks(struct place *place)
{
	while (place->at < place->end && (*place->at == ' ' || *place->at == '\t'))
		place->at++;
}

static struct text_part word_take(struct place *place, const char *until)
{
	const char *begin = place->at;

	while (place->at < place->end && !strchr(until, *place->at))
		place->at++;
	return (struct text_part){begin, (size_t)(place->at - begin)};
}

/* ---- labels ---- */

struct labels {
	struct series_place place;
	struct text_part name; /* of __name__ */
};

/* "VALUE" with \\ \" \n, unescaped in place. False: no end. */
static bool quoted_take(struct place *place, struct text_part *value)
{
	char *to = (char *)place->at + 1;
	const char *from = place->at + 1;

	if (place->at >= place->end || *place->at != '"')
		return false;
	*value = (struct text_part){to, 0};
	for (; from < place->end && *from != '"'; from++) {
		const bool is_escaped = *from == '\\' && from + 1 < place->end;

		from += is_escaped;
		*to++ = is_escaped && *from == 'n' ? '\n' : *from;
	}
	value->size = (size_t)(to - value->bytes);
	place->at = from + 1;
	return from < place->end;
}

static uint32_t number_of(struct text_part text)
{
	struct text_part unit;
	double number;

	return series_number(text, &number, &unit) && !unit.size && number >= 0 && number < SERIES_NONE
		       ? (uint32_t)number
		       : SERIES_NONE;
}

/* "n1:9100" is host n1. */
static struct text_part host_of(struct text_part instance)
{
	const char *colon = memrchr(instance.bytes, ':', instance.size);

	if (colon && memchr(instance.bytes, ':', instance.size) == colon)
		instance.size = (size_t)(colon - instance.bytes);
	return instance;
}

/* True: the label tells what the series is of. */
static bool label_place(struct labels *labels, struct text_part key, struct text_part value)
{
	struct series_place *place = &labels->place;

	if (series_text_is(key, "__name__"))
		labels->name = value;
	else if (series_text_is(key, "instance") && !place->host.size)
		place->host = host_of(value);
	else if (series_text_is(key, "host") || series_text_is(key, "hostname") ||
		 series_text_is(key, "node") || series_text_is(key, "nodename"))
		place->host = value;
	else if ((series_text_is(key, "gpu") || series_text_is(key, "minor_number")) &&
		 number_of(value) != SERIES_NONE)
		place->device = number_of(value);
	else if (series_text_is(key, "uuid"))
		place->uuid = value;
	else if (series_text_is(key, "modelName"))
		place->device_name = value;
	else if (series_text_is(key, "pid") && number_of(value) != SERIES_NONE)
		place->pid = number_of(value);
	else
		return series_text_is(key, "job") || series_text_is(key, "instance");
	return true;
}

/* Behind "{". Labels that do not tell a place go to `more`, "key=value,key=value". */
static bool labels_take(struct place *place, struct labels *labels, struct store_bytes *more)
{
	for (;;) {
		struct text_part key, value;

		skip_blanks(place);
		if (place->at < place->end && *place->at == '}') {
			place->at++;
			return true;
		}
		key = series_trim(word_take(place, "=}"));
		if (place->at >= place->end || *place->at != '=' || !key.size)
			return false;
		place->at++;
		skip_blanks(place);
		if (!quoted_take(place, &value))
			return false;
		if (!label_place(labels, key, value)) {
			if (more->size)
				store_bytes_put(more, ",", 1);
			store_bytes_put(more, key.bytes, key.size);
			store_bytes_put(more, "=", 1);
			store_bytes_put(more, value.bytes, value.size);
		}
		skip_blanks(place);
		if (place->at < place->end && *place->at == ',')
			place->at++;
	}
}

/* ---- lines ---- */

/* "# TYPE NAME counter" or gauge; OpenMetrics leaves _total out there. */
static int comment_take(struct prometheus *file, struct text_part line, struct error *error)
{
	struct place place = {line.bytes + 1, line.bytes + line.size};
	struct text_part name, type;
	struct store_hash hash;
	bool is_gauge;

	skip_blanks(&place);
	if (!series_text_is(word_take(&place, " \t"), "TYPE"))
		return 0;
	skip_blanks(&place);
	name = word_take(&place, " \t");
	skip_blanks(&place);
	type = series_trim(word_take(&place, " \t"));
	is_gauge = series_text_is(type, "gauge");
	if (!is_gauge && !series_text_is(type, "counter"))
		return 0;
	hash = store_hash128(name.bytes, name.size);
	return key_ids_put(is_gauge ? &file->gauges : &file->counters, &hash, NULL) == KEY_IDS_NONE
		       ? error_memory(error)
		       : 0;
}

static bool is_counter(const struct prometheus *file, struct text_part name)
{
	static const char *const ends[] = {"_total", "_count", "_sum", "_bucket"};
	struct store_hash hash = store_hash128(name.bytes, name.size);

	if (key_ids_find(&file->counters, &hash) != KEY_IDS_NONE)
		return true;
	if (key_ids_find(&file->gauges, &hash) != KEY_IDS_NONE)
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t size = strlen(ends[i]);

		if (name.size > size && !memcmp(name.bytes + name.size - size, ends[i], size))
			return true;
	}
	return false;
}

/* By the names' convention the unit stands at the end, ahead of _total. */
static struct text_part unit_of(struct text_part name)
{
	static const char *const known[] = {
		"bytes", "seconds", "celsius", "watts", "joules", "hertz", "percent"};
	const char *underline;

	if (name.size > 6 && !memcmp(name.bytes + name.size - 6, "_total", 6))
		name.size -= 6;
	underline = memrchr(name.bytes, '_', name.size);
	for (size_t i = 0; underline && i < sizeof known / sizeof known[0]; i++) {
		struct text_part unit = {underline + 1, (size_t)(name.bytes + name.size - underline - 1)};

		if (series_text_is(unit, known[i]))
			return unit;
	}
	return (struct text_part){"", 0};
}

static int value_take(struct prometheus *file, struct labels *labels, const struct store_bytes *more,
	struct place *place, struct error *error)
{
	struct text_part value, time, unit, name = labels->name;
	const bool counts = is_counter(file, name);
	double number, factor;
	uint64_t time_ns;
	uint32_t metric;

	skip_blanks(place);
	value = word_take(place, " \t");
	skip_blanks(place);
	time = word_take(place, " \t#");
	if (!time.size || !series_time(time, (struct text_part){"", 0}, &time_ns)) {
		*(time.size ? &file->wrong : &file->timeless) += 1;
		return 0;
	}
	if (!series_number(value, &number, &unit) || unit.size) {
		file->not_finite++;
		return 0;
	}
	unit = unit_of(name);
	file->name.size = 0;
	store_bytes_put(&file->name, name.bytes, name.size);
	if (more->size) {
		store_bytes_put(&file->name, "{", 1);
		store_bytes_put(&file->name, more->data, more->size);
		store_bytes_put(&file->name, "}", 1);
	}
	if (file->name.failed || more->failed)
		return error_memory(error);
	metric = series_import_metric(file->import,
		(struct text_part){(const char *)file->name.data, file->name.size}, unit,
		counts ? STORE_METRIC_COUNTER : STORE_METRIC_GAUGE, &factor);
	return series_import_value(file->import, series_import_stream(file->import, &labels->place), metric,
		time_ns, number * factor, error);
}

static int line_take(
	struct prometheus *file, struct text_part line, struct store_bytes *more, struct error *error)
{
	struct place place = {line.bytes, line.bytes + line.size};
	struct labels labels = {.place = {.device = SERIES_NONE, .pid = SERIES_NONE, .rank = -1}};
	struct text_part name;

	skip_blanks(&place);
	if (place.at == place.end)
		return 0;
	if (*place.at == '#')
		return comment_take(file, line, error);
	name = word_take(&place, "{ \t");
	more->size = 0;
	skip_blanks(&place);
	if (place.at < place.end && *place.at == '{') {
		place.at++;
		if (!labels_take(&place, &labels, more)) {
			file->wrong++;
			return 0;
		}
	}
	labels.name = name.size ? name : labels.name;
	if (!labels.name.size) {
		file->wrong++;
		return 0;
	}
	return value_take(file, &labels, more, &place, error);
}

static int lines_take(struct prometheus *file, struct error *error)
{
	struct store_bytes more = {0};
	struct text_part line;
	int rc;

	while ((rc = text_lines_next(&file->lines, &line, error)) > 0) {
		rc = line_take(file, line, &more, error);
		if (rc < 0)
			break;
		if ((file->lines.lines & 0xfff) == 0)
			format_input_progress(file->input);
	}
	store_bytes_fini(&more);
	format_left_out(&file->input->left_out, file->timeless, "values without a time");
	format_left_out(&file->input->left_out, file->not_finite, "values that are no finite numbers");
	format_left_out(&file->input->left_out, file->wrong, "lines that are no series");
	format_left_out(&file->input->left_out, file->lines.too_long, "lines of more than a mebibyte");
	return rc;
}

static int prometheus_take(struct format_input *input, const char *path, struct error *error)
{
	struct prometheus file = {.input = input, .lines = {.in = input->in}};
	int rc = series_import_begin(&file.import, input, path, "prometheus", error);

	if (rc < 0)
		return rc;
	key_ids_init(&file.counters, sizeof(struct store_hash));
	key_ids_init(&file.gauges, sizeof(struct store_hash));
	rc = lines_take(&file, error);
	if (rc == 0)
		rc = series_import_end(file.import, error);
	else
		series_import_abort(file.import);
	key_ids_fini(&file.counters);
	key_ids_fini(&file.gauges);
	store_bytes_fini(&file.name);
	text_lines_fini(&file.lines);
	return rc;
}

/* It begins with what the metric is, or with a label. */
static bool prometheus_is(const uint8_t *head, size_t size)
{
	static const char *const begins[] = {"# HELP ", "# TYPE ", "# UNIT ", "{__name__=\""};

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
		if (size > strlen(begins[i]) && !memcmp(head, begins[i], strlen(begins[i])))
			return true;
	return false;
}

const struct format format_prometheus = {.name = "prometheus",
	.about = "series with a clock, Prometheus's text format and OpenMetrics",
	.take = prometheus_take,
	.is = prometheus_is,
	.is_series = true};
