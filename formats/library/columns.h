/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - builds a batch of columns value by value: what the library gives its callers, and what the
 * tables of SQL read. Columns that nobody wants take no values and cost nothing.
 *
 *   specs + wanted --columns_new--> batch --column_put_*()--> --columns_end--> given out, read only
 */
#ifndef FORMATS_COLUMNS_H
#define FORMATS_COLUMNS_H

#include <stdatomic.h>

#include "formats/library/hpct_read.h"
#include "store/base/bytes.h"
#include "store/base/error.h"

struct column_spec {
	const char *name;
	enum hpct_type type;
};

struct column {
	struct hpct_column shown; /* valid after columns_end() */
	enum hpct_type type;
	bool is_wanted;
	struct store_bytes data, offsets, valid;
	size_t count, none_count;
	bool is_raw;		/* bytes that are not UTF-8 stay, as do moments beyond 2^63 */
	struct column *choices; /* of CHOICE */
};

struct hpct_batch {
	atomic_uint holders;
	size_t row_count;    /* set by columns_end() */
	size_t column_count; /* of the specs */
	size_t wanted_count;
	struct column *columns; /* by spec */
	struct column **wanted; /* in their order */
	char *names;
};

/* `wanted` NULL: all; `is_raw`: texts that are not UTF-8 stay as they are. Owned by one holder:
 * columns_drop(). The specs may go. */
int columns_new(struct hpct_batch **batch, const struct column_spec *specs, size_t count, const bool *wanted,
	bool is_raw, struct error *error);
/* No more values: fills what is shown. ERROR_IO if there was no memory for a value. All wanted columns have
 * as many. */
int columns_end(struct hpct_batch *batch, struct error *error);
/* Before columns_end(): of the columns that have values those are shown that `wanted` has, by spec. */
void columns_show(struct hpct_batch *batch, const bool *wanted);
void columns_hold(struct hpct_batch *batch);
void columns_drop(struct hpct_batch *batch); /* NULL: nothing */

/* ---- one value more ---- */

void column_put_number(struct column *column, uint64_t number); /* INT64, UINT64; UINT32: its low half */
void column_put_real(struct column *column, double real);
/* As it is, but for bytes that are not UTF-8. */
void column_put_composed(struct column *column, const char *text, size_t size);
/* Escaped as a field of the TSV; "" and NULL are no value. */
void column_put_field(struct column *column, const char *text, size_t size);
void column_put_string(struct column *column, const char *text);
void column_put_choice(struct column *column, uint32_t choice);
void column_put_none(struct column *column);
void column_put_optional(struct column *column, uint64_t number, bool is_there);

/* Room for `count` values at once; NULL: not wanted, or no memory. All have a value. */
void *column_reserve(struct column *column, size_t count);

/* ---- reading, after columns_end() ---- */

bool column_has(const struct column *column, size_t row);
uint64_t column_number(const struct column *column, size_t row); /* of whole numbers */
double column_real(const struct column *column, size_t row);
/* Not ended by NUL. */
const char *column_text(const struct column *column, size_t row, size_t *size);

#endif
