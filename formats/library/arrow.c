/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c - batches and rows as Arrow's C interfaces have them. Buffers are the batch's own: each array holds
 * the batch, and its release lets go of it. A consumer may move children away and release them alone, so each
 * node owns its own memory.
 */
#include "formats/library/arrow.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/library/read.h"

#define BATCH_ROWS_USUAL 65536u

static const char *const formats[] = {[HPCT_INT64] = "l",
	[HPCT_UINT64] = "L",
	[HPCT_UINT32] = "I",
	[HPCT_REAL] = "g",
	[HPCT_TEXT] = "U",
	[HPCT_CHOICE] = "i"};

/* ---- schemas ---- */

static void schema_release(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i] && schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	free((char *)schema->name);
	schema->release = NULL;
}

/* False: no memory. */
static bool schema_fill(struct ArrowSchema *schema, const char *format, const char *name, size_t children)
{
	*schema = (struct ArrowSchema){.format = format, .name = strdup(name), .release = schema_release};
	schema->children = calloc(children + 1, sizeof *schema->children);
	if (!schema->name || !schema->children) {
		free((char *)schema->name);
		free(schema->children);
		return false;
	}
	schema->n_children = (int64_t)children;
	return true;
}

static struct ArrowSchema *column_schema(const struct column_spec *spec)
{
	struct ArrowSchema *schema = calloc(1, sizeof *schema);

	if (!schema || !schema_fill(schema, formats[spec->type], spec->name, 0)) {
		free(schema);
		return NULL;
	}
	schema->flags = ARROW_FLAG_NULLABLE;
	if (spec->type != HPCT_CHOICE)
		return schema;
	schema->dictionary = calloc(1, sizeof *schema->dictionary);
	if (schema->dictionary && schema_fill(schema->dictionary, formats[HPCT_TEXT], "", 0))
		return schema;
	free(schema->dictionary);
	schema->dictionary = NULL;
	schema_release(schema);
	free(schema);
	return NULL;
}

static bool schema_of(struct ArrowSchema *schema, const struct column_spec *specs, size_t count)
{
	if (!schema_fill(schema, "+s", "", count))
		return false;
	for (size_t i = 0; i < count; i++) {
		schema->children[i] = column_schema(&specs[i]);
		if (!schema->children[i]) {
			schema_release(schema);
			return false;
		}
	}
	return true;
}

/* ---- arrays ---- */

static void array_release(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i] && array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	free(array->buffers);
	columns_drop(array->private_data);
	array->release = NULL;
}

/* False: no memory. */
static bool array_fill(
	struct ArrowArray *array, struct hpct_batch *batch, size_t length, size_t buffers, size_t children)
{
	*array = (struct ArrowArray){
		.length = (int64_t)length, .private_data = batch, .release = array_release};
	array->buffers = calloc(buffers, sizeof *array->buffers);
	array->children = calloc(children + 1, sizeof *array->children);
	if (!array->buffers || !array->children) {
		free(array->buffers);
		free(array->children);
		return false;
	}
	array->n_buffers = (int64_t)buffers;
	array->n_children = (int64_t)children;
	columns_hold(batch);
	return true;
}

static struct ArrowArray *column_array(
	const struct hpct_column *column, struct hpct_batch *batch, size_t length)
{
	struct ArrowArray *array = calloc(1, sizeof *array);
	bool is_text = column->type == HPCT_TEXT;

	if (!array || !array_fill(array, batch, length, is_text ? 3 : 2, 0)) {
		free(array);
		return NULL;
	}
	array->null_count = (int64_t)column->none_count;
	array->buffers[0] = column->valid;
	array->buffers[1] = is_text ? (const void *)column->offsets : column->data;
	if (is_text)
		array->buffers[2] = column->data;
	if (!column->choices)
		return array;
	array->dictionary = column_array(column->choices, batch, column->choice_count);
	if (array->dictionary)
		return array;
	array_release(array);
	free(array);
	return NULL;
}

static bool array_of(struct ArrowArray *array, struct hpct_batch *batch)
{
	if (!array_fill(array, batch, batch->row_count, 1, batch->wanted_count))
		return false;
	for (size_t i = 0; i < batch->wanted_count; i++) {
		array->children[i] = column_array(&batch->wanted[i]->shown, batch, batch->row_count);
		if (!array->children[i]) {
			array_release(array);
			return false;
		}
	}
	return true;
}

static struct column_spec *specs_of(const struct hpct_batch *batch)
{
	struct column_spec *specs = calloc(batch->wanted_count + 1, sizeof *specs);

	for (size_t i = 0; specs && i < batch->wanted_count; i++)
		specs[i] = (struct column_spec){batch->wanted[i]->shown.name, batch->wanted[i]->type};
	return specs;
}

int hpct_batch_export(struct hpct_batch *batch, struct ArrowArray *array, struct ArrowSchema *schema,
	struct hpct_error *error)
{
	struct column_spec *specs = specs_of(batch);
	bool is_made = specs && schema_of(schema, specs, batch->wanted_count);

	free(specs);
	if (is_made && array_of(array, batch))
		return 0;
	if (is_made)
		schema_release(schema);
	return error_memory((struct error *)error);
}

/* ---- streams ---- */

struct stream {
	struct hpct_rows *rows;
	size_t most;
	struct hpct_batch *batch; /* of no rows: this one alone */
	bool is_given;
	struct hpct_error error;
};

static int stream_schema(struct ArrowArrayStream *arrow, struct ArrowSchema *schema)
{
	struct stream *stream = arrow->private_data;
	struct column_spec *own = stream->rows ? NULL : specs_of(stream->batch);
	const struct column_spec *specs = stream->rows ? stream->rows->specs : own;
	bool is_made =
		specs && schema_of(schema, specs,
				 stream->rows ? stream->rows->column_count : stream->batch->wanted_count);

	free(own);
	if (is_made)
		return 0;
	error_memory((struct error *)&stream->error);
	return ENOMEM;
}

static int errno_of(const struct hpct_error *error)
{
	return error->code == HPCT_INTERRUPTED ? EINTR : error->code == HPCT_IO ? EIO : EINVAL;
}

static int take_batch(struct stream *stream, struct hpct_batch **batch)
{
	if (stream->rows)
		return hpct_next(stream->rows, stream->most, batch, &stream->error);
	if (stream->is_given)
		return 0;
	stream->is_given = true;
	columns_hold(stream->batch);
	*batch = stream->batch;
	return 1;
}

static int stream_next(struct ArrowArrayStream *arrow, struct ArrowArray *array)
{
	struct stream *stream = arrow->private_data;
	struct hpct_batch *batch;
	bool is_made;
	int rc = take_batch(stream, &batch);

	if (rc <= 0) {
		*array = (struct ArrowArray){0};
		return rc < 0 ? errno_of(&stream->error) : 0;
	}
	is_made = array_of(array, batch);
	hpct_batch_free(batch);
	if (is_made)
		return 0;
	error_memory((struct error *)&stream->error);
	return ENOMEM;
}

static const char *stream_error(struct ArrowArrayStream *arrow)
{
	const struct stream *stream = arrow->private_data;

	return stream->error.code ? stream->error.text : NULL;
}

static void stream_release(struct ArrowArrayStream *arrow)
{
	struct stream *stream = arrow->private_data;

	hpct_rows_free(stream->rows);
	hpct_batch_free(stream->batch);
	free(stream);
	arrow->release = NULL;
}

static void stream_fill(struct ArrowArrayStream *arrow, struct stream *stream)
{
	*arrow = (struct ArrowArrayStream){.get_schema = stream_schema,
		.get_next = stream_next,
		.get_last_error = stream_error,
		.release = stream_release,
		.private_data = stream};
}

int hpct_rows_export(
	struct hpct_rows *rows, size_t most, struct ArrowArrayStream *arrow, struct hpct_error *error)
{
	struct stream *stream = calloc(1, sizeof *stream);

	if (!stream) {
		hpct_rows_free(rows);
		return error_memory((struct error *)error);
	}
	stream->rows = rows;
	stream->most = most ? most : BATCH_ROWS_USUAL;
	stream_fill(arrow, stream);
	return 0;
}

int hpct_batch_stream(struct hpct_batch *batch, struct ArrowArrayStream *arrow, struct hpct_error *error)
{
	struct stream *stream = calloc(1, sizeof *stream);

	if (!stream)
		return error_memory((struct error *)error);
	stream->batch = batch;
	columns_hold(batch);
	stream_fill(arrow, stream);
	return 0;
}
