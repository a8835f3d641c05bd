/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - values into growing buffers of Arrow's layout: numbers one after another, texts by offsets, a
 * bit for each row that says whether it has a value, which is made only once one has none.
 */
#include "formats/library/columns.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/base/escape.h"

static size_t width_of(enum hpct_type type)
{
	return type == HPCT_UINT32 || type == HPCT_CHOICE ? 4 : 8;
}

/* ---- batches ---- */

static void column_fini(struct column *column)
{
	store_bytes_fini(&column->data);
	store_bytes_fini(&column->offsets);
	store_bytes_fini(&column->valid);
	if (column->choices)
		column_fini(column->choices);
	free(column->choices);
}

void columns_drop(struct hpct_batch *batch)
{
	if (!batch || atomic_fetch_sub(&batch->holders, 1) > 1)
		return;
	for (size_t i = 0; i < batch->column_count && batch->columns; i++)
		column_fini(&batch->columns[i]);
	free(batch->columns);
	free(batch->wanted);
	free(batch->names);
	free(batch);
}

void columns_hold(struct hpct_batch *batch)
{
	atomic_fetch_add(&batch->holders, 1);
}

static bool column_init(struct column *column, enum hpct_type type, bool is_wanted, bool is_raw)
{
	*column = (struct column){.type = type, .is_wanted = is_wanted, .is_raw = is_raw};
	if (is_wanted && type == HPCT_CHOICE) {
		column->choices = malloc(sizeof *column->choices);
		if (!column->choices || !column_init(column->choices, HPCT_TEXT, true, is_raw))
			return false;
	}
	if (is_wanted && type == HPCT_TEXT)
		store_bytes_put(&column->offsets, &(int64_t){0}, sizeof(int64_t));
	return !column->offsets.failed;
}

static bool take_names(struct hpct_batch *batch, const struct column_spec *specs)
{
	size_t size = 1;
	char *at;

	for (size_t i = 0; i < batch->column_count; i++)
		size += strlen(specs[i].name) + 1;
	at = batch->names = malloc(size);
	for (size_t i = 0; at && i < batch->column_count; i++) {
		batch->columns[i].shown.name = at;
		at = stpcpy(at, specs[i].name) + 1;
	}
	return at;
}

int columns_new(struct hpct_batch **made, const struct column_spec *specs, size_t count, const bool *wanted,
	bool is_raw, struct error *error)
{
	struct hpct_batch *batch = calloc(1, sizeof *batch);
	bool is_whole;

	if (!batch)
		return error_memory(error);
	atomic_init(&batch->holders, 1);
	batch->column_count = count;
	batch->columns = calloc(count + 1, sizeof *batch->columns);
	batch->wanted = calloc(count + 1, sizeof *batch->wanted);
	is_whole = batch->columns && batch->wanted;
	for (size_t i = 0; i < count && is_whole; i++) {
		is_whole = column_init(&batch->columns[i], specs[i].type, !wanted || wanted[i], is_raw);
		if (batch->columns[i].is_wanted)
			batch->wanted[batch->wanted_count++] = &batch->columns[i];
	}
	if (!is_whole || !take_names(batch, specs)) {
		columns_drop(batch);
		return error_memory(error);
	}
	*made = batch;
	return 0;
}

void columns_show(struct hpct_batch *batch, const bool *wanted)
{
	batch->wanted_count = 0;
	for (size_t i = 0; i < batch->column_count; i++)
		if (wanted[i] && batch->columns[i].is_wanted)
			batch->wanted[batch->wanted_count++] = &batch->columns[i];
}

static bool column_end(struct column *column)
{
	struct hpct_column *shown = &column->shown;

	if (column->choices && !column_end(column->choices))
		return false;
	store_bytes_reserve(&column->data, 8); /* never NULL: Arrow's users do not expect it */
	shown->type = column->type;
	shown->data = column->data.data;
	shown->offsets =
		column->type == HPCT_TEXT ? (const int64_t *)(const void *)column->offsets.data : NULL;
	shown->valid = column->none_count ? column->valid.data : NULL;
	shown->none_count = column->none_count;
	shown->choices = column->choices ? &column->choices->shown : NULL;
	shown->choice_count = column->choices ? column->choices->count : 0;
	return !column->data.failed && !column->offsets.failed && !column->valid.failed;
}

int columns_end(struct hpct_batch *batch, struct error *error)
{
	for (size_t i = 0; i < batch->wanted_count; i++)
		if (!column_end(batch->wanted[i]))
			return error_memory(error);
	batch->row_count = batch->wanted_count ? batch->wanted[0]->count : 0;
	return 0;
}

/* ---- which rows have a value ---- */

static void valid_put(struct column *column, bool is_there)
{
	size_t row = column->count;

	if (row / 8 >= column->valid.size)
		store_bytes_put(&column->valid, "", 1);
	if (is_there && row / 8 < column->valid.size)
		column->valid.data[row / 8] |= (uint8_t)(1u << row % 8);
}

/* From now on there is a bit for each row; those before all have a value. */
static void valid_begin(struct column *column)
{
	size_t whole = column->count / 8, rest = column->count % 8;
	uint8_t *to = store_bytes_reserve(&column->valid, whole + 1);

	if (!to)
		return;
	memset(to, 0xff, whole);
	to[whole] = (uint8_t)((1u << rest) - 1);
	column->valid.size = whole + (rest != 0);
}

static void count_put(struct column *column)
{
	if (column->none_count)
		valid_put(column, true);
	column->count++;
}

/* ---- values ---- */

void column_put_number(struct column *column, uint64_t number)
{
	if (!column->is_wanted)
		return;
	store_bytes_put(&column->data, &number, width_of(column->type)); /* little-endian */
	count_put(column);
}

void column_put_real(struct column *column, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	column_put_number(column, bits);
}

void column_put_choice(struct column *column, uint32_t choice)
{
	column_put_number(column, choice);
}

void column_put_optional(struct column *column, uint64_t number, bool is_there)
{
	if (is_there)
		column_put_number(column, number);
	else
		column_put_none(column);
}

void column_put_none(struct column *column)
{
	if (!column->is_wanted)
		return;
	if (!column->none_count)
		valid_begin(column);
	valid_put(column, false);
	column->none_count++;
	if (column->type == HPCT_TEXT)
		store_bytes_put(&column->offsets, &(int64_t){(int64_t)column->data.size}, sizeof(int64_t));
	else
		store_bytes_put(&column->data, &(uint64_t){0}, width_of(column->type));
	column->count++;
}

/* Length of the character at `at`, 0: not one of UTF-8 (no surrogates, nothing longer than needed). */
static size_t character_size(const uint8_t *at, size_t left)
{
	uint8_t first = at[0];
	size_t size = first < 0x80		      ? 1
		      : first >= 0xc2 && first < 0xe0 ? 2
		      : first >= 0xe0 && first < 0xf0 ? 3
		      : first >= 0xf0 && first < 0xf5 ? 4
						      : 0;

	if (size == 0 || size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] >= 0xa0) ||
		(first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] >= 0x90))
		return 0;
	return size;
}

static void text_put(struct column *column, const char *text, size_t size)
{
	size_t whole = 0;
	char escaped[8];

	while (whole < size && !column->is_raw) {
		size_t step = character_size((const uint8_t *)text + whole, size - whole);

		if (step) {
			whole += step;
			continue;
		}
		store_bytes_put(&column->data, text, whole);
		snprintf(escaped, sizeof escaped, "\\x%02x", (uint8_t)text[whole]);
		store_bytes_put(&column->data, escaped, 4);
		text += whole + 1;
		size -= whole + 1;
		whole = 0;
	}
	store_bytes_put(&column->data, text, size);
}

void column_put_composed(struct column *column, const char *text, size_t size)
{
	if (!column->is_wanted)
		return;
	text_put(column, text, size);
	store_bytes_put(&column->offsets, &(int64_t){(int64_t)column->data.size}, sizeof(int64_t));
	count_put(column);
}

void column_put_field(struct column *column, const char *text, size_t size)
{
	struct store_bytes escaped = {0};

	if (!column->is_wanted)
		return;
	if (!text || !size) {
		column_put_none(column);
		return;
	}
	escape_field(&escaped, text, size);
	column->data.failed |= escaped.failed;
	column_put_composed(column, (const char *)escaped.data, escaped.size);
	store_bytes_fini(&escaped);
}

void column_put_string(struct column *column, const char *text)
{
	column_put_field(column, text, text ? strlen(text) : 0);
}

void *column_reserve(struct column *column, size_t count)
{
	size_t size = count * width_of(column->type);
	uint8_t *to;

	if (!column->is_wanted)
		return NULL;
	for (size_t i = 0; i < count && column->none_count; i++, column->count++)
		valid_put(column, true);
	if (!column->none_count)
		column->count += count;
	to = store_bytes_reserve(&column->data, size);
	if (to)
		column->data.size += size;
	return to;
}

/* ---- reading ---- */

bool column_has(const struct column *column, size_t row)
{
	return !column->none_count || column->valid.data[row / 8] >> row % 8 & 1;
}

uint64_t column_number(const struct column *column, size_t row)
{
	return width_of(column->type) == 4 ? ((const uint32_t *)(const void *)column->data.data)[row]
					   : ((const uint64_t *)(const void *)column->data.data)[row];
}

double column_real(const struct column *column, size_t row)
{
	return ((const double *)(const void *)column->data.data)[row];
}

const char *column_text(const struct column *column, size_t row, size_t *size)
{
	const int64_t *offsets = (const int64_t *)(const void *)column->offsets.data;

	*size = (size_t)(offsets[row + 1] - offsets[row]);
	return (const char *)column->data.data + offsets[row];
}
