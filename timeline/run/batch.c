/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - allocates the columns of a batch in one piece.
 */
#include "timeline/run/batch.h"

#include <stdlib.h>

static size_t row_bytes(unsigned columns)
{
	size_t wide = 1 + !!(columns & STORE_END) + !!(columns & STORE_AMOUNT) + !!(columns & STORE_BYTES) +
		      !!(columns & STORE_LINK);
	size_t narrow = !!(columns & STORE_CONTEXT) + !!(columns & STORE_WHAT) +
			!!(columns & STORE_ATTRIBUTES) + !!(columns & STORE_FLAGS);

	return wide * sizeof(uint64_t) + narrow * sizeof(uint32_t);
}

static uint64_t *wide(uint8_t **at, bool wanted)
{
	uint64_t *column = (uint64_t *)*at;

	if (!wanted)
		return NULL;
	*at += BATCH_ROWS * sizeof *column;
	return column;
}

static uint32_t *narrow(uint8_t **at, bool wanted)
{
	uint32_t *column = (uint32_t *)*at;

	if (!wanted)
		return NULL;
	*at += BATCH_ROWS * sizeof *column;
	return column;
}

int batch_init(struct batch *batch, unsigned columns, struct error *error)
{
	uint8_t *at = malloc(BATCH_ROWS * row_bytes(columns));

	*batch = (struct batch){.columns = columns | STORE_BEGIN, .memory = at};
	if (!at)
		return error_memory(error);
	batch->begin_ns = wide(&at, true);
	batch->end_ns = wide(&at, columns & STORE_END);
	batch->amount = wide(&at, columns & STORE_AMOUNT);
	batch->bytes = wide(&at, columns & STORE_BYTES);
	batch->link = wide(&at, columns & STORE_LINK);
	batch->context = narrow(&at, columns & STORE_CONTEXT);
	batch->what = narrow(&at, columns & STORE_WHAT);
	batch->attributes = narrow(&at, columns & STORE_ATTRIBUTES);
	batch->flags = narrow(&at, columns & STORE_FLAGS);
	return 0;
}

void batch_fini(struct batch *batch)
{
	free(batch->memory);
	*batch = (struct batch){0};
}

const char *batch_attributes(const struct run *run, const struct batch *batch, size_t row, size_t *size_bytes)
{
	const struct run_stream *stream = run_stream(run, batch->stream);

	return store_reader_text(run_store(run, stream->store), batch->attributes[row], size_bytes);
}
