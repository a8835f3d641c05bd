/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - see print.h. Columns have no kind in SQL: those whose first value is a number stand at the right.
 */
#include "formats/sql/print.h"

#include <math.h>
#include <stdio.h>

#include "store/base/arena.h"
#include "timeline/slice/slice.h"

static int make_columns(sqlite3_stmt *statement, int count, struct report_column **columns,
	struct arena *arena, struct error *error)
{
	*columns = arena_calloc(arena, (size_t)count, sizeof **columns);
	if (!*columns)
		return error_memory(error);
	for (int i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(statement, i);
		int type = sqlite3_column_type(statement, i);

		(*columns)[i].name = arena_printf(arena, "%s", name ? name : "");
		(*columns)[i].kind =
			type == SQLITE_INTEGER || type == SQLITE_FLOAT ? REPORT_FIGURES : REPORT_COMPOSED;
		if (!(*columns)[i].name)
			return error_memory(error);
	}
	return 0;
}

static void put_blob(struct report *report, const uint8_t *bytes, int size, struct store_bytes *text)
{
	static const char digits[] = "0123456789abcdef";

	text->size = 0;
	for (int i = 0; i < size; i++) {
		store_bytes_put(text, &digits[bytes[i] >> 4], 1);
		store_bytes_put(text, &digits[bytes[i] & 15], 1);
	}
	report_cell(report, (const char *)text->data, text->size, false);
}

/* For people two places are enough, for scripts a real number is what it was. */
static void put_real(struct report *report, double value, enum report_format format)
{
	char text[SLICE_VALUE_MAX];
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	if (format == REPORT_TABLE && fabs(value) < 1e15 && (fabs(value) >= 0.01 || value == 0))
		snprintf(text, sizeof text, "%.2f", value);
	else
		slice_value_text(text, bits, true);
	report_cell(report, text, strlen(text), isfinite(value));
}

static void put_value(struct report *report, sqlite3_stmt *statement, int column, enum report_format format,
	struct store_bytes *text)
{
	char figures[STORE_DECIMAL_BYTES + 1] = "-";
	sqlite3_int64 whole;
	size_t size;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		whole = sqlite3_column_int64(statement, column);
		size = store_decimal_put(figures + 1, whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole);
		report_cell(report, figures + (whole >= 0), size + (whole < 0), true);
		break;
	case SQLITE_FLOAT:
		put_real(report, sqlite3_column_double(statement, column), format);
		break;
	case SQLITE_NULL:
		report_none(report);
		break;
	case SQLITE_BLOB:
		put_blob(report, sqlite3_column_blob(statement, column),
			sqlite3_column_bytes(statement, column), text);
		break;
	default: /* in two steps: the size is that of the text */
		report_cell(report, (const char *)sqlite3_column_text(statement, column),
			(size_t)sqlite3_column_bytes(statement, column), false);
	}
}

static int print_rows(
	sqlite3_stmt *statement, struct report *report, int count, enum report_format format, int rc)
{
	struct store_bytes text = {0};

	while (rc == SQLITE_ROW) {
		for (int i = 0; i < count; i++)
			put_value(report, statement, i, format, &text);
		report_row(report);
		rc = sqlite3_step(statement);
	}
	store_bytes_fini(&text);
	return rc;
}

int sql_print(sqlite3_stmt *statement, enum report_format format, int *rc, struct error *error)
{
	int count = sqlite3_column_count(statement), result;
	struct report_column *columns;
	struct report *report;
	struct arena arena = {0};

	*rc = sqlite3_step(statement);
	if (count == 0 || (*rc != SQLITE_ROW && *rc != SQLITE_DONE))
		return 0;
	result = make_columns(statement, count, &columns, &arena, error);
	if (result == 0)
		result = report_open(&report, stdout, format, "hpct-sql", columns, (size_t)count, error);
	if (result == 0) {
		*rc = print_rows(statement, report, count, format, *rc);
		result = report_close(report, error);
	}
	arena_fini(&arena);
	return result;
}
