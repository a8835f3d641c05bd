/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_reader.c - splits lines; the input is untrusted, so line length has a limit.
 */
#include "formats/tsv/tsv_reader.h"

#include <errno.h>
#include <stdlib.h>

#define READ_BYTES (1u << 20)
#define LINE_BYTES_MAX (64u << 20)
#define QUOTED_MAX 60 /* of a field in an error */

static const char *const column_names[TSV_COLUMN_COUNT] = {"stream", "track", "begin_ns", "end_ns", "path",
	"op", "bytes", "weight", "metric", "value", "attributes"};

int tsv_reader_bad(
	const struct tsv_reader *reader, enum tsv_column column, const char *what, struct error *error)
{
	const struct tsv_field *field = &reader->fields[column];
	bool is_long = field->size > QUOTED_MAX;

	return error_set(error, ERROR_RUN, "%s line %llu, column %s: '%.*s%s' %s", reader->name,
		(unsigned long long)reader->line, column_names[column],
		(int)(is_long ? QUOTED_MAX : field->size), field->text, is_long ? "..." : "", what);
}

int tsv_reader_number(const struct tsv_reader *reader, enum tsv_column column, uint64_t otherwise,
	uint64_t *number, struct error *error)
{
	const struct tsv_field *field = &reader->fields[column];
	uint64_t value = 0;

	for (size_t i = 0; i < field->size; i++) {
		uint64_t digit = (uint64_t)(field->text[i] - '0');

		if (field->text[i] < '0' || field->text[i] > '9' || value > (UINT64_MAX - digit) / 10)
			return tsv_reader_bad(reader, column, "is no whole number from 0 to 2^64 - 1", error);
		value = value * 10 + digit;
	}
	*number = field->size > 0 ? value : otherwise;
	return 0;
}

/* ---- timelines ---- */

/* More bytes behind those that are there; what was used up goes. */
static int read_more(struct tsv_reader *reader, struct error *error)
{
	struct store_bytes *buffer = &reader->buffer;
	uint8_t *room;
	size_t got;

	if (reader->at > 0)
		memmove(buffer->data, buffer->data + reader->at, buffer->size - reader->at);
	buffer->size -= reader->at;
	reader->at = 0;
	if (buffer->size > LINE_BYTES_MAX)
		return error_set(error, ERROR_RUN, "%s line %llu is longer than %u MiB: this is no TSV",
			reader->name, (unsigned long long)reader->line + 1, LINE_BYTES_MAX >> 20);
	room = store_bytes_reserve(buffer, READ_BYTES);
	if (!room)
		return error_memory(error);
	got = fread(room, 1, READ_BYTES, reader->in);
	buffer->size += got;
	reader->is_at_end = got == 0;
	if (got == 0 && ferror(reader->in))
		return error_set(error, ERROR_IO, "%s cannot be read: %s", reader->name, strerror(errno));
	return 0;
}

/* One line without its end: 1, 0 at the end of the input. */
static int next_line(struct tsv_reader *reader, struct tsv_field *line, struct error *error)
{
	size_t searched = 0;

	for (;;) {
		const char *data = (const char *)reader->buffer.data, *text = data ? data + reader->at : NULL;
		size_t left = reader->buffer.size - reader->at;
		const char *end = left > searched ? memchr(text + searched, '\n', left - searched) : NULL;
		int rc;

		if (!end && !reader->is_at_end) {
			searched = left;
			rc = read_more(reader, error);
			if (rc < 0)
				return rc;
			continue;
		}
		if (left == 0)
			return 0;
		*line = (struct tsv_field){text, end ? (size_t)(end - text) : left};
		reader->at += line->size + (end != NULL);
		reader->line++;
		if (line->size > 0 && text[line->size - 1] == '\r')
			line->size--;
		return 1;
	}
}

/* What editors of another system put before the first character. */
static void skip_byte_order_mark(struct tsv_field *line)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (line->size >= 3 && memcmp(line->text, mark, 3) == 0)
		*line = (struct tsv_field){line->text + 3, line->size - 3};
}

/* Takes the first field off the text line; false when none is left. */
static bool next_field(struct tsv_field *line, struct tsv_field *field)
{
	const char *tab;

	if (!line->text)
		return false;
	tab = memchr(line->text, '\t', line->size);
	*field = (struct tsv_field){line->text, tab ? (size_t)(tab - line->text) : line->size};
	line->size -= field->size + (tab != NULL);
	line->text = tab ? tab + 1 : NULL;
	return true;
}

/* ---- header ---- */

static uint8_t find_column(const struct tsv_field *field)
{
	uint8_t column = 0;

	while (column < TSV_COLUMN_COUNT &&
		(strlen(column_names[column]) != field->size ||
			memcmp(column_names[column], field->text, field->size) != 0))
		column++;
	return column;
}

static int take_header(struct tsv_reader *reader, struct tsv_field line, struct error *error)
{
	bool seen[TSV_COLUMN_COUNT + 1] = {false};
	struct tsv_field field;

	reader->columns = malloc(line.size + 1); /* no more columns than that */
	if (!reader->columns)
		return error_memory(error);
	while (next_field(&line, &field)) {
		uint8_t column = find_column(&field);

		if (column < TSV_COLUMN_COUNT && seen[column])
			return error_set(error, ERROR_RUN, "%s line 1: the column %s is there twice",
				reader->name, column_names[column]);
		seen[column] = true;
		reader->columns[reader->column_count++] = column;
	}
	if (seen[TSV_STREAM] && seen[TSV_BEGIN])
		return 0;
	return error_set(error, ERROR_RUN,
		"%s line 1 has no column %s; the first line names the columns, parted by tabs, and needs "
		"stream and "
		"begin_ns",
		reader->name, column_names[seen[TSV_STREAM] ? TSV_BEGIN : TSV_STREAM]);
}

int tsv_reader_begin(struct tsv_reader *reader, FILE *in, const char *name, struct error *error)
{
	struct tsv_field line;
	int rc;

	*reader = (struct tsv_reader){.in = in, .name = name};
	rc = next_line(reader, &line, error);
	if (rc == 0)
		rc = error_set(error, ERROR_RUN, "%s is empty; its first line must name the columns", name);
	if (rc < 0)
		return rc;
	skip_byte_order_mark(&line);
	return take_header(reader, line, error);
}

void tsv_reader_fini(struct tsv_reader *reader)
{
	store_bytes_fini(&reader->buffer);
	free(reader->columns);
}

int tsv_reader_next(struct tsv_reader *reader, struct error *error)
{
	struct tsv_field line, field;
	size_t position = 0;
	int rc;

	do
		rc = next_line(reader, &line, error);
	while (rc > 0 && line.size == 0);
	if (rc <= 0)
		return rc;
	for (int i = 0; i < TSV_COLUMN_COUNT; i++)
		reader->fields[i] = (struct tsv_field){"", 0};
	for (; next_field(&line, &field); position++) {
		if (position == reader->column_count)
			return error_set(error, ERROR_RUN,
				"%s line %llu has more fields than the header's %zu", reader->name,
				(unsigned long long)reader->line, reader->column_count);
		if (reader->columns[position] < TSV_COLUMN_COUNT)
			reader->fields[reader->columns[position]] = field;
	}
	return 1;
}
