/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of libhpct: what has no value, texts that are not UTF-8, and the same batch by Arrow's C interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/library/arrow.h"
#include "formats/library/columns.h"
#include "tests/unit/seed.h"

#define ROWS 3000

static uint64_t seed;

static const struct column_spec specs[] = {{"moment", HPCT_INT64}, {"amount", HPCT_UINT64},
	{"context", HPCT_UINT32}, {"real", HPCT_REAL}, {"text", HPCT_TEXT}, {"choice", HPCT_CHOICE}};
enum { MOMENT, AMOUNT, CONTEXT, REAL, TEXT, CHOICE, COLUMNS };

static struct hpct_batch *new_batch(const bool *wanted, bool is_raw)
{
	struct hpct_batch *batch;
	struct error error;

	assert_int_equal(columns_new(&batch, specs, COLUMNS, wanted, is_raw, &error), 0);
	return batch;
}

static void end(struct hpct_batch *batch)
{
	struct error error;

	assert_int_equal(columns_end(batch, &error), 0);
}

/* ---- the truth: an array ---- */

struct row {
	bool has[COLUMNS];
	uint64_t number;
};

static void put_row(struct column *c, const struct row *row)
{
	char text[24];

	snprintf(text, sizeof text, "%llx", (unsigned long long)row->number % 4096);
	column_put_optional(&c[MOMENT], row->number, row->has[MOMENT]);
	column_put_optional(&c[AMOUNT], row->number * 3, row->has[AMOUNT]);
	column_put_optional(&c[CONTEXT], (uint32_t)row->number, row->has[CONTEXT]);
	if (row->has[REAL])
		column_put_real(&c[REAL], (double)row->number / 2);
	else
		column_put_none(&c[REAL]);
	column_put_string(&c[TEXT], row->has[TEXT] ? text : "");
	column_put_choice(&c[CHOICE], (uint32_t)row->number % 2);
}

static void check_row(const struct hpct_batch *batch, const struct row *row, size_t at)
{
	const struct column *c = batch->columns;
	const char *shown;
	char text[24];
	size_t size;

	for (int i = 0; i < CHOICE; i++)
		assert_int_equal(column_has(&c[i], at), row->has[i]);
	if (row->has[MOMENT])
		assert_int_equal(((const int64_t *)hpct_column(batch, MOMENT)->data)[at], row->number);
	if (row->has[AMOUNT])
		assert_int_equal(column_number(&c[AMOUNT], at), row->number * 3);
	if (row->has[CONTEXT])
		assert_int_equal(column_number(&c[CONTEXT], at), (uint32_t)row->number);
	if (row->has[REAL])
		assert_true(column_real(&c[REAL], at) == (double)row->number / 2);
	snprintf(text, sizeof text, "%llx", (unsigned long long)row->number % 4096);
	shown = column_text(&c[TEXT], at, &size);
	assert_int_equal(size, row->has[TEXT] ? strlen(text) : 0);
	assert_memory_equal(shown, text, size);
	assert_int_equal(column_number(&c[CHOICE], at), row->number % 2);
}

static void random_row(struct row *row, unsigned density)
{
	row->number = seed_next(&seed) >> 1;
	for (int i = 0; i < COLUMNS; i++)
		row->has[i] = seed_next(&seed) % 100 >= density;
}

static void test_values(void **state)
{
	static struct row rows[ROWS];

	(void)state;
	for (unsigned density = 0; density <= 100; density += 25) {
		struct hpct_batch *batch = new_batch(NULL, false);
		size_t none = 0;

		for (size_t i = 0; i < ROWS; i++) {
			random_row(&rows[i], density);
			none += !rows[i].has[AMOUNT];
			put_row(batch->columns, &rows[i]);
		}
		end(batch);
		assert_int_equal(hpct_batch_rows(batch), ROWS);
		assert_int_equal(hpct_column(batch, AMOUNT)->none_count, none);
		assert_int_equal(!hpct_column(batch, AMOUNT)->valid, none == 0);
		for (size_t i = 0; i < ROWS; i++)
			check_row(batch, &rows[i], i);
		columns_drop(batch);
	}
}

/* Many at once, between single ones with and without a value. */
static void test_reserve(void **state)
{
	struct hpct_batch *batch = new_batch(NULL, false);
	struct column *column = &batch->columns[AMOUNT];
	bool has[ROWS];
	size_t count = 0;

	(void)state;
	while (count < ROWS - 40) {
		size_t more = seed_next(&seed) % 40;
		uint64_t *to = column_reserve(column, more);

		for (size_t i = 0; i < more; i++) {
			has[count] = true;
			to[i] = count++;
		}
		has[count] = seed_next(&seed) % 2;
		column_put_optional(column, count, has[count]);
		count++;
	}
	batch->wanted[0] = column; /* the others have no rows */
	batch->wanted_count = 1;
	end(batch);
	assert_int_equal(hpct_batch_rows(batch), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(column_has(column, i), has[i]);
		if (has[i])
			assert_int_equal(column_number(column, i), i);
	}
	columns_drop(batch);
}

/* ---- texts ---- */

static void check_text(const char *bytes, const char *shown, bool is_raw)
{
	const bool wanted[COLUMNS] = {[TEXT] = true};
	struct hpct_batch *batch = new_batch(wanted, is_raw);
	const char *text;
	size_t size;

	column_put_composed(&batch->columns[TEXT], "before", 6);
	column_put_composed(&batch->columns[TEXT], bytes, strlen(bytes));
	column_put_number(&batch->columns[AMOUNT], 7); /* that nobody wants */
	end(batch);
	text = column_text(&batch->columns[TEXT], 1, &size);
	assert_int_equal(size, strlen(shown));
	assert_memory_equal(text, shown, size);
	assert_int_equal(hpct_batch_columns(batch), 1);
	assert_string_equal(hpct_column(batch, 0)->name, "text");
	assert_null(hpct_column(batch, 1));
	columns_drop(batch);
}

static void test_texts(void **state)
{
	(void)state;
	check_text("", "", false);
	check_text("main;f\xc3\xbcr;\xe2\x82\xac;\xf0\x9f\x98\x80",
		"main;f\xc3\xbcr;\xe2\x82\xac;\xf0\x9f\x98\x80", false);
	check_text("\xff", "\\xff", false);
	check_text("a\xc3", "a\\xc3", false);	     /* cut short */
	check_text("\xc0\xaf", "\\xc0\\xaf", false); /* longer than needed */
	check_text("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf", false);
	check_text("\xed\xa0\x80", "\\xed\\xa0\\x80", false);	       /* a surrogate */
	check_text("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", false); /* beyond the last */
	check_text("\x80 and \xe2\x82", "\\x80 and \\xe2\\x82", false);
	check_text("a\xc3", "a\xc3", true);
}

/* ---- Arrow ---- */

static void test_arrow(void **state)
{
	struct hpct_batch *batch = new_batch(NULL, false);
	struct ArrowSchema schema;
	struct ArrowArray array, moved;
	struct row row;

	(void)state;
	column_put_composed(batch->columns[CHOICE].choices, "even", 4);
	column_put_composed(batch->columns[CHOICE].choices, "odd", 3);
	for (int i = 0; i < 100; i++) {
		random_row(&row, 30);
		put_row(batch->columns, &row);
	}
	end(batch);
	assert_int_equal(hpct_batch_export(batch, &array, &schema, NULL), 0);
	assert_int_equal(
		atomic_load(&batch->holders), 1 + 1 + COLUMNS + 1); /* ours, the whole's, the choices' */
	assert_string_equal(schema.format, "+s");
	assert_string_equal(schema.children[TEXT]->format, "U");
	assert_string_equal(schema.children[CHOICE]->dictionary->format, "U");
	assert_ptr_equal(array.children[AMOUNT]->buffers[1], hpct_column(batch, AMOUNT)->data);
	assert_int_equal(array.children[CHOICE]->dictionary->length, 2);
	moved = *array.children[TEXT]; /* a child may be moved away, and outlive the others */
	array.children[TEXT]->release = NULL;
	schema.release(&schema);
	array.release(&array);
	assert_null(array.release);
	assert_int_equal(atomic_load(&batch->holders), 2);
	columns_drop(batch);
	assert_int_equal(moved.length, 100);
	moved.release(&moved);
}

static void test_arrow_stream(void **state)
{
	struct hpct_batch *batch = new_batch(NULL, false);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray array;

	(void)state;
	end(batch); /* without rows */
	assert_int_equal(hpct_batch_stream(batch, &stream, NULL), 0);
	columns_drop(batch);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_int_equal(schema.n_children, COLUMNS);
	schema.release(&schema);
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_int_equal(array.length, 0);
	array.release(&array);
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_null(array.release);
	assert_null(stream.get_last_error(&stream));
	stream.release(&stream);
	assert_null(stream.release);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_texts), cmocka_unit_test(test_arrow),
		cmocka_unit_test(test_arrow_stream)};

	seed = seed_take("columns", 34);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
